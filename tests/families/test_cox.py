"""Cox's partial likelihood against its definition, its derivatives, and sums over risk sets one by one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import approx_fprime

import oracles
from horseshoe import HorseshoeRegressor, Status
from horseshoe.conditional.dual import DualKernel
from horseshoe.conditional.primal import PrimalKernel
from horseshoe.data.coupled import Coupled, CoupledTargets
from horseshoe.data.dense import Dense
from horseshoe.families import Cox
from horseshoe.families.risk import Lifetimes, RiskSets, _step
from survival_data import lifetimes, survival

TIES = ("efron", "breslow")
every_ties = pytest.mark.parametrize("ties", TIES)
WEIGHTS: dict[str, Any] = {
    "none": lambda n: (None, True),
    "counts": lambda n: (np.random.default_rng(1).integers(1, 4, n).astype(float), True),
    "precisions": lambda n: (np.random.default_rng(1).uniform(0.3, 2.0, n), False),
}
every_weight = pytest.mark.parametrize("weights", WEIGHTS)


def family(data: Any, ties: str, weights: str = "none") -> tuple[Cox, Any, Any]:
    sample, counted = WEIGHTS[weights](data.time.size)
    bound = Cox(ties, lifetimes(data, sample, counted))
    return bound, bound.encode(None).values, bound.seen.weights


def loss(bound: Cox, y: Any, eta: Any) -> float:
    return float(bound.seen.weights[y.astype(int)] @ bound.neg_log_likelihood(y, eta, 1.0))


@every_ties
@every_weight
def test_the_likelihood_is_its_definition(ties: str, weights: str) -> None:
    data = survival(60)
    bound, y, _ = family(data, ties, weights)
    eta = 0.8 * np.random.default_rng(2).standard_normal(60)
    seen = bound.seen
    expected = oracles.partial_log_likelihood(eta, *seen[:5], efron=ties == "efron", counted=seen.counted)
    assert loss(bound, y, eta) == pytest.approx(-expected, rel=1e-13)


@every_ties
@every_weight
def test_slope_and_curvature_are_the_derivatives(ties: str, weights: str) -> None:
    data = survival(40)
    bound, y, _ = family(data, ties, weights)
    eta = 0.8 * np.random.default_rng(3).standard_normal(40)
    here = bound.coupling(y, eta)
    slope = approx_fprime(eta, lambda at: -loss(bound, y, at), 1e-6)
    np.testing.assert_allclose(here.slope, slope, atol=2e-5)
    curvature = np.column_stack(
        [
            (bound.coupling(y, eta - h).slope - bound.coupling(y, eta + h).slope) / 2e-5
            for h in 1e-5 * np.eye(40)
        ]
    )
    dense = np.diag(here.diagonal) - here.pooled(np.eye(40)).T @ here.pooled(np.eye(40))
    np.testing.assert_allclose(dense, curvature, atol=1e-8)
    np.testing.assert_allclose(np.column_stack([here.times(row) for row in np.eye(40)]), dense, atol=1e-13)
    root, _, rank = here.factor
    np.testing.assert_allclose(root.T @ root, dense, atol=1e-13)
    assert rank <= 40 - 3  # of each stratum only differences are known
    assert here.information == pytest.approx(np.trace(dense), rel=1e-12)
    kept = np.linalg.pinv(dense, rcond=1e-10)
    assert here.most >= here.slope @ kept @ here.slope


@every_ties
def test_working_rows_are_slope_and_a_bound_of_the_curvature(ties: str) -> None:
    data = survival(40)
    bound, y, weights = family(data, ties, "counts")
    eta = np.linspace(-1.0, 1.0, 40)
    here, rows = bound.coupling(y, eta), bound.working(y, eta, 1.0)
    np.testing.assert_allclose(weights * rows.weights * (rows.targets - eta), here.slope, atol=1e-12)
    dense = np.diag(weights * rows.weights) - np.column_stack([here.times(row) for row in np.eye(40)])
    assert np.linalg.eigvalsh(dense).min() > -1e-12


@every_ties
def test_both_forms_say_the_same_of_coupled_rows(ties: str) -> None:
    data = survival(30, p=4)
    bound, y, _ = family(data, ties, "counts")
    rng = np.random.default_rng(4)
    eta = 0.5 * rng.standard_normal(30)
    x, d = rng.standard_normal((30, 8)), rng.uniform(0.01, 2.0, 8)
    problem = Coupled(Dense(np.asfortranarray(x)), CoupledTargets(bound.coupling(y, eta), eta, 20.0))
    primal, dual = PrimalKernel(problem, d).at(1.0), DualKernel(problem, d).at(1.0)
    np.testing.assert_allclose(primal.mean, dual.mean, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(primal.variance(), dual.variance(), rtol=1e-9)
    assert primal.log_det == pytest.approx(dual.log_det, rel=1e-10)
    np.testing.assert_allclose(problem.gram, problem.weighted.gram(), atol=1e-12)
    np.testing.assert_allclose(problem.xz, problem.rmatvec(problem.z), atol=1e-12)
    np.testing.assert_allclose(
        Coupled(problem.columns, problem.targets).squares, problem.gram.diagonal(), rtol=1e-12
    )
    outer = problem.columns.scaled(np.sqrt(d)).outer()
    weighted = problem.weighted.scaled(np.sqrt(d)).outer()
    np.testing.assert_allclose(np.tril(problem.weigh(outer)), np.tril(weighted), atol=1e-12)


def test_sums_over_risk_sets_lose_no_digit_where_large_risks_come_late() -> None:
    rng = np.random.default_rng(5)
    n = 200
    entry = np.where(np.arange(n) < 100, 0.0, 5.0)
    time = entry + rng.uniform(0.5, 4.9, n)
    seen = Lifetimes(time, np.ones(n, bool), entry, np.zeros(n, int), np.ones(n))
    sets = RiskSets(seen, efron=True)
    v = np.where(entry > 0.0, 1e20, 1.0) * rng.uniform(0.5, 1.5, n)
    expected = [v[(entry < t) & (t <= time)].sum() for t in sets.time]
    np.testing.assert_allclose(sets.at_risk(v), expected, rtol=1e-14)
    top = [v[(entry < t) & (t <= time)].max() for t in sets.time]
    np.testing.assert_array_equal(sets.largest(v), top)


def test_rows_at_risk_at_the_time_of_their_entry_are_not_at_risk() -> None:
    seen = Lifetimes(
        np.array([2.0, 5.0]), np.array([True, True]), np.array([0.0, 2.0]), np.zeros(2, int), np.ones(2)
    )
    np.testing.assert_array_equal(RiskSets(seen, True).at_risk(np.ones(2)), [1.0, 1.0])


@pytest.mark.parametrize("size", [101.0, 150.5, 1e3, 1e6])
def test_many_steps_are_summed_by_their_nodes(size: float) -> None:
    share, count = _step(size)
    assert count.sum() == pytest.approx(size)
    for power in range(6):
        steps = np.arange(round(size)) / size
        if size == round(size):
            assert count @ share**power == pytest.approx((steps**power).sum(), rel=1e-9)
    assert share.size == 100
    assert 0.0 <= share.min()
    assert share.max() < 1.0


def test_few_steps_are_those_of_the_definition() -> None:
    share, count = _step(2.5)
    np.testing.assert_allclose(share, [0.0, 0.4, 0.8])
    np.testing.assert_allclose(count, [1.0, 1.0, 0.5])


def test_some_of_the_rows_are_a_data_set_of_their_own() -> None:
    data = survival(50)
    bound, y, _ = family(data, "efron")
    some = np.flatnonzero(np.arange(50) % 3 > 0)
    part = Cox("efron", bound.seen.take(some))
    eta = np.linspace(-1.0, 1.0, 50)
    np.testing.assert_array_equal(
        bound.neg_log_likelihood(y[some], eta[some], 1.0),
        part.neg_log_likelihood(part.encode(None).values, eta[some], 1.0),
    )


def test_a_shift_of_a_stratum_and_far_predictors_cost_nothing() -> None:
    data = survival(50)
    bound, y, _ = family(data, "efron")
    eta = np.linspace(-1.0, 1.0, 50)
    shift = np.where(data.strata == "a", 500.0, -900.0)
    np.testing.assert_allclose(loss(bound, y, eta + shift), loss(bound, y, eta), rtol=1e-12)
    assert np.isfinite(loss(bound, y, 1000.0 * eta))
    assert np.isfinite(bound.coupling(y, 1000.0 * eta).factor[0]).all()


@every_ties
def test_no_fit_is_better_than_the_saturated_one(ties: str) -> None:
    data = survival(40)
    bound, y, weights = family(data, ties, "counts")
    best = float(weights @ bound.saturated(y))
    rank = np.argsort(np.argsort(data.time, kind="stable"))
    assert best < loss(bound, y, np.zeros(40))
    alone = Cox(
        ties,
        Lifetimes(
            np.repeat([1.0, 2.0, 3.0], [2, 1, 1]),
            np.array([1, 1, 1, 0], bool),
            np.full(4, -np.inf),
            np.zeros(4, int),
            np.ones(4),
        ),
    )
    at = np.array([100.0, 100.0, 50.0, 0.0])
    rows = alone.encode(None).values
    assert loss(alone, rows, at) == pytest.approx(float(alone.saturated(rows).sum()), abs=1e-12)
    assert best <= loss(bound, y, -0.5 * rank.astype(float))


def test_a_monotone_likelihood_is_pointed_out() -> None:
    data = survival(30, ties=False)
    bound, y, _ = family(data, "efron")
    assert bound.remark(y, -data.time) is Status.MONOTONE
    assert bound.remark(y, data.time) is None
    assert bound.remark(y, np.zeros(30)) is None


def test_the_family_alone_has_no_times() -> None:
    with pytest.raises(ValueError, match="use HorseshoeSurvival"):
        HorseshoeRegressor(family=Cox()).fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0])
