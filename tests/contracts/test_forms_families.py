"""Whatever form the data come in, the classifier and every family fit the same, and work in scikit-learn."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from forms import NAMES, VECTOR_FORMS, X_FORMS, N, P, make_data, read_only
from horseshoe import HorseshoeClassifier, HorseshoeRegressor
from horseshoe.families import Binomial, NegativeBinomial, StudentT
from selections import in_turn

pytestmark = pytest.mark.filterwarnings("error")

FITTED = ("classes_", "coef_", "intercept_", "coef_std_", "lambda2_", "tau2_", "sigma2_", "support_")


@cache
def data() -> dict[str, np.ndarray]:
    """Small whole numbers, which every dtype holds exactly; read-only."""
    X, y = make_data()
    rng = np.random.default_rng(8)
    eta = 0.12 * X[:, 1] - 0.08 * X[:, 4]
    values = {
        "X": X,
        "real": y,
        "counts": rng.poisson(np.exp(0.6 * eta + 1.0)),
        "labels": rng.random(N) < 1 / (1 + np.exp(-1.5 * eta)),
        "three": np.digitize(eta + 0.5 * rng.standard_normal(N), [-0.7, 0.7]),
        "weights": rng.integers(1, 4, size=N),
        "offset": rng.integers(-1, 2, size=N),
    }
    return {name: read_only(np.asarray(value, dtype=float)) for name, value in values.items()}


TARGETS = {
    "poisson": "counts",
    "negative_binomial": "counts",
    "fixed size": "counts",
    "student_t": "real",
    "fixed df": "real",
    "laplace": "real",
    "binomial": "labels",
    "two classes": "labels",
    "irls": "labels",
    "three classes": "three",
}
REGRESSIONS = tuple(TARGETS)[:7]
CLASSIFICATIONS = tuple(TARGETS)[7:]
FAMILIES = {"fixed size": NegativeBinomial(size=2.0), "fixed df": StudentT(df=4.0), "binomial": Binomial()}


def make(model: str, **options: Any) -> Any:
    if model in CLASSIFICATIONS:
        return HorseshoeClassifier(augmentation="irls" if model == "irls" else "polya_gamma", **options)
    return HorseshoeRegressor(family=FAMILIES.get(model, model), **options)


def target(model: str) -> np.ndarray:
    return data()[TARGETS[model]]


def fit(model: str, X: Any = None, y: Any = None, **kwargs: Any) -> Any:
    X = data()["X"] if X is None else X
    return make(model, tol=1e-10).fit(X, target(model) if y is None else y, **kwargs)


@cache
def reference(model: str, offset_and_weights: bool = False) -> Any:
    """Return the fit to plain arrays."""
    extra = {"offset": data()["offset"], "sample_weight": data()["weights"]}
    return fit(model, **(extra if offset_and_weights else {}))


def answers(est: Any, X: Any, **kwargs: Any) -> list[np.ndarray]:
    if isinstance(est, HorseshoeClassifier):
        methods = (est.predict_proba, est.predict_log_proba, est.decision_function)
        interval = est.predict_interval(X, method="mode", **kwargs)
        return [*(np.asarray(method(X, **kwargs)) for method in methods), interval]
    return [*est.predict(X, return_std=True, **kwargs), est.linear_predictor(X, **kwargs)]


def assert_same(got: Any, want: Any, X: Any = None) -> None:
    np.testing.assert_array_equal(got.support_, want.support_)
    for name in FITTED:
        if hasattr(want, name):
            np.testing.assert_allclose(getattr(got, name), getattr(want, name), rtol=1e-10, err_msg=name)
    for mine, other in zip(
        answers(got, data()["X"] if X is None else X), answers(want, data()["X"]), strict=True
    ):
        np.testing.assert_allclose(mine, other, rtol=1e-9, atol=1e-12)
        assert mine.dtype == np.float64


each_model = pytest.mark.parametrize("model", [name for name in TARGETS if not name.startswith("fixed")])
few_models = ("poisson", "student_t", "irls")


@each_model
def test_reference_fit_is_a_real_fit(model: str) -> None:
    support = reference(model).support_
    assert support[..., 1].any()
    assert not support.all()


# --- forms ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("form", "model"), in_turn(X_FORMS, few_models))
def test_every_form_of_x(form: str, model: str) -> None:
    given = X_FORMS[form](data()["X"])
    est = fit(model, X=given)
    assert_same(est, reference(model), X=given)
    assert est.n_features_in_ == P
    if form.startswith(("pandas", "polars")):
        assert list(est.feature_names_in_) == NAMES
        assert list(est.summary(method="mode")["feature"])[: P + 1] == ["(Intercept)", *NAMES]


@pytest.mark.parametrize(("form", "model"), in_turn(VECTOR_FORMS, few_models[:2]))
def test_every_form_of_y(form: str, model: str) -> None:
    given = VECTOR_FORMS[form](target(model))
    est = fit(model, y=given)
    assert_same(est, reference(model))
    for method in ("score", "log_likelihood"):
        scores = [getattr(est, method)(data()["X"], y) for y in (given, target(model))]
        assert scores[0] == scores[1]


@pytest.mark.parametrize(("form", "model"), in_turn(VECTOR_FORMS, few_models))
def test_every_form_of_offsets_and_weights(form: str, model: str) -> None:
    X, y = data()["X"], target(model)
    plain = {"offset": data()["offset"], "sample_weight": data()["weights"]}
    given = {name: VECTOR_FORMS[form](values) for name, values in plain.items()}
    est, want = fit(model, **given), reference(model, offset_and_weights=True)
    assert_same(est, want)
    mine, other = answers(est, X, offset=given["offset"]), answers(want, X, offset=plain["offset"])
    for got, expected in zip(mine, other, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-9, atol=1e-12)
    assert est.log_likelihood(X, y, **given) == pytest.approx(want.log_likelihood(X, y, **plain), rel=1e-9)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, np.uint64, bool])
def test_narrow_integers(dtype: type) -> None:
    for model in ("poisson", "negative_binomial", "binomial"):
        y = np.minimum(target(model), 1.0 if dtype is bool else 100.0)
        assert_same(fit(model, y=y.astype(dtype)), fit(model, y=y))


def words(codes: np.ndarray) -> np.ndarray:
    return np.array(["maybe", "no", "yes"])[codes]


LABEL_FORMS: dict[str, Callable[[np.ndarray], Any]] = {
    "integers": lambda c: c,
    "int8": lambda c: c.astype(np.int8),
    "uint8": lambda c: c.astype(np.uint8),
    "float64": lambda c: c.astype(float),
    "float32": lambda c: c.astype(np.float32),
    "list": lambda c: c.tolist(),
    "tuple of words": lambda c: tuple(words(c).tolist()),
    "array of words": words,
    "objects that are words": lambda c: words(c).astype(object),
    "objects that are integers": lambda c: c.astype(object),
    "read-only": lambda c: read_only(c),
    "pandas": pd.Series,
    "pandas Int64": lambda c: pd.Series(c, dtype="Int64"),
    "pandas text": lambda c: pd.Series(words(c)),
    "pandas objects": lambda c: pd.Series(words(c), dtype=object),
    "pandas string": lambda c: pd.Series(words(c), dtype="string"),
    "pandas with another index": lambda c: pd.Series(words(c), index=range(N, 0, -1)),
    "category": lambda c: pd.Series(words(c), dtype="category"),
    "category of another order": lambda c: pd.Categorical(
        words(c), categories=["yes", "no", "maybe", "never"]
    ),
    "category of integers": lambda c: pd.Series(c, dtype="category"),
    "dates": lambda c: pd.Series(pd.to_datetime(["2020-01-01", "2021-01-01", "2022-01-01"])[c]),
    "polars": lambda c: pl.Series(c),
    "polars text": lambda c: pl.Series(words(c).tolist()),
    "polars categories": lambda c: pl.Series(words(c).tolist(), dtype=pl.Categorical),
}
TWO_LABELS: dict[str, Callable[[np.ndarray], Any]] = {
    "words": words,
    "float64": lambda c: c.astype(float),
    "category": lambda c: pd.Series(words(c), dtype="category"),
    "bools": lambda c: c == 1,
    "list of bools": lambda c: (c == 1).tolist(),
    "objects that are bools": lambda c: (c == 1).astype(object),
    "pandas bools": lambda c: pd.Series(c == 1),
    "pandas boolean": lambda c: pd.Series(c == 1, dtype="boolean"),
    "polars bools": lambda c: pl.Series(c == 1),
}


@cache
def classified(which: str) -> tuple[np.ndarray, HorseshoeClassifier]:
    codes = {"two": data()["labels"], "three": data()["three"]}[which].astype(int)
    return codes, HorseshoeClassifier().fit(data()["X"], codes)


def assert_classified(which: str, to_labels: Callable[[np.ndarray], Any]) -> None:
    X, (codes, want) = data()["X"], classified(which)
    labels = to_labels(codes)
    est = HorseshoeClassifier().fit(X, labels)
    np.testing.assert_array_equal(est.coef_, want.coef_)
    np.testing.assert_array_equal(est.predict_proba(X), want.predict_proba(X))
    assert list(est.classes_) == sorted(set(np.asarray(labels).tolist()))
    predicted = np.searchsorted(est.classes_, est.predict(X))
    np.testing.assert_array_equal(predicted, np.searchsorted(want.classes_, want.predict(X)))
    assert est.predict(X).dtype == est.classes_.dtype
    assert est.log_likelihood(X, labels) == want.log_likelihood(X, codes)
    assert np.mean(est.predict(X) == np.asarray(labels)) == want.score(X, codes)


@pytest.mark.parametrize("form", LABEL_FORMS)
def test_every_form_of_labels(form: str) -> None:
    assert_classified("three", LABEL_FORMS[form])


@pytest.mark.parametrize("form", TWO_LABELS)
def test_every_form_of_two_labels(form: str) -> None:
    assert_classified("two", TWO_LABELS[form])


@each_model
def test_a_column_of_y_is_a_warning_and_no_more(model: str) -> None:
    for column in (target(model)[:, None], pd.DataFrame({"y": target(model)})):
        with pytest.warns(DataConversionWarning, match="1d array") as seen:
            est = fit(model, y=column)
        assert [type(warning.message) for warning in seen] == [DataConversionWarning]
        assert_same(est, reference(model))


@each_model
def test_one_weight_for_all_rows(model: str) -> None:
    X, y = data()["X"], target(model)
    assert_same(fit(model, sample_weight=1), reference(model))
    est, want = fit(model, sample_weight=2.0), fit(model, sample_weight=np.full(N, 2.0))
    assert_same(est, want)
    once, twice = (est.log_likelihood(X, y, sample_weight=weight) for weight in (None, 2.0))
    assert twice == pytest.approx(2.0 * once, rel=1e-12)
    if model in REGRESSIONS:
        assert est.score(X, y, sample_weight=2.0) == pytest.approx(est.score(X, y), rel=1e-12)


@each_model
def test_rows_of_weight_zero_are_left_out(model: str) -> None:
    X, y = data()["X"], target(model)
    weights = (np.arange(N) % 4 > 0).astype(float)
    kept = weights > 0
    got = fit(model, sample_weight=weights)
    np.testing.assert_allclose(got.coef_, fit(model, X[kept], y[kept]).coef_, rtol=1e-10)


@pytest.mark.parametrize("labels", [[0, 1, 2], ["a", "b", "c"], ["c", "a", "b"]])
def test_a_class_whose_rows_all_have_weight_zero_is_no_class(labels: list[Any]) -> None:
    X, three = data()["X"], data()["three"].astype(int)
    y, kept = np.array(labels)[three], three != 1
    est = HorseshoeClassifier().fit(X, y, sample_weight=kept.astype(float))
    want = HorseshoeClassifier().fit(X[kept], y[kept])
    assert est.classes_.tolist() == want.classes_.tolist() == sorted([labels[0], labels[2]])
    np.testing.assert_allclose(est.coef_, want.coef_, rtol=1e-7)
    with_balance = HorseshoeClassifier(class_weight="balanced")
    np.testing.assert_allclose(
        clone(with_balance).fit(X, y, sample_weight=kept.astype(float)).coef_,
        clone(with_balance).fit(X[kept], y[kept]).coef_,
        rtol=1e-7,
    )


@pytest.mark.parametrize("model", ["poisson", "negative_binomial"])
def test_rates_can_be_scored_in_any_part(model: str) -> None:
    """Most of them are fractional, which a fit accepts; a few of them may all be whole, or half of them."""
    X, rates = data()["X"], data()["counts"] / 3.0
    est = make(model).fit(X, rates)
    whole = np.flatnonzero(rates == np.floor(rates))
    rows = np.append(whole[:2], np.flatnonzero(rates != np.floor(rates))[:1])
    assert np.isfinite(est.log_likelihood(X[rows], rates[rows]))
    assert np.isfinite(est.score(X[rows], rates[rows]))
    assert np.isfinite(est.log_likelihood(X[whole], rates[whole]))


@each_model
def test_nothing_of_the_users_is_modified_or_kept(model: str) -> None:
    names = ("X", TARGETS[model], "weights", "offset")
    X, y, weights, offset = given = [data()[name].copy() for name in names]
    extra = {} if model == "three classes" else {"offset": offset}
    est = make(model).fit(X, y, sample_weight=weights, **extra)
    before = answers(est, X, **extra)
    est.log_likelihood(X, y, sample_weight=weights, **extra)
    for values, name in zip(given, names, strict=True):
        np.testing.assert_array_equal(values, data()[name])
        values[...] = 0.0
    extra = {} if model == "three classes" else {"offset": data()["offset"]}
    for now, then in zip(answers(est, data()["X"], **extra), before, strict=True):
        np.testing.assert_array_equal(now, then)


@each_model
def test_names_are_learnt_and_forgotten(model: str) -> None:
    est = fit(model, X=pd.DataFrame(data()["X"], columns=NAMES))
    assert list(est.feature_names_in_) == NAMES
    est.fit(data()["X"], target(model))
    assert not hasattr(est, "feature_names_in_")
    est.fit(data()["X"][:, :4], target(model))
    assert est.n_features_in_ == est.coef_.shape[-1] == 4


# --- in scikit-learn ------------------------------------------------------------------------------


@pytest.mark.parametrize("model", TARGETS)
def test_a_fit_can_be_cloned_copied_and_pickled(model: str) -> None:
    est = reference(model)
    again = clone(est)
    assert again.get_params() == est.get_params()
    assert vars(again).keys() == again.get_params().keys()
    assert_same(again.fit(data()["X"], target(model)), est)
    some = data()["X"][:5]
    for other in (pickle.loads(pickle.dumps(est)), copy.deepcopy(est)):
        np.testing.assert_array_equal(
            other.predict_interval(some, method="mode"), est.predict_interval(some, method="mode")
        )
        assert repr(other) == repr(est)
        assert str(other.status_) == str(est.status_)
        for mine, theirs in zip(answers(other, data()["X"]), answers(est, data()["X"]), strict=True):
            np.testing.assert_array_equal(mine, theirs)
        assert_same(other.set_params(warm_start=False).fit(data()["X"], target(model)), est)


@pytest.mark.parametrize("model", REGRESSIONS)
def test_parameters_are_set_by_name(model: str) -> None:
    est = HorseshoeRegressor().set_params(family=FAMILIES.get(model, model), tol=1e-10)
    assert est.get_params()["family"] == FAMILIES.get(model, model)
    assert_same(est.fit(data()["X"], target(model)), reference(model))
    with pytest.raises(ValueError, match=r"(?i)invalid parameter 'famly'"):
        est.set_params(famly="poisson")


@each_model
def test_cross_validation(model: str) -> None:
    X, y = pd.DataFrame(data()["X"], columns=NAMES), target(model)
    folds = KFold(3, shuffle=True, random_state=0)
    scores = cross_val_score(make(model), X, y, cv=folds, error_score="raise")
    first, held_out = next(folds.split(X))
    est = make(model).fit(X.iloc[first], y[first])
    assert scores[0] == pytest.approx(est.score(X.iloc[held_out], y[held_out]), rel=1e-12)
    assert scores.mean() > (0.5 if model in CLASSIFICATIONS else 0.05)


@pytest.mark.parametrize("model", CLASSIFICATIONS)
def test_scores_of_classifications(model: str) -> None:
    least = {"neg_log_loss": -1.0, "roc_auc_ovr": 0.6, "balanced_accuracy": 0.45}
    y = words(target(model).astype(int))
    scores = cross_validate(make(model), data()["X"], y, cv=3, scoring=list(least), error_score="raise")
    for name, bound in least.items():
        assert scores[f"test_{name}"].mean() > bound, name


@each_model
def test_a_search_in_a_pipeline(model: str) -> None:
    X, y = pd.DataFrame(data()["X"], columns=NAMES), target(model)
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), make(model))
    grid = {f"{pipeline.steps[1][0]}__tau_max": [1e-3, 1.0]}
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(X, y)
    assert search.best_score_ >= search.cv_results_["mean_test_score"].min()
    assert list(search.best_estimator_[-1].feature_names_in_) == NAMES
    alone = make(model, tol=1e-10).fit(X, y)
    scaled = make_pipeline(StandardScaler(), make(model, tol=1e-10)).fit(X.to_numpy(), y)
    np.testing.assert_allclose(scaled.predict(X.to_numpy()), alone.predict(X), rtol=1e-6)


def test_a_search_over_families() -> None:
    grid = {"family": ["poisson", "negative_binomial", NegativeBinomial(size=2.0)]}
    search = GridSearchCV(HorseshoeRegressor(), grid, cv=3, error_score="raise")
    search.fit(data()["X"], data()["counts"])
    assert search.best_params_["family"] in grid["family"]
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
