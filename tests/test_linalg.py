"""Inverses of triangles, and products in either precision."""

import numpy as np
import pytest

from horseshoe.linalg import half_solved, inverse_trace, syrk, triangle, triangular_inverse


@pytest.mark.parametrize("size", [1, 64, 65, 150, 300])
def test_inverses_of_triangles(size):
    rng = np.random.default_rng(size)
    x = rng.standard_normal((2 * size, size))
    factor = np.asfortranarray(np.linalg.cholesky(x.T @ x))
    inverse = triangular_inverse(factor)
    np.testing.assert_allclose(inverse @ factor, np.eye(size), atol=1e-10)
    np.testing.assert_allclose(inverse_trace(factor), np.trace(np.linalg.inv(x.T @ x)), rtol=1e-9)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_products_in_either_precision(dtype):
    block = np.asfortranarray(np.random.default_rng(0).standard_normal((5, 3)), dtype=dtype)
    lower = np.tril(np.ones((3, 3), dtype=dtype)).copy(order="F")
    found = syrk(block, lower, trans=True)
    assert found.dtype == dtype
    assert np.shares_memory(found, lower)
    np.testing.assert_allclose(found, np.tril(block.T @ block + 1.0), rtol=1e-5)
    np.testing.assert_allclose(syrk(block), np.tril(block @ block.T), rtol=1e-5, atol=1e-6)
    factor = np.asfortranarray(np.tril(np.ones((5, 5), dtype=dtype)))
    half = half_solved(factor, block)
    assert half.dtype == dtype
    np.testing.assert_allclose(factor @ half, block, atol=1e-6)
    assert half_solved(factor, block.astype(float)).dtype == np.float64
    root = triangle(block)
    np.testing.assert_allclose(root.T @ root, block.T @ block, rtol=1e-5, atol=1e-6)
