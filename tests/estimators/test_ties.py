"""Tied columns end in a mode: the first of them has the effect, and the fit is that without the others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csc_array
from sklearn.datasets import load_diabetes

from horseshoe import HorseshoeClassifier, HorseshoeRegressor

FAMILIES = ("gaussian", "student_t", "laplace", "poisson", "negative_binomial")
COPIES = {
    "copy": lambda x, rng: x.copy(),
    "negative": lambda x, rng: -x,
    "another unit": lambda x, rng: 1.8 * x + 32.0,
    "rounding": lambda x, rng: x * (1.0 + 1e-13 * rng.standard_normal(x.size)),
}
NEAR = {
    "single precision": lambda x, rng: np.asarray(x / 3.0, dtype=np.float32).astype(float) * 3.0,
    "nearly": lambda x, rng: x + 1e-8 * rng.standard_normal(x.size),
    "less nearly": lambda x, rng: x + 1e-5 * x.std() * rng.standard_normal(x.size),
}


def diabetes() -> tuple[pd.DataFrame, Any]:
    """Return the diabetes data in raw units."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    return X, y.to_numpy()


@pytest.mark.parametrize("kind", COPIES)
@pytest.mark.parametrize("name", ["sex", "bmi", "s5"])
def test_the_first_of_two_tied_columns_has_the_effect(kind: str, name: str) -> None:
    X, y = diabetes()
    alone = HorseshoeRegressor().fit(X, y)
    both = X.assign(twin=COPIES[kind](X[name].to_numpy(), np.random.default_rng(0)))
    model = HorseshoeRegressor().fit(both, y)
    np.testing.assert_allclose(model.coef_[:-1], alone.coef_, rtol=1e-5)
    assert model.coef_[-1] == 0.0
    assert model.aliases_ == {name: ("twin",)}
    assert model.status_.converged


@pytest.mark.parametrize("kind", NEAR)
@pytest.mark.parametrize("name", ["sex", "bmi", "s5"])
def test_one_of_two_nearly_tied_columns_has_the_effect(kind: str, name: str) -> None:
    X, y = diabetes()
    alone = HorseshoeRegressor().fit(X, y)
    both = X.assign(twin=NEAR[kind](X[name].to_numpy(), np.random.default_rng(0)))
    coef = dict(zip(both.columns, HorseshoeRegressor().fit(both, y).coef_, strict=True))
    pair = coef.pop("twin"), coef[name]
    assert 0.0 in pair
    coef[name] = sum(pair)
    np.testing.assert_allclose(list(coef.values()), alone.coef_, rtol=1e-3)


def test_both_levels_of_a_binary_column() -> None:
    X, y = diabetes()
    dummies = pd.get_dummies(X["sex"], prefix="sex").astype(float)
    model = HorseshoeRegressor().fit(pd.concat([dummies, X.drop(columns="sex")], axis=1), y)
    assert model.coef_[0] == pytest.approx(17.55, abs=0.01)
    assert model.coef_[1] == 0.0
    lower, upper = model.coef_interval()[0]
    assert lower > 0.0 or upper < 0.0


@pytest.mark.parametrize("effect", [(1.0, 0.0, 0.0), (1.0, 1.0, 0.0), (1.0, -1.0, 0.0), (1.0, 2.0, 3.0)])
def test_three_columns_that_sum_to_a_constant_end_in_a_mode(effect: tuple[float, ...]) -> None:
    rng = np.random.default_rng(3)
    levels = np.eye(3)[rng.integers(0, 3, 300)]
    x = np.hstack([levels, rng.standard_normal((300, 4))])
    y = levels @ np.array(effect) + 0.5 * rng.standard_normal(300)
    coef = HorseshoeRegressor().fit(x, y).coef_
    moved = HorseshoeRegressor().fit(x + 1e-8 * rng.standard_normal(x.shape), y).coef_
    np.testing.assert_allclose(moved, coef, atol=1e-5)
    assert (coef[:3] != 0.0).sum() <= 2


def test_three_balanced_levels_of_which_two_are_alike() -> None:
    noise = np.repeat(np.random.default_rng(0).standard_normal(100), 3)
    levels = np.tile(np.eye(3), (100, 1))
    model = HorseshoeRegressor().fit(levels, levels @ np.array([1.0, 0.0, 0.0]) + 0.5 * noise)
    assert model.support_.tolist() == [True, False, False]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("form", [np.asarray, csc_array])
