"""Labels: any kind of them, any order, any weights; more than two are one against the rest."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_class_weight

from horseshoe import HorseshoeClassifier, HorseshoeRegressor
from horseshoe.families import Binomial

both_weights = pytest.mark.parametrize("weights", ["polya_gamma", "irls"])
OPTIONS: dict[str, Any] = {"tol": 1e-10}


def two_classes(n: int = 200, p: int = 8, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * rng.uniform(0.5, 2.0, p) + rng.uniform(-1.0, 1.0, p)
    eta = 2.0 * (X[:, 0] - X[:, 0].mean()) - 1.5 * (X[:, 2] - X[:, 2].mean()) - 0.5
    return X, (rng.random(n) < 1.0 / (1.0 + np.exp(-eta))).astype(int)


def three_classes(n: int = 300, seed: int = 1) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 6))
    scores = np.column_stack([2.0 * X[:, 0], 2.0 * X[:, 1], 2.0 * X[:, 2] - 0.5]) + rng.gumbel(size=(n, 3))
    return X, scores.argmax(axis=1)


def assert_same_fit(one: Any, other: Any, sign: float = 1.0) -> None:
    np.testing.assert_allclose(one.coef_, sign * other.coef_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(one.intercept_, sign * other.intercept_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(one.coef_std_, other.coef_std_, rtol=1e-7, atol=1e-9)


# --- two classes -----------------------------------------------------------------------------------------


@both_weights
@pytest.mark.parametrize("shape", [(200, 8), (50, 80)])
def test_flipped_labels_flip_the_signs(weights: str, shape: tuple[int, int]) -> None:
    X, y = two_classes(*shape)
    one, other = (
        HorseshoeClassifier(augmentation=weights, **OPTIONS).fit(X, labels) for labels in (y, 1 - y)
    )
    assert one.support_.any()
    assert_same_fit(one, other, sign=-1.0)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X)[:, ::-1], rtol=1e-6)
    np.testing.assert_array_equal(one.predict(X), 1 - other.predict(X))


LABELS = {
    "int": (-7, 3),
    "float": (-1.0, 2.0),
    "bool": (False, True),
    "string": ("no", "yes"),
    "unicode": ("ä", "日"),
}


@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_every_kind(kind: str) -> None:
    X, y = two_classes()
    base = HorseshoeClassifier(**OPTIONS).fit(X, y)
    values = np.array(LABELS[kind])
    model = HorseshoeClassifier(**OPTIONS).fit(X, values[y])
    assert_same_fit(model, base)
    np.testing.assert_array_equal(model.classes_, values)
    assert model.classes_.dtype == values.dtype
    predicted = model.predict(X)
    np.testing.assert_array_equal(predicted, values[base.predict(X)])
    assert predicted.dtype == values.dtype
    assert model.score(X, values[y]) == base.score(X, y)
    assert model.log_likelihood(X, values[y]) == pytest.approx(base.log_likelihood(X, y), rel=1e-12)


@pytest.mark.parametrize("values", [("no", "yes"), (0, 1), (False, True)], ids=str)
def test_objects_as_labels(values: tuple[Any, Any]) -> None:
    X, y = two_classes()
    labels = np.array([values[k] for k in y], dtype=object)
    model = HorseshoeClassifier(**OPTIONS).fit(X, labels)
    assert_same_fit(model, HorseshoeClassifier(**OPTIONS).fit(X, y))
    assert list(model.classes_) == list(values)
    assert set(model.predict(X)) == set(values)
    assert model.score(X, labels) > 0.7


def test_labels_that_cannot_be_sorted_are_refused() -> None:
    X, y = two_classes()
    labels = np.array(["one" if k else 1 for k in y], dtype=object)
    with pytest.raises((TypeError, ValueError), match=r"\by\b|label"):
        HorseshoeClassifier().fit(X, labels)


def test_lists_and_columns_of_labels() -> None:
    X, y = two_classes()
    base = HorseshoeClassifier(**OPTIONS).fit(X, y)
    assert_same_fit(HorseshoeClassifier(**OPTIONS).fit(X.tolist(), ["b" if k else "a" for k in y]), base)


@both_weights
def test_whole_weights_are_repeated_rows(weights: str) -> None:
    X, y = two_classes()
    counts = np.random.default_rng(2).integers(0, 4, y.size)
    rows = np.repeat(np.arange(y.size), counts)
    one = HorseshoeClassifier(augmentation=weights, **OPTIONS).fit(X, y, sample_weight=counts)
    other = HorseshoeClassifier(augmentation=weights, **OPTIONS).fit(X[rows], y[rows])
    assert_same_fit(one, other)
    want = other.log_likelihood(X[rows], y[rows])
    assert one.log_likelihood(X, y, sample_weight=counts) == pytest.approx(want, rel=1e-9)


@both_weights
def test_class_weights_are_row_weights(weights: str) -> None:
    X, y = two_classes()
    labels = np.where(y, "yes", "no")
    rows = np.random.default_rng(3).uniform(0.5, 2.0, y.size)
    given = HorseshoeClassifier(augmentation=weights, class_weight={"no": 0.4, "yes": 3.0}, **OPTIONS)
    plain = HorseshoeClassifier(augmentation=weights, **OPTIONS)
    per_row = np.where(y, 3.0, 0.4)
    assert_same_fit(given.fit(X, labels), plain.fit(X, labels, sample_weight=per_row))
    assert_same_fit(
        given.fit(X, labels, sample_weight=rows), plain.fit(X, labels, sample_weight=rows * per_row)
    )


def test_balanced_classes_weigh_the_same() -> None:
    X, y = two_classes()
    y[:60] = 0
    balanced = HorseshoeClassifier(class_weight="balanced", **OPTIONS).fit(X, y)
    per_class = compute_class_weight("balanced", classes=np.array([0, 1]), y=y)
    plain = HorseshoeClassifier(**OPTIONS).fit(X, y, sample_weight=per_class[y])
    assert_same_fit(balanced, plain)
    counts = np.random.default_rng(4).integers(1, 4, y.size)
    rows = np.repeat(np.arange(y.size), counts)
    weighted = HorseshoeClassifier(class_weight="balanced", **OPTIONS).fit(X, y, sample_weight=counts)
    repeated = HorseshoeClassifier(class_weight="balanced", **OPTIONS).fit(X[rows], y[rows])
    assert_same_fit(weighted, repeated)


@both_weights
def test_offset_of_two_classes(weights: str) -> None:
    X, y = two_classes()
    offset = np.random.default_rng(5).normal(0.0, 0.7, y.size)
    model = HorseshoeClassifier(augmentation=weights, **OPTIONS).fit(X, y, offset=offset)
    moved = HorseshoeClassifier(augmentation=weights, **OPTIONS).fit(X, y, offset=offset + 2.0)
    np.testing.assert_allclose(moved.coef_, model.coef_, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(moved.intercept_, model.intercept_ - 2.0, rtol=1e-7)
    eta = model.intercept_ + X @ model.coef_ + offset
    np.testing.assert_allclose(model.decision_function(X, offset=offset), eta, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X, offset=offset)[:, 1], 1.0 / (1.0 + np.exp(-eta)))
    np.testing.assert_array_equal(model.predict(X, offset=offset), (eta > 0).astype(int))
    interval = model.predict_interval(X, offset=offset, method="mode")
    assert np.all(interval[:, 0] < 1.0 / (1.0 + np.exp(-eta)))
    assert np.all(interval[:, 1] > 1.0 / (1.0 + np.exp(-eta)))


@both_weights
def test_classifier_is_the_binomial_regression(weights: str) -> None:
    X, y = two_classes()
    model = HorseshoeClassifier(augmentation=weights, **OPTIONS).fit(X, y)
    regression = HorseshoeRegressor(family=Binomial(augmentation=weights), **OPTIONS).fit(X, y.astype(float))
    assert_same_fit(model, regression)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], regression.predict(X), rtol=1e-12)
    np.testing.assert_allclose(
        model.predict_interval(X, method="mode"), regression.predict_interval(X, method="mode"), rtol=1e-12
    )
    np.testing.assert_allclose(
        model.coef_interval(method="mode"), regression.coef_interval(method="mode"), rtol=1e-12
    )
    assert model.status_ is regression.status_
    assert model.n_iter_ == regression.n_iter_


# --- more than two ---------------------------------------------------------------------------------------


@both_weights
def test_one_against_the_rest(weights: str) -> None:
    X, y = three_classes()
    rows = np.random.default_rng(6).uniform(0.5, 2.0, y.size)
    names = np.array(["c", "a", "b"])[y]
    model = HorseshoeClassifier(augmentation=weights, **OPTIONS).fit(X, names, sample_weight=rows)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert model.coef_.shape == model.coef_std_.shape == model.support_.shape == (3, 6)
    assert model.intercept_.shape == (3,)
    separate = [
        HorseshoeClassifier(augmentation=weights, **OPTIONS).fit(X, names == c, sample_weight=rows)
        for c in model.classes_
    ]
    for k, one in enumerate(separate):
        np.testing.assert_allclose(model.coef_[k], one.coef_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(model.coef_std_[k], one.coef_std_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(model.intercept_[k], one.intercept_, rtol=1e-9)
        np.testing.assert_allclose(model.lambda2_[k], one.lambda2_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(
            model.predict_interval(X, method="mode")[:, k], one.predict_interval(X, method="mode"), rtol=1e-9
        )
        assert model.status_[k] is one.status_
    eta = np.column_stack([one.decision_function(X) for one in separate])
    np.testing.assert_allclose(model.decision_function(X), eta, rtol=1e-9)
    probability = np.column_stack([one.predict_proba(X)[:, 1] for one in separate])
    probability /= probability.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X), probability, rtol=1e-9)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), probability, rtol=1e-9)
    np.testing.assert_array_equal(model.predict(X), model.classes_[eta.argmax(axis=1)])
    picked = np.log(probability)[np.arange(y.size), np.searchsorted(model.classes_, names)]
    assert model.log_likelihood(X, names, sample_weight=rows) == pytest.approx(rows @ picked, rel=1e-9)
    assert model.score(X, names) > 0.6


def test_class_weights_of_three_classes() -> None:
    X, y = three_classes()
    weight = {0: 2.0, 1: 0.5, 2: 1.0}
    one = HorseshoeClassifier(class_weight=weight, **OPTIONS).fit(X, y)
    other = HorseshoeClassifier(**OPTIONS).fit(X, y, sample_weight=np.array([2.0, 0.5, 1.0])[y])
    assert_same_fit(one, other)


def test_offset_of_three_classes_is_refused() -> None:
    X, y = three_classes()
    with pytest.raises(ValueError, match="offset"):
        HorseshoeClassifier().fit(X, y, offset=np.zeros(y.size))


def test_renamed_classes_permute_the_rows() -> None:
    X, y = three_classes()
    order = np.array([2, 0, 1])
    one, other = HorseshoeClassifier(**OPTIONS).fit(X, y), HorseshoeClassifier(**OPTIONS).fit(X, order[y])
    np.testing.assert_allclose(other.coef_[order], one.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(other.predict(X), order[one.predict(X)])
