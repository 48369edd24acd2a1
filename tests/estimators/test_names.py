"""Names of columns: whoever is asked knows them, and refuses others."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from horseshoe import HorseshoeClassifier, HorseshoeRegressor

SHORT = {"n_draws": 40, "n_warmup": 40, "n_chains": 2, "random_state": 0}
ASKED = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "decision_function",
    "predict_interval",
    "transform",
)
pytestmark = pytest.mark.filterwarnings("ignore:R-hat")


@pytest.fixture(scope="module")
def tumours():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[::4, :6]
    return X, np.where(y[::4] == 0, "malignant", "benign")


@pytest.fixture(scope="module")
def flowers():
    return load_iris(return_X_y=True, as_frame=True)


def backwards(frame):
    return frame[frame.columns[::-1]]


def test_the_posterior_of_a_classifier_has_the_names_of_the_columns(tumours):
    X, y = tumours
    posterior = HorseshoeClassifier().fit(X, y).sample_posterior(**SHORT)
    assert posterior.feature_names == tuple(X.columns)
    assert posterior.summary()["feature"].tolist() == list(X.columns)
    posterior.predict(X[:3])
    for ask in (posterior.predict, posterior.predict_interval, posterior.simulate):
        with pytest.raises(
            ValueError, match=f"column 0 of X is '{X.columns[-1]}', but it was '{X.columns[0]}'"
        ):
            ask(backwards(X))
    with pytest.raises(ValueError, match="column 0 of X"):
        posterior.log_likelihood(backwards(X), y)


@pytest.mark.parametrize("data", ["tumours", "flowers"])
def test_the_regressions_of_a_classifier_have_the_names(data, request):
    X, y = request.getfixturevalue(data)
    model = HorseshoeClassifier().fit(X, y)
    assert len(model.estimators_) == (1 if data == "tumours" else 3)
    for regression in model.estimators_:
        assert regression.feature_names_in_.tolist() == list(X.columns)
        assert regression.summary(method="mode")["feature"].tolist() == ["(Intercept)", *X.columns]
        regression.predict(X)
        for method in ("predict", "linear_predictor", "predict_interval", "transform"):
            with pytest.raises(ValueError, match="feature names"):
                getattr(regression, method)(backwards(X))
        posterior = regression.sample_posterior(**SHORT)
        assert posterior.feature_names == tuple(X.columns)


@pytest.mark.parametrize("data", ["tumours", "flowers"])
@pytest.mark.parametrize("method", ASKED)
def test_a_classifier_refuses_columns_in_another_order(data, method, request):
    X, y = request.getfixturevalue(data)
    model = HorseshoeClassifier().fit(X, y)
    quick = {"method": "mode"} if method == "predict_interval" else {}
    getattr(model, method)(X, **quick)  # without a warning
    with pytest.raises(ValueError, match="feature names"):
        getattr(model, method)(backwards(X), **quick)


def test_intervals_of_the_posterior_refuse_them_too(tumours):
    X, y = tumours
    model = HorseshoeClassifier().fit(X, y)
    assert model.predict_interval(X, method="posterior", **SHORT).shape == (len(X), 2)
    with pytest.raises(ValueError, match="feature names"):
        model.predict_interval(backwards(X), method="posterior", **SHORT)


def test_scores_refuse_them_too(tumours):
    X, y = tumours
    model = HorseshoeClassifier().fit(X, y)
    for method in ("score", "log_likelihood"):
        with pytest.raises(ValueError, match="feature names"):
            getattr(model, method)(backwards(X), y)


def test_a_fit_without_names_forgets_those_of_before(tumours):
    X, y = tumours
    model = HorseshoeClassifier().fit(X, y).fit(X.to_numpy(), y)
    assert not hasattr(model, "feature_names_in_")
    assert not any(hasattr(part, "feature_names_in_") for part in model.estimators_)
    assert model.sample_posterior(**SHORT).feature_names[0] == "x0"


def test_names_that_are_no_words_are_no_names():
    X = pd.DataFrame(np.random.default_rng(0).standard_normal((40, 2)))
    model = HorseshoeRegressor().fit(X, X[0])
    assert not hasattr(model, "feature_names_in_")
