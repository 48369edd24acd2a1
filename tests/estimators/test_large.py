"""Data that are read in parts give the fit of the same data in memory, whatever the family."""

import numpy as np
import pytest

from horseshoe import AdaptiveRegressor, HorseshoeClassifier, HorseshoeRegressor, sample_posterior
from horseshoe.data.sources.parts import ArrayParts
from horseshoe.families import FAMILIES
from simulate import glm


@pytest.fixture(autouse=True)
def nothing_is_held(monkeypatch):
    """Small maps are read in parts here, and stay there."""
    monkeypatch.setattr("horseshoe.data.sources.tables.HELD", 0)
    monkeypatch.setattr("horseshoe.data.sources.parts.PART_BYTES", 4000)


@pytest.fixture(params=[0, 1 << 20])
def room(request, monkeypatch):
    """Columns that are left go to memory, or do not."""
    for module in ("chunked",):
        monkeypatch.setattr(f"horseshoe.data.{module}.ROOM", request.param)
    return request.param


def on_disk(tmp_path, x, dtype=np.float64, order="C"):
    path = tmp_path / f"x{len(list(tmp_path.iterdir()))}"
    out = np.memmap(path, dtype=dtype, mode="w+", shape=x.shape, order=order)
    out[:] = x
    out.flush()
    return np.memmap(path, dtype=dtype, mode="r", shape=x.shape, order=order)


LIKE = dict.fromkeys(("gamma", "tweedie", "quantile", "huber"), "gaussian")
SHAPES = {"tall": (400, 12), "wide": (60, 150)}


def problem(family, shape, seed=0):
    n, p = SHAPES[shape]
    x, y, _ = glm(LIKE.get(family, family), n, p, seed, n_signals=3, size=1.5)
    y = np.exp(0.3 * y) if family in ("gamma", "tweedie") else y
    rng = np.random.default_rng(seed)
    offset = 0.3 * rng.standard_normal(n) if family in ("gaussian", "poisson", "binomial") else None
    return x, y, rng.uniform(0.5, 2.0, n), offset


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("family", FAMILIES)
def test_maps_are_fitted_as_arrays_are(tmp_path, family, shape, room):
    x, y, weights, offset = problem(family, shape)
    x[:, 3], x[:, 4] = 2.0, -x[:, 1]  # one column is constant, and two are tied
    model = HorseshoeRegressor(family=family, tol=1e-9)
    theirs = model.fit(x, y, weights, offset=offset)
    coef, level, std, status = theirs.coef_, theirs.intercept_, theirs.coef_std_, theirs.status_
    ours = model.fit(on_disk(tmp_path, x), y, weights, offset=offset)
    assert np.array_equal(ours.support_, coef != 0.0)
    np.testing.assert_allclose(ours.coef_, coef, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(ours.intercept_, level, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.coef_std_, std, rtol=1e-7, atol=1e-12)
    assert ours.status_ is status
    np.testing.assert_allclose(
        ours.predict(on_disk(tmp_path, x), offset=offset), model.predict(x, offset=offset), rtol=1e-12
    )
    assert ours.statistics().n == len(x)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", SHAPES)
def test_single_precision_on_disk(tmp_path, shape, order, room):
    x, y, _, _ = problem("gaussian", shape)
    held = np.asarray(x, dtype=np.float32)
    theirs = HorseshoeRegressor(tol=1e-9).fit(held, y)
    ours = HorseshoeRegressor(tol=1e-9).fit(on_disk(tmp_path, held, np.float32, order), y)
    assert np.array_equal(ours.support_, theirs.support_)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
def test_far_columns_on_disk(tmp_path, shape, room):
    x, y, _, _ = problem("gaussian", shape)
    x = np.rint(x * 4096) / 4096  # so that moving them is exact
    theirs = HorseshoeRegressor(tol=1e-9).fit(x, y)
    ours = HorseshoeRegressor(tol=1e-9).fit(on_disk(tmp_path, x + 2.0**20), y)
    assert np.array_equal(ours.support_, theirs.support_)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)


