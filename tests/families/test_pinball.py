"""The least pinball loss beside that of a linear program."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

from horseshoe.families.pinball import least_pinball, pinball
from loops import each

LEVELS = [0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99]


def least(y: Any, basis: Any, weights: Any, level: float) -> float:
    """Return the least loss, by HiGHS, from the definition: residuals are the difference of two parts."""
    n, q = basis.shape
    cost = np.concatenate([np.zeros(q), level * weights, (1.0 - level) * weights])
    rows = np.hstack([basis, np.eye(n), -np.eye(n)])
    bounds = [(None, None)] * q + [(0.0, None)] * (2 * n)
    return float(linprog(cost, A_eq=rows, b_eq=y, bounds=bounds, method="highs").fun)


def make(seed: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    n, q = int(rng.integers(20, 120)), int(rng.integers(1, 7))
    basis = np.column_stack([np.ones(n), rng.standard_normal((n, q))])
    y = basis @ rng.standard_normal(q + 1) + rng.standard_t(3, n)
    return np.round(y) if seed % 3 == 1 else y, basis, rng.uniform(0.1, 3.0, n)


@each("level", LEVELS)
@each("tol", [1e-3, 1e-10])
def test_the_loss_is_the_least_up_to_tol(level: float, tol: float) -> None:
    for seed in range(6):
        y, basis, weights = make(seed)
        coef = least_pinball(y, basis, weights, level, tol)
        wanted = least(y, basis, weights, level)
        assert -1e-9 < pinball(y - basis @ coef, weights, level) / wanted - 1.0 < tol + 1e-9


def test_a_row_that_outweighs_all_others_is_met() -> None:
    y, basis, weights = make(3)
    weights[4] = 1e8
    coef = least_pinball(y, basis, weights, 0.8, 1e-10)
    assert abs(y[4] - basis[4] @ coef) < 1e-6
    assert pinball(y - basis @ coef, weights, 0.8) == pytest.approx(least(y, basis, weights, 0.8), rel=1e-8)


@pytest.mark.parametrize("size", [0.0, 1e-200, 1.0, 1e100])
def test_what_is_explained_exactly(size: float) -> None:
    _, basis, weights = make(0)
    true = size * np.arange(1.0, basis.shape[1] + 1.0)
    coef = least_pinball(basis @ true, basis, weights, 0.9, 1e-10)
    np.testing.assert_allclose(coef, true, rtol=1e-12, atol=0)
