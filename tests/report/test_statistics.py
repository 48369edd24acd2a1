"""A fit in a few numbers: right, also of copies, and the predictions of rows left out."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import RepeatedKFold, ShuffleSplit

import simulate
from horseshoe import (
    AdaptiveClassifier,
    AdaptiveRegressor,
    HorseshoeClassifier,
    HorseshoeRegressor,
    Status,
)
from horseshoe.families import FAMILIES
from horseshoe.families.deviance import Deviance, deviance
from horseshoe.report.statistics import FitStatistics, all_classes
from registry import AVERAGED

N, P = 80, 6


def data(family: str) -> tuple[Any, Any]:
    X, y, _ = simulate.glm(family, N, P, n_signals=2, size=1.5)
    return X, y


def rows(family: str) -> dict[str, Any]:
    rng = np.random.default_rng(0)
    found = {"sample_weight": rng.integers(0, 3, N).astype(float), "offset": 0.3 * rng.standard_normal(N)}
    return found | ({"exposure": rng.uniform(0.5, 2.0, N)} if "oiss" in family else {})


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("averaged", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_what_is_explained_is_the_score_of_the_rows(family: str, averaged: bool, plain: bool) -> None:
    X, y = data(family)
    more = {} if plain else rows(family)
    kind = AdaptiveRegressor(family=family, cv=4) if averaged else HorseshoeRegressor(family=family)
    model = kind.fit(X, y, **more)
    found = model.statistics()
    if "offset" not in more:  # scores compare with the mean, whatever is known before
        assert found.explained == pytest.approx(model.score(X, y, **more), rel=1e-9)
    assert found.n == (N if plain else np.count_nonzero(more["sample_weight"]))
    assert (found.p, found.n_selected) == (P, model.support_.sum())
    assert found.measure == ("R^2" if model.family_.squared_error else "D^2")
    assert found.status is model.status_
    if model.family_.is_location:
        assert found.noise_sd == pytest.approx(np.sqrt(model.sigma2_))
    else:
        assert found.noise_sd is None
    if averaged:
        assert found.cv_error == model.cv_error_
        assert found.cv_explained < found.explained
        assert found.n_iter is found.expected_by_chance is None
    else:
        assert (found.n_iter, found.expected_by_chance) == (model.n_iter_, model.expected_by_chance_)
        assert found.cv_error is found.cv_explained is None


@pytest.mark.parametrize(
    "model",
    [HorseshoeRegressor(), AdaptiveRegressor(cv=4), HorseshoeClassifier(), AdaptiveClassifier(cv=4)],
)
@pytest.mark.parametrize("several", [False, True])
def test_copies_say_the_same(model: Any, several: bool) -> None:
    X, y = data("gaussian")
    if "Class" in type(model).__name__:
        y = np.digitize(y, [-1.0, 1.0] if several else [0.0])
    model.fit(X, y)
    want = model.statistics()
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert again.statistics() == want
        assert pickle.loads(pickle.dumps(again)).statistics() == want
    if hasattr(model, "cv_prediction_"):
        np.testing.assert_array_equal(again.cv_prediction_, model.cv_prediction_)


def test_classes_are_taken_together() -> None:
    X, y = data("gaussian")
    labels = np.digitize(y, [-1.0, 1.0])
    model = HorseshoeClassifier().fit(X, labels)
    found, parts = model.statistics(), [part.statistics() for part in model.estimators_]
    assert found.n_selected == model.get_support().sum()
    assert found.n_iter == model.n_iter_.sum()
    assert found.expected_by_chance == pytest.approx(model.expected_by_chance_.sum())
    losses = [-part.log_likelihood(X, labels == k) for k, part in enumerate(model.estimators_)]
    shares = np.bincount(labels) / N
    null = -sum(N * (s * np.log(s) + (1.0 - s) * np.log(1.0 - s)) for s in shares)
    assert found.explained == pytest.approx(1.0 - sum(losses) / null)
    assert min(part.explained for part in parts) < found.explained < max(part.explained for part in parts)
    averaged = AdaptiveClassifier(cv=4).fit(X, labels)
    assert averaged.statistics().cv_error == pytest.approx(averaged.cv_error_.mean())


@pytest.mark.parametrize("averaged", [False, True])
def test_classes_that_are_fitted_together_are_multinomial(averaged: bool) -> None:
    X, y = data("gaussian")
    model = AdaptiveClassifier(cv=4) if averaged else HorseshoeClassifier()
    model.set_params(multi_class="multinomial").fit(X, np.digitize(y, [-1.0, 1.0]))
    found = model.statistics()
    assert found.family == "Multinomial"
    assert not averaged or "mean deviance of rows left out" in dict(found.lines())


def test_of_several_endings_the_one_to_know_of_is_told() -> None:
    def ended(status: Status) -> FitStatistics:
        return FitStatistics(9, 2, 1, "Binomial", False, Deviance(1.0, 4.0), status)

    good, separated, short = map(ended, (Status.CONVERGED, Status.SEPARATED, Status.MAX_ITER))
    assert all_classes([good, good], 1).status is Status.CONVERGED
    assert all_classes([good, separated, short], 1).status is Status.MAX_ITER
    assert all_classes([good, separated], 1).status is Status.SEPARATED
    assert all_classes([short], 1) is short


def test_constant_responses_and_huge_units() -> None:
    X, _ = data("gaussian")
    for kind in (HorseshoeRegressor(), AdaptiveRegressor(cv=4)):
        flat = kind.fit(X, np.full(N, 7.3)).statistics()
        assert flat.explained == 1.0
        assert flat.status is Status.CONSTANT_RESPONSE
        X, y = data("gaussian")
        want = kind.fit(X, y).statistics()
        for unit in (2.0**500, 2.0**-500):
            found = kind.fit(X, unit * y).statistics()
            assert found.explained == pytest.approx(want.explained, rel=1e-9)
    none = AdaptiveRegressor(family="poisson", cv=4).fit(X, np.zeros(N)).statistics()
    assert none.status is Status.BOUNDARY
    assert none.cv_explained is None
    assert dict(none.lines())["rows"] == "80"


def test_deviance_of_what_fits_perfectly() -> None:
    y = np.array([0.0, 3.0, 5.0])
    family = FAMILIES["poisson"]()
    assert deviance(family, y, family.link(y), np.ones(3), np.zeros(3)).explained == pytest.approx(1.0)
    flat = np.full(3, 2.0)
    assert deviance(family, flat, family.link(flat), np.ones(3), np.zeros(3)).explained == 1.0
    assert deviance(FAMILIES["gaussian"](), flat, flat + 1.0, np.ones(3), np.zeros(3)).explained == 0.0


def test_lines_are_words_and_numbers() -> None:
    X, y = data("gaussian")
    for model in (HorseshoeRegressor().fit(X, y), AdaptiveRegressor(cv=4).fit(X, y)):
        lines = dict(model.statistics().lines())
        assert lines["rows"] == "80"
        assert lines["columns"] == "6"
        assert 0.0 < float(lines["R^2"]) <= 1.0
        assert lines["status"] == str(model.status_)
        assert ("R^2 of rows left out" in lines) == hasattr(model, "cv_error_")


# --- rows left out ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("plain", [True, False])
@pytest.mark.parametrize("family", AVERAGED)
def test_predictions_of_rows_left_out_have_the_cross_validated_error(family: str, plain: bool) -> None:
    X, y = data(family)
    more = {} if plain else rows(family)
    weights = more.get("sample_weight", np.ones(N))
    model = AdaptiveRegressor(family=family, cv=4).fit(X, y, **more)
    assert model.cv_prediction_.shape == (N,)
    np.testing.assert_array_equal(np.isnan(model.cv_prediction_), weights == 0.0)
    seen = weights > 0.0
    mean, found = model.cv_prediction_[seen], model.family_
    if found.squared_error:
        losses = (y[seen] - mean) ** 2
    else:
        losses = 2.0 * found.neg_log_likelihood(y[seen], found.link(mean), model.sigma2_)
    assert np.average(losses, weights=weights[seen]) == pytest.approx(model.cv_error_, rel=1e-9)
    left = model.left_out()
    np.testing.assert_array_equal(left.y, y[seen])
    np.testing.assert_array_equal(left.prediction, mean)
    np.testing.assert_array_equal(left.weights, weights[seen])


def test_rows_that_are_left_out_never_or_often() -> None:
    X, y = data("gaussian")
    seldom = AdaptiveRegressor(cv=ShuffleSplit(2, test_size=0.2, random_state=0)).fit(X, y)
    assert 0 < np.isnan(seldom.cv_prediction_).sum() < N
    assert seldom.left_out().y.size == np.isfinite(seldom.cv_prediction_).sum()
    often = AdaptiveRegressor(cv=RepeatedKFold(n_splits=3, n_repeats=2, random_state=0)).fit(X, y)
    assert np.isfinite(often.cv_prediction_).all()


@pytest.mark.parametrize("several", [False, True])
def test_probabilities_of_rows_left_out(several: bool) -> None:
    X, y = data("gaussian")
    labels = np.array(["a", "b", "c"])[np.digitize(y, [-1.0, 1.0] if several else [0.0])]
    model = AdaptiveClassifier(cv=4).fit(X, labels)
    found = model.cv_prediction_
    assert found.shape == (N, model.classes_.size)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    right = np.mean(model.classes_[found.argmax(axis=1)] == labels)
    assert 0.5 < right <= model.score(X, labels) + 0.05
    picked = found[np.arange(N), np.searchsorted(model.classes_, labels)]
    if not several:
        assert -2.0 * np.log(picked).mean() == pytest.approx(model.cv_error_)


def one_of(status: Status, family: str = "Binomial") -> FitStatistics:
    return FitStatistics(9, 2, 1, family, False, Deviance(1.0, 4.0), status, cv_error=3.5)


def test_that_one_class_selects_nothing_is_not_said_of_all() -> None:
    some = [one_of(Status.CONVERGED), one_of(Status.NOTHING_SELECTED)]
    assert all_classes(some, 1).status is Status.CONVERGED
    assert all_classes([some[1], some[1]], 0).status is Status.NOTHING_SELECTED
    assert all_classes([*some, one_of(Status.SEPARATED)], 1).status is Status.SEPARATED


def test_what_is_no_deviance_is_not_called_one() -> None:
    assert ("mean deviance of rows left out", "3.50") in one_of(Status.CONVERGED).lines()
    counts = one_of(Status.CONVERGED, "NegativeBinomial").lines()
    assert ("-2 mean log-likelihood of rows left out", "3.50") in counts


@pytest.mark.parametrize("name", ["poisson", "binomial", "gaussian"])
def test_what_is_known_before_is_not_explained(name: str) -> None:
    """The share explained beside an offset is that of statsmodels, whose null model has the offset too."""
    import statsmodels.api as sm

    rng = np.random.default_rng(0)
    X, offset = rng.standard_normal((200, 2)), 1.5 * rng.standard_normal(200)
    eta = 0.6 * X[:, 0] + offset
    draw = {
        "poisson": lambda: rng.poisson(np.exp(eta)).astype(float),
        "binomial": lambda: (rng.random(200) < 1.0 / (1.0 + np.exp(-eta))).astype(float),
        "gaussian": lambda: eta + rng.standard_normal(200),
    }
    y = draw[name]()
    kind = {
        "poisson": sm.families.Poisson,
        "binomial": sm.families.Binomial,
        "gaussian": sm.families.Gaussian,
    }
    model = HorseshoeRegressor(family=name).fit(X, y, offset=offset)
    theirs = sm.GLM(y, np.ones(200), family=kind[name](), offset=offset).fit()
    want = 1.0 - kind[name]().deviance(y, model.predict(X, offset=offset)) / theirs.deviance
    assert model.statistics().explained == pytest.approx(want, abs=1e-7)
