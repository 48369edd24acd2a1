"""A weighted problem is weighted least squares, wherever the columns live."""

import numpy as np
import pytest

from horseshoe.data.problem import LeastSquares, Targets
from registry import COLUMNS


@pytest.mark.parametrize("home", COLUMNS)
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("concentrated", [True, False])
def test_a_weighted_problem_is_weighted_least_squares(home, center, concentrated):
    rng = np.random.default_rng(0)
    x, z, w = rng.standard_normal((30, 4)), rng.standard_normal(30), rng.random(30)
    if concentrated:
        w[3] = 1e9  # the centred Gram matrix is then what is left of far larger numbers
    targets = Targets(z, 30.0, w, center, careful=concentrated)
    system = LeastSquares(COLUMNS[home](x), targets)
    columns = np.column_stack([np.ones(30), x]) if center else x
    root = np.sqrt(w)[:, None]
    coef = np.linalg.lstsq(root * columns, root[:, 0] * z, rcond=None)[0]
    ours = np.linalg.solve(system.gram, system.xz)
    np.testing.assert_allclose(ours, coef[-4:], rtol=1e-5 if concentrated else 1e-11)
    seen = system.weighted.dense()
    np.testing.assert_allclose(system.gram, seen.T @ seen, rtol=1e-10)
    np.testing.assert_allclose(system.diagonal, (w[:, None] * x * x).sum(axis=0), rtol=1e-10)
    if center:
        np.testing.assert_allclose(system.intercept(ours), coef[0], rtol=1e-5)
    part = system.take(np.array([True, False, True, False]))
    seen = part.weighted.dense()
    np.testing.assert_allclose(part.gram, seen.T @ seen, rtol=1e-10)
    residual = part.residual(np.array([1.0, 2.0]))
    np.testing.assert_allclose(part.rss(np.array([1.0, 2.0])), residual @ residual, rtol=1e-9)
