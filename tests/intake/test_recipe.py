"""Recipes: new rows are treated as those of the fit were, and what comes from a file is checked."""

import json
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest

from horseshoe.intake import Recipe, Table, TableError, prepare_problem
from loops import each

N = 40
RNG = np.random.default_rng(2)
FRAME = pd.DataFrame(
    {
        "a": RNG.standard_normal(N),
        "city": ["Bonn", "Kiel", "Bonn", "Ulm"] * 10,
        "smoker": ["yes", "no"] * 20,
        "flag": [0, 1, 1, 0] * 10,
        "days": 1.0 + RNG.random(N),
        "shift": RNG.standard_normal(N),
        "y": RNG.poisson(3.0, N),
    }
)


def question(frame=FRAME, **options):
    return prepare_problem(Table(frame), "y", **options)


RECIPE = question(exposure="days", offset="shift").recipe
IMPUTING = question(missing="median", drop=["days", "shift"]).recipe
FORMULA = prepare_problem(Table(FRAME), formula="y ~ a * city", family="gaussian").recipe


def refused(frame, recipe=RECIPE, **options):
    with pytest.raises(TableError) as caught:
        recipe.apply(frame, **options)
    return str(caught.value)


def test_the_rows_of_the_fit_come_out_as_in_the_fit():
    for options in (
        {},
        {"formula": "y ~ a * city + log(days)"},
        {"missing": "median"},
        {"family": "gaussian"},
    ):
        asked = prepare_problem(Table(FRAME), "y", **options)
        applied = asked.recipe.apply(FRAME)
        pd.testing.assert_frame_equal(applied.X, asked.X)
        assert applied.dropped == ()


def test_columns_are_found_by_name_and_extra_ones_said():
    new = FRAME.iloc[:3, ::-1].assign(more=1.0)
    applied = RECIPE.apply(new)
    np.testing.assert_array_equal(applied.X.to_numpy(), RECIPE.apply(FRAME).X.iloc[:3].to_numpy())
    assert applied.notes == ("1 column not used by the model: more",)
    np.testing.assert_array_equal(applied.offset, FRAME["shift"][:3])
    np.testing.assert_array_equal(applied.exposure, FRAME["days"][:3])
    assert RECIPE.apply(FRAME.drop(columns="y")).notes == ()


def test_missing_columns_are_all_named():
    message = refused(FRAME[["a", "y"]])
    assert "5 columns of the model are not in the table: city, smoker, flag, shift, days" in message
    assert "did you mean City?" in refused(FRAME.rename(columns={"city": "City"}))


def test_unseen_levels():
    new = FRAME.iloc[:4].assign(city=["Bonn", "Rome", "Oslo", "Ulm"])
    message = refused(new)
    assert "city is Rome in row 2, a level the fit has not seen" in message
    applied = RECIPE.apply(new, missing="drop")
    assert applied.dropped == (2, 3)
    assert len(applied.X) == len(applied.offset) == len(applied.exposure) == 2
    assert "city has levels the fit has not seen (Oslo, Rome): treated as missing" in applied.notes
    applied = IMPUTING.apply(new)
    assert applied.X[["city=Kiel", "city=Ulm"]].to_numpy().tolist() == [[0, 0], [0, 0], [0, 0], [0, 1]]
    assert "city: 2 missing values filled in with Bonn" in applied.notes
    assert "Rome" in refused(new, FORMULA)


def test_missing_values():
    new = FRAME.iloc[:4].assign(a=[1.0, np.nan, 2.0, 3.0], city=["Bonn", "Ulm", None, "?"])
    message = refused(new)
    assert (
        "3 of 4 rows have missing values: city (2, the first in row 3), a (1, the first in row 2)" in message
    )
    applied = RECIPE.apply(new, missing="drop")
    assert applied.dropped == (2, 3, 4)
    assert "3 rows with missing values left out" in applied.notes
    assert "kept no values" in refused(new, missing="median")
    applied = IMPUTING.apply(new)
    assert applied.X["a"].iloc[1] == np.median(FRAME["a"])
    assert "days (1, the first in row 1)" in refused(FRAME.iloc[:1].assign(days=np.nan))


