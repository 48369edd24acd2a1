"""The regressor that averages: what it stores and says, and what must not change it."""

import itertools
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import KFold

from farrier import HorseshoeRegressorCV, Status
from farrier.adaptive import members as room
from farrier.adaptive.fit import MemberRow
from farrier.adaptive.members import MEMBERS
from farrier.families import FAMILIES
from simulate import glm

N, P = 60, 12


def data(family="gaussian", n=N, p=P, seed=0):
    X, y, _ = glm(family, n, p, seed, n_signals=3, size=1.5)
    return X, y


def fit(X, y, **options):
    rows = {
        name: options.pop(name)
        for name in ("sample_weight", "offset", "exposure", "groups")
        if name in options
    }
    return HorseshoeRegressorCV(**{"cv": 5, **options}).fit(X, y, **rows)


@pytest.fixture(scope="module", params=FAMILIES)
def fitted(request):
    X, y = data(request.param)
    return X, y, fit(X, y, family=request.param)


@pytest.fixture(scope="module")
def gaussian():
    X, y = data()
    return X, y, fit(X, y)


def same(one, two, within=1e-8, columns=slice(None), factor=1.0):
    """Hold the answers of two fits to be the same, coefficients up to order and factor."""
    for name in ("coef_", "sparse_coef_"):
        ours, theirs = getattr(one, name)[columns], getattr(two, name) * factor
        np.testing.assert_allclose(theirs, ours, rtol=0, atol=within * max(np.abs(ours).max(), 1e-3))
    np.testing.assert_allclose(two.inclusion_, one.inclusion_[columns], atol=within)
    np.testing.assert_allclose(two.member_weights_, one.member_weights_, atol=within)
    np.testing.assert_allclose(two.cv_error_, one.cv_error_, rtol=within)
    np.testing.assert_allclose(two.shrinkage_, one.shrinkage_, rtol=within)
    assert two.support_.tolist() == one.support_[columns].tolist()


# --- what is stored -----------------------------------------------------------------------------------------


def test_attributes(fitted):
    _X, _y, model = fitted
    for name in ("coef_", "sparse_coef_", "inclusion_"):
        assert getattr(model, name).shape == (P,)
        assert np.isfinite(getattr(model, name)).all()
    assert model.n_features_in_ == P
    assert ((model.inclusion_ >= 0.0) & (model.inclusion_ <= 1.0)).all()
    np.testing.assert_array_equal(model.support_, model.sparse_coef_ != 0.0)
    assert isinstance(model.intercept_, float)
    assert isinstance(model.sparse_intercept_, float)
    assert model.sigma2_ > 0.0
    assert np.isfinite(model.cv_error_)
    assert 0.0 <= model.shrinkage_ <= 1.0
    assert model.status_ in (Status.CONVERGED, Status.NOTHING_SELECTED)
    assert type(model.family_).__name__.lower() == model.family.replace("_", "")


def test_members(fitted):
    _, _, model = fitted
    assert [row.name for row in model.members_] == list(MEMBERS)
    assert all(isinstance(row, MemberRow) and row.what and np.isfinite(row.error) for row in model.members_)
    np.testing.assert_array_equal(model.member_weights_, [row.weight for row in model.members_])
    assert model.member_weights_.sum() == pytest.approx(1.0)
    assert (model.member_weights_ >= 0.0).all()


def test_the_path_ends_in_the_sparse_answer(fitted):
    _, _, model = fitted
    order, distances = [j for j, _ in model.path_], [left for _, left in model.path_]
    assert sorted(order) == np.flatnonzero(model.support_).tolist()
    assert all(after < before for before, after in itertools.pairwise(distances))


def test_predictions_are_the_mean_at_intercept_plus_x_coef(fitted):
    X, y, model = fitted
    eta = model.intercept_ + X @ model.coef_
    np.testing.assert_allclose(model.linear_predictor(X), eta, atol=1e-10)
    np.testing.assert_allclose(model.predict(X), model.family_.mean(eta))
    assert model.score(X, y) > 0.1
    assert np.isfinite(model.log_likelihood(X, y))


