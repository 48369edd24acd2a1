"""The picture of ordered levels."""

import numpy as np
import pytest

from horseshoe import HorseshoeRegressor
from horseshoe.plots import plot_levels


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((80, 2))
    return X, np.digitize(2.0 * X[:, 0] + rng.logistic(size=80), [-1.0, 1.0])


def test_bars_are_mean_probabilities_of_the_rows_of_a_level(rows):
    X, y = rows
    model = HorseshoeRegressor(family="ordinal").fit(X, y)
    weights = np.arange(1.0, 81.0)
    ax = plot_levels(model, X, y, sample_weight=weights)
    filled = [bar for bar in ax.patches if bar.get_fill()]
    drawn = np.array([bar.get_width() for bar in filled]).reshape(3, 3).T
    chances = model.predict_proba(X)
    expected = [np.average(chances[y == k], axis=0, weights=weights[y == k]) for k in range(3)]
    np.testing.assert_allclose(drawn, expected, rtol=1e-12)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1", "2"]


def test_refused(rows):
    X, y = rows
    with pytest.raises(ValueError, match="plot_levels is for ordered levels"):
        plot_levels(HorseshoeRegressor().fit(X, y), X, y)
    many = np.arange(80) // 5
    with pytest.raises(ValueError, match="at most 12 are drawn"):
        plot_levels(HorseshoeRegressor(family="ordinal").fit(X, many), X, many)
