"""Several responses through the estimators."""

import pickle
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.model_selection import cross_val_score

from horseshoe import AdaptiveRegressor, HorseshoeRegressor, Status, sample_posterior
from horseshoe.priors import InvertedBeta
from horseshoe.report.summaries import summary_text
from loops import each

Q = 3


def data(n=60, p=8, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * np.geomspace(0.1, 10.0, p) + 1.0
    coef = np.zeros((p, Q))
    coef[1], coef[4] = np.array([3.0, -6.0, 2.0]) / X[:, 1].std(), np.array([1.5, 2.0, 0.0]) / X[:, 4].std()
    return X, X @ coef + rng.standard_normal((n, Q)) * [1.0, 2.0, 0.5] + [0.0, 10.0, -5.0]


def test_shapes_and_what_is_shared():
    X, Y = data()
    model = HorseshoeRegressor().fit(X, Y)
    assert model.coef_.shape == model.coef_std_.shape == model.kappa_.shape == (Q, 8)
    assert model.intercept_.shape == model.sigma2_.shape == model.intercept_std_.shape == (Q,)
    assert model.support_.shape == model.lambda2_.shape == (8,)
    np.testing.assert_array_equal((model.coef_ != 0.0), np.tile(model.support_, (Q, 1)))
    assert model.support_[[1, 4]].all()
    assert model.status_ is Status.CONVERGED
    mean, std = model.predict(X, return_std=True)
    assert mean.shape == std.shape == Y.shape
    np.testing.assert_allclose(mean, X @ model.coef_.T + model.intercept_, rtol=1e-12)
    interval = model.predict_interval(X, 0.9)
    assert interval.shape == (*Y.shape, 2)
    assert np.mean((interval[..., 0] < Y) & (interval[..., 1] > Y)) > 0.8
    assert model.coef_interval().shape == (Q, 8, 2)
    assert model.intercept_interval().shape == (Q, 2)
    assert model.transform(X).shape == (60, model.support_.sum())
    np.testing.assert_allclose(model.sigma2_, [1.0, 4.0, 0.25], rtol=0.5)


def test_the_parts_are_the_rows():
    X, Y = data()
    model = HorseshoeRegressor().fit(X, Y)
    for k, part in enumerate(model.estimators_):
        np.testing.assert_array_equal(part.coef_, model.coef_[k])
        np.testing.assert_array_equal(part.predict(X), model.predict(X)[:, k])
        assert part.score(X, Y[:, k]) == pytest.approx(r2_score(Y[:, k], model.predict(X)[:, k]))
    assert model.score(X, Y) == pytest.approx(r2_score(Y, model.predict(X)))
    assert model.log_likelihood(X, Y) == pytest.approx(
        sum(part.log_likelihood(X, one) for part, one in zip(model.estimators_, Y.T, strict=True))
    )


def test_ridge_is_scikit_learns():
    X, Y = data()
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    model = HorseshoeRegressor(prior="ridge", tau=0.5).fit(X, Y)
    peer = Ridge(alpha=4.0).fit(Z, Y)
    np.testing.assert_allclose(model.coef_ * X.std(axis=0), peer.coef_, rtol=1e-9)
    np.testing.assert_allclose(model.predict(X), peer.predict(Z), rtol=1e-9)


def test_weights_are_repeated_rows_and_units_change_nothing():
    X, Y = data()
    counts = np.arange(60) % 3
    tight = HorseshoeRegressor(tol=1e-12)
    weighted = clone(tight).fit(X, Y, sample_weight=counts)
    repeated = clone(tight).fit(np.repeat(X, counts, axis=0), np.repeat(Y, counts, axis=0))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-8, atol=1e-12)
    plain = clone(tight).fit(X, Y)
    units = np.array([1e-3, 1.0, 1e6])
    other = clone(tight).fit(X * 4.0, Y * units)
    np.testing.assert_allclose(other.coef_ * 4.0 / units[:, None], plain.coef_, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(other.sigma2_ / units**2, plain.sigma2_, rtol=1e-8)
    shifted = clone(tight).fit(X, Y + 7.0, offset=7.0)
    np.testing.assert_allclose(shifted.coef_, plain.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("form", ["frame", "sparse", "list", "fortran"])
def test_forms_of_x_and_y(form):
    X, Y = data()
    given = {
        "frame": (pd.DataFrame(X, columns=list("abcdefgh")), pd.DataFrame(Y, columns=["u", "v", "w"])),
        "sparse": (sparse.csr_array(X), Y),
        "list": (X.tolist(), Y.tolist()),
        "fortran": (np.asfortranarray(X), np.asfortranarray(Y)),
    }[form]
    model, plain = HorseshoeRegressor(tol=1e-12).fit(*given), HorseshoeRegressor(tol=1e-12).fit(X, Y)
    np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-8, atol=1e-12)
    assert model.outputs_.tolist() == (["u", "v", "w"] if form == "frame" else ["y0", "y1", "y2"])
    table = model.summary()
    assert table["output"].tolist()[:: len(table) // Q] == model.outputs_.tolist()


def test_a_constant_response_has_no_say():
    X, Y = data()
    both = HorseshoeRegressor(tol=1e-12).fit(X, np.column_stack([Y[:, :2], np.full(60, 3.0)]))
    two = HorseshoeRegressor(tol=1e-12).fit(X, Y[:, :2])
    np.testing.assert_array_equal(both.coef_[:2], two.coef_)
    assert not both.coef_[2].any()
    assert both.intercept_[2] == 3.0
    assert both.estimators_[2].status_ is Status.CONSTANT_RESPONSE
    assert both.status_ is Status.CONVERGED
    nothing = HorseshoeRegressor().fit(X, np.ones((60, 2)))
    assert nothing.status_ is Status.CONSTANT_RESPONSE
    assert nothing.expected_by_chance_ == 0.0


def test_tied_and_constant_columns():
    X, Y = data()
    wide = np.column_stack([X, -2.0 * X[:, 1], np.ones(60)])
    model, plain = HorseshoeRegressor(tol=1e-12).fit(wide, Y), HorseshoeRegressor(tol=1e-12).fit(X, Y)
    np.testing.assert_allclose(model.coef_[:, :8], plain.coef_, rtol=1e-9, atol=1e-12)
    assert not model.coef_[:, 8:].any()
    assert model.aliases_ == {1: (8,)}


def test_a_start_at_an_earlier_fit_and_back_to_one_response():
    X, Y = data()
    model = HorseshoeRegressor().fit(X, Y)
    again = HorseshoeRegressor(start=model).fit(X, Y)
    np.testing.assert_allclose(again.coef_[:, 1], model.coef_[:, 1], rtol=1e-3)
    assert again.n_iter_ < model.n_iter_
    with pytest.raises(ValueError, match="start has 3 responses, but y has 2"):
        HorseshoeRegressor(start=model).fit(X, Y[:, :2])
    with pytest.raises(ValueError, match="start has 3 responses, but y has 1"):
        HorseshoeRegressor(start=model).fit(X, Y[:, 0])
    model.fit(X, Y[:, 0])
    assert model.coef_.shape == (8,)
    assert not hasattr(model, "outputs_")
    np.testing.assert_array_equal(model.coef_, HorseshoeRegressor().fit(X, Y[:, 0]).coef_)


@each("family", ["poisson", "student_t", "laplace", "negative_binomial", "binomial"])
@each("fit", [HorseshoeRegressor, AdaptiveRegressor, sample_posterior])
def test_two_responses_for_a_family_that_has_one(family, fit):
    X = np.eye(6)
    name = family.title().replace("_", "")
    call = (lambda X, y: fit(X, y, family)) if fit is sample_posterior else fit(family).fit
    with pytest.raises(ValueError, match=f"y has 2 columns, but the family {name} explains one response"):
        call(X, np.ones((6, 2)))


@pytest.mark.parametrize(
    ("y", "said"),
    [
        ([[1.0, 2.0], [3.0, np.nan], [1.0, 2.0]], "contains NaN in row 1.*column 1 of y"),
        ([[1.0, 2.0], [3.0, 4.0]], "X has 3 rows, y has 2"),
        ([[1.0, "a"], [3.0, "b"], [3.0, "c"]], "column 1 of y|column 0 of y"),
        (np.ones((3, 2, 2)), "y"),
        (np.array([[1.0, 1e300], [2.0, -1e300], [3.0, 0.0]]), "y in row"),
    ],
)
def test_bad_responses_are_named(y, said):
    with pytest.raises((ValueError, TypeError), match=said):
        HorseshoeRegressor().fit(np.arange(6.0).reshape(3, 2) ** 2, y)


def test_options_that_several_responses_do_not_have():
    X, Y = data()
    with pytest.raises(ValueError, match="expectation='stochastic' is for one response, but y has 3 columns"):
        HorseshoeRegressor(expectation="stochastic").fit(X, Y)
    model = HorseshoeRegressor().fit(X, Y)
    with pytest.raises(ValueError, match="y has 1 columns, but the model was fitted to 3 responses"):
        model.score(X, Y[:, 0])
    with pytest.raises(ValueError, match="cannot be estimated where several regressions share their scales"):
        sample_posterior(X, Y, prior=InvertedBeta(a="estimate"), n_draws=4, n_warmup=2)


def test_approximate_expectations_are_near_and_a_known_noise_is_kept():
    X, Y = data()
    exact, near = (HorseshoeRegressor(expectation=one).fit(X, Y) for one in ("exact", "approximate"))
    np.testing.assert_allclose(near.coef_[:, 1], exact.coef_[:, 1], rtol=0.05)
    np.testing.assert_allclose(HorseshoeRegressor(sigma2=2.0).fit(X, Y).sigma2_, 2.0)


def test_reports_and_scikit_learns_tools():
    X, Y = data()
    model = HorseshoeRegressor().fit(X, Y)
    text = summary_text(model)
    assert all(name in text for name in ("y0", "y1", "y2", "x1", "R^2"))
    assert "y2" in model._repr_html_()
    assert model.statistics().n_selected == model.support_.sum()
    assert model.statistics().explained == pytest.approx(model.score(X, Y))
    assert cross_val_score(HorseshoeRegressor(), X, Y, cv=3).mean() > 0.7
    found = model.chance_selection(X, Y, n_permutations=3)
    assert not found.is_noise


def test_draws_are_the_same_for_parts_and_whole_and_cover_the_mode():
    X, Y = data()
    model = HorseshoeRegressor(random_state=1).fit(X, Y)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="R-hat is not below")  # few draws, for the test's sake
        whole = model.sample_posterior(n_draws=300, n_warmup=200, n_chains=2)
    assert whole.coef.shape == (2, 300, Q, 8)
    assert whole[1] is model.estimators_[1].sample_posterior(n_draws=300, n_warmup=200, n_chains=2)
    np.testing.assert_allclose(whole.mean()[:, 1], model.coef_[:, 1], rtol=0.1)
    assert whole.predict(X).shape == Y.shape
    assert whole.predict_interval(X).shape == (*Y.shape, 2)
    assert len(whole.summary()) == Q * 8
    assert re.match(
        r"SeveralPosterior\(2 chains of 300 draws, 3 responses, 8 coefficients each\)", repr(whole)
    )
    with pytest.raises(ValueError, match="do not hold its data"):
        pickle.loads(pickle.dumps(model)).sample_posterior()


def test_the_average_of_each_response():
    X, Y = data()
    model = AdaptiveRegressor(cv=4).fit(X, Y)
    assert model.coef_.shape == model.sparse_coef_.shape == model.inclusion_.shape == (Q, 8)
    assert model.predict(X).shape == model.cv_prediction_.shape == Y.shape
    assert model.predict_interval(X).shape == (*Y.shape, 2)
    assert model.coef_interval().shape == (Q, 8, 2)
    assert model.cv_error_.shape == (Q,)
    assert model.support_[1]
    assert set(model.summary()["output"]) == {"y0", "y1", "y2"}
    assert model.score(X, Y) > 0.8
    with pytest.raises(ValueError, match="the model has 3 responses: ask one of them"):
        model.left_out()


def test_the_average_of_weighted_rows_is_that_of_repeated_ones():
    X, Y = data()
    counts = np.random.default_rng(5).integers(1, 4, 60)
    again = np.repeat(np.arange(60), counts)
    weighted = AdaptiveRegressor(cv=4).fit(X, Y, sample_weight=counts)
    repeated = AdaptiveRegressor(cv=4).fit(X[again], Y[again])
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=0, atol=1e-10)
    assert np.array_equal(weighted.support_, repeated.support_)


def test_the_average_knows_an_offset():
    X, Y = data()
    offset = 5.0 * np.random.default_rng(6).standard_normal(60)
    plain = AdaptiveRegressor(cv=4).fit(X, Y)
    shifted = AdaptiveRegressor(cv=4).fit(X, Y + offset[:, None], offset=offset)
    np.testing.assert_allclose(shifted.coef_, plain.coef_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(shifted.cv_error_, plain.cv_error_, rtol=1e-8)


@pytest.mark.parametrize("groups", [None, {"pair": [2, 5]}])
def test_the_average_by_group(groups):
    X, Y = data()
    model = AdaptiveRegressor(cv=4, feature_groups=groups).fit(X, Y)
    table = model.summary(by="group")
    assert table["output"].unique().tolist() == ["y0", "y1", "y2"]
    assert len(table) == Q * (8 if groups is None else 7)
    for name, part in zip(model.outputs_, model.estimators_, strict=True):
        own = table[table["output"] == name]
        assert own["norm"].tolist() == part.summary(by="group")["norm"].tolist()
