"""Pictures of a posterior: what is drawn, where, and under which name."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import colors, pyplot

import simulate
from horseshoe import sample_posterior
from horseshoe.data.dense import Dense
from horseshoe.families import Family, Location
from horseshoe.plots import plot_forest, plot_predictive, plot_rank, plot_trace
from horseshoe.posterior.draws import Posterior
from horseshoe.report.figure import CHAINS, MODE, SELECTED, ZERO

mpl.use("Agg")
NAMES = ["price_$x$", "constant", "x2", "x3", "x4", "x5", "x6"]


def sample(X: Any, y: Any, family: str = "gaussian", **options: Any) -> Posterior:
    """Sample few draws, for which R-hat is not yet what it should be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return sample_posterior(X, y, family, n_draws=200, n_warmup=200, random_state=0, **options)


@pytest.fixture(scope="module")
def posterior() -> Posterior:
    """Three effects, a column that is constant, and a name that Matplotlib would take for mathematics."""
    pandas = pytest.importorskip("pandas")
    X, y, _ = simulate.linear(60, 7, rho=0.2, sigma2=1.0, n_signals=3, size=2.0)
    X[:, 1] = 4.0
    X[:, 3] *= 100.0
    return sample(pandas.DataFrame(X, columns=NAMES), y)


@pytest.fixture(scope="module")
def counts() -> Posterior:
    X, y, _ = simulate.glm("poisson", 60, 4, n_signals=2)
    return sample(X, y, "poisson")


@pytest.fixture(scope="module")
def classes() -> Posterior:
    X, y, _ = simulate.glm("binomial", 80, 4, n_signals=2)
    return sample(X, np.where(y > 0, "y$es", "no"), "binomial")


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


def render(axes: Any) -> None:
    """Draw in earnest: errors of labels and of layouts come out only here."""
    np.ravel(axes)[0].figure.canvas.draw()


def same_color(one: Any, two: Any) -> bool:
    return colors.to_rgb(one) == colors.to_rgb(two)


def labels_of(axis_labels: Any) -> list[str]:
    return [text.get_text() for text in axis_labels]


def by_label(ax: Any, label: str) -> Any:
    (line,) = (line for line in ax.lines if line.get_label() == label)
    return line


def segments(collection: Any) -> Any:
    """Return (lower, upper) of each horizontal line of a collection."""
    return np.array([segment[:, 0] for segment in collection.get_segments()])


@pytest.mark.parametrize("kind", ["equal_tailed", "highest_density"])
@pytest.mark.parametrize("standardized", [True, False])
def test_forest_draws_medians_intervals_and_modes(posterior, kind, standardized):
    ax = plot_forest(posterior, 0.9, kind=kind, standardized=standardized)
    render(ax)
    unit = posterior.rows.columns.dense().std(axis=0) if standardized else np.ones(7)
    median = posterior.median() * unit
    order = np.argsort(-np.abs(median), kind="stable")[::-1]
    assert order[-1] != order[0]
    points = by_label(ax, "posterior median")
    np.testing.assert_allclose(points.get_xdata(), median[order], rtol=1e-12)
    assert (points.get_ydata() == np.arange(7)).all()
    thin, thick = ax.collections
    for drawn, level in ((thin, 0.9), (thick, 0.5)):
        ends = (posterior.interval(level, kind) * unit[:, None])[order]
        np.testing.assert_allclose(segments(drawn), ends, rtol=1e-12)
    assert thin.get_linewidth()[0] < thick.get_linewidth()[0]
    per = "one standard deviation" if standardized else "one unit of the column"
    assert ax.get_xlabel() == f"change of y for {per}"
    assert ax.get_title() == "50% and 90% intervals of the posterior"
    names = [NAMES[j].replace("$", r"\$") for j in order]
    assert labels_of(ax.get_yticklabels()) == names
    assert r"price_\$x\$" in names


def test_forest_modes_are_hollow_where_they_are_zero(posterior):
    ax = plot_forest(posterior, standardized=False)
    order = np.argsort(-np.abs(posterior.median()), kind="stable")[::-1]
    mode = posterior.mode.coef[order]
    full, hollow = by_label(ax, "mode"), by_label(ax, "mode, exactly zero")
    assert (full.get_xdata() == mode[mode != 0.0]).all()
    assert full.get_fillstyle() == "full"
    assert same_color(full.get_color(), MODE)
    assert 0 < hollow.get_xdata().size == (mode == 0.0).sum() < 7
    assert (hollow.get_xdata() == 0.0).all()
    assert hollow.get_fillstyle() == "none"
    assert same_color(hollow.get_color(), ZERO)
    rows = np.floor(np.append(full.get_ydata(), hollow.get_ydata())) + 1
    assert sorted(rows) == list(range(7))
    assert (np.floor(full.get_ydata()) + 1 == np.flatnonzero(mode)).all()


