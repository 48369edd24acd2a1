"""Sparse X gives the fit of the same X as an array, in every estimator, family, prior and expectation."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from horseshoe import HorseshoeClassifier, HorseshoeRegressor, sample_posterior
from horseshoe.conditional.base import kernel
from horseshoe.data.dense import Dense
from horseshoe.data.problem import LeastSquares, Targets
from horseshoe.data.sparse import Sparse
from horseshoe.data.standardise import standardise
from horseshoe.families import FAMILIES
from registry import LOCAL_PRIORS, name
from selections import in_pairs


@pytest.fixture(autouse=True)
def small_ones_as_if_large(monkeypatch):
    """Small matrices take the way of large ones here; their own has a test at the end of `test_sparse`."""
    monkeypatch.setattr("horseshoe.data.sparse.SMALL", 0)


SHAPES = {"long": (150, 20), "wide": (60, 150), "rests": (70, 1500)}
EXTRAS = ("plain", "weights", "offset", "weights and offset")


def table(shape, seed=0):
    """Return few entries, one column far from zero, one constant, one empty, and some effects."""
    n, p = SHAPES[shape]
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, p)) < 0.3, rng.standard_normal((n, p)), 0.0)
    X[:, 3] = 1e6 + rng.standard_normal(n)
    X[:, 5], X[:, 6] = 2.0, 0.0
    eta = 1.5 * X[:, 0] - 2.0 * X[:, 1] + (X[:, 3] - 1e6)
    return X, eta, rng


def response(family, eta, rng):
    if family == "classes":
        return np.where(rng.random(eta.size) < 1 / (1 + np.exp(-1.5 * eta)), "yes", "no")
    if family == "binomial":
        return rng.binomial(4, 1 / (1 + np.exp(-1.5 * eta))) / 4
    if family in ("poisson", "negative_binomial"):
        return rng.poisson(np.exp(0.5 * eta)).astype(float)
    if family in ("gamma", "tweedie"):
        return rng.gamma(4.0, np.exp(0.5 * eta) / 4.0)
    noisy = eta + 0.5 * rng.standard_normal(eta.size)
    return np.digitize(noisy, [-0.8, 0.0, 0.8]) * 1.0 if family == "ordinal" else noisy


unfinished = pytest.mark.filterwarnings("ignore:not converged:sklearn.exceptions.ConvergenceWarning")


def extras(which, n, rng):
    found = {}
    if "weights" in which:
        found["sample_weight"] = np.where(rng.random(n) < 0.1, 0.0, rng.uniform(0.5, 2.0, n))
    if "offset" in which:
        found["offset"] = 0.3 * rng.standard_normal(n)
    return found


def assert_same(ours, theirs, rtol=1e-8):
    assert np.array_equal(ours.support_, theirs.support_)
    selected = theirs.support_
    for part in ("coef_", "coef_std_", "lambda2_", "intercept_", "tau2_", "kappa_", "scale_"):
        one, other = getattr(ours, part), getattr(theirs, part)
        if part in ("lambda2_", "kappa_"):
            one, other = one[selected], other[selected]
            if not selected.any():
                continue
        scale = max(float(np.abs(other).max()), 1e-300)
        np.testing.assert_allclose(one, other, rtol=0, atol=rtol * scale, err_msg=part)
    assert ours.status_ == theirs.status_


def both(model, X, y, **given):
    """Return the model fitted to a sparse matrix and to the array."""
    one = clone(model).fit(sparse.csr_matrix(X), y, **given)
    return one, clone(model).fit(X, y, **given)


@pytest.mark.parametrize(
    ("family", "shape", "extra"), in_pairs([*FAMILIES, "classes"], SHAPES, EXTRAS), ids=name
)
def test_every_family(family, shape, extra):
    X, eta, rng = table(shape)
    y, given = response(family, eta, rng), extras(extra, len(X), rng)
    options = {"tol": 1e-11, "max_iter": 3000}  # where nothing polishes the end, both must reach it
    model = HorseshoeClassifier(**options)
    if family != "classes":
        model = HorseshoeRegressor(family=family, **options)
    ours, theirs = both(model, X, y, **given)
    assert_same(ours, theirs)
    new = sparse.coo_array(X[:7])
    np.testing.assert_allclose(
        ours.predict_interval(new, method="mode"), theirs.predict_interval(X[:7], method="mode"), rtol=1e-6
    )
    if family == "classes":
        np.testing.assert_allclose(ours.predict_proba(new), theirs.predict_proba(X[:7]), rtol=1e-6)
        assert ours.score(sparse.csc_matrix(X), y) == theirs.score(X, y)
        return
    for one, other in zip(
        ours.predict(new, return_std=True), theirs.predict(X[:7], return_std=True), strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)
    assert ours.score(sparse.csc_matrix(X), y) == pytest.approx(theirs.score(X, y), abs=1e-8)
    assert ours.log_likelihood(new, y[:7]) == pytest.approx(theirs.log_likelihood(X[:7], y[:7]), rel=1e-6)


@unfinished
@pytest.mark.parametrize(
    ("prior", "shape", "expectation"),
    in_pairs([prior for prior, _ in LOCAL_PRIORS], SHAPES, ["exact", "approximate", "stochastic"]),
    ids=name,
)
def test_every_prior_and_expectation(prior, shape, expectation):
    X, eta, rng = table(shape)
    model = HorseshoeRegressor(prior=prior, expectation=expectation, max_iter=60, random_state=1)
    assert_same(*both(model, X, response("gaussian", eta, rng)))


@pytest.mark.parametrize(
    "options",
    [
        {"fit_intercept": False},
        {"standardize": False},
        {"fit_intercept": False, "standardize": False},
        {"lambda_power": 1.5, "tau": 0.1},
        {"sigma2": 0.25, "start": "variance"},
        {"family": "poisson", "standardize": False},
    ],
    ids=str,
)
@pytest.mark.parametrize("shape", ["long", "wide"])
def test_options(options, shape):
    X, eta, rng = table(shape)
    X[:, 3] -= 1e6  # without an intercept it would explain everything
    assert_same(*both(HorseshoeRegressor(**options), X, response(options.get("family", ""), eta, rng)))


def test_an_earlier_fit_to_start_from():
    X, eta, rng = table("wide")
    y = response("gaussian", eta, rng)
    earlier = HorseshoeRegressor(tau=0.05).fit(X, y)
    assert_same(*(HorseshoeRegressor(start=earlier).fit(x, y) for x in (sparse.csc_array(X), X)))


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr"])
@pytest.mark.parametrize("kind", ["matrix", "array"])
def test_every_format_and_index_type(form, index, kind):
    X, eta, rng = table("long")
    X, y = np.rint(3 * X), response("gaussian", eta, rng)
    given = getattr(sparse, f"{form}_{kind}")(X)
    for part in ("indices", "indptr", "row", "col"):
        if hasattr(given, part) and form in ("csr", "csc"):
            setattr(given, part, getattr(given, part).astype(index))
    before = given.copy()
    assert_same(HorseshoeRegressor().fit(given, y), HorseshoeRegressor().fit(X, y))
    assert given.dtype == before.dtype
    assert abs(given - before).sum() == 0  # never modified


def test_entries_given_twice_are_added_and_stay_as_they_are():
    X, eta, rng = table("long")
    y, entries = response("gaussian", eta, rng), sparse.coo_array(X)
    rows, columns = (np.append(part, part) for part in (entries.row, entries.col))
    twice = sparse.coo_array((np.append(0.25 * entries.data, 0.75 * entries.data), (rows, columns)), X.shape)
    untidy = sparse.csc_array(X)
    untidy.indices[: untidy.indptr[1]] = untidy.indices[: untidy.indptr[1]][::-1].copy()
    untidy.data[: untidy.indptr[1]] = untidy.data[: untidy.indptr[1]][::-1].copy()
    untidy.has_sorted_indices = untidy.has_canonical_format = False
    kept = untidy.indices.copy()
    for given in (twice, untidy):
        assert_same(HorseshoeRegressor().fit(given, y), HorseshoeRegressor().fit(X, y))
    assert twice.nnz == 2 * entries.nnz
    assert np.array_equal(untidy.indices, kept)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.int64, np.float32])
def test_every_kind_of_number(dtype):
    X, eta, rng = table("long")
    X[:, 3] = 0.0
    X = (X > 0).astype(dtype)
    y = response("gaussian", eta, rng)
    assert_same(HorseshoeRegressor().fit(sparse.csr_array(X), y), HorseshoeRegressor().fit(X, y))


def test_other_weights_and_centres_of_the_same_columns():
    """Room for the heavy rows is made once, and anew where others are heavy; the columns stay as they are."""
    rng = np.random.default_rng(8)
    values = rng.standard_normal((12, 5)) * (rng.random((12, 5)) < 0.4)
    ours, theirs = Sparse(sparse.csc_array(values)), Dense(np.asfortranarray(values))
    for heavy in (3, 3, 7, 3):
        root = rng.uniform(0.5, 1.5, 12)
        root[heavy] = 1e3
        center = rng.standard_normal(5)
        found = ours.reweighted(root, center)
        np.testing.assert_allclose(found.dense(), theirs.reweighted(root, center).dense(), rtol=1e-13)
        again = found.reweighted(root[::-1])
        np.testing.assert_allclose(again.dense(), found.dense() * root[::-1, None], rtol=1e-13)
        np.testing.assert_array_equal(ours.dense(), values)


@pytest.mark.parametrize("heavy", [1e6, 1e9])
def test_a_row_with_most_of_the_weight(heavy):
    X, eta, rng = table("long")
    weights = np.ones(len(X))
    weights[4] = heavy
    assert_same(*both(HorseshoeRegressor(), X, response("gaussian", eta, rng), sample_weight=weights))


@pytest.mark.parametrize("light", [1e-4, 1e-8, 1e-12])
@pytest.mark.parametrize("shape", ["long", "wide"])
def test_a_column_that_is_empty_in_a_row_of_next_to_no_weight(shape, light):
    """By its weights its mean is a million times its spread, though not every entry is stored."""
    X, eta, rng = table(shape)
    X[2, 3], weights = 0.0, np.ones(len(X))
    weights[2] = light
    y = response("gaussian", eta, rng)
    y[2] = 0.0
    assert_same(*both(HorseshoeRegressor(), X, y, sample_weight=weights))


def test_a_data_frame_of_sparse_columns():
    pandas = pytest.importorskip("pandas")
    X, eta, rng = table("long")
    y = response("gaussian", eta, rng)
    frame = pandas.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X)).add_prefix("gene_")
    ours = HorseshoeRegressor().fit(frame, y)
    assert_same(ours, HorseshoeRegressor().fit(X, y))
    assert ours.feature_names_in_[1] == "gene_1"
    X[3, 2] = np.nan
    frame = pandas.DataFrame.sparse.from_spmatrix(sparse.csr_matrix(X)).add_prefix("gene_")
    with pytest.raises(ValueError, match=r"NaN in column 'gene_2' \(2\), row 3"):
        ours.predict(frame)


def test_three_classes():
    X, eta, rng = table("long")
    y = np.array(["a", "b", "c"])[np.digitize(eta + 0.3 * rng.standard_normal(eta.size), [-1.0, 1.0])]
    ours, theirs = both(HorseshoeClassifier(), X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0, atol=1e-8)
    assert np.array_equal(ours.predict(sparse.csr_array(X)), theirs.predict(X))


@pytest.mark.parametrize("estimator", [HorseshoeRegressor(), HorseshoeRegressor(family="poisson")])
def test_one_hot_columns_in_a_pipeline(estimator):
    rng = np.random.default_rng(0)
    words = rng.choice(list("abcdefgh"), size=(300, 2))
    y = rng.poisson(np.where(words[:, 0] == "a", 8.0, 2.0)).astype(float)
    ours = make_pipeline(OneHotEncoder(), estimator).fit(words, y)
    dense = make_pipeline(OneHotEncoder(sparse_output=False), clone(estimator)).fit(words, y)
    assert_same(ours[-1], dense[-1])
    assert list(ours[:-1].get_feature_names_out()[ours[-1].support_]) == ["x0_a"]
    np.testing.assert_allclose(ours.predict(words), dense.predict(words), rtol=1e-9)


def test_copies():
    X, eta, rng = table("long")
    model = HorseshoeRegressor().fit(sparse.csr_array(X), response("gaussian", eta, rng))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(sparse.csr_array(X)), model.predict(sparse.csr_array(X)))


# --- the posterior ----------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", ["long", "wide"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_conditional_that_is_drawn_from(shape, weighted):
    X, eta, rng = table(shape)
    X[:, 3] -= 1e6
    n = len(X)
    ours, theirs = (
        standardise(columns, None, center=True, scale=True).columns
        for columns in (Sparse(sparse.csr_array(X)), Dense(X))
    )
    weights = rng.uniform(0.2, 3.0, n) if weighted else None
    targets = Targets(eta / 3.0, float(n), weights, center=weighted)
    lambda2 = rng.gamma(0.5, 1.0, theirs.shape[1])
    one, other = (kernel(LeastSquares(x, targets), lambda2).at(0.3) for x in (ours, theirs))
    np.testing.assert_allclose(one.mean, other.mean, rtol=0, atol=1e-10 * np.abs(other.mean).max())
    np.testing.assert_allclose(one.quadratic, other.quadratic, rtol=1e-10)
    np.testing.assert_allclose(one.log_det, other.log_det, rtol=1e-10)
    draws = [given.draw(0.7, np.random.default_rng(1)) for given in (one, other)]
    np.testing.assert_allclose(*draws, rtol=0, atol=1e-10 * np.abs(draws[1]).max())
    np.testing.assert_allclose(one.variance(), other.variance(), rtol=0, atol=1e-10 * other.variance().max())


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("shape", ["long", "wide"])
def test_draws_from_sparse_columns(family, shape):
    """Not the same numbers, but the same posterior: means within a few Monte Carlo errors."""
    X, eta, rng = table(shape)
    X, kind = X[:, :12] if shape == "long" else X, "classes" if family == "binomial" else family
    X = X[:10] if shape == "wide" else X
    y = response(kind, eta[: len(X)], rng)
    short = {"n_draws": 150, "n_warmup": 150, "random_state": 3, "n_jobs": 1}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="R-hat")
        ours, theirs = (sample_posterior(x, y, family, **short) for x in (sparse.csr_matrix(X), X))
    error = np.hypot(ours.mcse(), theirs.mcse())
    gap = np.abs(ours.mean() - theirs.mean())[error > 0]
    assert (gap <= 6 * error[error > 0]).all()
    new = sparse.csr_array(X[:5])
    np.testing.assert_allclose(ours.predict(new), ours.predict(X[:5]), rtol=1e-9)
    np.testing.assert_allclose(ours.predict_interval(new), ours.predict_interval(X[:5]), rtol=1e-6)
    logs = (ours.log_likelihood(x, y[:5]) for x in (new, X[:5]))
    np.testing.assert_allclose(*logs, rtol=1e-6, atol=1e-9)  # a log may be next to 0, where rounding is not
    assert ours.simulate(n_draws=3).shape == (3, len(X))
    assert ours.select("decoupled").support.shape == (X.shape[1],)


def test_a_checkpoint_knows_its_sparse_data(tmp_path):
    X, eta, rng = table("long")
    y, short = (
        response("gaussian", eta, rng),
        {"n_draws": 20, "n_warmup": 10, "n_chains": 2, "random_state": 1},
    )
    path = tmp_path / "run.npz"
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="R-hat")
        whole = sample_posterior(sparse.csr_array(X), y, **short)
        sample_posterior(sparse.csr_array(X), y, checkpoint=path, **{**short, "n_draws": 10})
        other = sparse.csc_array(X)
        other.indices, other.indptr = other.indices.astype(np.int64), other.indptr.astype(np.int64)
        resumed = sample_posterior(other, y, checkpoint=path, **short)
        np.testing.assert_array_equal(resumed.coef, whole.coef)
        with pytest.raises(ValueError, match="belongs to other data"):
            sample_posterior(sparse.csr_array(2 * X), y, checkpoint=path, **short)


# --- size -------------------------------------------------------------------------------------------


@unfinished
def test_nothing_of_the_size_of_the_table_is_made():
    """500 x 80,000 with 80,000 entries: as an array it would take 320 MB, and the fit takes a quarter."""
    import tracemalloc

    rng = np.random.default_rng(0)
    X = sparse.random_array((500, 80_000), density=0.002, rng=rng, format="csc")
    eta = X[:, :6] @ np.array([9.0, -9.0, 8.0, 8.0, -9.0, 9.0])
    for family, y in (
        ("gaussian", eta + 0.1 * rng.standard_normal(500)),
        ("poisson", rng.poisson(np.exp(eta))),
    ):
        for most in (6, 40):  # also where the fit is stopped while every column is active
            tracemalloc.start()
            model = HorseshoeRegressor(family=family, max_iter=most).fit(X, y)
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak < 500 * 80_000 * 8 / 4
        assert model.support_.any()


def test_a_few_fuller_columns_among_many_do_not_take_the_memory():
    import tracemalloc

    rng = np.random.default_rng(0)
    few = sparse.random_array((900, 120), density=0.33, rng=rng, format="csc")
    X = sparse.hstack([few, sparse.random_array((900, 20_000), density=1e-4, rng=rng, format="csc")]).tocsc()
    scaled = Sparse(X).scaled(np.ones(X.shape[1]))
    factor = np.asfortranarray(np.linalg.cholesky(np.eye(900) + (X @ X.T).toarray()))
    tracemalloc.start()
    leverages = scaled.leverages(factor)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 120e6
    half = np.linalg.solve(factor, few.toarray())
    np.testing.assert_allclose(leverages[:120], (half**2).sum(axis=0), rtol=1e-9)


def test_small_matrices_have_the_answer_of_large_ones(monkeypatch):
    rng = np.random.default_rng(0)
    X = sparse.random_array((30, 120), density=0.1, rng=rng, format="csc")
    y = np.asarray(X[:, [3]].toarray()).ravel() + 0.1 * rng.standard_normal(30)
    as_large = HorseshoeRegressor(tol=1e-11).fit(X, y)
    monkeypatch.setattr("horseshoe.data.sparse.SMALL", 2**14)
    small = HorseshoeRegressor(tol=1e-11).fit(X, y)
    assert (small.support_ == as_large.support_).all()
    np.testing.assert_allclose(small.coef_, as_large.coef_, rtol=1e-8, atol=1e-10)
