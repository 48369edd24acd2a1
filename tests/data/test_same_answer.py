"""One answer wherever the data live: what is more than one family and one response, on Dask and in parts."""

import dask
import numpy as np
import pytest
from sklearn.base import clone

from horseshoe import (
    AdaptiveClassifier,
    AdaptiveRegressor,
    HorseshoeClassifier,
    HorseshoeRegressor,
    HorseshoeSurvival,
)
from horseshoe.data.sources.parts import ArrayParts
from registry import DASK

N, P = 400, 9


@pytest.fixture(autouse=True)
def in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def data():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((N, P)) + 2.0
    eta = (x[:, :3] - 2.0) @ np.array([1.5, -1.0, 0.8])
    y = eta + 0.7 * rng.standard_normal(N)
    answers = {
        "y": y,
        "two": np.column_stack([y, rng.standard_normal(N) - 2.0 * y]),
        "counts": rng.poisson(np.exp(0.5 * eta)).astype(float),
        "binary": (y > 0.0).astype(float),
        "classes": np.argmax(np.column_stack([eta, -eta, 0.0 * eta]) + rng.gumbel(size=(N, 3)), axis=1),
        "lives": np.column_stack([rng.exponential(np.exp(-0.5 * eta)), rng.random(N) < 0.8]),
    }
    return x, answers, {"sample_weight": rng.uniform(0.5, 2.0, N), "offset": rng.uniform(-0.3, 0.3, N)}


TASKS = {
    "multinomial": (HorseshoeClassifier(multi_class="multinomial"), "classes", ["sample_weight"]),
    "one against the rest": (HorseshoeClassifier(), "classes", ["sample_weight"]),
    "several responses": (HorseshoeRegressor(), "two", ["sample_weight", "offset"]),
    "ordered levels": (HorseshoeRegressor(family="ordinal"), "classes", ["sample_weight", "offset"]),
    "survival": (HorseshoeSurvival(), "lives", ["sample_weight", "offset"]),
    "unpenalized": (HorseshoeRegressor(unpenalized=[0]), "y", ["sample_weight", "offset"]),
    "unpenalized, counts": (HorseshoeRegressor(family="poisson", unpenalized=[0]), "counts", ["offset"]),
    "groups": (
        HorseshoeRegressor(family="binomial", feature_groups=[0, 0, 1, 1, 2, 2, 3, 3, 3]),
        "binary",
        [],
    ),
    "prior scale": (HorseshoeRegressor(prior_scale=np.linspace(0.5, 2.0, P)), "y", ["offset"]),
    "approximate": (HorseshoeRegressor(expectation="approximate"), "y", ["sample_weight"]),
    "gradient": (HorseshoeRegressor(expectation="conjugate_gradient", random_state=0), "y", []),
    "marginal start": (HorseshoeRegressor(family="binomial", start="marginal"), "binary", ["offset"]),
    "average of several": (AdaptiveRegressor(cv=3), "two", ["sample_weight"]),
    "average of classes": (AdaptiveClassifier(cv=3), "classes", ["sample_weight"]),
    "average, unpenalized": (AdaptiveRegressor(cv=3, unpenalized=[1]), "y", ["sample_weight", "offset"]),
    "average, huber": (AdaptiveRegressor(cv=3, family="huber"), "y", ["sample_weight", "offset"]),
}
HOMES = {
    **DASK,
    "row parts": lambda x: ArrayParts(x, axis=0, step=90),
    "column parts": lambda x: ArrayParts(x, axis=1, step=4),
}


@pytest.mark.parametrize("home", ["both", "row parts", "frame"])
@pytest.mark.parametrize("name", TASKS)
def test_of_everything_that_is_fitted(name, home):
    model, answer, wanted = TASKS[name]
    x, answers, known = data()
    rows = {argument: known[argument] for argument in wanted}
    ours, theirs = (clone(model).fit(X, answers[answer], **rows) for X in (HOMES[home](x), x))
    assert np.array_equal(ours.support_, theirs.support_)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=0, atol=1e-9)
    there = ours.predict(HOMES[home](x)), theirs.predict(x)
    np.testing.assert_allclose(*(np.asarray(found, dtype=float) for found in there), rtol=0, atol=1e-9)


@pytest.mark.parametrize("home", HOMES)
@pytest.mark.parametrize("family", ["gaussian", "binomial", "poisson", "huber", "gamma"])
def test_columns_with_mean_1e6_lose_no_more_than_two_digits(family, home):
    x, answers, known = data()
    x = np.rint(x * 2.0**16) / 2.0**16
    names = {"binomial": "binary", "poisson": "counts", "gamma": "lives"}
    y = answers[names.get(family, "y")]
    y = y[:, 0] if y.ndim == 2 else y
    far = x + 1e6  # exact
    assert np.array_equal(far - 1e6, x)
    ours, theirs = (HorseshoeRegressor(family=family).fit(X, y, **known) for X in (HOMES[home](far), x))
    assert np.array_equal(ours.support_, theirs.support_)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0, atol=1e-10)
