"""Codes for missing values: those that are named are gaps, and those that look like one are asked about."""

import numpy as np
import pandas as pd
import pytest

from horseshoe.intake import Recipe, Table, TableError, prepare_problem, read_table
from horseshoe.intake.placeholders import find_codes
from loops import each

N = 60
RNG = np.random.default_rng(11)
AGES = RNG.integers(18, 90, N).astype(float)
GRADES = 1.0 + np.arange(N) % 5
CHILDREN = RNG.poisson(1.2, N).astype(float)
NOISE = RNG.standard_normal(N)
PRICES = np.exp(7.0 + RNG.standard_normal(N)).round()
Y = RNG.standard_normal(N)


def holding(values, *codes):
    changed = np.array(values, dtype=float)
    changed[3 : 3 + len(codes)] = codes
    return changed


def asked(column, **options):
    return prepare_problem(Table(pd.DataFrame({"a": column, "b": NOISE, "y": Y}), (), "it"), "y", **options)


def refused(column, **options):
    with pytest.raises(TableError) as caught:
        asked(column, **options)
    return str(caught.value)


@each("code", [-999, -9999, 999, 9999, 99999])
@each("values", [AGES, GRADES, CHILDREN, NOISE], ids=["ages", "grades", "counts", "noise"])
@each("times", [1, 4])
def test_a_code_far_from_small_numbers_is_asked_about(values, code, times):
    message = refused(holding(values, *[code] * times))
    rows = "1 row (row 4)" if times == 1 else "4 rows (the first in row 4)"
    assert message.startswith(f"a is {code} in {rows}, far from its other values (")
    assert f"say so with --missing-value 'a={code}'" in message
    assert message.endswith("if it was measured, with --numeric a")


@each(
    ("values", "codes"),
    [
        *[(AGES, [-1]), (AGES, [-9]), (AGES, [-99]), (AGES, [998, 999]), (AGES, [999.9])],
        *[(GRADES, [99]), (GRADES, [98, 99, 99]), (GRADES, [-9]), (GRADES, [-1] * 3), (NOISE, [99])],
        *[(CHILDREN, [99]), (CHILDREN, [-9] * 3), (1950.0 + np.arange(N), [9999]), (PRICES, [-999])],
    ],
)
def test_codes_of_other_kinds(values, codes):
    assert find_codes(holding(values, *codes)).tolist() == sorted(set(codes))


@pytest.mark.parametrize(
    ("values", "codes"),
    [
        *[(AGES, [99]), (GRADES, [9]), (NOISE, [-1, -9]), (CHILDREN, [9]), (PRICES, [999, 999, 9999])],
        *[(1940.0 + np.arange(N), [1999]), (np.arange(N) * 331.0, [999, 9999]), (NOISE * 400.0, [-999, 999])],
        *[(np.arange(N) % 2, [-1]), (95.0 + np.arange(N) % 6, [99]), (100.0 + np.arange(N), [97])],
    ],
)
def test_ordinary_values_are_not(values, codes):
    assert find_codes(holding(values, *codes)).size == 0


def test_several_columns_are_asked_about_at_once():
    frame = pd.DataFrame({f"a{j}": holding(AGES + j, -999) for j in range(12)} | {"y": holding(Y, 9999)})
    with pytest.raises(TableError) as caught:
        prepare_problem(Table(frame), "y")
    lines = str(caught.value).splitlines()
    assert len(lines) == 12
    assert lines[-2] == "and 3 more columns like these"
    assert lines[-1] == "--missing-value -999 without a column says so for all columns"


def test_the_target_and_its_companions_are_asked_about():
    frame = pd.DataFrame({"a": AGES, "y": holding(Y, -999), "w": holding(GRADES, 999)})
    with pytest.raises(TableError, match="y is -999 in 1 row"):
        prepare_problem(Table(frame), "y", drop=["w"])
    with pytest.raises(TableError, match="w is 999 in 1 row"):
        prepare_problem(Table(frame), "y", weights="w", numeric=["y"])


def test_what_was_measured_is_kept():
    assert asked(holding(AGES, 999), numeric=["a"]).X["a"].max() == 999.0
    assert "a=999" in asked(holding(GRADES, 999), categorical=["a"]).X.columns


@pytest.mark.parametrize("text", ["999", "a=999", "a=999.0", 999])
def test_a_named_value_is_missing_in_the_fit_and_in_new_rows(text):
    column = holding(AGES, 999, 999)
    assert "2 of 60 rows have missing values: a (2" in refused(column, missing_values=[text])
    question = asked(column, missing_values=[text], missing="median")
    assert question.X["a"].iloc[3] == np.median(np.delete(AGES, [3, 4]))
    value = str(text).removeprefix("a=")
    assert f"a: {value} read as missing in 2 rows" in question.notes
    recipe = Recipe.from_plain(question.recipe.to_plain())
    assert recipe == question.recipe
    applied = recipe.apply(pd.DataFrame({"a": [31, 999], "b": [0.0, 999.0]}))
    assert applied.X["a"].iloc[1] == question.X["a"].iloc[3]
    assert f"a: {value} read as missing in 1 row" in applied.notes


def test_words_can_stand_for_missing_values():
    question = asked(["x", "refused", "z"] * 20, missing_values=["a=refused"], missing="drop")
    assert question.rows_dropped == 20
    assert list(question.X.columns) == ["a=z", "b"]


def test_a_value_that_is_nowhere_is_refused():
    assert refused(AGES, missing_values=["-5"]).startswith("--missing-value -5: no row of it has that value")
    assert "--missing-value 'a=-5': no row of it has that value in a" in refused(
        AGES, missing_values=["a=-5"]
    )
    message = refused(AGES, missing_values=["aa=999"])
    assert message == "--missing-value 'aa=999': aa is not a column of it: did you mean a?"


@pytest.mark.parametrize("name", ["diabetes", "breast_cancer", "wine", "iris"])
def test_no_column_of_real_data_is_asked_about(name):
    frame = read_table(name).frame
    assert not any(find_codes(frame[each].to_numpy(float)).size for each in frame.select_dtypes("number"))