def test_columns_without_any_value():
    new = FRAME.iloc[:2].assign(a=[None, None], city=[None, None], smoker=np.nan)
    applied = IMPUTING.apply(new)
    assert (applied.X["a"] == np.median(FRAME["a"])).all()
    assert (applied.X["city=Kiel"] == 0).all()


@pytest.mark.parametrize(
    ("column", "values", "words"),
    [
        ("a", ["1", "x"], ["a holds numbers, but x in row 2"]),
        ("a", pd.date_range("2024-01-01", periods=2), ["a holds dates"]),
        ("a", [1.0, np.inf], ["a is infinite in row 2"]),
        ("days", [1.0, -1.0], ["days is -1 in row 2", "positive"]),
        ("city", [3, 4], ["city is 3 in row 1"]),
        ("smoker", [True, False], ["smoker is True in row 1"]),
    ],
)
def test_wrong_types(column, values, words):
    message = refused(FRAME.iloc[:2].assign(**{column: values}))
    assert all(word in message for word in words), message


def test_numbers_may_come_as_words_and_levels_as_numbers():
    years = FRAME.assign(year=[2019, 2020] * 20)
    recipe = question(years, categorical=["year"]).recipe
    for values in ([2020.0, np.nan], ["2020", "2019"], [2020, 2019], ["2020.0", "2019.0"]):
        new = years.iloc[:2].assign(year=values, a=["1.5", " 2"])
        applied = recipe.apply(new, missing="drop")
        assert applied.X["year=2020"].iloc[0] == 1.0
        assert applied.X["a"].iloc[0] == 1.5


def test_truth_values_in_either_case():
    truth = FRAME.assign(ok=[True, False] * 20)
    recipe = question(truth).recipe
    for values in ([True, False], ["TRUE", "false"], pd.array([True, False], dtype="boolean")):
        assert recipe.apply(truth.iloc[:2].assign(ok=values)).X["ok=True"].tolist() == [1.0, 0.0]


def test_one_row_and_no_rows():
    assert RECIPE.apply(FRAME.iloc[:1]).X.shape == (1, 6 - 1)
    assert RECIPE.apply(FRAME.iloc[:0]).X.shape == (0, 5)
    assert FORMULA.apply(FRAME.iloc[:0]).X.shape == (0, 5)


def test_twice_the_same_name():
    new = pd.concat([FRAME, FRAME[["a"]]], axis=1)
    assert "a stands more than once" in refused(new)


@pytest.mark.parametrize("recipe", [RECIPE, IMPUTING, FORMULA], ids=["plain", "imputing", "formula"])
def test_there_and_back_through_json(recipe):
    again = Recipe.from_plain(json.loads(json.dumps(recipe.to_plain(), allow_nan=False)))
    assert again == recipe
    assert repr(again) == repr(recipe)  # the floats are the same to the last bit
    with pytest.raises(FrozenInstanceError):
        recipe.family = "other"


def test_labels_there_and_back():
    for y in (["u", "v", "v", "v"] * 10, [0, 1, 1, 1] * 10, [0.5, 1.5, 1.5, 1.5] * 10):
        recipe = question(FRAME.assign(y=y)).recipe
        again = Recipe.from_plain(json.loads(json.dumps(recipe.to_plain())))
        assert again.classes == recipe.classes
        assert list(map(type, again.classes)) == list(map(type, recipe.classes))


def _changed(path, value):
    plain = json.loads(json.dumps(IMPUTING.to_plain()))
    here = plain
    for step in path[:-1]:
        here = here[step]
    if value is KeyError:
        del here[path[-1]]
    else:
        here[path[-1]] = value
    return plain


