"""Times until an event in tables: what is read as the event, as entries and strata, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from horseshoe.intake import Table, TableError, prepare_problem
from horseshoe.intake.recipe import Recipe
from loops import each

N = 40
RNG = np.random.default_rng(8)
TIME = RNG.exponential(size=N).round(3) + 0.5
SEEN = np.arange(N) % 3 > 0


def frame(**columns):
    return pd.DataFrame({"a": RNG.standard_normal(N), "time": TIME, "status": SEEN.astype(int)} | columns)


def asked(data=None, **options):
    options = {"event": "status"} | options
    return prepare_problem(Table(frame() if data is None else data, (), "it"), "time", **options)


def refused(data=None, **options):
    with pytest.raises(TableError) as caught:
        asked(data, **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("values", "event"),
    [
        (SEEN.astype(int), "status"),
        (SEEN, "status"),
        (np.where(SEEN, "yes", "no"), "status"),
        (np.where(SEEN, "FALSE", "TRUE"), "status=FALSE"),
        (np.where(SEEN, "dead", "alive"), "status=dead"),
        (np.where(SEEN, 2, 1), "status=2"),
        (np.where(SEEN, 2.0, 1.0), "status=2.0"),
        (np.where(SEEN, 1, np.arange(N) % 2 * 2), "status=1"),  # others than two: all but 1 are censored
    ],
)
def test_what_means_the_event(values, event):
    question = asked(frame(status=values), event=event)
    assert question.family == "survival"
    np.testing.assert_array_equal(question.y["event"], SEEN)
    np.testing.assert_array_equal(question.y["time"], TIME)
    assert list(question.X.columns) == ["a"]
    assert question.recipe.event == "status"
    assert f"{SEEN.sum()} events, {(~SEEN).sum()} rows censored" in " ".join(question.notes)


def test_a_name_with_an_equals_sign_is_a_name_first():
    data = frame().rename(columns={"status": "b=c"})
    np.testing.assert_array_equal(asked(data, event="b=c").y["event"], SEEN)
    np.testing.assert_array_equal(asked(data, event="b=c=1").y["event"], SEEN)


def test_entries_and_strata_have_roles():
    clinic = np.arange(N) % 2 + 7
    question = asked(frame(start=TIME - 0.4, clinic=clinic), entry="start", strata="clinic")
    np.testing.assert_array_equal(question.entry, TIME - 0.4)
    assert question.strata.tolist() == clinic.astype(str).tolist()
    assert list(question.X.columns) == ["a"]
    assert "2 strata, compared within each only" in question.notes


def test_rows_without_a_time_an_event_or_a_stratum_are_refused_or_left_out():
    data = frame(clinic=["x", "y"] * (N // 2)).astype({"status": float})
    data.loc[3, "time"] = data.loc[5, "status"] = np.nan
    data.loc[8, "clinic"] = None
    message = refused(data, strata="clinic")
    assert "3 of 40 rows have missing values" in message
    assert "time (1, the first in row 4)" in message
    message = refused(data, strata="clinic", missing="median")  # what is asked about is never filled in
    assert "time is the target and is never filled in; 1 of 40 rows has no value of it" in message
    assert "Drop these rows with --missing 'status=drop'" in message
    assert "clinic holds the strata and is never filled in" in message
    for way in ("drop", ["median", "time=drop", "status=drop", "clinic=drop"]):
        question = asked(data, strata="clinic", missing=way)
        np.testing.assert_array_equal(question.y["time"], np.delete(TIME, [3, 5, 8]))
        assert len(question.strata) == question.rows_read - 3


@each(
    ("columns", "options", "words"),
    [
        ({"status": np.where(SEEN, "dead", "alive")}, {}, ["alive or dead", "--event 'status=dead'"]),
        ({"status": np.where(SEEN, 2, 1)}, {}, ["1 or 2", "--event 'status=2'"]),
        ({"status": np.arange(N) % 3}, {}, ["2 in row 3", "1 means that the event was seen"]),
        ({"status": np.arange(N) / 7}, {}, ["row 2", "1 means"]),
        ({"status": np.nan}, {}, ["status has no values"]),
        ({"status": 0}, {}, ["in no row", "nothing can be learned"]),
        ({}, {"event": "status=dead"}, ["dead in no row", "0, 1"]),
        ({}, {"event": "statsu"}, ["not a column", "status"]),
        ({}, {"event": "time"}, ["both target and event"]),
        ({}, {"entry": "status"}, ["both event and entry"]),
        ({}, {"family": "gaussian"}, ["--event", "--family gaussian"]),
        ({}, {"family": "survival", "event": None}, ["--event"]),
        ({"s": 1.0}, {"entry": "s", "event": None}, ["--entry is for survival"]),
        ({"s": 1.0}, {"strata": "s", "event": None}, ["--strata is for survival"]),
        ({"w": 1.0}, {"exposure": "w"}, ["exposure is for counts"]),
        ({"s": TIME}, {"entry": "s"}, ["in row 1", "39 other rows", "before its time"]),
        ({"s": "x"}, {"entry": "s"}, ["words", "numbers are needed"]),
        ({"time": 3.0}, {}, ["3 in every row", "--target status"]),
        ({"time": TIME - 100.0}, {}, ["row 1", "at least 0"]),
        ({"time": ["x", "y"] * (N // 2)}, {}, ["words", "a time is a number"]),
        ({"b": TIME}, {}, ["copy of the target time"]),
        ({"b": 1 - SEEN}, {}, ["copy of the event status"]),
        ({"when": pd.date_range("2020-01-01", periods=N)}, {"strata": "when"}, ["dates"]),
    ],
)
def test_what_is_refused(columns, options, words):
    message = refused(frame(**columns), **options)
    for word in words:
        assert word in message


def test_the_recipe_knows_new_rows_without_times():
    question = asked(frame(start=TIME - 0.4, clinic=["x", "y"] * (N // 2)), entry="start", strata="clinic")
    plain = question.recipe.to_plain()
    recipe = Recipe.from_plain(plain)
    assert recipe == question.recipe
    applied = recipe.apply(frame()[["a"]])
    assert applied.X.columns.tolist() == ["a"]
    assert not recipe.apply(frame()).notes  # time and status are known, and not in the way
    with pytest.raises(ValueError, match="event=None should be"):
        Recipe.from_plain(plain | {"event": None})
