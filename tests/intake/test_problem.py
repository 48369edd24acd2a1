"""Questions made of tables: what is encoded, left out, filled in, guessed and refused."""

import numpy as np
import pandas as pd
import pytest

from horseshoe.intake import Table, TableError, prepare_problem, read_table
from loops import each

N = 60
RNG = np.random.default_rng(3)
NOISE = RNG.standard_normal(N)
A = RNG.standard_normal(N)


def asked(target="y", *, frame=None, notes=(), **options):
    return prepare_problem(Table(frame, notes, "it"), target, **options)


def frame(**columns):
    return pd.DataFrame({"a": A, "y": A + NOISE} | columns)


def refused(target="y", *, frame, **options):
    with pytest.raises(TableError) as caught:
        asked(target, frame=frame, **options)
    return str(caught.value)


def test_numbers_as_they_are():
    question = asked(frame=frame(b=np.arange(N) % 7), notes=("said before",))
    assert list(question.X.columns) == ["a", "b"]
    assert question.X.dtypes.unique().tolist() == [np.dtype(float)]
    np.testing.assert_array_equal(question.y, A + NOISE)
    assert question.notes == ("said before", "y holds numbers: family gaussian; --family chooses another")
    assert question.terms == {"a": "a", "b": "b"}
    assert (question.rows_read, question.rows_dropped, question.cells_imputed) == (N, 0, 0)
    assert question.weights is question.offset is question.exposure is None
    assert question.fit_intercept


def test_categories_without_their_reference():
    cities = ["Bonn", "Bonn", "Berlin", "Kiel", "Bonn", "Berlin"] * 10
    question = asked(frame=frame(city=cities, smoker=["yes", "no", "yes"] * 20))
    assert list(question.X.columns) == ["a", "city=Berlin", "city=Kiel", "smoker=yes"]
    assert question.X["city=Kiel"].tolist() == [float(city == "Kiel") for city in cities]
    assert question.X["smoker=yes"].tolist() == [1.0, 0.0, 1.0] * 20
    assert question.terms["city=Berlin"] == question.terms["city=Kiel"] == "city"
    assert "city: reference level Bonn" in question.notes
    assert (
        "smoker: reference level no" in question.notes
    )  # not the most frequent: no is what yes is compared to


def test_numbers_declared_categories_and_back():
    years = pd.Series([2019, 2020, 2021] * 20)
    question = asked(frame=frame(year=years, id=range(N)), categorical=["year"], numeric=["id"])
    assert list(question.X.columns) == ["a", "year=2020", "year=2021", "id"]


def test_columns_and_drop():
    wide = frame(b=A**2, c=A**3, id=range(N))
    assert list(asked(frame=wide, drop=["id", "b"]).X.columns) == ["a", "c"]
    assert list(asked(frame=wide, columns=["c", "a"]).X.columns) == ["c", "a"]


def test_unusable_columns_are_all_named_in_one_message():
    message = refused(frame=frame(id=range(N), when=["2024-01-02"] * N, who=[f"p{j}" for j in range(N)]))
    assert [line.split()[0] for line in message.splitlines()] == ["id", "when", "who"]


def test_empty_and_constant_columns_are_left_out_and_said():
    question = asked(frame=frame(nothing=np.nan, same=3, word="x"))
    assert question.dropped_columns == {
        "nothing": "no values",
        "same": "only one value (3)",
        "word": "only one value (x)",
    }
    assert "nothing left out: no values" in question.notes
    assert list(question.X.columns) == ["a"]


def test_a_column_that_is_constant_once_rows_are_dropped():
    b = np.where(np.arange(N) < 5, 1.0, 2.0)
    c = np.where(np.arange(N) < 5, np.nan, A)
    assert asked(frame=frame(b=b, c=c), missing="drop").dropped_columns == {"b": "only one value (2)"}


