"""Rows in chunks: the fit is that of all rows at once, for the single mode and for the average."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from horseshoe import AdaptiveRegressor, HorseshoeRegressor, load_model
from horseshoe._types import Status
from horseshoe.estimators.partial_fit import deal


def table(n=1100, p=9, seed=0, mean=0.0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, p)) @ (np.eye(p) + 0.2) * np.geomspace(0.1, 10.0, p)
    y = x[:, 0] / 0.1 - 2.0 * x[:, 4] + rng.standard_normal(n)
    return x + mean, y + mean, rng.integers(0, 3, n).astype(float)


def cut(k, *arrays):
    for rows in np.array_split(np.arange(len(arrays[0])), k):
        yield tuple(array[rows] for array in arrays)


def same(ours, theirs, rtol=1e-8):
    assert np.array_equal(ours.support_, theirs.support_)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=rtol, atol=0)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=rtol)
    np.testing.assert_allclose(ours.sigma2_, theirs.sigma2_, rtol=rtol)


@pytest.mark.parametrize("mean", [0.0, 1e6])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("chunks", [1, 7, 1000])
def test_chunks_are_one_fit(chunks, weighted, mean):
    x, y, weights = table(mean=mean)
    data = (x, y, weights) if weighted else (x, y)
    whole = HorseshoeRegressor().fit(*data)
    ours = HorseshoeRegressor().fit_chunks(cut(chunks, *data))
    same(ours, whole, 1e-10)
    assert ours.statistics().n == whole.statistics().n
    np.testing.assert_allclose(ours.statistics().deviance, whole.statistics().deviance, rtol=1e-8)
    mean_ours, std = ours.predict(x[:5], return_std=True)
    np.testing.assert_allclose((mean_ours, std), whole.predict(x[:5], return_std=True), rtol=1e-8)


@pytest.mark.parametrize(
    "options",
    [
        {"fit_intercept": False},
        {"standardize": False},
        {"prior": "lasso"},
        {"expectation": "approximate"},
        {"tau": 0.1, "sigma2": 1.0},
        {"lambda_power": 1.5},
        {"weight_type": "precision"},
        {"unpenalized": [0, 1]},
        {"feature_groups": [0, 0, 0, 1, 1, 1, 2, 2, 2]},
        {"prior_scale": [1.0, 2.0, 0.5] * 3},
    ],
    ids=str,
)
def test_options_are_those_of_fit(options):
    x, y, weights = table()
    whole = HorseshoeRegressor(**options).fit(x, y, weights)
    same(HorseshoeRegressor(**options).fit_chunks(cut(5, x, y, weights)), whole)


def test_every_call_is_a_fit_to_all_rows_so_far():
    x, y, _ = table(200)
    model = HorseshoeRegressor()
    for stop in range(40, 201, 40):
        model.partial_fit(x[stop - 40 : stop], y[stop - 40 : stop])
        same(model, HorseshoeRegressor().fit(x[:stop], y[:stop]))


def test_it_goes_on_after_fit_and_after_pickling():
    x, y, weights = table()
    whole = HorseshoeRegressor().fit(x, y, weights)
    model = HorseshoeRegressor().fit(x[:500], y[:500], weights[:500])
    model.partial_fit(x[500:800], y[500:800], weights[500:800])
    model = pickle.loads(pickle.dumps(model))
    same(model.partial_fit(x[800:], y[800:], weights[800:]), whole)


def test_the_average_goes_on_after_fit():
    x, y, _ = table(300)
    model = AdaptiveRegressor(cv=3).fit(x[:200], y[:200])
    same(model.partial_fit(x[200:], y[200:]), AdaptiveRegressor(cv=3).fit_chunks([(x, y)]))
    copied = pickle.loads(pickle.dumps(AdaptiveRegressor(cv=3).fit(x, y)))
    with pytest.raises(ValueError, match="holds neither rows nor sums"):
        copied.partial_fit(x, y)


def test_fit_forgets_the_chunks():
    x, y, _ = table()
    model = HorseshoeRegressor().partial_fit(x[:600], y[:600] + 5.0).fit(x[600:], y[600:])
    same(model, HorseshoeRegressor().fit(x[600:], y[600:]))
    model.partial_fit(x[:600], y[:600])
    same(model, HorseshoeRegressor().fit(x, y))
    assert not hasattr(clone(model), "coef_")


def test_more_columns_than_rows():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((30, 60))
    y = 3.0 * x[:, 5] + 0.1 * rng.standard_normal(30)
    model = HorseshoeRegressor(tol=1e-12)  # single precision on the way leaves what a larger one allows
    same(model.fit_chunks(cut(4, x, y)), clone(model).fit(x, y))


def test_one_row_is_a_constant():
    model = HorseshoeRegressor().partial_fit([[1.0, 2.0]], [3.0])
    assert model.status_ is Status.CONSTANT_RESPONSE
    assert (model.coef_.tolist(), model.intercept_) == ([0.0, 0.0], 3.0)


def test_sparse_chunks_frames_and_names():
    pandas = pytest.importorskip("pandas")
    x, y, _ = table(300)
    x = np.where(np.abs(x) < 1.0, 0.0, x)
    whole = HorseshoeRegressor().fit(x, y)
    same(HorseshoeRegressor().fit_chunks((sparse.csr_array(a), b) for a, b in cut(3, x, y)), whole)
    frame = pandas.DataFrame(x, columns=[f"c{j}" for j in range(9)])
    model = HorseshoeRegressor().fit_chunks((frame.iloc[i : i + 100], y[i : i + 100]) for i in (0, 100, 200))
    same(model, whole)
    assert model.feature_names_in_[0] == "c0"
    with pytest.raises(ValueError, match="feature names"):
        model.partial_fit(frame.rename(columns={"c0": "other"}), y)


def test_the_posterior_can_be_drawn_from_sums():
    x, y, _ = table(400, 5)
    options = {"n_draws": 200, "n_warmup": 100, "n_chains": 2, "random_state": 0}
    ours = HorseshoeRegressor().fit_chunks(cut(4, x, y)).coef_interval(method="posterior", **options)
    theirs = HorseshoeRegressor().fit(x, y).coef_interval(method="posterior", **options)
    width = theirs[:, 1] - theirs[:, 0]
    assert np.all(np.abs(ours - theirs).max(axis=1) < 0.5 * width)


def fold_pairs(n, k):
    fold = deal(np.arange(n), k, 0)
    return [(np.flatnonzero(fold != f), np.flatnonzero(fold == f)) for f in range(k)]


@pytest.mark.parametrize("mean", [0.0, 1e5])
@pytest.mark.parametrize("chunks", [1, 7, 200])
def test_the_average_of_chunks_is_that_of_the_same_folds(chunks, mean):
    x, y, weights = table(600, mean=mean)
    weights += 1.0
    whole = AdaptiveRegressor(cv=fold_pairs(600, 10)).fit(x, y, weights)
    ours = AdaptiveRegressor().fit_chunks(cut(chunks, x, y, weights))
    same(ours, whole, 1e-7 if mean else 1e-8)
    np.testing.assert_allclose(ours.component_weights_, whole.component_weights_, atol=1e-9)
    np.testing.assert_allclose(ours.cv_error_, whole.cv_error_, rtol=1e-9)
    np.testing.assert_allclose(ours.coef_interval(), whole.coef_interval(), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(ours.inclusion_, whole.inclusion_, atol=1e-9)
    assert ours.statistics().n == 600


def test_rows_are_dealt_by_their_number():
    parts = [deal(part, 7, 3) for part in np.array_split(np.arange(50_000), 13)]
    assert np.array_equal(np.concatenate(parts), deal(np.arange(50_000), 7, 3))
    assert np.ptp(np.bincount(np.concatenate(parts))) <= 1
    assert not np.array_equal(deal(np.arange(100), 7, 3), deal(np.arange(100), 7, 4))


def test_what_sums_cannot_tell_is_refused(tmp_path):
    x, y, _ = table(300)
    model = AdaptiveRegressor(cv=3).fit_chunks(cut(2, x, y))
    with pytest.raises(ValueError, match="CV\\+ intervals need the errors of single rows"):
        model.predict_interval(x)
    with pytest.raises(ValueError, match="partial_fit, do not hold the rows"):
        model.left_out()
    assert not hasattr(model, "cv_prediction_")
    model.save(tmp_path / "model.json")
    loaded = load_model(tmp_path / "model.json")
    assert np.array_equal(loaded.predict(x), model.predict(x))
    with pytest.raises(ValueError, match="holds neither rows nor sums"):
        loaded.partial_fit(x, y)
    assert hasattr(model.fit(x, y), "cv_prediction_")
    model.predict_interval(x)


def test_other_numbers_of_columns_are_refused():
    x, y, _ = table(50)
    model = HorseshoeRegressor().partial_fit(x, y)
    with pytest.raises(ValueError, match="X has 8 features, but HorseshoeRegressor is expecting 9"):
        model.partial_fit(x[:, 1:], y)
    same(model, HorseshoeRegressor().fit(x, y))  # nothing was added
    with pytest.raises(ValueError, match="chunk 1: X has 8 features"):
        HorseshoeRegressor().fit_chunks([(x, y), (x[:, 1:], y)])


@pytest.mark.parametrize("family", ["poisson", "student_t", "laplace", "binomial"])
def test_families_that_are_not_exact_are_refused(family):
    x = np.arange(10.0)[:, None]
    told = r"partial_fit is exact for family='gaussian' alone.*use fit"
    for model in (HorseshoeRegressor(family=family), AdaptiveRegressor(family=family)):
        assert not hasattr(model, "partial_fit")
        with pytest.raises(AttributeError, match=told):
            model.partial_fit(x, np.arange(10.0) % 2)
        with pytest.raises(ValueError, match=told):
            model.fit_chunks([(x, np.arange(10.0) % 2)])


@pytest.mark.parametrize(
    ("chunks", "message"),
    [
        ([], "there are no chunks"),
        ([np.zeros((3, 2))], "chunk 0 must be a pair"),
        ([(np.zeros((0, 2)), np.zeros(0))], "chunk 0: X has no rows"),
        ([(np.eye(3), np.array([1.0, np.nan, 2.0]))], "chunk 0: Input y contains NaN in row 1"),
        ([(np.eye(3), np.ones(3)), (np.array([[1.0, np.inf, 2.0]]), [1.0])], "chunk 1: .*column 1, row 0"),
        ([(np.eye(3), np.ones(3), np.zeros(3))], "no row has a positive weight"),
        ([(np.eye(3), np.ones(3), [1.0, -1.0, 1.0])], "chunk 0: sample_weight is negative in row 1"),
        ([(np.eye(3) * 1e300, np.arange(3.0))], "column 0 of X is in a unit in which its squares"),
    ],
)
def test_bad_chunks_are_refused(chunks, message):
    with pytest.raises(ValueError, match=message):
        HorseshoeRegressor().fit_chunks(chunks)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cv": fold_pairs(20, 2)}, "must be a number of folds"),
        ({"random_state": np.random.default_rng(0)}, "random_state must be a whole number"),
        ({"cv": 5}, "fold . of 5 has no row yet"),
    ],
    ids=["splitter", "generator", "few rows"],
)
def test_folds_that_cannot_be_dealt_are_refused(options, message):
    x, y, _ = table(3)
    with pytest.raises(ValueError, match=message):
        AdaptiveRegressor(**options).partial_fit(x, y)
