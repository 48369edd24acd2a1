"""What a callback is told of a long fit."""

import math

import numpy as np
import pytest

from fit_checkpoints import CASES, NARROW, PARTS, WIDE, noisy
from horseshoe import AdaptiveRegressor, HorseshoeClassifier, HorseshoeRegressor
from horseshoe._types import Step
from horseshoe.em.result import WINDOW, seconds_left
from horseshoe.results import Iteration


def falling(rate, n=WINDOW + 1, pace=0.5):
    return [(pace * k, math.exp(-rate * k)) for k in range(n)]


@pytest.mark.parametrize(("rate", "pace"), [(0.1, 0.5), (2.0, 3.0)])
def test_the_time_left_is_that_of_a_geometric_fall(rate, pace):
    seen, tol = falling(rate, pace=pace), 1e-12
    iterations = next(k for k in range(10_000) if seen[-1][1] * math.exp(-rate * k) < tol)
    assert seconds_left(seen, tol) == pytest.approx(pace * iterations, abs=pace)


@pytest.mark.parametrize(
    "seen",
    [
        falling(0.1, n=WINDOW),
        falling(0.0),
        falling(-0.2),
        [(0.0, math.inf), *falling(0.1)[1:]],
        [*falling(0.1)[:-1], (9.0, 0.0)],
        [(0.0, 0.0), *falling(0.1)[1:]],
    ],
)
def test_it_is_not_known_where_the_change_does_not_fall(seen):
    assert seconds_left(seen, 1e-5) is None


def test_none_is_left_where_the_change_is_small_enough():
    assert seconds_left(falling(1.0), 0.5) == 0.0


def test_a_tolerance_of_zero_is_never_reached():
    assert seconds_left(falling(1.0), 0.0) is None


@pytest.mark.parametrize(
    "case", ["dense", "logistic", "several responses", "multinomial", "survival", "rows in parts"]
)
def test_steps_are_the_lines_of_the_trace(case):
    told, (make, X, y, *_) = [], CASES[case]
    model = make().set_params(callback=told.append).fit(X, y)
    assert all(isinstance(step, Step) and isinstance(step, Iteration) for step in told)
    assert [step.number for step in told] == list(range(1, len(told) + 1))
    assert len(told) <= model.n_iter_
    assert [step.n_active for step in told] == [line.n_active for line in model.trace_[: len(told)]]
    seconds = [step.seconds for step in told]
    assert seconds == sorted(seconds)
    assert all(step.seconds_left is None for step in told[:WINDOW])
    assert all(step.seconds_left is None or step.seconds_left >= 0.0 for step in told)


def test_the_time_left_comes_down_in_a_long_fit():
    told = []
    HorseshoeRegressor(prior="ridge", callback=told.append).fit(NARROW, noisy(NARROW))
    known = [step for step in told if step.seconds_left is not None]
    assert known
    assert str(known[0]).startswith(f"iteration {known[0].number}, 30 columns, about 0:0")


def test_passes_over_data_in_parts_are_counted():
    told, y = [], CASES["logistic, rows in parts"].y
    HorseshoeClassifier(callback=told.append).fit(PARTS, y)
    passes = [step.passes for step in told]
    assert passes[0] > 0
    assert passes == sorted(passes)
    assert "passes" in str(told[0])
    HorseshoeClassifier(callback=told.append).fit(WIDE, WIDE[:, 0] > 0.0)
    assert told[-1].passes is None


def test_an_average_tells_the_time():
    told = []
    AdaptiveRegressor(cv=3, callback=told.append).fit(NARROW, noisy(NARROW))
    assert [step.seconds for step in told] == sorted(step.seconds for step in told)
    assert told[0].seconds_left is None
    assert told[1].seconds_left == pytest.approx(told[1].seconds)  # two of four are left
    assert told[-1].seconds_left == 0.0
    assert str(told[0]) == "null: 1 of 4 components"
    assert str(told[-1]) == "mixture_forward: 4 of 4 components, about 0:00:00 left"


def test_a_fit_that_goes_on_counts_on(tmp_path):
    case, told = CASES["dense"], []

    def stop(step):
        if step.number == 9:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        case.model(callback=stop).fit(case.X, case.y, checkpoint=tmp_path / "fit")
    case.model(callback=told.append).fit(case.X, case.y, checkpoint=tmp_path / "fit")
    assert told[0].number == 9


def test_without_a_callback_nothing_is_told():
    assert np.isfinite(HorseshoeRegressor().fit(NARROW, noisy(NARROW)).coef_).all()