def test_forest_leaves_out_the_smallest_and_says_so(posterior):
    ax = plot_forest(posterior, 0.999, most=2)
    largest = np.argsort(-np.abs(posterior.median() * posterior.mode.scale))[:2]
    assert labels_of(ax.get_yticklabels())[::-1] == [NAMES[j].replace("$", r"\$") for j in largest]
    assert ax.get_title() == "50% and 99.9% intervals of the posterior\nthe 2 strongest of 7 columns"
    assert "mode, exactly zero" not in labels_of(ax.get_legend().get_texts())


def test_forest_in_given_axes(posterior):
    _, (left, right) = pyplot.subplots(1, 2)
    assert plot_forest(posterior, ax=right) is right
    assert not left.lines


def test_trace_shows_the_worst_and_the_scales(posterior):
    axes = plot_trace(posterior, most=3)
    render(axes)
    assert axes.shape == (5, 2)
    rhat = posterior.rhat()
    worst = sorted((j for j in range(7) if j != 1), key=lambda j: -rhat[j])[:3]
    titles = [left.get_title(loc="left") for left, _ in axes]
    names = [NAMES[j].replace("$", r"\$") for j in worst] + ["tau2", "sigma2"]
    assert [title.split(":")[0] for title in titles] == names
    for title, j in zip(titles, worst, strict=False):
        ess = posterior.ess()[j]
        assert title.endswith(f": R-hat {rhat[j]:.3f}, ESS {ess:.0f}")
    assert f"R-hat {posterior.rhat('tau2'):.3f}" in titles[3]
    for (left, _), j in zip(axes, worst, strict=False):
        assert len(left.lines) == 4
        for chain, line in enumerate(left.lines):
            assert (line.get_ydata() == posterior.coef[chain, :, j]).all()
            assert same_color(line.get_color(), CHAINS[chain])
        assert left.get_yscale() == "linear"
    assert [left.get_yscale() for left, _ in axes[3:]] == ["log", "log"]
    assert [right.get_xscale() for _, right in axes[3:]] == ["log", "log"]
    assert axes[-1, 0].get_xlabel() == "draw"


def test_trace_histograms_are_densities_of_each_chain(posterior):
    axes = plot_trace(posterior, ["x2", "tau2"])
    for (_, right), draws in zip(axes, (posterior.coef[:, :, 2], np.log(posterior.tau2)), strict=True):
        assert len(right.patches) == 4
        for chain, stairs in enumerate(right.patches):
            values, edges, _ = stairs.get_data()
            edges = edges if right.get_xscale() == "linear" else np.log(edges)
            inside = ((draws[chain] >= edges[0]) & (draws[chain] <= edges[-1])).mean()
            assert values @ np.diff(edges) == pytest.approx(inside)
            assert inside > 0.95


def test_trace_of_named_quantities(posterior):
    axes = plot_trace(posterior, "price_$x$")
    assert axes.shape == (1, 2)
    assert axes[0, 0].get_title(loc="left").startswith(r"price_\$x\$: ")
    axes = plot_trace(posterior, ["intercept", "x5", "constant"])
    assert (axes[0, 0].lines[1].get_ydata() == posterior.intercept[1]).all()
    assert axes[0, 0].get_yscale() == "linear"
    assert (axes[2, 0].lines[0].get_ydata() == 0.0).all()
    render(axes)


def test_columns_of_the_same_name_are_all_drawn(posterior):
    again = replace(posterior, feature_names=("a", "b", "a", "c", "tau2", "d", "e"))
    axes = plot_trace(again, ["a", "tau2"])
    assert len(axes) == 3
    for (left, _), j in zip(axes, (0, 2, 4), strict=True):  # a column comes before tau2 itself
        assert (left.lines[0].get_ydata() == posterior.coef[0, :, j]).all()