def test_errors_are_in_the_units_of_y():
    X, y = data()
    for family in ("gaussian", "student_t"):
        one, two = fit(X, y, family=family), fit(X, 100.0 * y, family=family)
        np.testing.assert_allclose(two.cv_error_, 1e4 * one.cv_error_, rtol=1e-6)
        errors = [[row.error for row in model.members_] for model in (one, two)]
        np.testing.assert_allclose(errors[1], 1e4 * np.array(errors[0]), rtol=1e-6)
        assert one.cv_error_ < errors[0][0]  # that of the intercept alone


def test_the_cross_validated_error_of_the_mean_is_that_of_hand():
    X, y = data()
    model = fit(X, y, cv=KFold(4), members=["mean"])
    squares = [np.sum((y[test] - y[train].mean()) ** 2) for train, test in KFold(4).split(X)]
    np.testing.assert_allclose(model.members_[0].error, np.sum(squares) / N)
    assert model.shrinkage_ == 0.0
    assert not model.coef_.any()


@pytest.mark.parametrize("selection", ["1se", "paired"])
def test_selections(selection):
    X, y = data()
    model = fit(X, y, selection=selection)
    assert 3 <= model.support_.sum() <= P
    assert model.status_ is Status.CONVERGED


def test_paired_is_the_larger_selection():
    X, y = data(n=100, p=30, seed=2)
    assert fit(X, y, selection="paired").support_.sum() >= fit(X, y).support_.sum()


def test_it_selects(gaussian):
    X, _, model = gaussian
    np.testing.assert_array_equal(model.transform(X), X[:, model.support_])
    names = model.get_feature_names_out().tolist()
    assert names == [f"x{j}" for j in np.flatnonzero(model.support_)]
    assert model.get_support(indices=True).tolist() == np.flatnonzero(model.support_).tolist()
    assert model.fit_transform(X, data()[1]).shape == (N, model.support_.sum())


def test_summary(gaussian):
    _, _, model = gaussian
    table = model.summary(level=0.8)
    assert table.columns.tolist() == [
        *("feature", "coef", "lower", "upper"),
        *("inclusion", "sparse_coef", "selected"),
    ]
    np.testing.assert_array_equal(table["coef"], model.coef_)
    np.testing.assert_array_equal(table[["lower", "upper"]], model.coef_interval(0.8))
    np.testing.assert_array_equal(table["selected"], model.support_)
    assert dict(table.attrs["member_weights"]) == {row.name: row.weight for row in model.members_}


def test_intervals_widen_with_their_level(fitted):
    X, y, model = fitted
    for ask in (model.coef_interval, lambda level: model.predict_interval(X, level)):
        narrow, wide = ask(0.5), ask(0.9)
        assert (narrow[:, 0] <= narrow[:, 1]).all()
        assert (wide[:, 0] <= narrow[:, 0]).all()
        assert (wide[:, 1] >= narrow[:, 1]).all()
    found = model.coef_interval()
    assert found.shape == (P, 2)
    assert ((found[:, 0] <= model.coef_) & (model.coef_ <= found[:, 1])).all()
    inside = model.predict_interval(X, 0.8)
    assert inside.shape == (N, 2)
    assert np.mean((inside[:, 0] <= y) & (y <= inside[:, 1])) > 0.7
    if model.family_.discrete:
        assert (inside >= 0.0).all()


def test_a_level_that_the_rows_cannot_give_is_the_whole_line():
    X, y = data(n=15, p=3)
    assert np.isinf(fit(X, y).predict_interval(X, 0.99)).all()


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, "high", np.nan])
def test_refused_levels(gaussian, level):
    X, _, model = gaussian
    for ask in (model.coef_interval, model.summary, lambda level: model.predict_interval(X, level)):
        with pytest.raises((TypeError, ValueError), match="level"):
            ask(level)