def test_missing_values_are_counted():
    holes = frame(b=np.where(np.arange(N) % 10 == 3, np.nan, 1.0 + A), c=[None, "x", "z"] * 20)
    message = refused(frame=holes)
    assert message.startswith(
        "24 of 60 rows have missing values: c (20, the first in row 1), b (6, the first in row 4)"
    )
    assert "--missing drop" in message
    assert "--missing median" in message
    many = frame(**{f"x{j}": np.where(np.arange(N) <= j, np.nan, NOISE) for j in range(15)})
    assert "x14 (15, the first in row 1)" in refused(frame=many)
    assert "and 5 more columns" in refused(frame=many)


def test_rows_dropped():
    b = np.where(np.arange(N) % 10 == 3, np.nan, A**2)
    question = asked(frame=frame(b=b), missing="drop")
    assert (question.rows_read, question.rows_dropped, len(question.X)) == (N, 6, N - 6)
    np.testing.assert_array_equal(question.y, (A + NOISE)[~np.isnan(b)])
    assert "6 rows with missing values left out (b)" in question.notes


def test_values_filled_in():
    b = np.where(np.arange(N) % 10 == 3, np.nan, A**2)
    c = ["x", "x", None] * 20
    c[0] = "z"
    question = asked(frame=frame(b=b, c=c), missing="median")
    assert question.cells_imputed == 26
    assert question.rows_dropped == 0
    assert (question.X["b"][np.isnan(b)] == np.nanmedian(b)).all()
    assert question.X["c=z"].sum() == 1
    assert "c: 20 missing values filled in with x" in question.notes
    assert any("too narrow" in note for note in question.notes)
    fills = {each.name: each.fill for each in question.recipe.ingredients}
    assert fills == {"a": np.median(A), "b": np.nanmedian(b), "c": "x"}


def test_truth_values_are_filled_in_with_one_of_them():
    question = asked(frame=frame(b=[0.0, 1.0, np.nan, 0.0, 1.0, np.nan] * 10), missing="median")
    assert set(question.X["b"]) == {0.0, 1.0}


def test_a_target_is_taken_at_its_word():
    days = 20240101 + np.arange(N) % 28
    assert "holds dates" in refused(frame=frame(y=days))
    assert asked(frame=frame(y=days), numeric=["y"]).family == "gaussian"
    assert asked(frame=frame(y=np.arange(N) + 1)).family == "gaussian"


def test_a_missing_target_is_never_filled_in():
    y = np.where(np.arange(N) < 2, np.nan, A * NOISE)
    holes = frame(y=y, b=np.where(np.arange(N) == 9, np.nan, NOISE))
    assert "y (2, the first in row 1)" in refused(frame=holes)
    for missing, rows in (("drop", 3), ("median", 2)):
        question = asked(frame=holes, missing=missing)
        assert question.rows_dropped == rows
        assert "2 rows without y left out" in question.notes
    few = frame(y=[1.0] + [np.nan] * (N - 1))
    assert "1 row of 60 left" in refused(frame=few, missing="drop")


@each(
    ("y", "family", "word"),
    [
        (A * NOISE, "gaussian", "numbers"),
        (np.arange(N) + 1950, "gaussian", "numbers"),
        (RNG.integers(0, 90, N), "gaussian", "numbers"),
        (RNG.integers(25, 346, N), "gaussian", "numbers"),
        (RNG.poisson(2.0, N), "poisson", "about their mean"),
        (RNG.negative_binomial(0.7, 0.2, N), "negative_binomial", "times what Poisson's law gives"),
        (np.arange(N) % 5 + 1, "gaussian", "whole numbers 1 to 5"),
        (np.arange(N) % 7, "gaussian", "whole numbers 0 to 6"),
        (np.arange(N) % 2, "classes", "probability of 1 is modelled"),
        (np.arange(N) % 2 + 1, "classes", "probability of 2"),
        (["pos", "neg"] * 30, "classes", "probability of pos"),
        ([True, False] * 30, "classes", "probability of True"),
        (["red", "green", "blue"] * 20, "classes", "3 classes (blue, green, red)"),
        (-RNG.poisson(2.0, N), "gaussian", "numbers"),
    ],
)
def test_the_family_is_guessed_and_said(y, family, word):
    question = asked(frame=pd.DataFrame({"a": A, "y": y}))
    assert question.family == question.recipe.family == family
    assert word in question.notes[-1]


