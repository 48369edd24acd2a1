"""Columns that are never shrunk in Cox's model: their coefficients are those of the partial likelihood."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse import csc_array

from horseshoe import HorseshoeSurvival, Status
from horseshoe.data.adjusted import ProjectedTargets
from horseshoe.data.coupled import CoupledTargets
from horseshoe.data.dense import Dense
from horseshoe.families.cox import Cox
from horseshoe.linalg import both_triangles
from survival_data import lifetimes, survival

TIES = ["efron", "breslow"]


def huge(p: int, unpenalized: list[int], scale: float = 1e6) -> Any:
    out = np.ones(p)
    out[unpenalized] = scale
    return out


@pytest.mark.parametrize("ties", TIES)
@pytest.mark.parametrize("everything", [False, True], ids=["times", "entry, strata, weights, offset"])
def test_always_is_a_huge_prior_variance(ties: str, everything: bool) -> None:
    data = survival(p=12)
    Z = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    known: dict[str, Any] = {}
    if everything:
        known = {
            "entry": data.entry,
            "strata": data.strata,
            "sample_weight": data.weights,
            "offset": data.offset,
        }
    options = {"prior": "ridge", "tau": 0.3, "standardize": False, "ties": ties, "tol": 1e-12}
    ours = HorseshoeSurvival(unpenalized=[0, 2, 7], **options).fit(Z, data.y, **known)
    other = HorseshoeSurvival(prior_scale=huge(12, [0, 2, 7]), **options).fit(Z, data.y, **known)
    np.testing.assert_allclose(ours.coef_, other.coef_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(ours.coef_std_, other.coef_std_, rtol=0, atol=1e-6)
    new = Z[:5] + 1.0
    for mine, theirs in zip(
        ours.predict(new, return_std=True), other.predict(new, return_std=True), strict=True
    ):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5)
    both = (model.predict_interval(new, method="mode") for model in (ours, other))
    np.testing.assert_allclose(*both, rtol=1e-5)


def test_with_more_columns_than_rows() -> None:
    data = survival(n=40, p=60)
    Z = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    options = {"prior": "ridge", "tau": 0.2, "standardize": False, "tol": 1e-10}
    ours = HorseshoeSurvival(unpenalized=[0, 1], **options).fit(Z, data.y)
    other = HorseshoeSurvival(prior_scale=huge(60, [0, 1], 1e4), max_iter=100, **options)
    with pytest.warns(UserWarning, match="not converged"):  # rounding: variances of 1e8 beside others of 1
        other.fit(Z, data.y)
    np.testing.assert_allclose(ours.coef_, other.coef_, rtol=0, atol=1e-6)
    assert ours.status_ is Status.CONVERGED


@pytest.mark.parametrize("k", [4, 40])
def test_the_projected_problem_is_what_the_definition_says(k: int) -> None:
    """P = H - H B (B'HB)^-1 B'H by dense matrices, for few columns and for many."""
    data = survival(n=25, p=4)
    rng = np.random.default_rng(0)
    family = Cox("efron", lifetimes(data))
    y, eta = family.encode(data.y).values, 0.3 * rng.standard_normal(25)
    coupling = family.coupling(y, eta)
    H = np.column_stack([coupling.times(one) for one in np.eye(25)])
    B, X = rng.standard_normal((25, 2)), rng.standard_normal((25, k))
    P = H - H @ B @ np.linalg.solve(B.T @ H @ B, B.T @ H)
    problem = ProjectedTargets(CoupledTargets(coupling, eta, 20.0), B).problem(Dense(np.asfortranarray(X)))
    near = {"rtol": 1e-9, "atol": 1e-9}
    pull = H @ eta + coupling.slope
    np.testing.assert_allclose(problem.gram, X.T @ P @ X, **near)
    np.testing.assert_allclose(problem.on(problem.columns).squares, np.diag(X.T @ P @ X), **near)
    root = problem.weighted.dense()
    np.testing.assert_allclose(root.T @ root, X.T @ P @ X, **near)
    projected = pull - H @ B @ np.linalg.solve(B.T @ H @ B, B.T @ pull)
    np.testing.assert_allclose(problem.xz, X.T @ projected, **near)
    np.testing.assert_allclose(root.T @ problem.z, X.T @ projected, **near)
    b = rng.standard_normal(k)
    np.testing.assert_allclose(problem.matvec(b), root @ b, **near)
    np.testing.assert_allclose(problem.rmatvec(problem.z), X.T @ projected, **near)
    expected = np.linalg.solve(B.T @ H @ B, B.T @ (pull - H @ X @ b))
    np.testing.assert_allclose(problem.intercept(b), expected, **near)
    d = rng.uniform(0.1, 1.0, k)
    outer = problem.weigh(problem.columns.scaled(np.sqrt(d)).outer())
    np.testing.assert_allclose(both_triangles(np.tril(outer)), (root * d) @ root.T, **near)
    np.testing.assert_allclose(problem.targets.covariance(), np.linalg.inv(B.T @ H @ B), **near)


@pytest.mark.parametrize("ties", TIES)
def test_with_all_columns_always_in_a_fit_is_that_of_the_partial_likelihood(ties: str) -> None:
    """Newton's method on the definition, until its slope is nothing."""
    data = survival(p=4)
    model = HorseshoeSurvival(unpenalized=range(4), ties=ties, tol=1e-12).fit(data.X, data.y)
    family = Cox(ties, lifetimes(data, entry=False)._replace(stratum=np.zeros(120, dtype=int)))
    y, coef = family.encode(data.y).values, np.zeros(4)
    Z = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    for _ in range(30):
        here = family.coupling(y, Z @ coef)
        inner = Z.T @ np.column_stack([here.times(one) for one in Z.T])
        coef = coef + cho_solve(cho_factor(inner), Z.T @ here.slope)
    np.testing.assert_allclose(model.coef_ * data.X.std(axis=0), coef, rtol=1e-8)
    spread = np.sqrt(np.diag(np.linalg.inv(inner)))
    np.testing.assert_allclose(model.coef_std_ * data.X.std(axis=0), spread, rtol=1e-6)
    assert model.status_ is Status.CONVERGED
    with pytest.raises(ValueError, match="unpenalized has every column"):
        model.sample_posterior(n_draws=10)


def test_sparse_columns_weights_and_another_basis() -> None:
    data = survival(p=10)
    X = np.where(np.random.default_rng(5).random(data.X.shape) < 0.6, data.X, 0.0)
    weights = data.weights + 1.0
    model = HorseshoeSurvival(unpenalized=[0, 1], feature_groups=[0, 1, 2, 2, 3, 3, 4, 4, 5, 5], tol=1e-10)
    coef = model.fit(X, data.y, sample_weight=weights).coef_.copy()
    sparse = model.fit(csc_array(X), data.y, sample_weight=weights)
    np.testing.assert_allclose(sparse.coef_, coef, rtol=1e-6, atol=1e-8)
    rows = np.repeat(np.arange(120), weights.astype(int))
    np.testing.assert_allclose(model.fit(X[rows], data.y[rows]).coef_, coef, rtol=1e-6, atol=1e-8)
    moved = X.copy()
    moved[:, 0] += 2.0 * X[:, 1]
    moved[:, 4] -= X[:, 0]
    other = model.fit(moved, data.y, sample_weight=weights)
    np.testing.assert_allclose(other.coef_[2:], coef[2:], rtol=1e-6, atol=1e-9)


def test_the_table_says_which_and_noise_does_not_count_them() -> None:
    data = survival(p=8)
    model = HorseshoeSurvival(unpenalized=[2, 5]).fit(data.X, data.y)
    assert model.support_[[2, 5]].all()
    table = model.summary(exponentiate=True)
    assert table["unpenalized"].tolist() == [j in (2, 5) for j in range(8)]
    assert table["hazard_ratio"][2] == pytest.approx(np.exp(model.coef_[2]))
    assert np.isinf(model.lambda2_[[2, 5]]).all()
    assert model.expected_by_chance_ < HorseshoeSurvival().fit(data.X, data.y).expected_by_chance_
    again = HorseshoeSurvival(unpenalized=[2, 5], start=model).fit(data.X, data.y)
    np.testing.assert_allclose(again.coef_, model.coef_, rtol=1e-3, atol=1e-4)


def test_columns_that_cannot_be_always_in() -> None:
    data = survival(n=60)
    X = np.column_stack([data.X, np.unique(data.strata, return_inverse=True)[1]])
    one_of_three = HorseshoeSurvival(unpenalized=[4])
    one_of_three.fit(X, data.y)
    with pytest.raises(
        ValueError, match="column 4 of X is always in, but it is constant among those at risk"
    ):
        one_of_three.fit(X, data.y, strata=data.strata)
    X[:, 4] += X[:, 1]
    with pytest.raises(
        ValueError, match=r"column 4 .* combination of others that are, column 1, among those"
    ):
        HorseshoeSurvival(unpenalized=[1, 4]).fit(X, data.y, strata=data.strata)
    few = np.column_stack([data.time, np.arange(60) < 3])
    with pytest.raises(ValueError, match="unpenalized names 3 columns, and there are 3 events"):
        HorseshoeSurvival(unpenalized=[0, 1, 2]).fit(data.X, few)
    with pytest.raises(ValueError, match="column 4 of X is always in, but constant"):
        HorseshoeSurvival(unpenalized=[4]).fit(np.column_stack([data.X, np.ones(60)]), data.y)


def test_a_column_that_orders_all_events_is_said() -> None:
    data = survival(n=60)
    event = data.event & (np.arange(60) % 2 == 1)
    X = np.column_stack([np.arange(60) % 2, data.X])
    model = HorseshoeSurvival(unpenalized=[0], tau=0.01).fit(X, np.column_stack([data.time, event]))
    assert model.status_ is Status.MONOTONE


@pytest.mark.parametrize("prior", ["ridge", "student_t", "lasso"])
@pytest.mark.parametrize(("n", "p"), [(10, 5), (30, 200), (60, 50)])
def test_a_column_that_orders_all_events_ends_the_fit(prior: str, n: int, p: int) -> None:
    X = np.random.default_rng(n + p).standard_normal((n, p))
    model = HorseshoeSurvival(unpenalized=[0], prior=prior).fit(X, np.exp(-X[:, 0]))
    assert model.status_ is Status.MONOTONE
    assert model.n_iter_ < 100


def test_draws_against_quadrature() -> None:
    """One column with a flat prior and one with a known normal one, on a grid."""
    data = survival(n=40, p=2, ties=False)
    Z = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    model = HorseshoeSurvival(prior="ridge", tau=0.3, standardize=False, unpenalized=[0]).fit(Z, data.y)
    drawn = model.sample_posterior(n_draws=2000, n_warmup=300, n_chains=2, random_state=1)
    family = Cox("efron", lifetimes(data, entry=False)._replace(stratum=np.zeros(40, dtype=int)))
    y, grid = family.encode(data.y).values, np.linspace(-1.6, 1.6, 81)
    first, second = model.coef_[0] + grid, model.coef_[1] + grid
    loss = [
        [family.neg_log_likelihood(y, Z @ [a, b], 1.0).sum() + 0.5 * (b / 0.3) ** 2 for b in second]
        for a in first
    ]
    mass = np.exp(np.min(loss) - np.array(loss))
    mass /= mass.sum()
    for values, weight, column in ((first, mass.sum(axis=1), 0), (second, mass.sum(axis=0), 1)):
        mean = weight @ values
        std = np.sqrt(weight @ (values - mean) ** 2)
        error = std / np.sqrt(drawn.ess()[column])
        assert abs(drawn.mean()[column] - mean) < 4.5 * error
        assert drawn.std()[column] == pytest.approx(std, rel=5.0 / np.sqrt(2.0 * drawn.ess()[column]))