def test_of_long_names_the_ends_are_shown(posterior):
    names = [f"a name that is much too long to be shown, ${j}$" for j in range(7)]
    again = replace(posterior, feature_names=tuple(names))
    for label in labels_of(plot_forest(again).get_yticklabels()):
        assert label.startswith("a name that is mu...")
        assert label.endswith(r"\$")
    (ax,) = plot_rank(again, names[3])
    assert ax.get_title() == r"a name that is mu...shown, \$3\$"


def test_trace_in_given_axes(posterior):
    _, axes = pyplot.subplots(2, 2)
    assert (plot_trace(posterior, ["x2", "x3"], axes=axes) == axes).all()
    assert len(axes[1, 1].patches) == 4
    with pytest.raises(ValueError, match=r"axes has shape \(2, 2\), but 3 quantities.*subplots\(3, 2\)"):
        plot_trace(posterior, ["x2", "x3", "x4"], axes=axes)


def test_what_does_not_vary_is_not_drawn_unasked(counts, posterior):
    names = [left.get_title(loc="left").split(":")[0] for left, _ in plot_trace(counts)]
    assert sorted(names) == ["tau2", "x0", "x1", "x2", "x3"]  # sigma2 is 1
    render(plot_trace(counts, "sigma2"))  # but it can be asked for
    names = [left.get_title(loc="left").split(":")[0] for left, _ in plot_trace(posterior, most=100)]
    assert "constant" not in names
    assert len(names) == 8


@pytest.mark.parametrize("decades", [0.05, 1.5, 6.0])
def test_few_and_plain_numbers_at_logarithmic_axes(posterior, decades):
    draws = 3000.0 * 10.0 ** (decades * np.random.default_rng(0).random((4, 200)))
    axes = plot_trace(replace(posterior, sigma2=draws), "sigma2")
    render(axes)
    for axis in (axes[0, 0].yaxis, axes[0, 1].xaxis):
        low, high = axis.get_view_interval()
        places, labels = axis.get_majorticklocs(), labels_of(axis.get_majorticklabels())
        shown = [label for place, label in zip(places, labels, strict=True) if low <= place <= high]
        assert 2 <= len(shown) <= 7
        assert all(float(label) > 0.0 for label in shown)
        assert not any(labels_of(axis.get_minorticklabels()))


@pytest.mark.parametrize("draw", [plot_trace, plot_rank])
def test_unknown_names_are_refused_with_known_ones(posterior, draw):
    with pytest.raises(ValueError, match=r"'bmi', which is no column.*'price_\$x\$', 'constant'.*\.\.\."):
        draw(posterior, ["x2", "bmi"])
    with pytest.raises(ValueError, match=r"'intercept', 'tau2', 'sigma2'$"):
        draw(posterior, ["nuisance"])  # the Gaussian family has none
    with pytest.raises(ValueError, match="nothing to draw"):
        draw(posterior, [])
    with pytest.raises(ValueError, match="no column"):
        draw(posterior, [2])
    assert not pyplot.get_fignums()


def test_one_chain_of_few_draws(posterior):
    short = replace(
        posterior,
        coef=posterior.coef[:1, :3],
        intercept=posterior.intercept[:1, :3],
        tau2=posterior.tau2[:1, :3],
        sigma2=posterior.sigma2[:1, :3],
    )
    axes = plot_trace(short, most=2)
    assert [len(left.lines) for left, _ in axes] == [1] * 4
    assert "R-hat nan" in axes[0, 0].get_title(loc="left")
    render(axes)
    render(plot_rank(short))
    render(plot_forest(short))
    assert len(plot_predictive(short).lines) == 4


def bars_of(ax: Any, chain: int) -> Any:
    return np.array([bar.get_height() for bar in ax.containers[chain]])


def test_ranks_are_those_among_all_draws(posterior):
    axes = plot_rank(posterior, ["x2", "sigma2"])
    render(axes)
    assert [ax.get_title() for ax in axes] == ["x2", "sigma2"]
    for ax, draws in zip(axes, (posterior.coef[:, :, 2], posterior.sigma2), strict=True):
        ranks = np.argsort(np.argsort(draws, axis=None)).reshape(draws.shape)
        expected = np.array([np.histogram(rank, 20, range=(0, draws.size))[0] for rank in ranks])
        drawn = np.array([bars_of(ax, chain) for chain in range(4)])
        np.testing.assert_allclose(drawn / drawn.sum() * draws.size, expected)
        assert drawn.max() == pytest.approx(0.9)  # rows of bars do not overlap
        bases = [container[0].get_y() for container in ax.containers]
        assert bases == [3, 2, 1, 0]
        even = [line.get_ydata()[0] - base for line, base in zip(ax.lines, bases, strict=True)]
        np.testing.assert_allclose(even, drawn.mean())
        assert labels_of(ax.get_yticklabels()) == ["4", "3", "2", "1"]