# --- containers ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_names(kind, gaussian):
    X, y, want = gaussian
    names = [f"c{j}" for j in range(P)]
    frame = kind(dict(zip(names, X.T, strict=True)))
    model = fit(frame, y)
    same(want, model)
    assert model.feature_names_in_.tolist() == names
    assert model.summary()["feature"].tolist() == names
    assert model.get_feature_names_out().tolist() == [names[j] for j in np.flatnonzero(model.support_)]
    np.testing.assert_allclose(model.predict(frame), want.predict(X))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[names[::-1]])
    with pytest.raises(ValueError, match="feature names"):
        model.predict_interval(frame[names[1:]])


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("home", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_sparse_columns_say_the_same(family, home):
    if family == "laplace" and home is not sparse.csr_array:
        pytest.skip("the same sums in the same order")
    X, y = data(family)
    X = np.where(np.abs(X) < 0.4, 0.0, X)
    one, two = fit(X, y, family=family), fit(home(X), y, family=family)
    same(one, two)
    np.testing.assert_allclose(two.predict(home(X)), one.predict(X), rtol=1e-7)
    np.testing.assert_allclose(two.predict_interval(home(X)), one.predict_interval(X), rtol=1e-6, atol=1e-8)


# --- what must not change the answer ------------------------------------------------------------------------


@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "laplace"])
@pytest.mark.parametrize("p", [P, 90])
def test_the_order_of_rows_and_columns(family, p):
    X, y = data(family, p=p)
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(N), rng.permutation(p)
    one = fit(X, y, family=family)
    same(one, fit(X[rows], y[rows], family=family))
    same(one, fit(X[:, columns], y, family=family), columns=columns)


@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "laplace"])
@pytest.mark.parametrize("p", [P, 90])
def test_the_units_of_columns(family, p):
    X, y = data(family, p=p)
    rng = np.random.default_rng(1)
    units, shift = 10.0 ** rng.uniform(-4, 4, p) * rng.choice([-1.0, 1.0], p), rng.uniform(-50.0, 50.0, p)
    same(fit(X, y, family=family), fit(X * units + shift * units, y, family=family), factor=units)


@pytest.mark.parametrize("p", [P, 90])
def test_the_units_of_y(p):
    X, y = data(p=p)
    one, two = fit(X, y), fit(X, 1e-5 * y + 3.0)
    np.testing.assert_allclose(1e5 * two.coef_, one.coef_, rtol=0, atol=1e-8)
    np.testing.assert_allclose(1e5 * (two.intercept_ - 3.0), one.intercept_, atol=1e-8)
    assert two.support_.tolist() == one.support_.tolist()


@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "laplace"])
def test_a_weight_of_two_is_two_rows(family):
    X, y = data(family)
    times = np.random.default_rng(2).integers(1, 3, N)
    one = fit(X, y, family=family, sample_weight=times)
    two = fit(np.repeat(X, times, axis=0), np.repeat(y, times), family=family)
    same(one, two)
    np.testing.assert_allclose(two.coef_interval(), one.coef_interval(), atol=1e-7)
    np.testing.assert_allclose(two.predict_interval(X, 0.9), one.predict_interval(X, 0.9), atol=1e-7)


def test_a_row_without_weight_is_no_row():
    X, y = data()
    weights = np.ones(N)
    weights[[4, 9]] = 0.0
    wild = np.where(weights == 0.0, 1e6, y)
    same(fit(X[weights > 0], y[weights > 0]), fit(X, wild, sample_weight=weights))


def test_an_offset_is_known():
    X, y = data()
    known = np.linspace(-2.0, 2.0, N)
    one, two = fit(X, y), fit(X, y + known, offset=known)
    same(one, two)
    np.testing.assert_allclose(two.predict(X, offset=known), one.predict(X) + known)
    np.testing.assert_allclose(
        two.predict_interval(X, offset=known), one.predict_interval(X) + known[:, None], atol=1e-7
    )


def test_exposure_is_the_exponential_of_an_offset():
    X, y = data("poisson")
    time = np.random.default_rng(0).uniform(0.5, 2.0, N)
    one = fit(X, y, family="poisson", exposure=time)
    two = fit(X, y, family="poisson", offset=np.log(time))
    same(one, two)
    np.testing.assert_allclose(one.predict(X, exposure=time), time * one.predict(X))
    wide, narrow = one.predict_interval(X, exposure=4.0), one.predict_interval(X)
    assert (wide[:, 1] > narrow[:, 1]).all()


