"""Shifted systems against plain solves, of all matrices and shifts, one at a time."""

import numpy as np
import pytest

from horseshoe.average.shifted_systems import shifted


@pytest.mark.parametrize("p", [1, 2, 3, 40])
@pytest.mark.parametrize("rank", ["full", "low"])
def test_every_shift_is_an_explicit_solve(p, rank):
    rng = np.random.default_rng(p)
    rows = 3 * p if rank == "full" else max(p // 2, 1)
    factors = [rng.standard_normal((rows, p)) for _ in range(3)]
    matrices, targets = [x.T @ x for x in factors], [rng.standard_normal(p) for _ in range(3)]
    known = [target.copy() for target in targets]
    shifts = np.array([1e-3, 1.0, 1e4])
    found = shifted(matrices, targets, shifts)
    assert found.solution.shape == (p, 3, 3)
    for t, (matrix, target) in enumerate(zip(matrices, known, strict=True)):
        np.testing.assert_array_equal(targets[t], target)  # what is asked for is not overwritten
        for i, shift in enumerate(shifts):
            system = matrix + shift * np.eye(p)
            np.testing.assert_allclose(system @ found.solution[:, t, i], target, atol=1e-7)
            log_det = np.linalg.slogdet(system)[1] - p * np.log(shift)
            np.testing.assert_allclose(found.log_det[t, i], log_det, rtol=1e-7, atol=1e-10)
            trace = np.trace(np.linalg.solve(system, matrix))
            np.testing.assert_allclose(found.trace[t, i], trace, rtol=1e-7)


def test_rounding_that_makes_eigenvalues_negative_does_no_harm():
    x = np.random.default_rng(0).standard_normal(6)
    matrix = 1e12 * np.outer(x, x)
    found = shifted([matrix - 1e-6 * np.eye(6)], [x], np.array([1e-9]))
    assert np.isfinite(found.solution).all()
    assert np.isfinite(found.log_det).all()
