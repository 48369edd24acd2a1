"""Decimal signs and thousands: the whole table decides, and what it does not show is asked about."""

import io

import numpy as np
import pandas as pd
import pytest

from horseshoe.intake import Table, TableError, prepare_problem, read_table
from horseshoe.intake.kinds import describe_columns

SEPARATORS = pytest.mark.parametrize("mark", [";", "\t", "|"])


def read(rows, mark=";", **options):
    return read_table("-", stdin="\n".join(mark.join(row) for row in rows).encode(), **options)


def refused(*arguments, **options):
    with pytest.raises(TableError) as caught:
        read(*arguments, **options)
    return str(caught.value)


@SEPARATORS
def test_a_point_stands_between_thousands_where_any_number_has_a_decimal_comma(mark):
    table = read([["sales", "change"], ["7.805", "-0,11"], ["12", "3"]], mark)
    assert table.frame["sales"].tolist() == [7805.0, 12.0]
    assert table.frame["change"].tolist() == [-0.11, 3.0]
    assert (table.decimal, "decimal commas" in table.notes) == ("comma", True)
    assert table.column_notes == {"sales": ("sales: numbers with points between thousands",)}


@SEPARATORS
def test_a_number_far_behind_the_beginning_decides_too(mark):
    rows = [["sales", "change"], *([["7.805", "1"]] * 3000), ["1.200", "0,5"]]
    assert read(rows, mark).frame["sales"].iloc[[0, -1]].tolist() == [7805.0, 1200.0]


@pytest.mark.parametrize(
    ("word", "number"),
    [("7.805", 7.805), ("1,234", 1234.0), ("1,234.5", 1234.5), ("1,234,567", 1234567.0), ("12", 12.0)],
)
def test_numbers_beside_a_decimal_point(word, number):
    assert read([["a", "b"], [word, "0.5"]]).frame["a"].tolist() == [number]


@pytest.mark.parametrize(
    ("word", "number"),
    [
        *[("7,805", 7.805), ("1.234", 1234.0), ("1.234,5", 1234.5), ("1.234.567", 1234567.0), ("12", 12.0)],
        *[("1 234,5", 1234.5), ("1'234,5", 1234.5), ("1\u00a0234", 1234.0), ("-7.805", -7805.0)],
    ],
)
def test_numbers_beside_a_decimal_comma(word, number):
    assert read([["a", "b"], [word, "0,5"]]).frame["a"].tolist() == [number]


@pytest.mark.parametrize("word", ["7.805", "7,805", "-1.250", "100,000"])
@SEPARATORS
def test_what_no_number_shows_is_asked(word, mark):
    rows = [["sales", "grade"], ["12", "3"], [word, "4"]]
    message = refused(rows, mark)
    assert message == (
        f"sales is {word} in row 2, and no number in standard input shows whether the decimal sign is the "
        "point or the comma: say which it is with --decimal point or --decimal comma"
    )
    thousands = float(word.replace(".", "").replace(",", ""))
    for decimal, sign in (("point", "."), ("comma", ",")):
        found = read(rows, mark, decimal=decimal).frame["sales"][1]
        assert found == (thousands / 1000.0 if sign in word else thousands)
        assert read(rows, mark, usual=decimal).frame["sales"][1] == found


@pytest.mark.parametrize("rows", [[["a", "b"], ["1", "x 1.234"]], [["a", "b"], ["1", "12.05.2024"]]])
def test_words_with_numbers_in_them_are_not_asked_about(rows):
    assert read(rows).frame["b"].tolist() == [rows[1][1]]
    assert read(rows).decimal is None


def test_a_table_with_commas_between_fields_has_decimal_points():
    table = read([["a", "b"], ["7.805", '"1,234"']], ",")
    assert table.frame.to_numpy().tolist() == [[7.805, 1234.0]]
    assert table.column_notes == {"b": ("b: numbers with commas between thousands",)}
    table = read([["a", "b"], ["7.805", '"0,5"']], ",")  # but not where a number says otherwise
    assert table.frame.to_numpy().tolist() == [[7805.0, 0.5]]


def test_both_signs_in_one_table():
    rows = [["a", "b"], ["1,5", "2.5"], ["1.234,5", "0.125"]]
    assert read(rows).frame.to_numpy().tolist() == [[1.5, 2.5], [1234.5, 0.125]]
    message = refused([[*row, each] for row, each in zip(rows, ["c", "7.805", "12"], strict=True)])
    assert message.startswith("c is 7.805 in row 1, and standard input has both decimal points (2.5 in b)")
    assert "decimal commas (1,5 in a): say which it is with --decimal point" in message
    mixed = read([["a", "b"], ["1,5", "1"], ["2.5", "2"]]).frame
    assert mixed["a"].tolist() == ["1,5", "2.5"]
    assert "a holds numbers, but 1,5 in row 1" in describe_columns(mixed, ["a"])["a"].refusal


def test_categories_do_not_decide_and_are_not_asked_about():
    rows = [["code", "n"], ["1.234", "1"], ["5.678", "2"]]
    assert read(rows, words=["code"]).frame["code"].tolist() == ["1.234", "5.678"]


def test_a_named_sign_is_taken_at_its_word():
    rows = [["a", "b"], ["7.805", "0,5"]]
    assert read(rows, decimal="comma").frame["a"].tolist() == [7805.0]
    assert read(rows, decimal="point").frame["b"].tolist() == ["0,5"]
    with pytest.raises(ValueError, match=r"decimal='dot' is not known"):
        read(rows, decimal="dot")


