"""Columns times a factor, and columns less what a few vectors explain of them, wherever they live."""

import numpy as np
import pytest

from horseshoe.data.adjusted import ProjectedTargets
from horseshoe.data.dense import Dense
from horseshoe.data.problem import Targets
from horseshoe.linalg import both_triangles
from registry import COLUMNS

RNG = np.random.default_rng(0)
X = np.where(RNG.random((15, 6)) < 0.5, RNG.standard_normal((15, 6)), 0.0)
ROWS, LOADS, WEIGHTS = RNG.standard_normal((15, 2)), RNG.standard_normal((6, 2)), RNG.uniform(0.5, 2.0, 15)


@pytest.mark.parametrize("home", COLUMNS)
def test_less_and_stretched_say_what_an_array_says(home):
    factor = np.linspace(0.5, 2.0, 6)
    ours = COLUMNS[home](X).less(ROWS, LOADS).scaled(factor)
    plain = Dense(np.asfortranarray((X - ROWS @ LOADS.T) * factor))
    b, r, keep = RNG.standard_normal(6), RNG.standard_normal(15), np.arange(6) % 2 == 0
    near = {"rtol": 1e-11, "atol": 1e-11}
    np.testing.assert_allclose(ours.dense(), plain.dense(), **near)
    np.testing.assert_allclose(ours.matvec(b), plain.matvec(b), **near)
    np.testing.assert_allclose(ours.rmatvec(r), plain.rmatvec(r), **near)
    for weights in (None, WEIGHTS):
        np.testing.assert_allclose(ours.squares(weights), plain.squares(weights), **near)
        np.testing.assert_allclose(ours.gram(weights, b), plain.gram(weights, b), **near)
    np.testing.assert_allclose(ours.take(keep).dense(), plain.dense()[:, keep], **near)
    np.testing.assert_allclose(ours.rows(slice(2, 9)).dense(), plain.dense()[2:9], **near)
    np.testing.assert_allclose(ours.reweighted(r**2, b).dense(), plain.reweighted(r**2, b).dense(), **near)
    root = np.linspace(0.1, 1.0, 6)
    factor = np.linalg.cholesky(np.eye(15) + both_triangles(plain.scaled(root).outer()))
    lower = np.asfortranarray(factor)
    for name in ("leverages", "half_solved"):
        got, expected = (getattr(one.scaled(root), name)(lower) for one in (ours, plain))
        np.testing.assert_allclose(got, expected, **near)
    outer = [np.tril(one.scaled(root).outer()) for one in (ours, plain)]
    np.testing.assert_allclose(*outer, **near)
    triangles = [np.abs(one.compressed(r).x.T @ one.compressed(r).x) for one in (ours, plain)]
    np.testing.assert_allclose(*triangles, **near)


@pytest.mark.parametrize("home", COLUMNS)
def test_a_projected_problem_is_least_squares_on_what_is_left(home):
    basis, z = np.column_stack([np.ones(15), ROWS]), RNG.standard_normal(15)
    level = Targets(z, 15.0, WEIGHTS, center=True)
    problem = ProjectedTargets(level, ROWS).problem(COLUMNS[home](X))
    root = np.sqrt(WEIGHTS)[:, None]
    away = np.eye(15) - (root * basis) @ np.linalg.pinv(root * basis)
    left, target = away @ (root * X), away @ (root[:, 0] * z)
    near = {"rtol": 1e-10, "atol": 1e-10}
    np.testing.assert_allclose(problem.weighted.dense(), left, **near)
    np.testing.assert_allclose(problem.z, target, **near)
    np.testing.assert_allclose(problem.gram, left.T @ left, **near)
    np.testing.assert_allclose(problem.xz, left.T @ target, **near)
    np.testing.assert_allclose(problem.diagonal, WEIGHTS @ X**2, **near)
    b = RNG.standard_normal(6)
    expected = np.linalg.lstsq(root * basis, root[:, 0] * (z - X @ b), rcond=None)[0]
    np.testing.assert_allclose(problem.intercept(b), expected, **near)
    d = np.linspace(0.1, 1.0, 6)
    outer = problem.columns.scaled(np.sqrt(d)).outer()
    np.testing.assert_allclose(np.tril(problem.weigh(outer)), np.tril((left * d) @ left.T), **near)
    keep = np.arange(6) < 3
    np.testing.assert_allclose(problem.take(keep).gram, (left.T @ left)[:3, :3], **near)
