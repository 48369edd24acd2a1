"""Forward selection in all problems at once, against the loop that its docstring describes."""

import numpy as np
import pytest
from scipy import sparse

from horseshoe.average.batch import Batch
from horseshoe.average.forward import forward
from horseshoe.data.dense import Dense
from horseshoe.data.sparse import Sparse


def slow(x, z, n, most):
    """Return the coefficients of one weighted, centred problem: columns one by one, the best of all steps."""
    p = x.shape[1]
    chosen, best, least = [], np.zeros(p), 0.0
    for step in range(1, most + 1):
        left = z - x[:, chosen] @ np.linalg.lstsq(x[:, chosen], z, rcond=None)[0] if chosen else z
        gain = (x.T @ left) ** 2 / (x**2).sum(axis=0)
        gain[chosen] = 0.0
        chosen.append(int(np.argmax(gain)))
        coef = np.linalg.lstsq(x[:, chosen], z, rcond=None)[0]
        criterion = n * np.log(np.sum((z - x[:, chosen] @ coef) ** 2) / (z @ z))
        criterion += step * (np.log(n) + 2.0 * np.log(p))
        if criterion < least:
            least, best = criterion, np.zeros(p)
            best[chosen] = coef
    return best


def problems(seed, n=60, p=40, effects=5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) @ (np.eye(p) + 0.3 * np.eye(p, k=1))
    y = X[:, :effects] @ np.linspace(2.0, 0.7, effects) + rng.standard_normal(n)
    weights = np.ones((n, 3))
    weights[::5, 0] = 0.0
    weights[:, 1] = rng.integers(1, 4, n)
    return X, np.repeat(y[:, None], 3, axis=1), weights


@pytest.mark.parametrize("home", [Dense, lambda x: Sparse(sparse.csc_array(x))])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("seed", [0, 1])
def test_each_problem_is_what_the_slow_loop_finds(home, center, seed):
    X, targets, weights = problems(seed)
    (found,) = forward(Batch(home(X), targets, weights, center=center))
    for t, w in enumerate(weights.T):
        rows, n = w > 0.0, w.sum()
        mean, level = (w @ X / n, w @ targets[:, t] / n) if center else (0.0, 0.0)
        root = np.sqrt(w[rows])
        x, z = root[:, None] * (X - mean)[rows], root * (targets[rows, t] - level)
        np.testing.assert_allclose(found[:, t], slow(x, z, n, int(0.25 * n)), rtol=1e-8, atol=1e-10)
        assert np.count_nonzero(found[:, t]) >= 4


def test_effects_that_hide_each_other_are_found_together():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((100, 3))
    X[:, 1] = X[:, 0] + 0.1 * X[:, 1]
    y = X[:, 0] - X[:, 1] + 0.01 * rng.standard_normal(100)
    data = Batch(Dense(X), y[:, None], np.ones((100, 1)))
    gain = -100.0 * np.log(1.0 - (data.pull(data.targets())[0] ** 2 / data.squares / data.total[0])[:2].max())
    assert gain < np.log(100.0) + 2.0 * np.log(3.0)  # neither alone pays
    assert np.array_equal(np.flatnonzero(forward(data)[0, :, 0])[:2], [0, 1])


def test_of_tied_columns_the_first_is_chosen_whatever_the_order_of_rows():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((50, 6))
    X[:, 4] = -X[:, 1]
    y = X[:, 1] + 0.1 * rng.standard_normal(50)
    for _ in range(5):
        order = rng.permutation(50)
        (found,) = forward(Batch(Dense(X[order]), y[order, None], np.ones((50, 1))))
        assert np.array_equal(np.flatnonzero(found[:, 0]), [1])


def test_noise_and_nothing_to_explain_have_no_column():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((80, 100))
    targets = np.column_stack([rng.standard_normal(80), np.zeros(80)])
    assert not forward(Batch(Dense(X), targets, np.ones((80, 2)))).any()
