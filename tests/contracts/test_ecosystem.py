"""The estimators in scikit-learn's company: pipelines, searches, routing; frames in and out."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import (
    GridSearchCV,
    check_cv,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from horseshoe import AdaptiveClassifier, AdaptiveRegressor, HorseshoeClassifier, HorseshoeRegressor

NAMES = ["age", "dose", "weight", "noise", "more noise"]
ESTIMATORS = [
    pytest.param(HorseshoeRegressor(), id="regressor"),
    pytest.param(HorseshoeClassifier(), id="classifier"),
    pytest.param(AdaptiveRegressor(cv=3), id="regressor_cv"),
    pytest.param(AdaptiveClassifier(cv=3), id="classifier_cv"),
]
GRIDS = {
    "HorseshoeRegressor": {"tau": [0.01, 1.0]},
    "HorseshoeClassifier": {"augmentation": ["polya_gamma", "irls"]},
    "AdaptiveRegressor": {"selection": ["1se", "paired"]},
    "AdaptiveClassifier": {"components": [["ridge"], ["ridge", "horseshoe"]]},
}

every_estimator = pytest.mark.parametrize("estimator", ESTIMATORS)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(rng.standard_normal((90, len(NAMES))), columns=NAMES)


def response(estimator, frame):
    """Return what the first two columns say, as numbers or as words."""
    eta = 2.0 * frame["age"].to_numpy() - 3.0 * frame["dose"].to_numpy()
    y = eta + np.random.default_rng(1).standard_normal(len(frame))
    return np.where(y > 0.0, "ill", "well") if is_classifier(estimator) else y


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@every_estimator
def test_a_pipeline_answers_like_its_last_step(estimator, frame):
    y = response(estimator, frame)
    pipeline = make_pipeline(StandardScaler(), clone(estimator)).fit(frame, y)
    alone = clone(estimator).fit(StandardScaler().fit_transform(frame), y)
    assert np.array_equal(pipeline.predict(frame), alone.predict(StandardScaler().fit_transform(frame)))
    assert pipeline.score(frame, y) == alone.score(StandardScaler().fit_transform(frame), y) > 0.8


@every_estimator
def test_it_selects_in_front_of_another(estimator, frame):
    y = response(estimator, frame)
    pipeline = Pipeline([("select", clone(estimator)), ("again", clone(estimator))]).fit(frame, y)
    assert pipeline[:-1].get_feature_names_out().tolist() == ["age", "dose"]
    assert pipeline.score(frame, y) > 0.8


@every_estimator
def test_columns_of_several_kinds(estimator, frame):
    y = response(estimator, frame)
    town = np.random.default_rng(2).choice(["Ulm", "Bonn", "Kiel"], len(frame))
    table = frame.assign(town=town)
    table.loc[3, "weight"] = np.nan
    columns = ColumnTransformer(
        [
            ("numbers", SimpleImputer(), NAMES),
            ("words", OneHotEncoder(drop="first", sparse_output=False), ["town"]),
        ],
        verbose_feature_names_out=False,
    ).set_output(transform="pandas")
    pipeline = make_pipeline(columns, clone(estimator)).fit(table, y)
    assert pipeline[-1].feature_names_in_.tolist() == [*NAMES, "town_Kiel", "town_Ulm"]
    assert pipeline.get_feature_names_out().tolist() == ["age", "dose"]
    assert pipeline.predict(table.head(2)).shape == (2,)


@every_estimator
def test_a_grid_is_searched(estimator, frame):
    grid = GRIDS[type(estimator).__name__]
    y = response(estimator, frame)
    search = GridSearchCV(clone(estimator), grid, cv=3).fit(frame, y)
    assert set(search.best_params_) == set(grid)
    assert search.best_score_ > 0.7
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    nested = GridSearchCV(
        Pipeline([("scale", StandardScaler()), ("fit", clone(estimator))]),
        {f"fit__{name}": values for name, values in grid.items()},
        cv=3,
    ).fit(frame, y)
    assert nested.best_score_ == pytest.approx(search.best_score_, abs=1e-6)


@every_estimator
def test_cross_validation(estimator, frame):
    y = response(estimator, frame)
    scores = cross_val_score(clone(estimator), frame, y, cv=3)
    assert scores.shape == (3,)
    assert scores.min() > 0.6
    assert cross_val_predict(clone(estimator), frame, y, cv=3).shape == y.shape


@every_estimator
def test_a_clone_has_the_options_and_not_the_fit(estimator, frame):
    y = response(estimator, frame)
    fitted = clone(estimator).set_params(fit_intercept=False).fit(frame, y)
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    assert not hasattr(copy, "coef_")
    assert np.array_equal(copy.fit(frame, y).coef_, fitted.coef_)


@every_estimator
def test_frames_of_pandas_and_polars_give_the_same_answer(estimator, frame):
    y = response(estimator, frame)
    polars = pl.from_pandas(frame)
    fits = [clone(estimator).fit(X, y) for X in (frame.to_numpy(), frame, polars)]
    for fit in fits[1:]:
        assert np.array_equal(fit.coef_, fits[0].coef_)
        assert np.array_equal(fit.intercept_, fits[0].intercept_)
        assert fit.feature_names_in_.tolist() == NAMES
        for X in (frame, polars):
            assert np.array_equal(fit.predict(X), fits[0].predict(frame.to_numpy()))
            assert fit.score(X, y) == fits[0].score(frame.to_numpy(), y)
    pd.testing.assert_frame_equal(fits[1].summary(), fits[2].summary())
    assert np.array_equal(clone(estimator).fit(polars, pl.Series("y", y)).coef_, fits[0].coef_)
    assert np.array_equal(clone(estimator).fit(frame, pd.Series(y)).coef_, fits[0].coef_)


@every_estimator
def test_columns_in_another_order_are_refused(estimator, frame):
    fit = clone(estimator).fit(frame, response(estimator, frame))
    for X in (frame[NAMES[::-1]], pl.from_pandas(frame[NAMES[::-1]])):
        with pytest.raises(ValueError, match="feature names should match"):
            fit.predict(X)


@every_estimator
@pytest.mark.parametrize("given", ["pandas", "polars"])
@pytest.mark.parametrize("wanted", ["default", "pandas", "polars"])
def test_selected_columns_come_in_the_frame_that_was_asked_for(estimator, given, wanted, frame):
    X = frame if given == "pandas" else pl.from_pandas(frame)
    selector = clone(estimator).set_output(transform=wanted).fit(X, response(estimator, frame))
    found = selector.transform(X)
    assert type(found).__module__.split(".")[0] == ("numpy" if wanted == "default" else wanted)
    assert np.array_equal(np.asarray(found), frame[["age", "dose"]].to_numpy())
    if wanted != "default":
        assert list(found.columns) == ["age", "dose"]
    if given == wanted == "pandas":
        assert found.index.equals(frame.index)


@every_estimator
def test_weights_are_routed_through_a_pipeline(estimator, frame, routing):
    y = response(estimator, frame)
    weights = np.random.default_rng(3).integers(0, 3, len(frame)).astype(float)
    asked = clone(estimator).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    pipeline = Pipeline([("fit", asked)]).fit(frame, y, sample_weight=weights)
    alone = clone(estimator).fit(frame, y, sample_weight=weights)
    assert np.array_equal(pipeline[-1].coef_, alone.coef_)
    assert not np.array_equal(alone.coef_, clone(estimator).fit(frame, y).coef_)
    assert pipeline.score(frame, y, sample_weight=weights) == alone.score(frame, y, sample_weight=weights)


@every_estimator
def test_offsets_are_routed_to_every_step_of_cross_validation(estimator, frame, routing):
    y = response(estimator, frame)
    offset = np.random.default_rng(4).standard_normal(len(frame))
    asked = clone(estimator).set_fit_request(offset=True).set_score_request(offset=True)
    told = cross_validate(asked, frame, y, cv=3, params={"offset": offset}, return_estimator=True)
    plain = cross_validate(clone(estimator), frame, y, cv=3, return_estimator=True)
    first = clone(estimator).fit(*rows_learnt(estimator, frame, y, offset))
    assert np.array_equal(told["estimator"][0].coef_, first.coef_)
    assert not np.array_equal(told["estimator"][0].coef_, plain["estimator"][0].coef_)
    assert not np.array_equal(told["test_score"], plain["test_score"])


def rows_learnt(estimator, frame, y, offset):
    """Return the arguments of `fit` without the first of three folds."""
    learn, _ = next(check_cv(3, y, classifier=is_classifier(estimator)).split(frame, y))
    return frame.iloc[learn], y[learn], None, offset[learn]


@every_estimator
def test_offsets_are_routed_to_predictions(estimator, frame, routing):
    y = response(estimator, frame)
    offset = np.linspace(-4.0, 4.0, len(frame))
    asked = clone(estimator).set_fit_request(offset=True).set_predict_request(offset=True)
    pipeline = Pipeline([("scale", StandardScaler()), ("fit", asked)]).fit(frame, y, offset=offset)
    scaled = pipeline[:-1].transform(frame)
    assert np.array_equal(pipeline.predict(frame, offset=offset), pipeline[-1].predict(scaled, offset=offset))
    assert not np.array_equal(pipeline[-1].predict(scaled), pipeline[-1].predict(scaled, offset=offset))
    if is_classifier(estimator):
        asked.set_predict_proba_request(offset=True)
        assert pipeline.predict_proba(frame, offset=offset).shape == (len(frame), 2)


@every_estimator
def test_what_was_not_asked_for_is_not_dropped_in_silence(estimator, frame, routing):
    y = response(estimator, frame)
    with pytest.raises(ValueError, match=r"sample_weight.* not explicitly set as requested"):
        GridSearchCV(clone(estimator), {"fit_intercept": [True]}, cv=3).fit(
            frame, y, sample_weight=np.ones(len(frame))
        )


@every_estimator
def test_a_search_hands_weights_to_every_fit(estimator, frame, routing):
    y = response(estimator, frame)
    weights = np.where(np.arange(len(frame)) % 3 == 0, 0.5, 2.0)
    asked = clone(estimator).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    search = GridSearchCV(asked, {"fit_intercept": [True, False]}, cv=3)
    search.fit(frame, y, sample_weight=weights)
    best = clone(estimator).set_params(**search.best_params_).fit(frame, y, sample_weight=weights)
    assert np.array_equal(search.best_estimator_.coef_, best.coef_)


@pytest.mark.parametrize("estimator", [HorseshoeRegressor(), AdaptiveRegressor(cv=3)])
def test_exposures_of_counts_are_routed_too(estimator, frame, routing):
    rng = np.random.default_rng(5)
    years = rng.uniform(1.0, 9.0, len(frame))
    y = rng.poisson(years * np.exp(0.5 * frame["age"].to_numpy()))
    counts = clone(estimator).set_params(family="poisson")
    asked = clone(counts).set_fit_request(exposure=True).set_score_request(exposure=True)
    pipeline = Pipeline([("fit", asked)]).fit(frame, y, exposure=years)
    alone = counts.fit(frame, y, exposure=years)
    assert np.array_equal(pipeline[-1].coef_, alone.coef_)
    assert pipeline.score(frame, y, exposure=years) == alone.score(frame, y, exposure=years) > 0.5
