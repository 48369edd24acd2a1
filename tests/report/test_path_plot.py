"""The picture of a path: who is named, what the axes say, and that nothing overlaps."""

from __future__ import annotations

import itertools
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot

import simulate
from horseshoe import HorseshoeClassifier, HorseshoeRegressor, horseshoe_path
from horseshoe.plots import plot_path
from horseshoe.report.plots_path import spread_out

mpl.use("Agg")
LONG = "the concentration of substance {} in the serum"
FEW = [1.0, 0.3, 0.1, 0.03, 0.01]


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


def long_names(X: Any) -> Any:
    return pd.DataFrame(X, columns=[LONG.format(j) for j in range(X.shape[1])])


def wide(p: int = 500) -> tuple[Any, Any]:
    X, y, _ = simulate.linear(100, p, rho=0.5, sigma2=9.0)
    return X, y


def names(ax: Any) -> list[str]:
    return [text.get_text() for text in ax.texts]


def boxes(ax: Any) -> dict[Any, Any]:
    """Return where the texts that are seen are, in pixels: ticks, titles, names, and those above."""
    found = {}
    for axes in (ax, *ax.child_axes):
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            pairs = zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=True)
            seen = [label for place, label in pairs if low <= place <= high and label.get_visible()]
            for text in (*seen, axis.label, axes.title, *axes.texts):
                if text.get_text():
                    found[id(text)] = (text.get_text(), text.get_window_extent())
    return found


def assert_nothing_overlaps(*axes: Any) -> None:
    figure = axes[0].figure
    figure.canvas.draw()
    everything = [box for ax in axes for box in boxes(ax).values()]
    assert len(everything) > 6 * len(axes)
    for (one, box), (other, second) in itertools.combinations(everything, 2):
        clear = box.x1 <= second.x0 or second.x1 <= box.x0 or box.y1 <= second.y0 or second.y1 <= box.y0
        assert clear, (one, other)
    width, height = figure.canvas.get_width_height()
    for name, box in everything:
        assert min(box.x0, box.y0) >= -1.0, name
        assert box.x1 <= width + 1.0, name
        assert box.y1 <= height + 1.0, name


@pytest.mark.parametrize("p", [5, 50, 500])
@pytest.mark.parametrize("over", ["tau", "lambda_power", "slab"])
def test_nothing_overlaps(p: int, over: str) -> None:
    X, y, _ = simulate.linear(100, p, rho=0.0, sigma2=4.0, n_signals=min(p - 1, 20))
    values = FEW if over == "tau" else None
    assert_nothing_overlaps(plot_path(horseshoe_path(long_names(X), y, over, values)))


def test_nothing_overlaps_in_given_axes() -> None:
    X, y = wide(50)
    _, axes = pyplot.subplots(1, 2, figsize=(11.0, 3.2), layout="constrained")
    path = horseshoe_path(long_names(X), y, values=FEW)
    assert plot_path(path, ax=axes[0]) is axes[0]
    plot_path(path, ax=axes[1], standardized=False, most=3)
    assert_nothing_overlaps(*axes)


def test_the_strongest_have_names_and_the_rest_are_drawn() -> None:
    X, y = wide()
    X = X * np.random.default_rng(0).uniform(0.1, 10.0, X.shape[1])
    path = horseshoe_path(X, y, values=FEW)
    strength = np.abs(path.coef * X.std(axis=0)).max(axis=0)
    strongest = np.argsort(-strength)[:12]
    ax = plot_path(path)
    assert sorted(names(ax)) == sorted(f"x{j}" for j in strongest)
    ever = int((strength > 0.0).sum())
    assert ever > 12
    assert f"{ever} of 500 columns are selected somewhere\nthe 12 strongest have names" in ax.get_title()
    assert sum(len(part.get_segments()) for part in ax.collections) == ever - 12
    assert sorted(names(plot_path(path, most=2))) == sorted(f"x{j}" for j in strongest[:2])
    assert set(names(plot_path(path, standardized=False))) == {f"x{j}" for j in strongest}


def test_lines_are_the_effects_of_one_standard_deviation() -> None:
    X, y = wide(6)
    X = X * np.arange(1.0, 7.0)
    path = horseshoe_path(X, y, values=FEW)
    effects = {tuple(column) for column in (path.coef * path.estimators[0].scale_).T if column.any()}
    drawn = {tuple(line.get_ydata()) for line in plot_path(path).lines if len(line.get_ydata()) == len(FEW)}
    assert effects == drawn
    raw = {tuple(line.get_ydata()) for line in plot_path(path, standardized=False).lines}
    assert {tuple(column) for column in path.coef.T if column.any()} <= raw


