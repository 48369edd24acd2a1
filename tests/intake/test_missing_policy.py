"""Missing values: what is filled in, what is dropped, and what is neither unless it is named."""

import numpy as np
import pandas as pd
import pytest

from horseshoe.intake import Recipe, Table, TableError, prepare_problem
from horseshoe.intake.recipe_notes import missing_sentences

N = 40
RNG = np.random.default_rng(21)
FRAME = pd.DataFrame(
    {
        "trt": np.arange(N) % 2 + 0.0,
        "age": RNG.integers(20, 80, N) + 0.0,
        "chol": RNG.standard_normal(N),
        "clinic": ["x", "y", "z", "z"] * (N // 4),
        "y": RNG.poisson(3.0, N) + 0.0,
        "w": 1.0 + np.arange(N) % 3,
    }
)


def holes(**rows):
    frame = FRAME.copy()
    for name, places in rows.items():
        frame.loc[places, name] = None
    return frame


def asked(frame, **options):
    return prepare_problem(Table(frame, (), "it"), options.pop("target", "y"), **options)


def refused(frame, **options):
    with pytest.raises(TableError) as caught:
        asked(frame, **options)
    return str(caught.value)


def test_unpenalised_columns_are_filled_in_only_by_name():
    frame = holes(trt=[1, 4, 6], chol=[2, 4])
    assert asked(frame, drop=["w"], missing="median").cells_imputed == 5
    message = refused(frame, drop=["w"], missing="median", unpenalized=["trt"])
    assert message == (
        "trt is not penalised; 3 of 40 rows have no value of it. Fill it in by name with --missing "
        "'trt=median', or drop these rows with --missing 'trt=drop'"
    )
    named = asked(frame, drop=["w"], missing=["median", "trt=median"], unpenalized=["trt"])
    assert (named.cells_imputed, named.rows_dropped, named.rows_imputed) == (5, 0, 4)
    dropped = asked(frame, drop=["w"], missing=["trt=drop", "median"], unpenalized=["trt"])
    assert (dropped.cells_imputed, dropped.rows_dropped) == (1, 3)
    assert dropped.imputed_columns == {"chol": 1}
    assert dropped.dropped_gaps == {"trt": 3}


def test_terms_of_a_formula_are_not_penalised_either():
    frame = holes(age=[3], clinic=[5])
    options = {"formula": "y ~ log(age) * clinic + chol", "target": None, "missing": "median"}
    assert asked(frame, unpenalized=["chol"], **options).cells_imputed == 2
    assert refused(frame, unpenalized=["log(age)"], **options).startswith(
        "age is not penalised; 1 of 40 rows has"
    )
    both = refused(frame, unpenalized=["log(age):clinic"], **options)
    assert [line.split()[0] for line in both.splitlines()] == ["age", "clinic"]


@pytest.mark.parametrize(
    ("role", "words"),
    [("weights", "holds the weights"), ("offset", "is the offset"), ("exposure", "is the exposure")],
)
def test_companions_of_the_target_are_never_filled_in(role, words):
    frame = holes(w=[7, 8], chol=[0])
    options = {role: "w", "family": "poisson"}
    message = refused(frame, missing="median", **options)
    assert message == (
        f"w {words} and is never filled in; 2 of 40 rows have no value of it. "
        "Drop these rows with --missing 'w=drop'"
    )
    assert refused(frame, missing=["median", "w=median"], **options) == message
    question = asked(frame, missing=["median", "w=drop"], **options)
    assert (question.rows_dropped, question.imputed_columns) == (2, {"chol": 1})


def test_a_target_is_never_filled_in():
    frame = holes(y=[7], chol=[0])
    assert asked(frame, missing="median").rows_dropped == 1
    assert refused(frame, missing=["median", "y=median"]).startswith("y is the target and is never filled in")
    assert "y (1, the first in row 8)" in refused(frame, missing=["median", "y=error"])


@pytest.mark.parametrize(
    ("missing", "words"),
    [
        (["median", "drop"], "--missing median and --missing drop: name one way for all columns"),
        (["trt=drop", "trt=median"], "--missing names two ways for trt: drop and median"),
        (["median", "tr=drop"], "--missing: tr is not a column of it: did you mean trt?"),
    ],
)
def test_ways_that_do_not_go_together(missing, words):
    assert words in refused(FRAME, missing=missing)


def test_a_way_that_is_not_known():
    with pytest.raises(ValueError, match="missing='trt=leave' is not known"):
        asked(FRAME, missing=["trt=leave"])


def test_a_column_may_be_called_like_a_way():
    frame = holes(chol=[1]).rename(columns={"chol": "a=b"})
    assert asked(frame, missing="a=b=drop").rows_dropped == 1


def test_new_rows_are_treated_as_those_of_the_fit():
    question = asked(
        holes(trt=[1], chol=[2]), drop=["w"], missing=["median", "trt=drop"], unpenalized=["trt"]
    )
    recipe = Recipe.from_plain(question.recipe.to_plain())
    assert recipe == question.recipe
    applied = recipe.apply(holes(trt=[0, 5], chol=[0, 9]))
    assert applied.dropped == (1, 6)
    assert "chol: 1 missing value filled in with" in " ".join(applied.notes)
    with pytest.raises(
        TableError, match="kept no values to fill them in: drop the rows with --missing 'trt=drop'"
    ):
        recipe.apply(holes(trt=[0]), missing="median")
    plain = asked(holes(chol=[2]), drop=["w"], missing="median", unpenalized=["trt"]).recipe
    with pytest.raises(TableError, match="kept no values"):  # nobody asked for one
        plain.apply(holes(trt=[0]))


def test_what_was_done_is_said_in_sentences():
    frame = holes(trt=[1, 4], chol=[2], age=[2, 3], y=[9])
    question = asked(frame, drop=["w"], missing=["median", "trt=drop"])
    assert missing_sentences(question) == (
        "3 missing values in 2 rows were filled in with the median or the most frequent level: age (2), "
        "chol (1).",
        "Because of missing values, 3 of 40 rows were dropped: y (1), trt (2).",
    )
    assert missing_sentences(asked(FRAME)) == ()
