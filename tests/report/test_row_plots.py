"""Pictures of rows: observed and predicted, what is left, classes, counts."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas
import pytest
from matplotlib import pyplot
from scipy import stats
from sklearn.metrics import roc_auc_score

import simulate
from horseshoe import (
    AdaptiveClassifier,
    AdaptiveRegressor,
    HorseshoeClassifier,
    HorseshoeRegressor,
    load_model,
)
from horseshoe.plots import (
    plot_calibration,
    plot_observed,
    plot_residuals,
    plot_roc,
    plot_rootogram,
)
from horseshoe.report.figure import count_edges
from horseshoe.report.plots_classes import calibration
from horseshoe.report.plots_counts import expected_counts
from horseshoe.report.predictions import Predictions, held_out_interval, predictions_of
from loops import each
from pictures import assert_legend_is_free, assert_nothing_overlaps, by_label

N, P = 150, 5
OF_NUMBERS = [plot_observed, plot_residuals]
OF_CLASSES = [plot_calibration, plot_roc]


def data(family: str, seed: int = 0) -> tuple[Any, Any]:
    X, y, _ = simulate.glm(family, N, P, seed, n_signals=2, size=1.0)
    return X, y


@pytest.fixture(scope="module")
def fits() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for family in ("gaussian", "poisson", "negative_binomial", "student_t"):
        X, y = data(family)
        found[family] = X, y, HorseshoeRegressor(family=family).fit(X, y)
        found[f"{family} cv"] = X, y, AdaptiveRegressor(family=family, cv=5).fit(X, y)
    X, y = data("binomial")
    labels = np.where(y > 0.0, "yes", "no")
    found["classes"] = X, labels, HorseshoeClassifier().fit(X, labels)
    found["classes cv"] = X, labels, AdaptiveClassifier(cv=5).fit(X, labels)
    found["binomial"] = X, y, HorseshoeRegressor(family="binomial").fit(X, y)
    found["three"] = X, np.arange(N) % 3, HorseshoeClassifier().fit(X, np.arange(N) % 3)
    return found


NUMBERS = [
    f"{family}{kind}"
    for family in ("gaussian", "poisson", "negative_binomial", "student_t")
    for kind in ("", " cv")
]


# --- observed and predicted ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", NUMBERS)
def test_observed_against_predicted(fits: Any, kind: str) -> None:
    X, y, model = fits[kind]
    ax = plot_observed(model, X, y)
    drawn = np.hstack([by_label(ax, label).get_data() for label in ("within", "outside")])
    order = np.lexsort(drawn)
    want = np.vstack([model.predict(X), y])
    np.testing.assert_allclose(drawn[:, order], want[:, np.lexsort(want)])
    options = {} if "cv" in kind else {"method": "mode"}
    low, high = model.predict_interval(X, **options).T
    share = np.mean((low <= y) & (y <= high))
    assert f"({100.0 * share:.1f}%)" in by_label(ax, "within").get_label()
    assert "150 rows" in ax.get_title()
    assert by_label(ax, "within").get_marker() != by_label(ax, "outside").get_marker()


@pytest.mark.parametrize("kind", [kind for kind in NUMBERS if "cv" in kind])
@pytest.mark.parametrize("draw", OF_NUMBERS)
def test_without_rows_those_left_out_are_drawn(fits: Any, kind: str, draw: Any) -> None:
    _X, y, model = fits[kind]
    ax = draw(model)
    assert "rows left out" in ax.get_title()
    drawn = np.concatenate([line.get_xdata() for line in ax.lines if line.get_marker() in ("o", "x")])
    np.testing.assert_allclose(np.sort(drawn), np.sort(model.cv_prediction_))
    honest = predictions_of(model, None, None, "test")
    np.testing.assert_array_equal(honest.y, y)


@pytest.mark.parametrize("kind", [kind for kind in NUMBERS if "cv" in kind])
def test_intervals_of_rows_left_out_cover(fits: Any, kind: str) -> None:
    rows = predictions_of(fits[kind][2], None, None, "test")
    for level in (0.5, 0.8, 0.95):
        low, high = held_out_interval(rows, level).T
        assert np.mean((low <= rows.y) & (rows.y <= high)) == pytest.approx(level, abs=0.02)
    if rows.family.positive_only:
        assert low.min() >= 0.0


def test_residuals_are_pearsons_where_the_spread_moves(fits: Any) -> None:
    X, y, model = fits["poisson"]
    ax = plot_residuals(model, X, y)
    mean = model.predict(X)
    np.testing.assert_allclose(by_label(ax, "row").get_ydata(), (y - mean) / np.sqrt(mean))
    assert "standard deviations" in ax.get_ylabel()
    X, y, model = fits["gaussian"]
    ax = plot_residuals(model, X, y)
    np.testing.assert_allclose(by_label(ax, "row").get_ydata(), y - model.predict(X))
    assert ax.get_ylabel() == "observed - predicted"


def test_offsets_exposures_and_weights_are_used() -> None:
    X, y = data("poisson")
    rng = np.random.default_rng(0)
    known = {"offset": 0.1 * rng.standard_normal(N), "exposure": rng.uniform(0.5, 2.0, N)}
    weights = rng.integers(0, 3, N).astype(float)
    model = HorseshoeRegressor(family="poisson").fit(X, y, sample_weight=weights, **known)
    rows = predictions_of(model, X, y, "test", **known, sample_weight=weights)
    np.testing.assert_allclose(rows.mean, model.predict(X, **known))
    np.testing.assert_array_equal(rows.weights, weights)
    for draw in (*OF_NUMBERS, plot_rootogram):
        given = draw(model, X, y, sample_weight=weights, **known)
        assert "150 rows" in given.get_title()


def test_shares_have_intervals_of_their_mean_at_the_mode() -> None:
    rng = np.random.default_rng(0)
    trials, X = rng.integers(5, 30, N), rng.standard_normal((N, 3))
    y = rng.binomial(trials, 1.0 / (1.0 + np.exp(-X[:, 0]))) / trials
    model = HorseshoeRegressor(family="binomial").fit(X, y, sample_weight=trials)
    ax = plot_observed(model, X, y, sample_weight=trials)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["95% intervals of the mean", "observed = predicted", "row"]
    left = by_label(plot_residuals(model, X, y, sample_weight=trials), "row").get_ydata()
    mean = model.predict(X)
    np.testing.assert_allclose(left, (y - mean) / np.sqrt(mean * (1.0 - mean) / trials))
    assert 0.8 < left.std() < 1.2
    average = AdaptiveRegressor(family="binomial", cv=4).fit(X, y, sample_weight=trials)
    label = by_label(plot_observed(average), "within").get_label()
    assert 94.0 < float(label.split("(")[1].rstrip("%)")) < 97.0


def test_of_very_many_rows_a_part_is_drawn() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((5000, 2))
    y = X[:, 0] + rng.standard_normal(5000)
    model = HorseshoeRegressor().fit(X, y)
    for draw in OF_NUMBERS:
        ax = draw(model, X, y)
        assert "2,000 of 5,000 are drawn" in ax.get_title()
        points = sum(len(line.get_xdata()) for line in ax.lines if line.get_marker() in ("o", "x"))
        assert points == 2000


# --- two classes -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["classes", "classes cv", "binomial"])
def test_the_area_under_the_curve(fits: Any, kind: str) -> None:
    X, y, model = fits[kind]
    second = model.predict(X) if kind == "binomial" else model.predict_proba(X)[:, 1]
    truth = y if kind == "binomial" else y == "yes"
    ax = plot_roc(model, X, y)
    assert f"{roc_auc_score(truth, second):.3f}" in ax.get_title()
    weights = np.random.default_rng(0).integers(0, 4, N).astype(float)
    false, found = plot_roc(model, X, y, sample_weight=weights).lines[1].get_data()
    want = roc_auc_score(truth, second, sample_weight=weights)
    assert np.trapezoid(found, false) == pytest.approx(want)


def test_classes_left_out(fits: Any) -> None:
    _, labels, model = fits["classes cv"]
    honest = roc_auc_score(labels == "yes", model.cv_prediction_[:, 1])
    ax = plot_roc(model)
    assert f"{honest:.3f}" in ax.get_title()
    assert ax.get_ylabel() == "share of yes found"
    assert "rows left out" in plot_calibration(model).get_title()


def test_calibration_by_hand() -> None:
    from horseshoe.families import Binomial

    rng = np.random.default_rng(0)
    mean = rng.random(400)
    y = (rng.random(400) < mean).astype(float)
    at, share, counts = calibration(Predictions(y, mean, np.ones(400), Binomial(), ""), 4)
    order = np.argsort(mean).reshape(4, 100)
    np.testing.assert_allclose(at, [mean[group].mean() for group in order])
    np.testing.assert_allclose(share, [y[group].mean() for group in order])
    assert counts.tolist() == [100.0] * 4
    tied = calibration(Predictions(y, np.full(400, 0.5), np.ones(400), Binomial(), ""), 4)
    assert tied[0].tolist() == [0.5]
    assert tied[2].tolist() == [400.0]


def test_calibration_has_intervals_around_its_points(fits: Any) -> None:
    X, y, model = fits["classes"]
    ax = plot_calibration(model, X, y, n_groups=5, level=0.8)
    points = ax.lines[1].get_xydata()
    assert len(points) == 5
    for (x, share), segment in zip(points, ax.collections[0].get_segments(), strict=True):
        assert segment[:, 0].tolist() == [x, x]
        assert segment[0, 1] <= share <= segment[1, 1]
        assert 0.0 <= segment[0, 1] < segment[1, 1] <= 1.0
    assert ax.get_xlabel() == "predicted probability of yes"


# --- counts ----------------------------------------------------------------------------------------------


def test_expected_counts_are_those_of_scipy(fits: Any) -> None:
    X, y, model = fits["poisson"]
    rows, edges = predictions_of(model, X, y, "test"), count_edges(y)
    found = expected_counts(rows, edges)
    mean = model.predict(X)
    last = int(edges[-2] + 0.5)
    want = [stats.poisson.pmf(k, mean).sum() for k in range(last)] + [stats.poisson.sf(last - 1, mean).sum()]
    np.testing.assert_allclose(found, want)
    X, y, model = fits["negative_binomial"]
    rows, edges = predictions_of(model, X, y, "test"), count_edges(y)
    mean, size = model.predict(X), model.family_.size_
    first = stats.nbinom.pmf(0, size, size / (size + mean)).sum()
    if edges[1] == 0.5:
        assert expected_counts(rows, edges)[0] == pytest.approx(first)
    assert expected_counts(rows, edges).sum() == pytest.approx(N)


@pytest.mark.parametrize("kind", ["poisson", "poisson cv", "negative_binomial cv"])
def test_bars_hang_from_what_is_expected(fits: Any, kind: str) -> None:
    X, y, model = fits[kind]
    given = () if "cv" in kind else (X, y)
    ax = plot_rootogram(model, *given)
    bars = ax.containers[0]
    tops = np.array([bar.get_y() + bar.get_height() for bar in bars])
    np.testing.assert_allclose(tops, by_label(ax, "expected").get_ydata())
    observed = np.array([bar.get_height() ** 2 for bar in bars])
    assert observed.sum() == pytest.approx(N)
    assert observed[0] == pytest.approx(np.sum(y < count_edges(y)[1]))


def test_many_counts_share_bars() -> None:
    assert count_edges(np.arange(1000.0)).size <= 42
    assert count_edges(np.zeros(5)).tolist() == [-0.5, 0.5]


def test_a_model_from_a_file_keeps_no_rows(fits: Any, tmp_path: Any) -> None:
    X, y, model = fits["gaussian cv"]
    model.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    words = "models from files, and those of partial_fit, do not hold the rows that were left out: give rows"
    with pytest.raises(ValueError, match=words):
        plot_observed(loaded)
    assert plot_observed(loaded, X, y).get_title() == plot_observed(model, X, y).get_title()
    assert loaded.statistics() == model.statistics()
    pandas.testing.assert_frame_equal(loaded.summary(), model.summary())


# --- what has no meaning ---------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["classes", "classes cv", "binomial"])
@pytest.mark.parametrize("draw", OF_NUMBERS)
def test_numbers_are_asked_for(fits: Any, kind: str, draw: Any) -> None:
    X, y, model = fits[kind]
    with pytest.raises(ValueError, match=f"{draw.__name__} is for responses that are numbers.*plot_roc"):
        draw(model, X, y)
    assert not pyplot.get_fignums()


@each("kind", NUMBERS)
@each("draw", OF_CLASSES)
def test_classes_are_asked_for(fits: Any, kind: str, draw: Any) -> None:
    X, y, model = fits[kind]
    with pytest.raises(ValueError, match=f"{draw.__name__} is for two classes.*plot_observed"):
        draw(model, X, y)


@pytest.mark.parametrize("draw", [*OF_NUMBERS, *OF_CLASSES, plot_rootogram])
def test_rows_are_asked_for(fits: Any, draw: Any) -> None:
    X, y, model = fits["classes" if draw in OF_CLASSES else "poisson"]
    with pytest.raises(ValueError, match=f"{draw.__name__} needs X and y"):
        draw(model)
    with pytest.raises(ValueError, match="needs both X and y, or neither"):
        draw(model, X)
    with pytest.raises(ValueError, match="needs both X and y, or neither"):
        draw(model, None, y)
    several = fits["three"]
    with pytest.raises(ValueError, match="3 classes, one against the rest"):
        draw(several[2], *several[:2])


def test_other_refusals(fits: Any) -> None:
    X, y, model = fits["gaussian"]
    with pytest.raises(ValueError, match="plot_rootogram is for counts, and Gaussian"):
        plot_rootogram(model, X, y)
    X, y, model = fits["poisson"]
    with pytest.raises(ValueError, match=r"whole counts, and y in row 0 is \d+\.5"):
        plot_rootogram(model, X, y + 0.5)
    X, y, model = fits["classes"]
    with pytest.raises(ValueError, match="all of these are of one"):
        plot_roc(model, X, np.full(N, "yes"))
    with pytest.raises(ValueError, match="y in row 0 is 'what', which is not among classes_"):
        plot_roc(model, X, np.full(N, "what"))
    with pytest.raises(ValueError, match="nothing to draw: nothing to explain"):
        plot_observed(AdaptiveRegressor(cv=3).fit(X, np.ones(N)))
    with pytest.raises(ValueError, match="level=0"):
        plot_observed(model, X, y, level=0)
    assert not pyplot.get_fignums()


# --- nothing overlaps ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", NUMBERS)
def test_nothing_overlaps(fits: Any, kind: str) -> None:
    X, y, model = fits[kind]
    given = () if "cv" in kind else (X, y)
    pictures = [draw(model, *given) for draw in OF_NUMBERS]
    for ax in pictures:
        assert_nothing_overlaps(ax)
        assert_legend_is_free(ax)
    if model.family_.discrete:
        assert_nothing_overlaps(plot_rootogram(model, *given))


@pytest.mark.parametrize("unit", [1e12, 1e-12])
def test_nothing_overlaps_in_other_units(unit: float) -> None:
    X, y = data("gaussian")
    model = HorseshoeRegressor().fit(X, unit * y)
    for shift in (0.0, 1e3):
        for draw in OF_NUMBERS:
            assert_nothing_overlaps(draw(model.fit(X, unit * (y + shift)), X, unit * (y + shift)))


def test_nothing_overlaps_with_long_classes() -> None:
    X, y = data("binomial")
    labels = np.where(
        y > 0.0, "those who came back to the clinic within a year", "those who did not come back"
    )
    model = AdaptiveClassifier(cv=3).fit(X, labels)
    for draw in OF_CLASSES:
        assert_nothing_overlaps(draw(model))
        given = pyplot.subplots(figsize=(4.0, 4.0), layout="constrained")[1]
        assert draw(model, ax=given) is given


def test_nothing_is_warned_of(fits: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kind in ("gaussian", "poisson cv"):
            X, y, model = fits[kind]
            plot_observed(model, X[:6], y[:6])
            plot_residuals(model, X[:1], y[:1])