def test_labels():
    question = asked(frame=frame(y=["ill", "well"] * 30))
    assert question.classes == question.recipe.classes == ("ill", "well")
    assert question.y.tolist() == ["ill", "well"] * 30
    question = asked(frame=frame(y=np.arange(N) % 3), family="classes")
    assert question.classes == (0, 1, 2)
    assert question.y.dtype == np.int64
    assert asked(frame=frame(y=np.arange(N) % 3), categorical=["y"]).classes == ("0", "1", "2")
    assert asked(frame=frame(y=np.arange(N) % 3), family="poisson").y.dtype == float


@each(
    ("columns", "options", "words"),
    [
        ({"y": np.nan}, {}, ["y has no values"]),
        ({"y": 4.0}, {}, ["y is 4 in every row"]),
        ({"y": "one"}, {}, ["y is one in every row"]),
        ({"y": pd.date_range("2024-01-01", periods=N)}, {}, ["y holds dates"]),
        ({"y": [f"w{j}" for j in range(N)]}, {}, ["60 different words"]),
        ({"y": [f"w{j % 25}" for j in range(N)]}, {}, ["25 classes", "at most 20"]),
        ({"y": ["1", "2", "x"] * 20}, {}, ["x in row 3"]),
        ({"y": ["u", "v"] * 30}, {"family": "poisson"}, ["holds words (u, v)", "needs numbers"]),
        ({"y": A}, {"family": "poisson"}, ["in row", "whole numbers of at least 0"]),
        ({"y": A}, {"family": "binomial"}, ["numbers from 0 to 1"]),
        ({"y": A}, {"family": "classes"}, ["60 different numbers"]),
        ({}, {"target": "Y"}, ["did you mean y?"]),
        ({}, {"target": "zzz"}, ["its columns are a, y"]),
        ({}, {"target": None}, ["--target", "a, y"]),
        ({}, {"drop": ["b"]}, ["--drop: b is not a column"]),
        ({}, {"drop": ["y"]}, ["cannot be left out"]),
        ({}, {"weights": "y"}, ["both target and weights"]),
        ({}, {"categorical": ["a"], "numeric": ["a"]}, ["both categorical and numeric"]),
        ({}, {"drop": ["a"]}, ["no column is left"]),
        ({}, {"columns": []}, ["no column is left"]),
        ({"a": 1.0}, {}, ["each has one value only"]),
        ({"a": np.nan}, {}, ["the others have no values"]),
        ({"w": A}, {"weights": "w"}, ["w is -", "a weight is at least 0"]),
        ({"w": 0.0}, {"weights": "w"}, ["all 0"]),
        ({"w": 0.0, "y": 3 + np.arange(N) % 9}, {"exposure": "w"}, ["has to be positive"]),
        ({"w": 1.0}, {"exposure": "w"}, ["exposure is for counts"]),
        ({"w": 1.0}, {"exposure": "w", "family": "gaussian"}, ["exposure is for counts", "gaussian"]),
        ({"w": 1.0, "y": ["u", "v"] * 30}, {"exposure": "w"}, ["exposure is for counts", "classes"]),
        ({"w": "x"}, {"offset": "w"}, ["w holds words (x) and no numbers"]),
        ({"b=u": A + 1, "b": ["t", "t", "u"] * 20}, {}, ["b=u is a column and a level"]),
    ],
)
def test_refused(columns, options, words):
    message = refused(frame=frame(**columns), **options)
    assert all(word in message for word in words), message


def test_what_is_misspelt_is_a_value_error():
    with pytest.raises(ValueError, match="missing='ignore' is not known"):
        asked(frame=frame(), missing="ignore")
    with pytest.raises(ValueError, match="family='posson' is not known"):
        asked(frame=frame(), family="posson")