@pytest.mark.parametrize("family", ["gaussian", "poisson", "binomial"])
def test_threads_change_no_digit(family):
    X, y = data(family, p=80)
    one, two = (fit(X, y, family=family, n_jobs=jobs) for jobs in (1, 2))
    for name in ("coef_", "sparse_coef_", "inclusion_", "member_weights_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    np.testing.assert_array_equal(one.predict_interval(X), two.predict_interval(X))


def test_seeds():
    X, y = data()
    same_seed = [fit(X, y, random_state=3).coef_ for _ in range(2)]
    np.testing.assert_array_equal(*same_seed)
    assert not np.array_equal(fit(X, y, random_state=4).coef_, same_seed[0])
    np.testing.assert_array_equal(fit(X, y).coef_, fit(X, y).coef_)
    drawn = [fit(X, y, random_state=np.random.default_rng(3)).coef_ for _ in range(2)]
    np.testing.assert_array_equal(*drawn)


# --- members ------------------------------------------------------------------------------------------------


def test_members_by_name():
    X, y = data()
    assert [row.name for row in fit(X, y, members=["ridge", "mode"]).members_] == ["ridge", "mode"]
    alone = fit(X, y, members="ridge")
    assert alone.member_weights_.tolist() == [1.0]
    assert [row.name for row in fit(X, y, members=("mixture",)).members_] == ["mixture"]


@pytest.mark.parametrize(
    ("members", "sentence"),
    [
        (["mode", "lasso"], "members has 'lasso': the members are 'mean', 'ridge'"),
        ("lasso", "members has 'lasso'"),
        ([], "must name one or more different members"),
        (["mode", "mode"], "must name one or more different members"),
        ([3], "members has 3"),
        (3, "members=3"),
        (None, "members=None"),
    ],
)
def test_refused_members(members, sentence):
    X, y = data()
    with pytest.raises((TypeError, ValueError), match=sentence):
        fit(X, y, members=members)


def broken(error):
    def fit_nothing(fitting):
        if isinstance(error, Exception):
            raise error
        found = MEMBERS["mean"].fit(fitting)
        return found._replace(coef=np.full_like(found.coef, np.nan))

    return room.Member("broken", fit_nothing)


@pytest.mark.parametrize("error", [np.linalg.LinAlgError("singular"), FloatingPointError("overflow"), "nan"])
def test_a_member_that_fails_is_left_out_and_named(monkeypatch, error):
    X, y = data()
    monkeypatch.setitem(MEMBERS, "alone", broken(error))
    with pytest.warns(UserWarning, match=r"the member 'alone' is left out: (singular|overflow|its coef)"):
        model = fit(X, y)
    assert "alone" not in [row.name for row in model.members_]
    want = fit(X, y, members=[name for name in MEMBERS if name != "alone"])
    np.testing.assert_array_equal(model.coef_, want.coef_)


def test_what_starts_at_a_member_that_fails_is_left_out_too(monkeypatch):
    X, y = data()
    monkeypatch.setitem(MEMBERS, "mode", broken(np.linalg.LinAlgError("singular")))
    with pytest.warns(UserWarning, match="is left out") as told:
        model = fit(X, y)
    assert ["'mode'" in str(told[0].message), "'mixture'" in str(told[1].message)] == [True, True]
    assert [row.name for row in model.members_] == ["mean", "ridge", "alone"]


def test_if_every_member_fails_that_is_an_error(monkeypatch):
    X, y = data()
    monkeypatch.setitem(MEMBERS, "mode", broken(np.linalg.LinAlgError("singular")))
    with pytest.warns(UserWarning, match="'mode' is left out"), pytest.raises(ValueError, match="members"):
        fit(X, y, members=["mode"])


def test_inclusion_does_without_ridge_if_that_fails(monkeypatch):
    X, y = data()
    monkeypatch.setitem(MEMBERS, "ridge", broken(np.linalg.LinAlgError("singular")))
    with pytest.warns(UserWarning, match="'ridge' is left out"):
        model = fit(X, y)
    assert np.isfinite(model.inclusion_).all()


def test_the_callback_is_told_of_each_member():
    X, y = data()
    told = []
    fit(X, y, callback=told.append)
    assert [(step.member, step.done, step.total) for step in told] == [
        (name, number, len(MEMBERS)) for number, name in enumerate(MEMBERS, 1)
    ]
    with pytest.raises(TypeError, match="callback=3 must be callable"):
        fit(X, y, callback=3)


# --- data with nothing in them ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("family", "y", "status", "mean"),
    [
        ("gaussian", np.full(N, 3.0), Status.CONSTANT_RESPONSE, 3.0),
        ("student_t", np.full(N, 3.0), Status.CONSTANT_RESPONSE, 3.0),
        ("poisson", np.zeros(N), Status.BOUNDARY, 0.0),
        ("negative_binomial", np.zeros(N), Status.BOUNDARY, 0.0),
        ("binomial", np.ones(N), Status.BOUNDARY, 1.0),
    ],
)
def test_a_response_without_variation(family, y, status, mean):
    X, _ = data()
    model = fit(X, y, family=family)
    assert model.status_ is status
    assert not model.coef_.any()
    assert not model.support_.any()
    assert model.path_ == ()
    np.testing.assert_allclose(model.predict(X), mean, atol=0.51 / N)  # as if half a row were otherwise
    low, high = model.predict_interval(X).T
    assert ((low <= mean) & (mean <= high)).all()
    np.testing.assert_allclose(high - low, 0.0, atol=0.51 / N)
    np.testing.assert_array_equal(model.coef_interval(), np.zeros((P, 2)))
    assert len(model.summary()) == P


