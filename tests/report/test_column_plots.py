"""Pictures of columns, of the steps of a fit and of what a prior does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot

import simulate
from horseshoe import (
    AdaptiveClassifier,
    AdaptiveRegressor,
    HorseshoeClassifier,
    HorseshoeRegressor,
    normal_means,
)
from horseshoe.em.m_step import Hyper
from horseshoe.model.profile import shrinkage_profile
from horseshoe.plots import (
    plot_coefficients,
    plot_components,
    plot_convergence,
    plot_inclusion,
    plot_shrinkage,
    plot_shrinkage_profile,
)
from horseshoe.priors import FixedScale, resolve_known
from pictures import assert_legend_is_free, assert_nothing_overlaps, by_label, names

LONG = "the concentration of substance {} in the serum"


def data(p: int = 8, seed: int = 0, unit: float = 1.0) -> tuple[Any, Any]:
    X, y, _ = simulate.linear(90, max(p, 3), rho=0.3, sigma2=1.0, n_signals=2, size=2.0, seed=seed)
    return pd.DataFrame(X[:, :p], columns=[LONG.format(j) for j in range(p)]), unit * y


@pytest.fixture(scope="module")
def average() -> AdaptiveRegressor:
    X, y = data()
    X.columns = [f"c{j}" for j in range(8)]
    return AdaptiveRegressor(cv=4).fit(X, y)


@pytest.fixture(scope="module")
def mode() -> HorseshoeRegressor:
    return HorseshoeRegressor().fit(*data())


@pytest.fixture(scope="module")
def classes() -> HorseshoeClassifier:
    X, y = data()
    return HorseshoeClassifier().fit(X, np.array(["low", "mid", "top"])[np.digitize(y, [-1.0, 1.0])])


# --- coefficients of an average --------------------------------------------------------------------------


@pytest.mark.parametrize("standardized", [True, False])
def test_the_average_its_intervals_and_the_sparse_answer(average: Any, standardized: bool) -> None:
    ax = plot_coefficients(average, 0.8, standardized=standardized)
    unit = average.scale_ if standardized else np.ones(8)
    order = np.argsort(np.abs(average.coef_ * unit), kind="stable")
    assert names(ax) == [f"c{j}" for j in order]
    np.testing.assert_allclose(by_label(ax, "average").get_xdata(), (average.coef_ * unit)[order])
    few = by_label(ax, "sparse answer")
    chosen = order[average.support_[order]]
    np.testing.assert_allclose(few.get_xdata(), (average.sparse_coef_ * unit)[chosen])
    assert few.get_marker() != by_label(ax, "average").get_marker()
    ends = np.array([segment[:, 0] for segment in ax.collections[0].get_segments()])
    np.testing.assert_allclose(ends, (average.coef_interval(0.8) * unit[:, None])[order])
    assert "80% intervals" in ax.get_title()


def test_inclusion_stands_at_the_right(average: Any) -> None:
    ax = plot_coefficients(average)
    (strip,) = ax.child_axes
    order = [int(name[1:]) for name in names(ax)]
    heights = {round(bar.get_y() + bar.get_height() / 2): bar for bar in strip.patches}
    found = [heights[i].get_width() for i in range(8)]
    np.testing.assert_allclose(found, average.inclusion_[order])
    hatched = [bool(heights[i].get_hatch()) for i in range(8)]
    np.testing.assert_array_equal(hatched, ~average.support_[order])
    assert strip.get_ylim() == ax.get_ylim()
    assert strip.get_xlabel() == "inclusion"


def test_of_many_columns_the_sparse_answer_is_always_drawn() -> None:
    X, y, _ = simulate.linear(60, 200, rho=0.5, sigma2=1.0, n_signals=3, size=2.0)
    model = AdaptiveRegressor(cv=3).fit(X, y)
    ax = plot_coefficients(model, most=10)
    assert len(names(ax)) == 10
    assert {f"x{j}" for j in np.flatnonzero(model.support_)[:10]} <= set(names(ax))
    assert "the 10 strongest of 200 columns" in ax.get_title()
    assert len(names(plot_inclusion(model))) == 30


def test_two_classes_of_an_average() -> None:
    X, y = data()
    model = AdaptiveClassifier(cv=3).fit(X, np.where(y > 0.0, "i$ll", "healthy"))
    label = plot_coefficients(model).get_xlabel().replace("\n", " ")
    assert label == r"log odds of i\$ll for one standard deviation"
    assert len(names(plot_inclusion(model))) == 8


# --- inclusion and shrinkage -----------------------------------------------------------------------------


def test_inclusion_is_drawn_the_surest_at_the_top(average: Any) -> None:
    ax = plot_inclusion(average)
    assert names(ax) == [f"c{j}" for j in np.argsort(-average.inclusion_, kind="stable")[::-1]]
    widths = sorted(bar.get_width() for bar in ax.patches)
    np.testing.assert_allclose(widths, np.sort(average.inclusion_))
    assert ax.get_xlim() == (0.0, 1.0)
    assert len(names(plot_inclusion(average, most=3))) == 3


def test_shrinkage_factors(mode: Any) -> None:
    ax = plot_shrinkage(mode)
    drawn = by_label(ax, "selected").get_xdata()
    np.testing.assert_allclose(np.sort(drawn), np.sort(mode.kappa_[mode.support_]))
    assert len(names(ax)) == 8
    zero = by_label(ax, "exactly zero")
    assert zero.get_fillstyle() == "none"
    assert (zero.get_xdata() == 1.0).all()


def test_what_a_kind_of_model_does_not_have(average: Any, mode: Any) -> None:
    with pytest.raises(ValueError, match=r"single mode and does not say how sure.*plot_shrinkage"):
        plot_inclusion(mode)
    with pytest.raises(ValueError, match="no factor for each column: look at plot_inclusion"):
        plot_shrinkage(average)
    with pytest.raises(ValueError, match="no single trace: look at plot_components"):
        plot_convergence(average)
    with pytest.raises(ValueError, match="averages nothing: look at plot_convergence"):
        plot_components(mode)
    with pytest.raises(ValueError, match="AdaptiveRegressor has no single prior"):
        plot_shrinkage_profile(average)
    assert not pyplot.get_fignums()


@pytest.mark.parametrize("draw", [plot_coefficients, plot_shrinkage])
def test_several_classes_are_drawn_one_by_one(classes: Any, draw: Any) -> None:
    with pytest.raises(ValueError, match=rf"3 classes.*{draw.__name__}\(model\.estimators_\[0\]\)"):
        draw(classes)
    assert len(names(draw(classes.estimators_[0]))) == 8


@pytest.mark.parametrize(
    "draw", [plot_coefficients, plot_inclusion, plot_shrinkage, plot_convergence, plot_components]
)
def test_only_fitted_models_are_drawn(draw: Any) -> None:
    with pytest.raises(ValueError, match="not fitted yet"):
        draw(HorseshoeRegressor())
    with pytest.raises(TypeError, match="no model of horseshoe"):
        draw(3)


@pytest.mark.parametrize("draw", [plot_coefficients, plot_inclusion])
def test_bad_numbers(average: Any, draw: Any) -> None:
    with pytest.raises(ValueError, match="most=0"):
        draw(average, most=0)
    with pytest.raises(ValueError, match=r"level=2\.0"):
        plot_coefficients(average, 2.0)
    assert not pyplot.get_fignums()


# --- how it was found ------------------------------------------------------------------------------------


def test_convergence_draws_the_trace(mode: Any) -> None:
    ax = plot_convergence(mode)
    line = by_label(ax, "change")
    changes = np.array([step.change for step in mode.trace_])
    np.testing.assert_allclose(line.get_ydata(), changes[changes > 0.0])
    assert f"{len(changes)} iterations" in ax.get_title()
    right = next(other for other in ax.figure.axes if other is not ax)
    np.testing.assert_array_equal(right.lines[0].get_ydata(), [step.n_active for step in mode.trace_])
    assert by_label(ax, "tol").get_ydata()[0] == mode.tol


def test_convergence_of_several_classes(classes: Any) -> None:
    ax = plot_convergence(classes)
    for label in ("low", "mid", "top"):
        assert by_label(ax, label).get_xdata().size > 1
    styles = {str(by_label(ax, label).get_linestyle()) for label in ("low", "mid", "top")}
    assert len(styles) >= 2  # seen without colour


def test_convergence_without_iterations() -> None:
    X, _ = data()
    with pytest.raises(ValueError, match="nothing to iterate: nothing to explain"):
        plot_convergence(HorseshoeRegressor().fit(X, np.ones(90)))
    with pytest.raises(ValueError, match="nothing to draw"):
        plot_components(AdaptiveRegressor(cv=3).fit(X, np.ones(90)))


def test_components_with_their_errors(average: Any) -> None:
    ax = plot_components(average)
    drawn = np.concatenate([line.get_xdata() for line in ax.lines])
    np.testing.assert_allclose(
        np.sort(drawn), np.sort([average.cv_error_, *(row.error for row in average.components_)])
    )
    weights = [label.get_text() for label in ax.child_axes[0].get_yticklabels()]
    assert f"weight {average.components_[0].weight:.2f}" in weights
    assert "mean squared error" in ax.get_xlabel()


# --- what the prior does ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("prior", "lambda_power"), [("horseshoe", 2.0), ("horseshoe", 1.5), ("lasso", 2.0)])
def test_the_profile_is_that_of_normal_means(prior: str, lambda_power: float) -> None:
    z = np.array([0.5, 2.0, 3.5, 5.0, 8.0])
    hyper = Hyper(resolve_known(prior), lambda_power, FixedScale(1.0))
    root = float(np.sqrt(np.mean(z**2)))
    want = normal_means(z, 1.0, prior, lambda_power, 1.0, tol=1e-7, zero_threshold=0.2 / root).coef
    np.testing.assert_allclose(shrinkage_profile(hyper, 1.0, z), want, atol=2e-3)
    np.testing.assert_array_equal(shrinkage_profile(hyper, 1.0, -z), -shrinkage_profile(hyper, 1.0, z))


def test_the_picture_of_a_profile(mode: Any) -> None:
    ax = plot_shrinkage_profile(mode)
    assert "Horseshoe, lambda power 2, tau 1.00, n 90" in ax.get_title()
    assert "zero up to 2.4 standard errors" in ax.get_title()
    curve = ax.lines[-1]
    z, estimate = np.array(curve.get_xdata()), np.array(curve.get_ydata())
    seen = np.isfinite(z)
    assert (np.abs(estimate[seen]) <= np.abs(z[seen]) + 1e-9).all()
    ridge = plot_shrinkage_profile("ridge", n=10.0)
    assert "zero up to" not in ridge.get_title()
    given = pyplot.subplots()[1]
    assert plot_shrinkage_profile("lasso", tau=0.5, ax=given) is given
    with pytest.raises(ValueError, match="n=0"):
        plot_shrinkage_profile("lasso", n=0)


# --- nothing overlaps ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("p", "unit"), [(1, 1.0), (10, 1.0), (50, 1.0), (10, 1e13), (10, 1e-13)])
def test_nothing_overlaps(p: int, unit: float) -> None:
    X, y = data(p, unit=unit)
    single, several = HorseshoeRegressor().fit(X, y), AdaptiveRegressor(cv=3).fit(X, y)
    pictures = [plot_coefficients(single), plot_coefficients(several), plot_inclusion(several)]
    pictures += [plot_shrinkage(single), plot_coefficients(several, most=50)]
    for ax in pictures:
        assert_nothing_overlaps(ax)
        assert_legend_is_free(ax) if ax.lines[1:] else None
    for ax in (plot_convergence(single), plot_components(several), plot_shrinkage_profile(single)):
        assert_nothing_overlaps(ax)


def test_nothing_overlaps_where_nothing_is_selected() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((60, 9)), rng.standard_normal(60)
    single, several = HorseshoeRegressor(tau=1e-3).fit(X, y), AdaptiveRegressor(cv=3).fit(X, y)
    assert not single.support_.any()
    assert not several.support_.any()
    for ax in (plot_coefficients(single), plot_coefficients(several), plot_inclusion(several)):
        assert_nothing_overlaps(ax)
    assert_nothing_overlaps(plot_shrinkage(single))


def test_nothing_overlaps_in_given_axes(average: Any, classes: Any) -> None:
    _, axes = pyplot.subplots(1, 2, figsize=(11.0, 3.6), layout="constrained")
    assert plot_coefficients(average, ax=axes[0]) is axes[0]
    plot_inclusion(average, ax=axes[1])
    for ax in axes:
        assert_nothing_overlaps(ax)
    assert_nothing_overlaps(plot_convergence(classes))


def test_a_long_class_and_long_names() -> None:
    X, y = data(10)
    labels = np.where(y > 0.0, "those who did not come back", "those who came back to the clinic")
    for kind in (HorseshoeClassifier(), AdaptiveClassifier(cv=3)):
        assert_nothing_overlaps(plot_coefficients(kind.fit(X, labels)))
        ax = pyplot.subplots(figsize=(5.0, 4.0), layout="constrained")[1]
        assert_nothing_overlaps(plot_coefficients(kind, ax=ax))


def test_names_of_wide_letters() -> None:
    X, y = data(4)
    X.columns = ["W" * 40, "TOTAL_CHOLESTEROL_MEASUREMENTS", "MAXIMUM_SYSTOLIC_BLOOD_PRESSURE", "a"]
    for model in (HorseshoeRegressor().fit(X, y), AdaptiveRegressor(cv=3).fit(X, y)):
        assert_nothing_overlaps(plot_coefficients(model))


def test_without_matplotlib(average: Any, mode: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    for draw, model in ((plot_inclusion, average), (plot_shrinkage, mode), (plot_convergence, mode)):
        with pytest.raises(ImportError, match=r"pip install 'horseshoe\[plot\]'"):
            draw(model)
