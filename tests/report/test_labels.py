"""Pictures say what they show: the unit, what the intervals take as given, and what is left out."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot

import simulate
from horseshoe import HorseshoeClassifier, HorseshoeRegressor, sample_posterior
from horseshoe.families import Family
from horseshoe.plots import plot_coefficients, plot_forest, plot_rank, plot_trace
from horseshoe.report.figure import unique_labels, unit_of

mpl.use("Agg")
SHORT = {"n_draws": 60, "n_warmup": 60, "n_chains": 2, "random_state": 0}
UNITS = {
    "gaussian": "change of y",
    "student_t": "change of y",
    "laplace": "change of y",
    "poisson": "log of the mean of y",
    "negative_binomial": "log of the mean of y",
    "binomial": "log odds",
}
LONG = "the concentration of substance {} in the serum"


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


def data(family: str, n: int = 80, p: int = 5) -> tuple[Any, Any]:
    kind = family if family in ("poisson", "binomial") else "poisson" if "neg" in family else None
    if kind is None:
        X, y, _ = simulate.linear(n, p, rho=0.0, sigma2=1.0, n_signals=2, size=2.0)
        return X, y
    X, y, _ = simulate.glm(kind, n, p, n_signals=2)
    return X, y


def draws(X: Any, y: Any, family: str = "gaussian") -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return sample_posterior(X, y, family, **SHORT)


def flat(text: str) -> str:
    return text.replace("\n", " ")


@pytest.mark.parametrize("family", UNITS)
def test_the_axis_has_the_unit_of_the_family(family: str) -> None:
    X, y = data(family)
    for draw, shown in (
        (plot_coefficients, HorseshoeRegressor(family=family).fit(X, y)),
        (plot_forest, draws(X, y, family)),
    ):
        label = flat(draw(shown).get_xlabel())
        assert label == f"{UNITS[family]} for one standard deviation"
        label = flat(draw(shown, standardized=False).get_xlabel())
        assert label == f"{UNITS[family]} for one unit of the column"
    axes = plot_trace(shown, most=1)
    assert axes[0, 1].get_title(loc="left") == f"{UNITS[family]} for one unit"
    assert axes[1, 1].get_title(loc="left") == "squared global scale"


def test_the_unit_names_the_class() -> None:
    X, y = data("binomial")
    labels = np.where(y > 0, "i$ll", "healthy")
    model = HorseshoeClassifier().fit(X, labels)
    wanted = r"log odds of i\$ll for one standard deviation"
    assert flat(plot_coefficients(model).get_xlabel()) == wanted
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        posterior = model.sample_posterior(**SHORT)
    assert flat(plot_forest(posterior).get_xlabel()) == wanted
    many = HorseshoeClassifier().fit(X, np.digitize(X[:, 0], [-0.5, 0.5]))
    assert plot_coefficients(many.estimators_[0]).get_xlabel() == "log odds for one standard deviation"


def test_a_family_of_ones_own_changes_the_linear_predictor() -> None:
    assert unit_of(Family()) == "linear predictor for one standard deviation"


def test_the_quantities_beside_have_units_too() -> None:
    X, y = data("negative_binomial")
    axes = plot_trace(draws(X, y, "negative_binomial"), ["nuisance", "intercept"])
    assert axes[0, 1].get_title(loc="left") == "size of NegativeBinomial"
    assert "every column is 0" in axes[1, 1].get_title(loc="left")


def test_intervals_at_the_mode_say_what_they_take_as_given() -> None:
    X, y = data("gaussian")
    assert flat(plot_coefficients(HorseshoeRegressor().fit(X, y)).get_title()) == (
        "posterior mode and 95% intervals, given the selection"
    )
    title = plot_forest(draws(X, y), level=0.9).get_title()
    assert title == "50% and 90% intervals of the posterior"


def test_of_thousands_of_columns_the_strongest_are_drawn() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20, 5000)) * rng.uniform(0.1, 10.0, 5000)
    y = X[:, 7] / X[:, 7].std() + rng.standard_normal(20)
    model = HorseshoeRegressor(prior="ridge").fit(X, y)  # keeps all of them
    ax = plot_coefficients(model)
    strength = np.abs(model.coef_ * X.std(axis=0))
    strongest = np.argsort(-strength)[:30]
    assert [text.get_text() for text in ax.get_yticklabels()][::-1] == [f"x{j}" for j in strongest]
    assert "the 30 strongest of 5,000 columns" in ax.get_title()
    raw = plot_coefficients(model, standardized=False)  # the same ones, by what is drawn
    names = [text.get_text() for text in raw.get_yticklabels()]
    assert set(names) == {f"x{j}" for j in strongest}
    assert names[-1] == f"x{max(strongest, key=lambda j: abs(model.coef_[j]))}"


def test_zeros_among_thousands_are_not_drawn() -> None:
    X, y, _ = simulate.linear(60, 400, rho=0.0, sigma2=0.1, n_signals=3, size=3.0)
    model = HorseshoeRegressor().fit(X, y)
    selected = int(model.support_.sum())
    assert 3 <= selected <= 30
    ax = plot_coefficients(model)
    assert len(ax.get_yticks()) == selected
    assert f"the {selected} selected of 400 columns" in ax.get_title()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["selected"]
    few = plot_coefficients(model, most=2)
    assert "the 2 strongest of 400 columns" in few.get_title()


def test_nothing_selected_of_many() -> None:
    rng = np.random.default_rng(0)
    model = HorseshoeRegressor(tau=1e-3).fit(rng.standard_normal((60, 40)), rng.standard_normal(60))
    assert not model.support_.any()
    ax = plot_coefficients(model)
    ax.figure.canvas.draw()
    assert "none of 40 columns" in ax.get_title()
    assert ax.get_legend() is None
    few = plot_coefficients(model, most=40)
    assert [text.get_text() for text in few.get_legend().get_texts()] == ["exactly zero"]


def test_names_that_would_look_the_same_are_unique_labels() -> None:
    names = [LONG.format(j) for j in range(3)]
    labels = unique_labels(names, [4, 5, 9])
    assert len(set(labels)) == 3
    assert [label[-3:] for label in labels] == ["(4)", "(5)", "(9)"]
    assert unique_labels(["a", "b"], [4, 5]) == ["a", "b"]


# --- nothing overlaps ------------------------------------------------------------------------------------


def ticks(axis: Any) -> list[Any]:
    """Return the labels of the ticks that are seen; Matplotlib keeps others beyond the ends."""
    low, high = sorted(axis.get_view_interval())
    pairs = zip(axis.get_majorticklocs(), axis.get_majorticklabels(), strict=True)
    return [label for place, label in pairs if low <= place <= high]


def boxes(ax: Any) -> dict[str, Any]:
    """Return where the texts of axes are, in pixels."""
    texts = {f"y {i}": text for i, text in enumerate(ticks(ax.yaxis))}
    texts |= {f"x {i}": text for i, text in enumerate(ticks(ax.xaxis))}
    texts |= {"title": ax.title, "left title": ax._left_title, "unit": ax.xaxis.label}
    found = {name: text.get_window_extent() for name, text in texts.items() if text.get_text()}
    if ax.get_legend() is not None:
        found["legend"] = ax.get_legend().get_window_extent()
    return found


def drawn(ax: Any) -> Any:
    """Return the points and the ends of the lines that are drawn, in pixels."""
    points = [line.get_xydata() for line in ax.lines]
    points += [np.vstack(part.get_segments()) for part in ax.collections if len(part.get_segments())]
    return ax.transData.transform(np.vstack(points))


def assert_nothing_overlaps(axes: Any) -> None:
    figure = np.ravel(axes)[0].figure
    figure.canvas.draw()
    everything = {(i, name): box for i, ax in enumerate(np.ravel(axes)) for name, box in boxes(ax).items()}
    for (one, box), (other, second) in itertools.combinations(everything.items(), 2):
        apart = box.x1 <= second.x0 or second.x1 <= box.x0 or box.y1 <= second.y0 or second.y1 <= box.y0
        assert apart, (one, other)
    width, height = figure.canvas.get_width_height()
    for name, box in everything.items():
        assert min(box.x0, box.y0) >= -1.0, name
        assert box.x1 <= width + 1.0, name
        assert box.y1 <= height + 1.0, name


def assert_legend_is_free(ax: Any) -> None:
    legend = ax.get_legend().get_window_extent()
    assert not any(legend.contains(*point) for point in drawn(ax))


@pytest.mark.parametrize(
    ("names", "p", "family"),
    [("long", 1, "gaussian"), ("short", 8, "binomial"), ("long", 8, "gaussian"), ("long", 45, "binomial")],
)
def test_nothing_overlaps(names: str, p: int, family: str) -> None:
    pandas = pytest.importorskip("pandas")
    X, y = data(family, p=max(p, 2))
    X = X[:, :p] if p > 1 else X[:, [np.argmax(np.abs(np.corrcoef(X.T, y)[-1, :-1]))]]
    columns = [LONG.format(j) if names == "long" else f"x{j}" for j in range(p)]
    frame = pandas.DataFrame(X, columns=columns)
    model = HorseshoeRegressor(family=family).fit(frame, y)
    posterior = draws(frame, y, family)
    for ax in (plot_coefficients(model), plot_forest(posterior), plot_forest(posterior, standardized=False)):
        assert_nothing_overlaps(ax)
        assert_legend_is_free(ax)
    assert_nothing_overlaps(plot_trace(posterior))
    assert_nothing_overlaps(plot_rank(posterior))


def test_a_long_class_and_given_axes() -> None:
    X, y = data("binomial")
    model = HorseshoeClassifier().fit(X, np.where(y > 0, LONG.format("b"), LONG.format("a")))
    assert_nothing_overlaps(plot_coefficients(model))
    _, axes = pyplot.subplots(1, 2, figsize=(8.0, 3.0), layout="constrained")
    for ax in axes:
        plot_coefficients(model, ax=ax)
        assert_legend_is_free(ax)
    assert_nothing_overlaps(axes)
