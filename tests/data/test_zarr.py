"""Zarr arrays as X: the answers of the array in memory, whole chunks, and what is wrong in them."""

import numpy as np
import pytest
import zarr

from horseshoe import HorseshoeClassifier, HorseshoeRegressor
from horseshoe.data.sources.tables import as_parts


@pytest.fixture
def parts(monkeypatch):
    """Read in parts what would be read at once, as small as it is."""
    monkeypatch.setattr("horseshoe.data.sources.tables.HELD", 0)
    monkeypatch.setattr("horseshoe.data.sources.parts.PART_BYTES", 20_000)
    for module in ("chunked",):
        monkeypatch.setattr(f"horseshoe.data.{module}.ROOM", 0)


def table(n, p, dtype=np.float64):
    rng = np.random.default_rng(0)
    x = (rng.standard_normal((n, p)) + 3.0).astype(dtype)
    y = 2.0 * x[:, 3] - 1.5 * x[:, 8] + rng.standard_normal(n)
    return x, y, rng.uniform(0.5, 2.0, n)


def stored(tmp_path, x, chunks):
    out = zarr.create_array(tmp_path / "x.zarr", shape=x.shape, dtype=x.dtype, chunks=chunks)
    out[:] = x
    return zarr.open_array(tmp_path / "x.zarr", mode="r")


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int16])
@pytest.mark.parametrize(("n", "p"), [(60, 150), (200, 20)])
def test_a_fit_is_that_of_the_array(parts, tmp_path, n, p, dtype):
    x, y, weight = table(n, p, dtype)
    z = stored(tmp_path, x, (25, 13))
    ours = HorseshoeRegressor().fit(z, y, sample_weight=weight)
    theirs = HorseshoeRegressor().fit(x.astype(float), y, sample_weight=weight)
    assert np.array_equal(ours.support_, theirs.support_)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-8)
    np.testing.assert_allclose(ours.predict(z), theirs.predict(x.astype(float)), rtol=1e-8)


def test_classes(parts, tmp_path):
    x, y, _ = table(60, 150)
    labels = np.where(y > np.median(y), "yes", "no")
    ours, theirs = (HorseshoeClassifier().fit(X, labels) for X in (stored(tmp_path, x, (60, 40)), x))
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-8)


def test_what_is_small_is_read_at_once(tmp_path):
    x, y, _ = table(60, 150)
    z = stored(tmp_path, x, (25, 13))
    assert as_parts(z, np.asarray) is None
    np.testing.assert_array_equal(HorseshoeRegressor().fit(z, y).coef_, HorseshoeRegressor().fit(x, y).coef_)


def test_no_chunk_is_cut_in_two(parts, tmp_path):
    x, _, _ = table(60, 150)
    found = as_parts(stored(tmp_path, x, (25, 13)), np.asarray)
    assert found.axis == 1
    assert found.edges == [*range(0, 150, 39), 150]  # 41 columns take 20,000 bytes


def test_a_gap_is_named(parts, tmp_path):
    x, y, _ = table(60, 150)
    x[7, 40] = np.nan
    with pytest.raises(ValueError, match=r"row 7.*column 40|column 40.*row 7"):
        HorseshoeRegressor().fit(stored(tmp_path, x, (25, 13)), y)