def test_every_family_and_form(family: str, form: Any) -> None:
    rng = np.random.default_rng(1)
    x = np.where(rng.random((200, 6)) < 0.5, 0.0, rng.standard_normal((200, 6)))
    eta = 1.2 * x[:, 1] - 1.0 * x[:, 4]
    counts = family in ("poisson", "negative_binomial")
    y = rng.poisson(np.exp(eta)).astype(float) if counts else eta + 0.3 * rng.standard_normal(200)
    twice = np.column_stack([x, -x[:, 1], x[:, 4], x[:, 4], x[:, 0]])
    alone = HorseshoeRegressor(family=family).fit(form(x), y)
    model = HorseshoeRegressor(family=family).fit(form(twice), y)
    np.testing.assert_allclose(model.coef_[:6], alone.coef_, rtol=1e-6, atol=1e-9)
    assert not model.coef_[6:].any()
    assert model.aliases_ == {1: (6,), 4: (7, 8), 0: (9,)}
    assert model.scale_[6:].all()


@pytest.mark.parametrize("classes", [2, 3])
def test_classes(classes: int) -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal((300, 4))
    y = np.digitize(x[:, 2] + 0.5 * rng.standard_normal(300), [-0.4, 0.5][: classes - 1])
    frame = pd.DataFrame(np.column_stack([x, -x[:, 2]]), columns=list("abcde"))
    alone = HorseshoeClassifier().fit(x, y)
    model = HorseshoeClassifier().fit(frame, y)
    np.testing.assert_allclose(model.coef_[..., :4], alone.coef_, rtol=1e-6)
    assert not model.coef_[..., 4].any()
    assert model.aliases_ == {"c": ("e",)}
    assert "alias_of" in model.summary(method="mode")


def test_the_summary_names_the_column_that_stands_for_another() -> None:
    X, y = diabetes()
    table = HorseshoeRegressor().fit(X.assign(twin=-X["bmi"]), y).summary().set_index("feature")
    assert table.loc["twin", "alias_of"] == "bmi"
    assert (table.drop(index="twin")["alias_of"] == "").all()
    assert "alias_of" not in HorseshoeRegressor().fit(X, y).summary()


def test_weights_offsets_and_an_earlier_fit() -> None:
    rng = np.random.default_rng(5)
    x = rng.standard_normal((100, 5))
    y = 2.0 * x[:, 0] + rng.standard_normal(100)
    twice = np.column_stack([x, -x[:, 0]])
    weights, offset = rng.uniform(0.5, 2.0, 100), rng.standard_normal(100)
    alone = HorseshoeRegressor().fit(x, y, weights, offset)
    model = HorseshoeRegressor().fit(twice, y, weights, offset)
    np.testing.assert_allclose(model.coef_[:5], alone.coef_, rtol=1e-8)
    model.coef_ = np.append(np.zeros(5), -alone.coef_[0])  # an earlier fit whose effect stands elsewhere
    again = HorseshoeRegressor(start=model).fit(twice, y, weights, offset)
    np.testing.assert_allclose(again.coef_[:5], alone.coef_, rtol=1e-4)


def test_a_prior_that_does_not_select_lets_them_share() -> None:
    X, y = diabetes()
    x = np.column_stack([X, X["bmi"]])
    model = HorseshoeRegressor(prior="ridge").fit(x, y)
    assert model.coef_[2] == pytest.approx(model.coef_[10], rel=1e-6)
    assert model.aliases_ == {}


def test_the_posterior_keeps_every_column() -> None:
    X, y = diabetes()
    model = HorseshoeRegressor(random_state=0).fit(X.assign(twin=X["bmi"]), y)
    posterior = model.sample_posterior(n_draws=3000)
    assert posterior.coef[..., -1].std() > 0.0
    assert model.predict(X.assign(twin=X["bmi"])).std() > 0.0


def test_columns_that_differ_stay() -> None:
    """Many equal products with y, as whole numbers give, are no ties."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 3, (40, 300)).astype(float)
    y = rng.integers(0, 2, 40).astype(float)
    distinct = np.unique(np.round((x - x.mean(0)) / x.std(0), 9), axis=1).shape[1]
    model = HorseshoeRegressor().fit(x, y)
    assert distinct == 300
    assert model.aliases_ == {}
