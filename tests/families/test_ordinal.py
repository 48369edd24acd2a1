"""Ordered levels: the likelihood from its definition, the fit beside statsmodels and beside dense oracles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import optimize, stats
from statsmodels.miscmodels.ordinal_model import OrderedModel

from horseshoe import AdaptiveRegressor, HorseshoeRegressor, load_model, sample_posterior
from horseshoe.families import Binomial, Ordinal
from horseshoe.families.thresholds import best_thresholds, draw_thresholds
from simulate import glm

FEW = {"n_draws": 400, "n_warmup": 300, "n_chains": 2}
LEVELS = ["low", "mid", "high", "top"]
MAXIMUM = {"prior": "ridge", "tau": 1e4, "tol": 1e-11}
"""As good as maximum likelihood."""


def learned(points: Any = (0.0, 1.0, 2.0, 3.0), thresholds: Any = (-1.2, 0.3, 0.9)) -> Ordinal:
    family = Ordinal().learn(np.array(points))
    return family.with_nuisance(np.array(thresholds))  # type: ignore[return-value]


def probability(family: Ordinal, code: int, eta: Any) -> Any:
    """P(y = level), as a difference of the logistic distribution function."""
    ends = np.concatenate([[-np.inf], family.thresholds_, [np.inf]])
    return stats.logistic.cdf(ends[code + 1] - eta) - stats.logistic.cdf(ends[code] - eta)


def loss(theta: Any, coef: Any, X: Any, y: Any, weights: Any = 1.0, offset: Any = 0.0) -> float:
    """Minus the log-likelihood, from its definition."""
    ends = np.concatenate([[-np.inf], theta, [np.inf]])
    eta, codes = X @ coef + offset, np.unique(y, return_inverse=True)[1]
    shares = stats.logistic.cdf(ends[codes + 1] - eta) - stats.logistic.cdf(ends[codes] - eta)
    return -float(np.sum(weights * np.log(shares)))


def hessian(function: Any, at: Any, step: float = 1e-4) -> Any:
    """Second differences."""
    k, steps = at.size, step * np.eye(at.size)
    found = np.empty((k, k))
    for i in range(k):
        for j in range(k):
            signs = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
            values = [s * t * function(at + s * steps[i] + t * steps[j]) for s, t in signs]
            found[i, j] = sum(values) / (4.0 * step * step)
    return found


# --- the likelihood ---------------------------------------------------------------------------------


def test_the_likelihood_is_a_difference_of_distribution_functions() -> None:
    family, eta = learned(), np.linspace(-6.0, 6.0, 25)
    for code in range(4):
        y = np.full(eta.size, float(code))
        want = probability(family, code, eta)
        assert_allclose(np.exp(-family.neg_log_likelihood(y, eta, 1.0)), want, rtol=1e-12)
        assert_allclose(family.probabilities(eta)[:, code], want, rtol=1e-12)
        slope = [family.neg_log_likelihood(y, eta + h, 1.0) for h in (-1e-5, 1e-5)]
        weights, targets = family.working(y, eta, 1.0)
        assert_allclose(weights * (targets - eta), (slope[0] - slope[1]) / 2e-5, rtol=1e-6, atol=1e-9)
    assert_allclose(family.probabilities(eta).sum(axis=1), 1.0, rtol=1e-14)


def test_far_away_nothing_is_lost() -> None:
    family = learned()
    eta = np.array([-745.0, -40.0, 40.0, 745.0])
    for code in range(4):
        y = np.full(4, float(code))
        assert np.isfinite(family.neg_log_likelihood(y, eta, 1.0)).all()
        assert np.isfinite(np.concatenate(family.working(y, eta, 1.0))).all()
    assert_allclose(family.neg_log_likelihood(np.array([0.0]), np.array([745.0]), 1.0), 746.2, rtol=1e-12)


def test_distribution_mean_variance_median_and_draws() -> None:
    family, eta = learned(points=(1.0, 2.0, 5.0, 11.0)), np.array([-2.0, 0.0, 0.7, 3.0])
    shares = np.column_stack([probability(family, code, eta) for code in range(4)])
    mean = shares @ family.points_
    assert_allclose(family.mean(eta), mean, rtol=1e-12)
    assert_allclose(family.variance(eta, 1.0), shares @ family.points_**2 - mean**2, rtol=1e-10)
    assert_allclose(family.link(mean), eta, atol=1e-9)
    for y, reached in ((0.9, 0), (1.0, 1), (4.9, 2), (5.0, 3), (11.0, 4)):
        assert_allclose(family.cdf(np.full(4, y), eta, 1.0), shares[:, :reached].sum(axis=1), atol=1e-14)
    medians = [family.points_[np.argmax(np.cumsum(row) >= 0.5)] for row in shares]
    assert family.predicted(eta).tolist() == medians
    drawn = family.simulate(np.repeat(eta, 20_000), 1.0, np.random.default_rng(0)).reshape(4, -1)
    for row, share in zip(drawn, shares, strict=True):
        assert_allclose([np.mean(row == point) for point in family.points_], share, atol=0.015)


@pytest.mark.parametrize("n_levels", [2, 3, 7, 60])
def test_the_best_thresholds(n_levels: int) -> None:
    rng = np.random.default_rng(n_levels)
    codes = np.concatenate([np.arange(n_levels), rng.integers(0, n_levels, 60)])
    eta, weights = codes / n_levels + rng.standard_normal(codes.size), rng.uniform(0.5, 2.0, codes.size)
    counts = np.bincount(codes, weights, n_levels)
    far = np.linspace(-60.0, 80.0, n_levels + 1)[1:-1]
    found = best_thresholds(far, codes, eta, weights, counts)
    assert np.all(np.diff(found) > 0.0)
    steps = 1e-5 * np.eye(found.size)
    ends = [
        [loss(found + sign * step, np.ones(1), eta[:, None], codes, weights) for step in steps]
        for sign in (1, -1)
    ]
    assert np.abs(np.subtract(*ends)).max() / 2e-5 < 1e-5
    again = best_thresholds(found + 0.01, codes, eta, weights, counts)
    assert_allclose(again, found, atol=1e-9)


def test_thresholds_are_drawn_from_their_density() -> None:
    rng = np.random.default_rng(0)
    codes, eta = np.repeat([0, 1, 2], [3, 4, 5]), np.linspace(-1.0, 1.0, 12)
    theta, draws = np.array([-1.0, 1.0]), []
    for _ in range(3_000):
        theta = draw_thresholds(theta, codes, eta, np.ones(12), rng)
        draws.append(theta)
    low, high = np.meshgrid(*[np.linspace(-5.0, 5.0, 300)] * 2, indexing="ij")
    log_density = np.where(low < high, 0.0, -np.inf)
    ends = [np.full_like(low, -np.inf), low, high, np.full_like(low, np.inf)]
    with np.errstate(divide="ignore", invalid="ignore"):
        for code, at in zip(codes, eta, strict=True):
            share = stats.logistic.cdf(ends[code + 1] - at) - stats.logistic.cdf(ends[code] - at)
            log_density = log_density + np.where(share > 0.0, np.log(share), -np.inf)
    density = (
        np.exp(log_density - np.nanmax(log_density)) * stats.logistic.pdf(low) * stats.logistic.pdf(high)
    )
    density /= density.sum()
    want = [(density * low).sum(), (density * high).sum()]
    assert_allclose(np.mean(draws, axis=0), want, atol=0.05)
    spread = [
        np.sqrt((density * (values - mean) ** 2).sum())
        for values, mean in zip((low, high), want, strict=True)
    ]
    assert_allclose(np.std(draws, axis=0), spread, rtol=0.06)


# --- the fit ----------------------------------------------------------------------------------------


def reference(X: Any, y: Any, offset: Any = None) -> Any:
    model = OrderedModel(y, X, distr="logit", offset=offset)
    found = model.fit(method="newton", disp=0, maxiter=100)
    theta = model.transform_threshold_params(found.params)[1:-1]
    return np.asarray(found.params)[: X.shape[1]], theta, np.asarray(found.bse)[: X.shape[1]]


@pytest.mark.parametrize("extra", ["plain", "weights", "offset"])
def test_maximum_likelihood_is_that_of_statsmodels(extra: str) -> None:
    X, y, _ = glm("ordinal", 250, 6, seed=3, n_signals=3, rho=0.4)
    X = X * np.array([1.0, 5.0, 0.1, 1.0, 1.0, 30.0]) + 2.0
    rng, more, rows, offset = np.random.default_rng(1), {}, np.arange(250), None
    if extra == "weights":
        counts = rng.integers(0, 4, 250)
        rows, more = np.repeat(rows, counts), {"sample_weight": counts}
    if extra == "offset":
        offset = rng.standard_normal(250)
        more = {"offset": offset}
    coef, theta, std = reference(X[rows], y[rows], offset)
    model = HorseshoeRegressor(family="ordinal", **MAXIMUM).fit(X, y, **more)
    assert_allclose(model.coef_, coef, rtol=1e-5)
    assert_allclose(model.thresholds_, theta, rtol=1e-5)
    assert_allclose(model.coef_std_, std, rtol=1e-5)
    assert model.intercept_ == 0.0


@pytest.mark.parametrize("prior", ["horseshoe", "ridge"])
def test_two_levels_are_two_classes(prior: str) -> None:
    X, y, _ = glm("binomial", 150, 10, seed=5, size=1.5)
    options = {"prior": prior, "tol": 1e-11}
    ours = HorseshoeRegressor(family="ordinal", **options).fit(X, y)
    theirs = HorseshoeRegressor(family=Binomial("irls"), **options).fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, atol=1e-10)
    assert_allclose(ours.coef_std_, theirs.coef_std_, atol=1e-10)
    assert_allclose(ours.thresholds_, [-theirs.intercept_], atol=1e-10)
    assert_allclose(ours.thresholds_std_, [theirs.intercept_std_], rtol=1e-9)
    assert_allclose(ours.predict_proba(X)[:, 1], theirs.predict(X), atol=1e-10)


@pytest.mark.parametrize("shape", [(120, 8), (40, 60)], ids=["long", "wide"])
def test_coefficients_and_thresholds_are_at_their_joint_mode(shape: tuple[int, int]) -> None:
    X, y, _ = glm("ordinal", *shape, seed=7, size=1.5)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = HorseshoeRegressor(family="ordinal", tol=1e-11).fit(X, y)
    assert model.support_.any()
    precision = 1.0 / (model.tau2_ * model.lambda2_[model.support_])
    chosen, k = X[:, model.support_], int(model.support_.sum())

    def objective(at: Any) -> float:
        return loss(at[k:], at[:k], chosen, y) + 0.5 * float(precision @ at[:k] ** 2)

    at = np.concatenate([model.coef_[model.support_], model.thresholds_])
    assert np.abs(optimize.approx_fprime(at, objective, 1e-6)).max() < 1e-3
    joint = np.linalg.inv(hessian(objective, at))
    assert_allclose(model.coef_std_[model.support_], np.sqrt(np.diag(joint))[:k], rtol=1e-3)
    assert_allclose(model.thresholds_std_, np.sqrt(np.diag(joint))[k:], rtol=1e-3)


def test_more_columns_than_rows_with_a_prior_that_keeps_all() -> None:
    X, y, _ = glm("ordinal", 16, 24, seed=8)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = HorseshoeRegressor(family="ordinal", prior="ridge", tau=0.3, tol=1e-12).fit(X, y)

    def objective(at: Any) -> float:
        return loss(at[24:], at[:24], X, y) + 0.5 * float(at[:24] @ at[:24]) / 0.09

    at = np.concatenate([model.coef_, model.thresholds_])
    assert np.abs(optimize.approx_fprime(at, objective, 1e-6)).max() < 1e-4
    joint = np.linalg.inv(hessian(objective, at))
    assert_allclose(model.coef_std_, np.sqrt(np.diag(joint))[:24], rtol=1e-4)


@pytest.mark.parametrize("expectation", ["exact", "approximate"])
def test_a_weight_of_two_is_two_rows_in_either_form(expectation: str) -> None:
    X, y, _ = glm("ordinal", 40, 50, seed=2, n_signals=2, size=2.0)
    rows = np.arange(40).repeat(2)
    options = {"family": "ordinal", "expectation": expectation, "tol": 1e-9}
    once = HorseshoeRegressor(**options).fit(X, y, sample_weight=np.full(40, 2.0))
    twice = HorseshoeRegressor(**options).fit(X[rows], y[rows])
    assert_allclose(once.coef_, twice.coef_, atol=1e-7)
    assert_allclose(once.thresholds_, twice.thresholds_, atol=1e-7)


def test_every_number_of_a_continuous_response_is_a_level() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 5))
    y = np.exp(2.0 * X[:, 0] + rng.logistic(size=150))
    model = HorseshoeRegressor(family="ordinal").fit(X, y)
    log = HorseshoeRegressor(family="ordinal").fit(X, np.log(y))  # only the order of y matters
    assert_allclose(model.coef_, log.coef_, atol=1e-12)
    assert model.support_.tolist() == [True, False, False, False, False]
    assert abs(model.coef_[0] - 2.0) < 4.0 * model.coef_std_[0]
    assert not hasattr(model, "predict_proba")
    assert np.isin(model.predict(X), y).all()
    assert len(model.summary(method="mode")) == 5


# --- what users hand in and get back ----------------------------------------------------------------


def table(seed: int = 0) -> tuple[Any, Any]:
    X, y, _ = glm("ordinal", 120, 4, seed=seed, n_signals=2, size=1.5)
    return pd.DataFrame(X, columns=list("abcd")), np.array(LEVELS)[y.astype(int)]


def test_labels_come_back(tmp_path: Any) -> None:
    X, y = table()
    model = HorseshoeRegressor(family=Ordinal(levels=LEVELS)).fit(X, y)
    assert model.levels_.tolist() == LEVELS
    assert set(model.predict(X)) <= set(LEVELS)
    shares = model.predict_proba(X)
    medians = [LEVELS[int(np.argmax(row >= 0.5))] for row in np.cumsum(shares, axis=1)]
    assert model.predict(X).tolist() == medians
    ends = model.predict_interval(X, level=0.5, method="mode")
    assert ends.shape == (120, 2)
    assert set(ends.ravel()) <= set(LEVELS)
    null = -np.sum([np.log(np.mean(y == level)) * np.sum(y == level) for level in LEVELS])
    assert model.score(X, y) == pytest.approx(1.0 + model.log_likelihood(X, y) / null, rel=1e-9)
    assert model.summary(method="mode")["feature"].tolist()[:3] == ["low | mid", "mid | high", "high | top"]
    ratios = model.summary(exponentiate=True, method="mode")
    assert_allclose(ratios["odds_ratio"][3:], np.exp(model.coef_))
    loaded = load_model(model.save(tmp_path / "model.json") or tmp_path / "model.json")
    assert loaded.predict(X).tolist() == medians
    assert_allclose(loaded.predict_proba(X), shares, rtol=0, atol=0)


def test_an_ordered_categorical_has_its_order() -> None:
    X, y = table()
    named = HorseshoeRegressor(family=Ordinal(levels=LEVELS)).fit(X, y)
    series = pd.Series(pd.Categorical(y, LEVELS, ordered=True))
    ours = HorseshoeRegressor(family="ordinal").fit(X, series)
    assert ours.levels_.tolist() == LEVELS
    assert_allclose(ours.coef_, named.coef_, atol=0)
    codes = HorseshoeRegressor(family="ordinal").fit(X, [LEVELS.index(label) * 10 for label in y])
    assert_allclose(codes.coef_, named.coef_, atol=0)
    assert codes.levels_.tolist() == [0.0, 10.0, 20.0, 30.0]
    turned = HorseshoeRegressor(family=Ordinal(levels=LEVELS[::-1])).fit(X, y)
    assert_allclose(turned.coef_, -named.coef_, atol=1e-8)
    assert_allclose(turned.thresholds_, -named.thresholds_[::-1], atol=1e-7)


@pytest.mark.filterwarnings("ignore:R-hat is not below:UserWarning")
def test_draws_say_what_the_mode_says() -> None:
    X, y = table()
    family = Ordinal(levels=LEVELS)
    draws = sample_posterior(X, y, family=family, prior="ridge", tau=10.0, random_state=0, **FEW)
    mode = HorseshoeRegressor(family=family, prior="ridge", tau=10.0).fit(X, y)
    assert np.all(np.abs(draws.mean() - mode.coef_) < 0.5 * mode.coef_std_)
    assert_allclose(draws.std(), mode.coef_std_, rtol=0.2)
    assert draws.nuisance.shape == (2, 400, 3)
    assert np.all(np.abs(draws.mean("nuisance") - mode.thresholds_) < 0.5 * mode.thresholds_std_)
    assert np.all(draws.intercept == 0.0)
    assert_allclose(draws.predict_proba(X), mode.predict_proba(X), atol=0.05)
    assert draws.log_likelihood(X[:5], y[:5]).shape == (2, 400, 5)
    assert draws.predict_interval(X[:5]).shape == (5, 2)


@pytest.mark.parametrize(
    ("family", "y", "options", "message"),
    [
        (Ordinal(levels=["a", "b", "c"]), ["a", "b"] * 5, {}, "the level 'c' never occurs in y"),
        (
            Ordinal(levels=["a", "b"]),
            ["a", "b"] * 4 + ["c", "a"],
            {},
            "y in row 8 is 'c', which is not among",
        ),
        (Ordinal(levels=[1, 2]), [1, 2] * 4 + [3, 1], {}, "y in row 8 is 3, which is not among the levels"),
        ("ordinal", ["a", "b"] * 5, {}, "y holds labels, such as 'a', and nothing tells their order"),
        ("ordinal", [2.0] * 10, {}, "y has one level only, 2.0"),
        ("ordinal", [0, 1] * 5, {"fit_intercept": False}, "thresholds take the place of the intercept"),
        ("ordinal", np.zeros((10, 2)), {}, "y has 2 columns"),
        ("ordinal", [0, 1] * 5, {"sigma2": 1.0}, "sigma2"),
        ("ordinal", [0, np.nan] * 5, {}, "row 1"),
    ],
)
def test_refused(family: Any, y: Any, options: Any, message: str) -> None:
    X = np.arange(20.0).reshape(10, 2) ** 2
    with pytest.raises(ValueError, match=message):
        HorseshoeRegressor(family=family, **options).fit(X, y)


def test_refused_levels() -> None:
    with pytest.raises(ValueError, match=r"levels\[2\] is 2 after 3"):
        Ordinal(levels=[1, 3, 2])
    with pytest.raises(ValueError, match=r"levels\[1\] is 'a', which is there before"):
        Ordinal(levels=["a", "a"])
    with pytest.raises(ValueError, match="two levels or more"):
        Ordinal(levels=["a"])
    with pytest.raises(TypeError, match="must be a sequence of levels"):
        Ordinal(levels="low")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"levels\[1\] is None"):
        Ordinal(levels=["a", None])  # type: ignore[arg-type]


def test_there_is_no_onnx_of_levels() -> None:
    pytest.importorskip("skl2onnx")
    from horseshoe.estimators.onnx import to_onnx

    X, y = table()
    model = HorseshoeRegressor(family=Ordinal(levels=LEVELS)).fit(X.to_numpy(), y)
    with pytest.raises(TypeError, match=r"Ordinal.* has a link that is not known here"):
        to_onnx(model)


def test_refused_after_the_fit() -> None:
    X, y = table()
    model = HorseshoeRegressor(family=Ordinal(levels=LEVELS)).fit(X, y)
    with pytest.raises(ValueError, match="y in row 0 is 'huge', which is not among the levels"):
        model.score(X[:1], ["huge"])
    with pytest.raises(ValueError, match=r"without fold \d+ of cv no row is of the class 9"):
        AdaptiveRegressor(family="ordinal").fit(X, np.where(np.arange(120) == 7, 9.0, np.arange(120) % 3))
    unused = pd.Series(pd.Categorical(y, [*LEVELS, "never"], ordered=True))
    with pytest.raises(ValueError, match="the level 'never' never occurs in y"):
        HorseshoeRegressor(family="ordinal").fit(X, unused)
    plain = HorseshoeRegressor().fit(X, np.arange(120.0))
    assert not hasattr(plain, "levels_")
    assert not hasattr(plain, "predict_proba")
    with pytest.raises(ValueError, match="thresholds are between ordered levels"):
        plain.thresholds_interval()


def test_a_level_that_only_rows_without_weight_have_is_none() -> None:
    X, y = table()
    weights = np.where(y == "top", 0.0, 1.0)
    with pytest.raises(ValueError, match="the level 'top' never occurs in y among the rows with a positive"):
        HorseshoeRegressor(family=Ordinal(levels=LEVELS)).fit(X, y, sample_weight=weights)
    codes = np.array([LEVELS.index(label) for label in y])
    model = HorseshoeRegressor(family="ordinal").fit(X, codes, sample_weight=weights)
    assert model.levels_.tolist() == [0.0, 1.0, 2.0]