def test_constant_columns_are_no_columns():
    X, y = data()
    want = fit(X, y)
    more = np.insert(X, 3, 7.0, axis=1)
    model = fit(more, y)
    np.testing.assert_allclose(np.delete(model.coef_, 3), want.coef_, atol=1e-10)
    assert model.coef_[3] == model.inclusion_[3] == 0.0
    assert {j for j, _ in model.path_} == set(np.flatnonzero(model.support_).tolist())


@pytest.mark.parametrize("family", FAMILIES)
def test_without_a_column_that_varies_the_intercept_is_left_with_its_intervals(family):
    _, y = data(family)
    for X in (np.ones((N, 2)), sparse.csr_array(np.ones((N, 2)))):
        model = fit(X, y, family=family)
        assert model.status_ is Status.NO_COLUMNS
        assert not model.coef_.any()
        assert not model.support_.any()
        assert not model.inclusion_.any()
        low, high = model.predict_interval(X, 0.8).T
        assert np.mean((low <= y) & (y <= high)) >= 0.75
        np.testing.assert_array_equal(model.coef_interval(), np.zeros((2, 2)))
        if family == "gaussian":
            np.testing.assert_allclose(model.predict(X), y.mean())
        elif family in ("poisson", "binomial"):
            np.testing.assert_allclose(model.predict(X), y.mean(), rtol=0.01)


def test_without_an_intercept():
    X, y = data()
    model = fit(X, y, fit_intercept=False, standardize=False)
    assert model.intercept_ == 0.0
    np.testing.assert_allclose(model.predict(X), X @ model.coef_)
    assert model.sparse_intercept_ == 0.0


def test_noise_selects_nothing_most_of_the_time():
    rng = np.random.default_rng(0)
    empty = [
        fit(rng.standard_normal((50, 10)), rng.standard_normal(50)).status_ is Status.NOTHING_SELECTED
        for _ in range(12)
    ]
    assert np.mean(empty) >= 0.75


# --- the estimator ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("p", [3, 150])
def test_nothing_is_warned_of(family, p):
    X, y = data(family, n=40, p=p, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fit(X, y, family=family)
        model.coef_interval()
        model.predict_interval(X)


def test_copies(gaussian):
    X, _, model = gaussian
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.predict_interval(X), model.predict_interval(X))
    np.testing.assert_array_equal(again.coef_interval(), model.coef_interval())
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    assert not hasattr(fresh, "coef_")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"selection": "2se"}, "selection='2se'"),
        ({"family": "gamma"}, "family"),
        ({"random_state": -1}, "random_state"),
        ({"weight_type": "none"}, "weight_type"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"n_jobs": "two"}, "n_jobs"),
    ],
)
def test_refused_options(options, sentence):
    X, y = data()
    with pytest.raises((TypeError, ValueError), match=sentence):
        fit(X, y, **options)


def test_refused_methods(gaussian):
    X, _, model = gaussian
    with pytest.raises(ValueError, match="method='mode'"):
        model.predict_interval(X, method="mode")