def test_weights_offset_exposure():
    w, days = 1.0 + np.arange(N) % 3, 1.0 + np.arange(N) % 50
    y = RNG.poisson(0.5 * days)
    question = asked(
        frame=frame(y=y, w=w, o=A, days=days), weights="w", offset="o", exposure="days", columns=["a"]
    )
    np.testing.assert_array_equal(question.weights, w)
    np.testing.assert_array_equal(question.offset, A)
    np.testing.assert_array_equal(question.exposure, days)
    assert question.family == "poisson"  # the rate is the same in all rows, whatever the counts
    assert (question.recipe.weights, question.recipe.offset, question.recipe.exposure) == ("w", "o", "days")
    assert list(question.X.columns) == ["a"]


def test_a_copy_of_the_target_is_refused():
    message = refused(frame=frame(b=A + NOISE, c=A + NOISE))
    assert message.startswith("b, c are copies of the target y")
    assert "--drop b --drop c" in message
    label = ["pos", "neg"] * 30
    assert "b is a copy of the target y" in refused(frame=frame(y=label, b=[1, 0] * 30))
    assert "b is a copy" in refused(frame=frame(y=label, b=["u", "v"] * 30))


def test_what_nearly_gives_the_target_away_is_a_warning():
    question = asked(frame=frame(b=3.0 * (A + NOISE) + 1e-3 * NOISE**2))
    assert question.warnings[0].startswith("b determines y (correlation 1.0000)")
    assert "--drop b" in question.warnings[0]
    label = np.array(["pos", "neg"] * 30)
    question = asked(frame=frame(y=label, b=np.where(label == "pos", 5.0, 0.0) + np.abs(NOISE) / 10))
    assert "its values separate the classes in 100.00% of 60 rows" in question.warnings[0]
    assert asked(frame=frame(y=label)).warnings == ()
    assert asked(frame=frame()).warnings == ()


def expression(n_genes=3051, counts=(27, 11), seed=7):
    """Return a table like those of gene expression: markers that separate the classes."""
    rng = np.random.default_rng(seed)
    label = np.repeat(["ALL", "AML"], counts)
    values = rng.standard_normal((label.size, n_genes))
    shift, pathway = np.where(label == "AML", 6.0, 0.0), rng.standard_normal(label.size)
    for j in range(8):
        values[:, j] = shift - 0.2 * j * (label == "AML") + 0.6 * pathway + 0.6 * values[:, j]
    genes = pd.DataFrame(values, columns=[f"g{j}" for j in range(n_genes)])
    return pd.concat([genes, pd.Series(label, name="type")], axis=1)


def test_markers_among_thousands_of_genes_are_not_called_copies():
    wide = expression()
    apart = [g for g in wide.columns[:8] if wide[g][27:].min() > wide[g][:27].max()]
    assert len(apart) >= 3
    assert prepare_problem(Table(wide), "type").warnings == ()
    few = prepare_problem(Table(wide[[*wide.columns[:6], "type"]]), "type").warnings  # the same genes, alone
    assert "unlikely by chance among 6 columns" in few[0]


def test_a_leak_among_ten_columns_is_a_warning():
    rng = np.random.default_rng(8)
    table = pd.DataFrame(rng.standard_normal((500, 10)), columns=list("abcdefghij"))
    ill = table["a"] + rng.standard_normal(500) > 0.0
    table["d"] = np.where(ill, 10.0, 0.0) + rng.uniform(0.0, 5.0, 500)
    warned = prepare_problem(Table(table.assign(y=np.where(ill, "yes", "no"))), "y").warnings
    assert len(warned) == 1
    assert warned[0].startswith("d determines y (its values separate the classes in 100.00% of 500 rows)")
    assert warned[0].endswith(
        "unlikely by chance among 10 columns: if it is a copy or a consequence of y, drop it with --drop d"
    )


def test_categories_do_not_give_away_a_class_that_is_hardly_there():
    rng = np.random.default_rng(9)
    table = pd.DataFrame({"ward": rng.choice(["n", "s", "w"], 3000), "y": ["no"] * 2998 + ["yes"] * 2})
    assert prepare_problem(Table(table), "y").warnings == ()