@pytest.mark.parametrize(
    ("over", "values", "rich", "says"),
    [
        ("tau", FEW, 1.0, "global scale"),
        ("sigma2", [30.0, 3.0], 3.0, "variance of the noise"),
        ("lambda_power", [1.5, 2.0], 1.5, "lambda_power"),
        ("a", [0.6, 0.5, 0.4], 0.6, "a parameter of the prior"),
    ],
)
def test_the_richest_fit_is_at_the_right(over: str, values: list[float], rich: float, says: str) -> None:
    X, y = wide(8)
    path = horseshoe_path(X, y, over, values)
    ax = plot_path(path)
    assert ax.get_xlim()[1] == rich
    assert ax.get_xlim()[0] == path.values[-1]
    assert says in ax.get_xlabel()
    assert "richest fit at the right" in ax.get_xlabel()
    above = {label.get_text() for label in ax.child_axes[0].get_xticklabels()}
    assert above == set(map(str, path.n_selected))


@pytest.mark.parametrize(
    ("family", "unit"), [("gaussian", "change of y"), ("poisson", "log of the mean of y")]
)
def test_the_axis_has_the_unit(family: str, unit: str) -> None:
    X, y, _ = simulate.glm(family, 80, 5, n_signals=2)
    path = horseshoe_path(X, y, values=FEW, estimator=HorseshoeRegressor(family))
    assert plot_path(path).get_ylabel() == f"{unit} for one standard deviation"
    assert plot_path(path, standardized=False).get_ylabel() == f"{unit} for one unit of the column"


def test_one_class_of_several_is_drawn() -> None:
    X = np.random.default_rng(0).standard_normal((120, 4))
    y = np.array(["a$", "b", "c"])[np.digitize(X[:, 0] + 0.2 * X[:, 1], [-0.5, 0.5])]
    path = horseshoe_path(X, y, values=FEW, estimator=HorseshoeClassifier())
    with pytest.raises(ValueError, match=r"of_class=None must be one of the 3 classes: 'a\$', 'b', 'c'"):
        plot_path(path)
    ax = plot_path(path, of_class="a$")
    assert ax.get_ylabel().endswith("class a\\$")
    selected = {str(int(count)) for count in (path.coef[:, 0] != 0.0).sum(axis=1)}
    assert {label.get_text() for label in ax.child_axes[0].get_xticklabels()} == selected
    assert_nothing_overlaps(ax)
    two = horseshoe_path(X, y == "b", values=[1.0], estimator=HorseshoeClassifier())
    with pytest.raises(ValueError, match="of_class='b' is for more than two classes"):
        plot_path(two, of_class="b")
    assert plot_path(two).get_ylabel() == "log odds of True for one standard deviation"


def test_nothing_selected_and_one_value() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 40)), rng.standard_normal(60)
    ax = plot_path(horseshoe_path(X, y, values=[0.002, 0.001]))
    ax.figure.canvas.draw()
    assert "0 of 40 columns are selected somewhere" in ax.get_title()
    assert names(ax) == []
    one = plot_path(horseshoe_path(X, X[:, 3] + y, values=[0.1], warm_start=False))
    one.figure.canvas.draw()
    assert "each on its own" in one.get_title()
    assert names(one) == ["x3"]
    assert [text.get_text() for text in one.get_xticklabels()] == ["0.1"]


def test_thousands_of_columns_that_are_never_zero() -> None:
    X, y = wide(3000)
    path = horseshoe_path(X, y, values=[1.0, 0.1], estimator=HorseshoeRegressor(prior="ridge"))
    ax = plot_path(path)
    assert len(names(ax)) == 12
    assert "3,000 of 3,000 columns" in ax.get_title()
    assert_nothing_overlaps(ax)


def test_lines_differ_without_colour() -> None:
    X, y = wide(50)
    ax = plot_path(horseshoe_path(X, y, values=FEW))
    lines = [line for line in ax.lines if len(line.get_ydata()) == len(FEW)]
    assert len(lines) == 12
    looks = {(line._unscaled_dash_pattern, line.get_linewidth()) for line in lines}
    assert len(looks) == 12


def test_names_are_written_apart_and_within_the_axes() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 10):
        at = np.sort(rng.choice([0.0, 0.2, 1.0], n) + 0.001 * rng.random(n))
        places = spread_out(at, 0.1)
        assert (np.diff(places) >= 0.1 - 1e-12).all()
        assert places.min() >= 0.05 - 1e-12
        assert places.max() <= 0.95 + 1e-12
    np.testing.assert_allclose(spread_out(np.array([0.2, 0.5, 0.8]), 0.1), [0.2, 0.5, 0.8])


def test_a_name_that_would_start_mathematics() -> None:
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((60, 2)), columns=["price_$x$_<b>", "b"])
    ax = plot_path(horseshoe_path(X, X["price_$x$_<b>"] + 0.1 * X["b"] ** 2, values=[1.0, 0.1]))
    ax.figure.canvas.draw()
    assert r"price_\$x\$_<b>" in names(ax)


def test_a_number_of_names_that_is_none() -> None:
    X, y = wide(5)
    with pytest.raises(ValueError, match="most=0"):
        plot_path(horseshoe_path(X, y, values=[1.0]), most=0)