@each(
    ("path", "value"),
    [
        (["target"], 3),
        (["target"], None),
        (["target"], KeyError),
        (["more"], 1),
        (["family"], "posson"),
        (["family"], ["poisson"]),
        (["missing"], "perhaps"),
        (["formula"], 1),
        (["formula"], "y ~ __import__('os')"),
        (["formula"], "y ~ not_there"),
        (["weights"], 1),
        (["fit_intercept"], 1),
        (["encoded"], "a"),
        (["encoded"], ["a", "a"]),
        (["encoded"], [1]),
        (["decimal"], "dot"),
        (["decimal"], ["comma"]),
        (["missing_values"], "999"),
        (["missing_values"], [999]),
        (["ranges"], {}),
        (["ranges"], [["a", [1.0]]]),
        (["ranges"], [["a", [2.0, 1.0]]]),
        (["ranges"], [["a", [0.0, "1"]]]),
        (["ranges"], [["a", [0.0, "Infinity"]]]),
        (["ranges"], [["a", [0.0, float("inf")]]]),
        (["missing_in"], {}),
        (["missing_in"], [["a", "perhaps"]]),
        (["missing_in"], [["a", ["drop"]]]),
        (["classes"], {}),
        (["classes"], [None]),
        (["classes"], [float("nan")]),
        (["classes"], [10**400]),
        (["classes"], [True]),
        (["ingredients"], {}),
        (["ingredients"], [1]),
        (["ingredients", 0], {}),
        (["ingredients", 0, "name"], 1),
        (["ingredients", 1, "name"], "a"),
        (["ingredients", 0, "kind"], "secret"),
        (["ingredients", 0, "kind"], []),
        (["ingredients", 0, "levels"], ["x"]),
        (["ingredients", 0, "fill"], "x"),
        (["ingredients", 0, "fill"], float("inf")),
        (["ingredients", 0, "fill"], 10**400),
        (["ingredients", 1, "levels"], []),
        (["ingredients", 1, "levels"], ["x", "x"]),
        (["ingredients", 1, "levels"], "xy"),
        (["ingredients", 1, "fill"], "Rome"),
        (["ingredients", 1, "fill"], 1.0),
        (["ingredients", 1, "extra"], 1.0),
    ],
)
def test_what_is_no_recipe_is_refused(path, value):
    assert IMPUTING.ingredients[0].kind == "number"
    assert IMPUTING.ingredients[1].kind == "category"
    with pytest.raises(ValueError):
        Recipe.from_plain(_changed(path, value))


@pytest.mark.parametrize("plain", [None, [], "x", 3, {}])
def test_what_is_not_even_a_dictionary(plain):
    with pytest.raises(ValueError, match="recipe"):
        Recipe.from_plain(plain)


def test_encoded_columns_that_the_recipe_cannot_make():
    with pytest.raises(ValueError, match="makes no column z"):
        Recipe.from_plain(_changed(["encoded"], ["a", "z"])).apply(FRAME)


def _paths(plain, path=()):
    yield path
    items = plain.items() if isinstance(plain, dict) else enumerate(plain) if isinstance(plain, list) else ()
    for key, value in items:
        yield from _paths(value, (*path, key))


@pytest.mark.parametrize("recipe", [RECIPE, IMPUTING, FORMULA], ids=["plain", "imputing", "formula"])
def test_a_changed_recipe_is_refused_or_applied(recipe):
    values = [
        None,
        True,
        -1,
        1.5,
        "",
        "a",
        "city",
        "Bonn",
        [],
        {},
        ["Bonn"],
        "y ~ a",
        "y ~ (",
        "number",
        "category",
        "drop",
    ]
    paths = [path for path in _paths(recipe.to_plain()) if path]
    outcomes = set()
    for number, path in enumerate(paths * 4):
        plain = json.loads(json.dumps(recipe.to_plain()))
        here = plain
        for step in path[:-1]:
            here = here[step]
        here[path[-1]] = values[(7 * number) % len(values)]
        try:
            Recipe.from_plain(plain).apply(FRAME.iloc[:3])
            outcomes.add("applied")
        except ValueError:
            outcomes.add("refused")
    assert "refused" in outcomes