def test_ranks_show_a_chain_that_is_elsewhere(posterior):
    moved = posterior.coef.copy()
    moved[2, :, 5] += 1e3
    axes = plot_rank(replace(posterior, coef=moved), most=2)
    assert axes[0].get_title() == "x5"
    assert (bars_of(axes[0], 2) > 0).sum() == 5  # the last quarter of the ranks
    assert bars_of(axes[0], 2)[-5:].min() > 0.0
    assert bars_of(axes[0], 0)[-5:].max() == 0.0


def test_ranks_of_equal_draws_are_shared(posterior):
    (ax,) = plot_rank(posterior, "constant")
    heights = np.array([bars_of(ax, chain) for chain in range(4)])
    np.testing.assert_allclose(heights, np.tile(heights[0], (4, 1)))
    assert (heights > 0.0).sum() == 4
    assert heights[:, 10].min() > 0.0  # in the middle


def test_rank_has_as_many_panels_as_it_should(posterior):
    axes = plot_rank(posterior, most=4)
    assert axes.shape == (4,)
    assert len(axes[0].figure.axes) == 4
    assert len(plot_rank(posterior)) == 6


def test_predictive_densities(posterior):
    ax = plot_predictive(posterior, n_draws=30)
    render(ax)
    observed = by_label(ax, "observed")
    assert same_color(observed.get_color(), SELECTED)
    assert len(ax.lines) == 31
    assert labels_of(ax.get_legend().get_texts()) == ["simulated", "observed"]
    simulated = posterior.simulate(n_draws=30)
    for line, y in zip((observed, *ax.lines[:30]), (posterior.rows.y, *simulated), strict=True):
        grid, density = line.get_data()
        share = np.trapezoid(density, grid)
        assert 0.9 < share < 1.0 + 1e-9
        mean = np.trapezoid(density * grid, grid) / share
        assert mean == pytest.approx(y.mean(), abs=0.15 * y.std())


def test_a_density_is_that_of_scipy(posterior):
    from scipy.stats import gaussian_kde

    y, rng = posterior.rows.y, np.random.default_rng(0)
    weights = rng.integers(1, 4, y.size) * 1.0
    weighted = replace(posterior, rows=posterior.rows._replace(weights=weights))
    for each, counts in ((posterior, np.ones(y.size)), (weighted, weights)):
        grid, density = by_label(plot_predictive(each, 5), "observed").get_data()
        spread = min(y.std(), np.subtract(*np.quantile(y, (0.75, 0.25))) / 1.349)
        width = 0.9 * spread * counts.sum() ** -0.2
        kernel = gaussian_kde(np.repeat(y, counts.astype(int)))
        kernel.set_bandwidth(width / np.sqrt(kernel.covariance[0, 0]) * kernel.factor)
        np.testing.assert_allclose(density, kernel(grid), atol=0.02 * density.max())


def test_outliers_do_not_squeeze_a_density(posterior):
    y = posterior.rows.y.copy()
    y = np.tile(y, 20)
    y[0] = 1e6
    X, offset = np.tile(posterior.rows.columns.dense(), (20, 1)), np.zeros(y.size)
    wild = replace(posterior, rows=posterior.rows._replace(columns=Dense(X), y=y, offset=offset))
    ax = plot_predictive(wild, 5)
    assert ax.get_xlim()[1] < 10.0 * posterior.rows.y.std()


def test_predictive_bars_of_counts(counts):
    ax = plot_predictive(counts, n_draws=40)
    render(ax)
    y, simulated = counts.rows.y, counts.simulate(n_draws=40)
    middle = np.array([bar.get_x() + bar.get_width() / 2.0 for bar in ax.containers[0]])
    last = int(middle[-1])
    assert middle.tolist() == pytest.approx(list(range(last + 1)))
    shares = [[np.mean(np.minimum(each, last) == k) for k in range(last + 1)] for each in (y, *simulated)]
    np.testing.assert_allclose(bars_of(ax, 0), shares[0])
    low, median, high = np.quantile(shares[1:], (0.05, 0.5, 0.95), axis=0)
    points = by_label(ax, "simulated, median and 90%")
    np.testing.assert_allclose(points.get_ydata(), median)
    ends = np.array([segment[:, 1] for segment in ax.collections[0].get_segments()])
    np.testing.assert_allclose(ends, np.column_stack([low, high]))
    assert bars_of(ax, 0).sum() == pytest.approx(1.0)
    assert ax.get_ylim()[1] > 1.1 * max(bars_of(ax, 0).max(), high.max())
    assert ax.get_xlabel() == f"y (last bar: {last} and more)"


