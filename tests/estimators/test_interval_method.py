"""Which intervals are the default: those at the mode are too narrow for some families."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from horseshoe import HorseshoeClassifier, HorseshoeRegressor
from horseshoe.families import Binomial, Laplace
from horseshoe_reproduction.coverage import RESPONSES, SIZES
from horseshoe_reproduction.methods import regressor
from registry import FAMILIES

SHORT: dict[str, Any] = {"n_draws": 100, "n_warmup": 100, "n_chains": 2}
FROM_DRAWS = ("laplace", "quantile", "negative_binomial", "binomial", "ordinal", "survival")
pytestmark = pytest.mark.filterwarnings("ignore:R-hat")


def fitted(family: str, **options: Any) -> tuple[HorseshoeRegressor, Any]:
    """Return a fit to twenty rows or so, and the rows."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    y = RESPONSES[family](SIZES[family] * X[:, 0], rng)  # type: ignore[index]
    return regressor(family, **options).fit(X, y), X


def test_every_family_of_the_table_is_there() -> None:
    assert set(SIZES) == {*FAMILIES, "survival"}


@pytest.mark.parametrize("family", SIZES)
def test_the_default_is_the_familys(family: str) -> None:
    model, X = fitted(family)
    wanted = "posterior" if family in FROM_DRAWS else "mode"
    options = SHORT if wanted == "posterior" else {}
    assert model.family_.interval == wanted
    coef, new = (model.coef_interval(**options), model.predict_interval(X, **options))
    np.testing.assert_array_equal(coef, model.coef_interval(method=wanted, **options))
    np.testing.assert_array_equal(new, model.predict_interval(X, method=wanted, **options))


def test_intervals_from_draws_are_the_same_whenever_they_are_asked_for() -> None:
    (one, X), (other, _) = fitted("binomial"), fitted("binomial")
    np.testing.assert_array_equal(one.predict_interval(X, **SHORT), other.predict_interval(X, **SHORT))


def test_classes_have_the_intervals_of_their_regression() -> None:
    model, X = fitted("binomial")
    y = np.random.default_rng(1).random(60) < 0.5
    classes = HorseshoeClassifier().fit(X, y)
    assert model.family_ == Binomial()
    interval = classes.predict_interval(X, **SHORT)
    np.testing.assert_array_equal(interval, classes.predict_interval(X, method="posterior", **SHORT))
    table = classes.summary()
    np.testing.assert_array_equal(table[["lower", "upper"]][1:], classes.coef_interval())
    np.testing.assert_array_equal(
        table[["lower", "upper"]].iloc[0], classes.estimators_[0].intercept_interval()
    )
    np.testing.assert_array_equal(
        classes.summary(method="mode")[["lower", "upper"]][1:], classes.coef_interval(method="mode")
    )


class EachRow(Laplace):
    """A family of a user's whose rows have latent weights of their own: no sampler for parts of rows."""

    latent_rows = True


def test_where_there_is_no_posterior_the_mode_has_to_do() -> None:
    X = np.random.default_rng(0).standard_normal((10, 2))
    model = HorseshoeRegressor(family="negative_binomial").fit(X, np.zeros(10))
    np.testing.assert_array_equal(model.coef_interval(), np.zeros((2, 2)))
    assert np.isfinite(model.predict_interval(X)).all()
    weighted = HorseshoeRegressor(EachRow()).fit(X, X[:, 0] + 1.0, sample_weight=np.full(10, 0.7))
    np.testing.assert_array_equal(weighted.coef_interval(), weighted.coef_interval(method="mode"))


def test_a_copy_without_its_data_says_which_intervals_it_has() -> None:
    model, X = fitted("binomial")
    copy = pickle.loads(pickle.dumps(model))
    with pytest.raises(ValueError, match="method='mode'"):
        copy.predict_interval(X)
    np.testing.assert_array_equal(
        copy.predict_interval(X, method="mode"), model.predict_interval(X, method="mode")
    )


def test_the_spread_of_classes_is_that_of_the_information_whatever_the_weights() -> None:
    rng = np.random.default_rng(3)
    X = rng.standard_normal((200, 4))
    y = RESPONSES["binomial"](2.0 * X[:, 1], rng)
    mixture, newton = (
        HorseshoeClassifier(augmentation=w, tol=1e-9).fit(X, y) for w in ("polya_gamma", "irls")
    )
    np.testing.assert_array_equal(mixture.support_, newton.support_)
    mu = 1.0 / (1.0 + np.exp(-mixture.decision_function(X)))
    D = np.column_stack([np.ones(200), X[:, mixture.support_]])
    scale = mixture.scale_[mixture.support_]
    precision = np.append(0.0, 1.0 / (mixture.tau2_ * mixture.lambda2_[mixture.support_])) * np.append(
        1, scale**2
    )
    cov = np.linalg.inv((D * (mu * (1.0 - mu))[:, None]).T @ D + np.diag(precision))
    np.testing.assert_allclose(mixture.coef_std_[mixture.support_], np.sqrt(np.diag(cov))[1:], rtol=1e-6)