@pytest.mark.parametrize("formula", [None, "y ~ a * city + smoker + log(days)", "y ~ log(a - days + 9)"])
def test_what_columns_stand_for_can_be_told_without_the_data(formula):
    from horseshoe.intake.recipe_notes import terms_of

    asked = question(formula=formula)
    assert terms_of(Recipe.from_plain(asked.recipe.to_plain())) == asked.terms


def test_new_rows_get_no_advice_that_only_a_fit_can_follow():
    recipe = question().recipe
    with pytest.raises(TableError) as caught:
        recipe.apply(FRAME.assign(a=["x", *FRAME["a"].astype(str)[1:]]))
    assert str(caught.value) == "a holds numbers, but x in row 1: mend the value, or leave the cell empty"


@pytest.mark.parametrize("words", [("yes", "no"), ("YES", "No"), (1, 0), (1.0, 0.0)])
def test_truth_may_be_written_otherwise_in_new_rows(words):
    recipe = question().recipe
    new = FRAME.assign(smoker=list(words) * 20)
    pd.testing.assert_frame_equal(recipe.apply(new).X, recipe.apply(FRAME).X)


def test_truth_values_may_come_as_numbers():
    frame = FRAME.assign(smoker=FRAME["smoker"] == "yes")
    recipe = question(frame).recipe
    for new in (
        frame.assign(smoker=frame["smoker"].astype(int)),
        frame.assign(smoker=["TRUE", "FALSE"] * 20),
    ):
        pd.testing.assert_frame_equal(recipe.apply(new).X, recipe.apply(frame).X)


def test_other_words_than_false_and_true_stay_unknown():
    with pytest.raises(TableError, match="smoker is 2 in row 1, a level the fit has not seen"):
        question().recipe.apply(FRAME.assign(smoker=[2, 0] * 20))
    with pytest.raises(TableError, match="city is KIEL in row 2"):
        question().recipe.apply(FRAME.replace({"city": {"Kiel": "KIEL"}}))


def test_columns_with_other_capitals_are_named():
    with pytest.raises(TableError, match="the table writes them with other capitals: rename its columns"):
        question().recipe.apply(FRAME.rename(columns=str.upper))


def test_values_far_outside_the_range_of_the_fit_are_named():
    low, high = FRAME["a"].min(), FRAME["a"].max()
    assert RECIPE.ranges["a"] == (low, high)
    assert RECIPE.ranges["days"] == (FRAME["days"].min(), FRAME["days"].max())  # an exposure has one too
    width = high - low
    near, far = FRAME.iloc[:3].copy(), FRAME.iloc[:3].copy()
    near["a"], far["a"] = [low - 0.99 * width, high + 0.99 * width, 0.0], [low - 1.01 * width, 0.0, 1e300]
    assert RECIPE.apply(near).warnings == ()
    (said,) = RECIPE.apply(far).warnings
    assert said.startswith("a is far outside the range that was fitted (")
    assert " in 2 rows: " in said
    assert "in row 1" in said
    assert "in row 3" in said
    assert RECIPE.apply(FRAME).warnings == ()
    assert "days is far outside" in RECIPE.apply(FRAME.iloc[:2].assign(days=[1e6, 1.5])).warnings[0]


def test_rows_that_are_dropped_are_not_warned_about():
    new = FRAME.iloc[:2].assign(a=[1e6, 0.0], city=[None, "Bonn"])
    assert RECIPE.apply(new, missing="drop").warnings == ()


def test_many_columns_outside_are_counted():
    wide = pd.DataFrame(RNG.standard_normal((30, 14)), columns=[f"x{j}" for j in range(14)])
    said = prepare_problem(Table(wide), "x0").recipe.apply(wide + 1e3).warnings
    assert len(said) == 11
    assert said[-1] == "and so are 3 more columns"


def test_how_the_numbers_of_new_rows_are_read_is_said():
    words = FRAME.iloc[:2].assign(a=["1,234", "unknown"])
    applied = RECIPE.apply(words, missing="drop")
    assert "a: numbers with commas between thousands" in applied.notes
    assert "a: unknown read as missing in 1 row" in applied.notes
    assert "a is far outside the range that was fitted" in applied.warnings[0]