def test_texts_of_arrow_files_are_read_alike(tmp_path):
    path = tmp_path / "sales.parquet"
    frame = pd.DataFrame({"sales": ["7.805", "12"], "change": ["-0,11", None], "lists": [[1], [2]]})
    frame.to_parquet(path)
    table = read_table(path)
    assert table.frame["sales"].tolist() == [7805.0, 12.0]
    assert table.frame["change"].tolist()[0] == -0.11
    frame[["sales"]].to_parquet(path)
    with pytest.raises(TableError, match=r"sales is 7\.805 in row 1, and no number in .* --decimal"):
        read_table(path)


def test_all_of_a_long_column_is_read_in_one_way():
    numbers = np.random.default_rng(0).standard_normal(150_000).round(4)
    words = [str(number).replace(".", ",") for number in numbers]
    table = read([["a", "b"], *([word, "1"] for word in words), ["unknown", "2"]])
    np.testing.assert_array_equal(table.frame["a"].to_numpy()[:-1], numbers)
    assert table.column_notes["a"][1] == "a: unknown read as missing in 1 row"


@pytest.mark.parametrize(
    ("words", "numbers", "note"),
    [
        (["1'234", "12"], [1234, 12], "apostrophes between thousands"),
        (["1\u2019234.5", "12.25"], [1234.5, 12.25], "apostrophes between thousands"),
        (["1 234,5", "12,25"], [1234.5, 12.25], "spaces between thousands and decimal commas"),
        (["0,123", "0,456"], [0.123, 0.456], "decimal commas"),
        (["1.000", "2.345.678"], [1000, 2345678], "points between thousands"),
    ],
)
def test_ways_to_write_numbers(words, numbers, note):
    found = describe_columns(pd.DataFrame({"x": words}), ["x"])["x"]
    assert found.numbers.tolist() == numbers
    assert found.notes == (f"x: numbers with {note}",)


@pytest.mark.parametrize("words", [["1'234", "1 234"], ["1 234,5", "1 234.5"], ["1'234,5", "7.5"]])
def test_ways_are_not_mixed_up(words):
    found = describe_columns(pd.DataFrame({"x": words * 3}), ["x"])["x"]
    assert found.kind == "mixed"
    assert "x holds numbers, but " in found.refusal


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_leading_zeros_mark_codes(mark):
    codes = ["01067", "10115", "20095", "01067"] * 10
    rows = [["plz", "y"], *([code, str(number % 7)] for number, code in enumerate(codes))]
    table = read(rows, mark)
    assert table.frame["plz"].tolist() == codes
    question = prepare_problem(table, "y")
    assert list(question.X.columns) == ["plz=10115", "plz=20095"]
    said = "plz: leading zeros (01067) mark codes, taken as categories; if they are numbers, say so with "
    assert f"{said}--numeric plz" in question.notes
    assert prepare_problem(table, "y", numeric=["plz"]).X["plz"].tolist() == [float(code) for code in codes]
    new = question.recipe.apply(read([["plz"], ["10115"]], mark, words=["plz"]).frame)
    assert new.X["plz=10115"].tolist() == [1.0]


def test_codes_that_name_the_rows_are_refused_with_all_ways_out():
    found = describe_columns(pd.DataFrame({"no": [f"{number:03d}" for number in range(40)]}), ["no"])["no"]
    assert found.kind == "identifier"
    assert "--drop no" in found.refusal
    assert "or if it is a number, with --numeric no" in found.refusal


@pytest.mark.parametrize("words", [["0", "1", "2"], ["0.5", "01.5", "2"], ["-05", "3", "2"]])
def test_other_zeros_are_numbers(words):
    frame = read_table("-", stdin=("x,y\n" + "".join(f"{word},1\n" for word in words * 5)).encode()).frame
    assert describe_columns(frame, ["x"])["x"].numbers.tolist() == [float(word) for word in words * 5]


def test_the_effect_has_the_unit_of_the_thousands():
    rng = np.random.default_rng(1)
    sales, change = rng.integers(1000, 9000, 40), rng.standard_normal(40).round(2)
    y = 0.002 * sales + change
    out = io.StringIO()
    frame = pd.DataFrame(
        {"sales": [f"{each:,}".replace(",", ".") for each in sales], "change": change, "y": y}
    )
    frame.to_csv(out, sep=";", decimal=",", index=False)
    question = prepare_problem(read_table("-", stdin=out.getvalue().encode()), "y")
    effects = np.linalg.lstsq(question.X, question.y, rcond=None)[0]
    np.testing.assert_allclose(effects, [0.002, 1.0], rtol=1e-8)
    assert "sales: numbers with points between thousands" in question.notes
    assert not any(
        "sales" in note
        for note in prepare_problem(read_table("-", stdin=out.getvalue().encode()), "y", drop=["sales"]).notes
    )


def test_a_frame_of_python_has_its_own_columns():
    frame = pd.DataFrame({"a": ["1,5", "2,5", "0,5"] * 5, "y": np.arange(15.0)})
    assert prepare_problem(Table(frame), "y", numeric=["y"]).X["a"].tolist() == [1.5, 2.5, 0.5] * 5
