"""The classifier that averages: two classes and more, labels and their weights, what must not change it."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GroupKFold, StratifiedKFold

from horseshoe import AdaptiveClassifier, AdaptiveRegressor, Status

N, P = 90, 8


def data(classes=2, n=N, p=P, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    scores = 2.0 * X[:, :classes] + rng.gumbel(size=(n, classes))
    return X, np.array(["ant", "bee", "cow", "dog"])[scores.argmax(axis=1)]


def fit(X, y, **options):
    rows = {name: options.pop(name) for name in ("sample_weight", "offset", "groups") if name in options}
    return AdaptiveClassifier(**{"cv": 5, **options}).fit(X, y, **rows)


@pytest.fixture(scope="module", params=[2, 3])
def fitted(request):
    X, y = data(request.param)
    return X, y, fit(X, y)


def near(one, two, within=1e-8):
    for name in ("coef_", "sparse_coef_", "inclusion_", "intercept_", "cv_error_"):
        np.testing.assert_allclose(getattr(two, name), getattr(one, name), rtol=0, atol=within, err_msg=name)
    assert two.support_.tolist() == one.support_.tolist()


def test_attributes(fitted):
    _X, y, model = fitted
    several = len(model.classes_) > 2
    shape = (len(model.classes_), P) if several else (P,)
    for name in ("coef_", "sparse_coef_", "support_", "inclusion_"):
        assert getattr(model, name).shape == shape
    assert model.classes_.tolist() == sorted(set(y))
    assert model.n_features_in_ == P
    assert len(model.estimators_) == (len(model.classes_) if several else 1)
    assert all(isinstance(part, AdaptiveRegressor) for part in model.estimators_)
    for name in ("intercept_", "sparse_intercept_", "cv_error_", "calibration_slope_"):
        assert np.shape(getattr(model, name)) == shape[:-1]
    for name in ("components_", "component_weights_", "path_", "status_"):
        parts = tuple(getattr(part, name) for part in model.estimators_)
        found = getattr(model, name) if several else (getattr(model, name),)
        assert all(one is two for one, two in zip(found, parts, strict=True))
    np.testing.assert_array_equal(model.support_, model.sparse_coef_ != 0.0)
    assert ((model.inclusion_ >= 0.0) & (model.inclusion_ <= 1.0)).all()
    assert model.coef_interval(0.9).shape == (*shape, 2)


def test_probabilities(fitted):
    X, y, model = fitted
    proba = model.predict_proba(X)
    assert proba.shape == (N, len(model.classes_))
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X), model.classes_[proba.argmax(axis=1)])
    np.testing.assert_allclose(np.log(proba), model.predict_log_proba(X))
    eta = model.intercept_ + X @ model.coef_.T
    np.testing.assert_allclose(model.decision_function(X), eta, atol=1e-10)
    if eta.ndim == 1:
        np.testing.assert_allclose(proba[:, 1], 1.0 / (1.0 + np.exp(-eta)))
    assert model.score(X, y) > 0.7
    assert model.log_likelihood(X, y) > -N * np.log(len(model.classes_))


def test_two_classes_are_a_binomial_regression():
    X, y = data()
    one = fit(X, y)
    two = AdaptiveRegressor(family="binomial", cv=5).fit(X, (y == one.classes_[1]).astype(float))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    assert one.components_ == two.components_


def test_probabilities_are_calibrated_in_the_mean():
    X, y = data(n=400)
    model = fit(X[:200], y[:200])
    proba = model.predict_proba(X[200:])[:, 1]
    truth = y[200:] == model.classes_[1]
    for low, high in ((0.0, 0.35), (0.35, 0.65), (0.65, 1.0)):
        inside = (proba >= low) & (proba <= high)
        error = np.sqrt(0.25 / inside.sum())
        assert abs(truth[inside].mean() - proba[inside].mean()) < 3.5 * error


@pytest.mark.parametrize("labels", [["no", "yes"], [0, 1], [-1, 1], [False, True], [2.0, 5.0], ["1", "2"]])
def test_labels_of_any_kind(labels):
    X, y = data()
    want = fit(X, y)
    kinds = np.array(labels)[(y == "bee").astype(int)]
    model = fit(X, kinds)
    np.testing.assert_array_equal(model.coef_, want.coef_)
    assert model.predict(X).dtype == kinds.dtype
    assert set(model.predict(X)) <= set(kinds)


def test_classes_share_folds_and_their_order_does_not_matter():
    X, y = data(3)
    one = fit(X, y)
    folds = [[test.tolist() for _, test in part._fitted.sets.folds] for part in one.estimators_]
    assert folds[0] == folds[1] == folds[2]
    renamed = np.array([{"ant": "z", "bee": "y", "cow": "x"}[label] for label in y])
    two = fit(X, renamed, cv=StratifiedKFold(5))
    np.testing.assert_allclose(fit(X, y, cv=StratifiedKFold(5)).coef_, two.coef_[::-1], atol=1e-8)


# --- weights ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("classes", [2, 3])
def test_a_weight_of_two_is_two_rows(classes):
    X, y = data(classes)
    times = np.random.default_rng(0).integers(1, 3, N)
    near(fit(X, y, sample_weight=times), fit(np.repeat(X, times, axis=0), np.repeat(y, times)), 1e-7)


def test_class_weights_multiply_those_of_rows():
    X, y = data()
    times = np.random.default_rng(0).uniform(0.5, 2.0, N)
    by_hand = times * np.where(y == "bee", 3.0, 1.0)
    near(fit(X, y, class_weight={"bee": 3.0}, sample_weight=times), fit(X, y, sample_weight=by_hand))
    counts = {label: np.sum(y == label) for label in ("ant", "bee")}
    even = {label: N / (2 * count) for label, count in counts.items()}
    near(fit(X, y, class_weight="balanced"), fit(X, y, class_weight=even))


def test_a_class_without_weight_is_no_class():
    X, y = data(3)
    weights = np.where(y == "cow", 0.0, 1.0)
    model = fit(X, y, sample_weight=weights)
    assert model.classes_.tolist() == ["ant", "bee"]
    near(fit(X[y != "cow"], y[y != "cow"]), model)


def test_an_offset_is_known():
    X, y = data()
    known = np.linspace(-1.0, 1.0, N)
    model = fit(X, y, offset=known)
    np.testing.assert_allclose(model.decision_function(X, offset=known), model.decision_function(X) + known)
    assert not np.array_equal(model.coef_, fit(X, y).coef_)
    with pytest.raises(ValueError, match="offset is for two classes"):
        fit(*data(3), offset=known)


# --- what must not change the answer ------------------------------------------------------------------------


@pytest.mark.parametrize(("classes", "p"), [(2, P), (2, 120), (3, P)])
def test_order_and_units(classes, p):
    X, y = data(classes, p=p)
    rng = np.random.default_rng(0)
    rows, units = rng.permutation(N), 10.0 ** rng.uniform(-3, 3, p)
    one = fit(X, y)
    near(one, fit(X[rows], y[rows]))
    two = fit(X * units + 3.0 * units, y)
    np.testing.assert_allclose(two.coef_ * units, one.coef_, atol=1e-8)
    np.testing.assert_allclose(two.predict_proba(X * units + 3.0 * units), one.predict_proba(X), atol=1e-8)


@pytest.mark.parametrize(("home", "classes"), [(sparse.csr_array, 2), (sparse.csc_matrix, 3)])
def test_sparse_columns_say_the_same(home, classes):
    X, y = data(classes)
    X = np.where(np.abs(X) < 0.4, 0.0, X)
    one, two = fit(X, y), fit(home(X), y)
    near(one, two)
    np.testing.assert_allclose(two.predict_proba(home(X)), one.predict_proba(X))


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
@pytest.mark.parametrize("classes", [2, 3])
def test_frames_keep_their_names(kind, classes):
    X, y = data(classes)
    names = [f"c{j}" for j in range(P)]
    frame = kind(dict(zip(names, X.T, strict=True)))
    model = fit(frame, y)
    want = fit(X, y)
    near(want, model)
    assert model.feature_names_in_.tolist() == names
    assert model.summary()["feature"].tolist() == ["(Intercept)", *names] * len(model.estimators_)
    np.testing.assert_allclose(model.predict_proba(frame), want.predict_proba(X))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[names[::-1]])


def test_threads_and_seeds():
    X, y = data(3, p=40)
    one, two = (fit(X, y, n_jobs=jobs, random_state=1) for jobs in (1, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(one.inclusion_, two.inclusion_)
    assert not np.array_equal(fit(X, y, random_state=2).coef_, one.coef_)


# --- the estimator ------------------------------------------------------------------------------------------


def test_it_selects(fitted):
    X, _y, model = fitted
    mask = model.support_ if model.support_.ndim == 1 else model.support_.any(axis=0)
    assert mask[: len(model.classes_)].any()
    np.testing.assert_array_equal(model.transform(X), X[:, mask])
    assert model.get_feature_names_out().tolist() == [f"x{j}" for j in np.flatnonzero(mask)]


def test_summary(fitted):
    _, _, model = fitted
    table = model.summary(0.8)
    columns = ["feature", "coef", "lower", "upper", "per_sd", "inclusion", "sparse_coef", "selected"]
    if len(model.classes_) > 2:
        columns = ["class", *columns]
        assert table["class"].tolist() == np.repeat(model.classes_, P + 1).tolist()
    assert table.columns.tolist() == columns
    of_columns = table[table["feature"] != "(Intercept)"]
    np.testing.assert_array_equal(of_columns["coef"], model.coef_.ravel())
    np.testing.assert_array_equal(table.drop(of_columns.index)["coef"], np.ravel(model.intercept_))


def test_intervals_of_coefficients_widen_with_their_level(fitted):
    _, _, model = fitted
    narrow, wide = model.coef_interval(0.5), model.coef_interval(0.95)
    assert (wide[..., 0] <= narrow[..., 0]).all()
    assert (wide[..., 1] >= narrow[..., 1]).all()
    with pytest.raises(ValueError, match="level"):
        model.coef_interval(1.5)


def test_the_callback_is_told_of_each_component_of_each_class():
    X, y = data(3)
    told = []
    fit(X, y, callback=told.append)
    assert [step.component for step in told] == [
        "null",
        "ridge",
        "horseshoe",
        "mixture_horseshoe",
        "mixture_forward",
    ] * 3


def test_groups():
    X, y = data()
    groups = np.arange(N) // 6
    model = fit(X, y, cv=GroupKFold(5), groups=groups)
    for train, test in model.estimators_[0]._fitted.sets.folds:
        assert not set(groups[train]) & set(groups[test])


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("p", [3, 150])
def test_nothing_is_warned_of(classes, p):
    X, y = data(classes, n=50, p=max(p, classes))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit(X, y).coef_interval()


def test_separable_classes_have_finite_coefficients():
    X = np.linspace(-1.0, 1.0, 40)[:, None]
    model = fit(X, (X[:, 0] > 0).astype(int))
    assert np.isfinite(model.coef_).all()
    assert model.score(X, (X[:, 0] > 0).astype(int)) == 1.0
    assert model.support_.all()


def test_noise_and_constant_columns():
    _X, y = data()
    model = fit(np.ones((N, 2)), y)
    assert model.status_ is Status.NO_COLUMNS
    np.testing.assert_allclose(model.predict_proba(np.ones((1, 2)))[0, 1], np.mean(y == "bee"), atol=0.01)
    rng = np.random.default_rng(1)
    found = [
        fit(rng.standard_normal((60, 5)), rng.permutation(np.arange(60) % 2)).support_.any() for _ in range(8)
    ]
    assert np.mean(found) <= 0.25


def test_copies(fitted):
    X, _, model = fitted
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.coef_interval(), model.coef_interval())
    assert not hasattr(clone(model), "coef_")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"components": ["forest"]}, "components has 'forest'"),
        (
            {"components": ["ridge", "elastic_net"]},
            "components has 'elastic_net', which is for one Gaussian response",
        ),
        ({"selection": "all"}, "selection='all'"),
        ({"cv": 1}, "cv=1 must be at least 2"),
        ({"cv": 91}, "cv=91 is more than the 90 rows"),
        ({"class_weight": {"eel": 2.0}}, "class_weight is for the classes"),
        ({"class_weight": "even"}, "class_weight='even'"),
        ({"callback": 3}, "callback=3 must be callable"),
    ],
)
def test_refused_options(options, sentence):
    with pytest.raises((TypeError, ValueError), match=sentence):
        fit(*data(), **options)


@pytest.mark.parametrize(
    ("labels", "sentence"),
    [(np.zeros(N), "one class only"), (np.linspace(0, 1, N), "does not hold labels")],
)
def test_refused_labels(labels, sentence):
    with pytest.raises(ValueError, match=sentence):
        fit(data()[0], labels)


def test_a_class_that_a_fold_lacks_is_named():
    X, y = data(3)
    rare = np.where(np.arange(N) == 5, "rare", y)
    with pytest.raises(ValueError, match=r"of cv.*'rare'"):
        fit(X, rare)