def test_a_few_rows_correlate_with_some_of_thousands_of_columns():
    rng = np.random.default_rng(10)
    values = rng.standard_normal((5, 20_000))
    y = values[:, 0] + 0.05 * rng.standard_normal(5)
    wide = pd.DataFrame(values, columns=[f"g{j}" for j in range(20_000)]).assign(y=y)
    assert np.corrcoef(wide["g0"], y)[0, 1] > 0.999
    assert prepare_problem(Table(wide), "y").warnings == ()


def test_ten_thousand_columns():
    values = np.random.default_rng(4).standard_normal((30, 10_000))
    wide = pd.DataFrame(values, columns=[f"g{j}" for j in range(10_000)])
    question = asked("g0", frame=wide)
    assert question.X.shape == (30, 9_999)
    assert (question.recipe.apply(wide).X.to_numpy() == values[:, 1:]).all()


def test_odd_names_go_through(tmp_path):
    names = ['say "hi"', "two\nlines", "<script>alert(1)</script>", "体重 🐎", "a=b", "a:b", "`"]
    path = tmp_path / "odd.csv"
    pd.DataFrame(np.random.default_rng(5).standard_normal((9, 7)), columns=names).to_csv(path, index=False)
    question = prepare_problem(read_table(path), "a:b")
    assert list(question.X.columns) == [name for name in names if name != "a:b"]


def test_frames_with_numbers_for_names():
    question = asked("2", frame=pd.DataFrame(np.random.default_rng(6).standard_normal((20, 3))))
    assert list(question.X.columns) == ["0", "1"]
    assert question.recipe.apply(pd.DataFrame(np.zeros((2, 3)))).X.shape == (2, 2)


def test_numbers_that_may_name_groups_are_said():
    grades, doses = 1.0 + np.arange(N) % 5, np.arange(N) % 3
    said = "ward: a few whole numbers, taken as measured; if they name groups, say so with --categorical ward"
    data = frame(ward=grades, dose=doses, year=2000 + np.arange(N) % 5)
    assert said in asked(frame=data).notes
    assert not any("few whole numbers" in note for note in asked(frame=data, numeric=["ward"]).notes)
    assert not any("few whole numbers" in note for note in asked(frame=data, categorical=["ward"]).notes)


@pytest.mark.parametrize("unit", ["{}%", "${}", "{} mg/dl", "<{}", "{} €"])
def test_numbers_with_units_are_no_names_of_rows(unit):
    message = refused(frame=frame(dose=[unit.format(number) for number in range(N)]))
    assert "dose holds numbers with signs or units beside them" in message
    assert "take these off in the table" in message


def test_a_single_row_is_not_blamed_on_missing_values():
    assert refused(frame=frame().head(1)).startswith("the table has 1 row: a fit needs at least 2")


def test_several_names_in_one_option():
    message = refused(frame=frame(b=A, c=A), drop=["b,c"])
    assert message == "--drop: b,c is not a column of it: name one at a time, --drop b --drop c"


def test_only_what_was_filled_in_is_said_to_be():
    from horseshoe.intake.recipe_notes import fillings_of

    question = asked(frame=frame(b=np.where(np.arange(N) < 3, np.nan, 2.0 * A)), missing="median")
    assert question.imputed_columns == {"b": 3}
    filled = fillings_of(question.recipe, question.imputed_columns)
    assert [name for name, _ in filled] == ["b"]
    assert filled[0][1].startswith("3 missing values taken to be ")


def test_how_to_read_the_other_of_two_classes():
    said = asked(frame=frame(y=["died", "survived"] * (N // 2))).notes[-1]
    assert said.endswith(
        "the probability of survived is modelled; odds ratios of died are 1 divided by those of survived"
    )
    assert asked(frame=frame(y=["no", "yes"] * (N // 2))).notes[-1].endswith("of yes is modelled")


def test_words_are_not_called_numbers():
    data = frame(town=["Bonn", "Kiel"] * (N // 2))
    assert refused(frame=data, weights="town") == (
        "town holds words (Bonn) and no numbers: numbers are needed there"
    )
    assert refused(frame=data, numeric=["town"]).startswith("town holds words (Bonn) and no numbers: ")