def test_columns_that_rest_are_those_of_memory(tmp_path, monkeypatch, room):
    monkeypatch.setattr("horseshoe.data.sources.parts.PART_BYTES", 400_000)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((60, 4000))
    y = x[:, :3] @ np.array([2.0, -2.0, 2.0]) + 0.5 * rng.standard_normal(60)
    theirs = HorseshoeRegressor(tol=1e-9).fit(x, y)
    ours = HorseshoeRegressor(tol=1e-9).fit(on_disk(tmp_path, x), y)
    assert np.flatnonzero(theirs.support_).tolist()[:3] == [0, 1, 2]
    assert np.array_equal(ours.support_, theirs.support_)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("what", ["unpenalized", "feature_groups", "prior_scale"])
def test_structure(tmp_path, shape, what, room):
    x, y, weights, _ = problem("gaussian", shape)
    p = x.shape[1]
    given = {
        "unpenalized": [0, 1],
        "feature_groups": np.arange(p) // 2,
        "prior_scale": np.linspace(0.5, 2.0, p),
    }
    model = HorseshoeRegressor(tol=1e-9, **{what: given[what]})
    theirs = model.fit(x, y, weights).coef_
    np.testing.assert_allclose(
        model.fit(on_disk(tmp_path, x), y, weights).coef_, theirs, rtol=1e-8, atol=1e-12
    )


def test_classes_averages_and_draws(tmp_path):
    x, y, weights, _ = problem("binomial", "tall")
    labels = np.where(y > 0.5, "yes", "no")
    there = on_disk(tmp_path, x)
    for model in (HorseshoeClassifier(), AdaptiveRegressor(cv=3)):
        target = labels if isinstance(model, HorseshoeClassifier) else y
        coef = model.fit(x, target, weights).coef_
        np.testing.assert_allclose(model.fit(there, target, weights).coef_, coef, rtol=1e-7, atol=1e-9)
    options = {"n_draws": 20, "n_warmup": 20, "n_chains": 1, "random_state": 0}
    with pytest.warns(UserWarning, match="R-hat"):
        held, parts = (sample_posterior(z, y, **options).coef for z in (x, there))
    assert held.shape == parts.shape


@pytest.mark.parametrize(("shape", "value"), [("tall", np.nan), ("wide", np.inf)])
def test_the_entry_that_is_not_finite_is_named(tmp_path, shape, value):
    x, y, _, _ = problem("gaussian", shape)
    x[41, 7] = value
    kind = "NaN" if np.isnan(value) else "infinity"
    with pytest.raises(ValueError, match=f"Input X contains {kind} in column 7, row 41: impute"):
        HorseshoeRegressor().fit(on_disk(tmp_path, x), y)


def test_maps_are_not_held(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((60, 2000))
    y = 3.0 * x[:, 5] + 0.1 * rng.standard_normal(60)
    monkeypatch.setattr("horseshoe.data.chunked.ROOM", 60 * 8 * 300)
    dense = ArrayParts.read

    def read(self, part, across):
        found = dense(self, part, across)
        assert found.nbytes <= 8000
        return found

    monkeypatch.setattr(ArrayParts, "read", read)
    assert HorseshoeRegressor().fit(on_disk(tmp_path, x), y).support_[5]


def test_zero_weights_leave_rows_out(tmp_path, room):
    x, y, weights, _ = problem("gaussian", "tall")
    weights[::3] = 0.0
    theirs = HorseshoeRegressor(family="student_t").fit(x, y, weights)
    ours = HorseshoeRegressor(family="student_t").fit(on_disk(tmp_path, x), y, weights)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)


class OnDisk:
    """What Zarr and HDF5 look like: a shape, a dtype, chunks, and slices that are arrays."""

    def __init__(self, x):
        self._held, self.shape, self.dtype, self.chunks = x, x.shape, x.dtype, (50, 10)

    def __getitem__(self, which):
        return self._held[which]


@pytest.mark.parametrize("shape", SHAPES)
def test_arrays_that_live_in_chunks(shape):
    x, y, _, _ = problem("gaussian", shape)
    theirs = HorseshoeRegressor().fit(x, y)
    np.testing.assert_allclose(HorseshoeRegressor().fit(OnDisk(x), y).coef_, theirs.coef_, rtol=1e-8)
