"""Pictures of coefficients."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from horseshoe import HorseshoeClassifier, HorseshoeRegressor


def test_pictures_of_classes():
    import matplotlib

    matplotlib.use("Agg")
    from horseshoe.plots import plot_coefficients

    X = np.random.default_rng(0).standard_normal((60, 4))
    ax = plot_coefficients(HorseshoeClassifier().fit(X, X[:, 0] + 0.5 * X[:, 3] > 0))
    assert len(ax.get_yticks()) == 4
    many = HorseshoeClassifier().fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    with pytest.raises(ValueError, match="estimators_"):
        plot_coefficients(many)


def test_plot_shows_every_coefficient_and_escapes_names():
    import matplotlib as mpl

    mpl.use("Agg")
    from horseshoe.plots import plot_coefficients

    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    renamed = X.rename(columns={"bmi": "price_$x$_<b>"})
    axes = plot_coefficients(HorseshoeRegressor().fit(renamed, y))
    labels = [text.get_text() for text in axes.get_yticklabels()]
    assert len(labels) == 10
    assert r"price_\$x\$_<b>" in labels
    axes.figure.canvas.draw()
    mpl.pyplot.close(axes.figure)
