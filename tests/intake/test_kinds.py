"""What a column is, and what is said of those that cannot be used."""

import numpy as np
import pandas as pd
import pytest

from horseshoe.intake.kinds import describe_columns
from loops import each

N = 40
DIGITS = [f"{j % 7}" for j in range(N)]


def column(values, name="x", **options):
    return describe_columns(pd.DataFrame({name: values}), [name], **options)[name]


@each(
    ("values", "kind"),
    [
        (np.linspace(0.0, 1.0, N), "number"),
        ([3, 1, 2, 5] * 10, "number"),
        ([0, 1, 1, 0] * 10, "truth"),
        ([True, False] * 20, "truth"),
        (["yes", "no"] * 20, "truth"),
        (["Pos", "Neg"] * 20, "truth"),
        (["a", "b", "c", "d"] * 10, "category"),
        (pd.Categorical(["a", "b"] * 20), "category"),
        ([None] * N, "empty"),
        ([np.nan] * N, "empty"),
        ([f"patient {j}" for j in range(N)], "identifier"),
        (range(1, N + 1), "identifier"),
        (range(N), "identifier"),
        (pd.date_range("2024-01-01", periods=N), "date"),
        ([f"2024-01-{1 + j % 28:02d}" for j in range(N)], "date"),
        ([f"{1 + j % 28}.3.2024 12:{j:02d}" for j in range(N)], "date"),
        ([f"{1 + j % 28} March 2024" for j in range(N)], "date"),
        ([f"{j % 24}:30" for j in range(N)], "date"),
        ([20240101 + j % 28 for j in range(N)], "date"),
        ([f"the patient number {j} came in and left again" for j in range(N)], "text"),
        ([*DIGITS[:-1], "high"], "mixed"),
        ([*np.linspace(0, 1, N - 1), np.inf], "infinite"),
        ([[1, 2]] * N, "nested"),
        (np.ones(N) * 1j, "nested"),
        (range(1947, 1947 + N), "number"),  # years
        ([f"{v},5" for v in range(N)], "number"),
    ],
)
def test_kinds(values, kind):
    found = column(values)
    assert found.kind == kind
    refused = kind not in ("number", "truth", "category", "empty")
    assert (found.refusal is not None) == refused
    if refused:
        assert found.refusal.startswith("x ")
        assert "--drop x" in found.refusal or "--categorical x" in found.refusal


@pytest.mark.parametrize("name", ["id", "patient_id", "PatientID", "row", "Index", "record number"])
def test_whole_numbers_under_the_name_of_an_identifier(name):
    values = np.random.default_rng(0).permutation(1000)[:N] + 5000
    assert column(values, name).kind == "identifier"
    assert column(values, "weight").kind == "number"
    assert column(values, name, numeric=[name]).kind == "number"


def test_a_mixed_column_names_the_first_offender():
    found = column(["1.5", "2", "x", "y", *DIGITS])
    assert "x holds numbers, but x in row 3 and 1 other value" in found.refusal
    assert column(["1.5", "2", "x", "y", *DIGITS], categorical=["x"]).kind == "category"
    assert column(["1.5", "2", "x", "y"], numeric=["x"]).kind == "mixed"


def test_words_for_missing_numbers_are_said():
    found = column(["1", "2", "unknown", "?", None, "n/a", "unknown"])
    assert found.missing.tolist() == [False, False, True, True, True, True, True]
    assert found.notes == ("x: unknown read as missing in 2 rows",)


@pytest.mark.parametrize(
    ("words", "numbers", "note"),
    [
        (["1,234", "12", "5,678,901"], [1234, 12, 5678901], "commas between thousands"),
        (["1.234,5", "12,25", "3"], [1234.5, 12.25, 3], "points between thousands"),
        (["1 234", "12"], [1234, 12], "spaces between thousands"),
        (["1,5", "2,25"], [1.5, 2.25], "decimal commas"),
        (["1.5 ", " -2e3"], [1.5, -2000], None),
    ],
)
def test_ways_to_write_numbers(words, numbers, note):
    found = column(words)
    assert found.numbers.tolist() == numbers
    assert found.notes == (() if note is None else (f"x: numbers with {note}",))


def test_truth_values_are_in_order():
    found = column(["yes", "no", None, "yes"])
    assert found.words == ("no", "yes")
    assert found.codes.tolist() == [1, 0, -1, 1]
    assert column(["T", "F", "T"]).words == ("F", "T")
    assert column([True, False, None]).words == ("False", "True")


def test_spaces_do_not_make_levels_and_numbers_can_be_levels():
    assert column(["a", "a ", " b"] * 10).words == ("a", "b")
    assert column([2019.0, 2020.0, np.nan], categorical=["x"]).words == ("2019", "2020")


def test_many_levels_are_said():
    found = column([f"w{j % 60}" for j in range(300)])
    assert found.kind == "category"
    assert found.notes == ("x has 60 levels, each a column of its own",)


def test_names_are_shown_safely():
    found = column([f"\x1b[31m{j}" for j in range(N)], "bad\x1b[31m\nname")
    assert "\x1b" not in found.refusal
    assert "\n" not in found.refusal


def test_mixed_chunks_of_a_file_are_one_column():
    found = column(np.array([1, 2.5, "3", None, " x"], dtype=object), categorical=["x"])
    assert found.words == ("1", "2.5", "3", "x")
