"""The lasso in all problems at once: its optimality conditions, and one problem of all columns."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import lasso_path

from horseshoe import AdaptiveRegressor
from horseshoe.average import components
from horseshoe.average.batch import Batch
from horseshoe.average.lasso import PENALTIES, SLACK, lasso
from horseshoe.data.dense import Dense
from horseshoe.data.sparse import Sparse


def problems(seed=0, n=40, p=600):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) + 0.5 * rng.standard_normal((n, 1))
    y = X[:, :4] @ np.array([3.0, -2.0, 2.0, 1.0]) + rng.standard_normal(n)
    weights = np.ones((n, 3))
    weights[::5, 0] = 0.0
    weights[:, 1] = rng.integers(1, 4, n)
    return X, np.repeat(y[:, None], 3, axis=1), weights


@pytest.mark.parametrize("home", [Dense, lambda x: Sparse(sparse.csc_array(x))])
@pytest.mark.parametrize("center", [True, False])
def test_each_problem_is_the_lasso_of_all_its_columns(home, center):
    X, targets, weights = problems()
    found = lasso(Batch(home(X), targets, weights, center=center))
    for t, w in enumerate(weights.T):
        n = w.sum()
        mean, level = (w @ X / n, w @ targets[:, t] / n) if center else (0.0, 0.0)
        x, z = np.sqrt(w)[:, None] * (X - mean), np.sqrt(w) * (targets[:, t] - level)
        penalties = np.abs(x.T @ z).max() * PENALTIES
        whole = lasso_path(x, z, alphas=penalties / z.size, tol=1e-10, max_iter=100_000)[1][:, -1]
        assert np.abs(x.T @ (z - x @ found[:, t])).max() <= SLACK * penalties[-1]
        np.testing.assert_allclose(found[:, t], whole, atol=0.02 * np.abs(whole).max())


def test_columns_that_the_first_pulls_hide_are_added():
    X, targets, weights = problems(1, n=25, p=800)
    data = Batch(Dense(X), targets, weights)
    first = np.argsort(-np.abs(data.pull(data.targets())[0]), axis=0)
    found = lasso(data)
    late = [np.flatnonzero(found[first[int(5 * data.n[t]) :, t], t]).size for t in range(3)]
    assert max(late) > 0


def test_nothing_to_explain_has_no_column():
    X, _, weights = problems()
    assert not lasso(Batch(Dense(X), np.ones((40, 3)), weights)).any()


def test_very_wide_data_start_at_the_lasso_and_others_at_forward_selection(monkeypatch):
    used = []
    for start in ("lasso", "forward"):
        real = getattr(components, start)
        monkeypatch.setattr(
            components, start, lambda data, real=real, start=start: used.append(start) or real(data)
        )
    X, targets, _ = problems(2, n=40, p=1200)
    AdaptiveRegressor(components=["null", "mixture_forward"], cv=3).fit(X, targets[:, 0])
    AdaptiveRegressor(components=["null", "mixture_forward"], cv=3).fit(X[:, :700], targets[:, 0])
    assert used == ["lasso", "forward"]
