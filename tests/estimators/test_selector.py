"""The estimators select columns, in scikit-learn's manner."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.feature_selection import SelectFromModel, SelectorMixin
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from horseshoe import HorseshoeClassifier, HorseshoeRegressor

SELECTED = ["sex", "bmi", "bp", "s3", "s5"]


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True, as_frame=True, scaled=False)


@pytest.fixture(scope="module")
def model(diabetes):
    return HorseshoeRegressor().fit(*diabetes)


def test_the_selected_columns_are_those_that_are_not_zero(model, diabetes):
    X, _ = diabetes
    assert np.array_equal(model.get_support(), model.coef_ != 0.0)
    assert model.get_support(indices=True).tolist() == np.flatnonzero(model.coef_).tolist()
    assert model.get_feature_names_out().tolist() == SELECTED
    assert np.array_equal(model.transform(X), X[SELECTED].to_numpy())
    assert isinstance(model.transform(X), np.ndarray)


def test_it_has_what_scikit_learn_asks_of_selectors(model):
    public = [name for name in vars(SelectorMixin) if not name.startswith("_")]
    missing = [name for name in public if not hasattr(model, name)]
    assert missing in ([], ["inverse_transform"])


def test_fit_transform_is_fit_and_transform(model, diabetes):
    X, y = diabetes
    assert np.array_equal(HorseshoeRegressor().fit_transform(X, y), model.transform(X))


def test_arrays_have_names_too(diabetes):
    X, y = diabetes
    model = HorseshoeRegressor().fit(X.to_numpy(), y)
    assert model.get_feature_names_out().tolist() == ["x1", "x2", "x3", "x6", "x8"]
    assert model.get_feature_names_out(list(X.columns)).tolist() == SELECTED
    assert np.array_equal(model.transform(X.to_numpy()), X[SELECTED].to_numpy())


def test_data_frames_out(diabetes):
    X, y = diabetes
    mixed = X.astype({"sex": np.int64})
    for given in (X, mixed):
        found = HorseshoeRegressor().set_output(transform="pandas").fit_transform(given, y)
        pd.testing.assert_frame_equal(found, given[SELECTED])


@pytest.mark.parametrize("kind", ["csr_matrix", "csc_array", "coo_array"])
def test_sparse_columns_stay_sparse(kind):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((80, 6)) * (rng.random((80, 6)) < 0.4)
    y = 3.0 * X[:, 1] - 2.0 * X[:, 4] + 0.1 * rng.standard_normal(80)
    rows = getattr(sparse, kind)(X)
    model = HorseshoeRegressor().fit(rows, y)
    found = model.transform(rows)
    assert sparse.issparse(found)
    assert model.get_support(indices=True).tolist() == [1, 4]
    assert np.array_equal(found.toarray(), X[:, [1, 4]])


def test_in_front_of_another_estimator(model, diabetes):
    X, y = diabetes
    pipeline = make_pipeline(HorseshoeRegressor(), LinearRegression()).fit(X, y)
    assert pipeline[:-1].get_feature_names_out().tolist() == SELECTED
    direct = LinearRegression().fit(X[SELECTED].to_numpy(), y)
    np.testing.assert_allclose(pipeline.predict(X), direct.predict(X[SELECTED].to_numpy()))
    named = make_pipeline(HorseshoeRegressor().set_output(transform="pandas"), LinearRegression()).fit(X, y)
    assert named[-1].feature_names_in_.tolist() == SELECTED
    np.testing.assert_allclose(named.predict(X), pipeline.predict(X))


def test_behind_another_transformer(diabetes):
    X, y = diabetes
    halves = make_column_transformer((FunctionTransformer(), ["age", "bmi", "s5"]), sparse_threshold=0.0)
    pipeline = make_pipeline(halves, HorseshoeRegressor())
    pipeline.set_output(transform="pandas").fit(X, y)
    assert pipeline.transform(X).columns.str.split("__").str[-1].tolist() == ["bmi", "s5"]


def test_of_several_classes_a_column_is_in_if_any_class_has_it():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.assign(noise=np.random.default_rng(0).standard_normal(len(X)))
    model = HorseshoeClassifier().fit(X, y)
    assert model.support_.shape == (3, 5)
    assert np.array_equal(model.get_support(), model.support_.any(axis=0))
    assert 0 < model.get_support().sum() < 5
    assert (model.support_.sum(axis=1) < model.get_support().sum()).any()
    pipeline = make_pipeline(clone(model), LogisticRegression(max_iter=1000)).fit(X, y)
    assert pipeline.score(X, y) > 0.9
    assert (
        SelectFromModel(HorseshoeClassifier()).fit(X, y).get_support().tolist()
        == model.get_support().tolist()
    )


def test_two_classes(diabetes):
    X, y = diabetes
    model = HorseshoeClassifier().fit(X, y > 150.0)
    assert np.array_equal(model.get_support(), model.support_)
    assert model.transform(X).shape == (442, model.support_.sum())


def test_select_from_model_takes_the_same_columns_unasked(diabetes, model):
    X, y = diabetes
    for selector in (
        SelectFromModel(HorseshoeRegressor()).fit(X, y),
        SelectFromModel(model, prefit=True).fit(X, y),
        make_pipeline(SelectFromModel(HorseshoeRegressor()), LinearRegression()).fit(X, y)[0],
    ):
        assert selector.get_feature_names_out().tolist() == SELECTED


def test_small_coefficients_are_selected_too(diabetes):
    X, y = diabetes
    large = X * 1e8  # whose coefficients are below 1e-5
    model = HorseshoeRegressor().fit(large, y)
    assert model.get_feature_names_out().tolist() == SELECTED
    assert np.abs(model.coef_).max() < 1e-5
    told = SelectFromModel(HorseshoeRegressor(), threshold=1e-300).fit(large, y)
    assert told.get_feature_names_out().tolist() == SELECTED


def test_where_nothing_is_selected_nothing_is_left():
    X, y = np.random.default_rng(0).standard_normal((2, 60, 3))
    model = HorseshoeRegressor().fit(X, y[:, 0])
    assert not model.get_support().any()
    assert model.transform(X).shape == (60, 0)
    with pytest.raises(ValueError, match="0 feature"):
        make_pipeline(HorseshoeRegressor(), LinearRegression()).fit(X, y[:, 0])


def test_other_columns_are_refused(model, diabetes):
    X, y = diabetes
    with pytest.raises(ValueError, match="feature names"):
        model.transform(X[X.columns[::-1]])
    with pytest.raises(ValueError, match="4 features"):
        HorseshoeRegressor().fit(X.to_numpy(), y).transform(X.to_numpy()[:, :4])