def test_many_counts_share_bars(counts):
    y = np.linspace(0.0, 9000.0, counts.rows.y.size).round()
    large = replace(counts, rows=counts.rows._replace(y=y))
    ax = plot_predictive(large)
    assert len(ax.containers[0]) == 40
    assert bars_of(ax, 0).sum() == pytest.approx(1.0)
    width = np.diff([bar.get_x() for bar in ax.containers[0]])
    np.testing.assert_allclose(width, np.round(width[0]))
    assert ax.get_xlabel() == "y (last bar: 8697 and more)"


def test_predictive_bars_of_classes(classes):
    ax = plot_predictive(classes, n_draws=40)
    render(ax)
    assert labels_of(ax.get_xticklabels()) == ["no", r"y\$es"]
    share = classes.rows.y.mean()
    np.testing.assert_allclose(bars_of(ax, 0), [1.0 - share, share])
    simulated = classes.simulate(n_draws=40).mean(axis=1)
    points = by_label(ax, "simulated, median and 90%")
    np.testing.assert_allclose(points.get_ydata(), np.median([1.0 - simulated, simulated], axis=1))
    assert labels_of(ax.get_legend().get_texts()) == ["observed", "simulated, median and 90%"]
    numbers = plot_predictive(replace(classes, classes=None))
    assert labels_of(numbers.get_xticklabels()) == ["0", "1"]


def test_weights_count_in_predictive_bars(classes):
    weights = np.where(classes.rows.y > 0.0, 3.0, 1.0)
    heavy = replace(classes, rows=classes.rows._replace(weights=weights))
    ones = classes.rows.y.sum()
    assert bars_of(plot_predictive(heavy), 0)[1] == pytest.approx(3.0 * ones / (2.0 * ones + weights.size))


def test_predictive_in_given_axes(counts):
    _, (left, right) = pyplot.subplots(1, 2)
    assert plot_predictive(counts, ax=right) is right
    assert not left.patches


class Silent(Location):
    """A family that does not say how to draw y."""


def test_families_that_cannot_simulate_say_so(posterior):
    assert Silent.simulate is Family.simulate
    with pytest.raises(NotImplementedError, match="simulate"):
        plot_predictive(replace(posterior, family=Silent()))


@pytest.mark.parametrize("draw", [plot_forest, plot_trace, plot_rank])
def test_bad_numbers(posterior, draw):
    with pytest.raises(ValueError, match="most=0"):
        draw(posterior, most=0)
    with pytest.raises(TypeError, match="most='all'"):
        draw(posterior, most="all")
    assert not pyplot.get_fignums()


def test_more_bad_arguments(posterior):
    with pytest.raises(ValueError, match="n_draws=0"):
        plot_predictive(posterior, 0)
    with pytest.raises(ValueError, match=r"level=1\.5"):
        plot_forest(posterior, 1.5)
    with pytest.raises(ValueError, match="kind='widest'"):
        plot_forest(posterior, kind="widest")
    assert not pyplot.get_fignums()


def test_without_matplotlib(posterior, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for draw in (plot_forest, plot_trace, plot_rank, plot_predictive):
        with pytest.raises(ImportError, match=r"pip install 'horseshoe\[plot\]'"):
            draw(posterior)


def test_more_columns_than_rows():
    X, y, _ = simulate.linear(30, 45, rho=0.0, sigma2=1.0, n_signals=2, size=4.0)
    wide = sample(X, y)
    ax = plot_forest(wide)
    render(ax)
    assert len(ax.get_yticks()) == 30
    assert "the 30 strongest of 45 columns" in ax.get_title()
    assert set(labels_of(ax.get_yticklabels())[-2:]) == {"x0", "x1"}
    titles = [ax.get_title() for ax in plot_rank(wide, most=2)]
    assert titles == [f"x{j}" for j in np.argsort(-wide.rhat(), kind="stable")[:2]]
