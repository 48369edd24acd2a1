"""Dask arrays and data frames: the answers of an array in memory, sums in a fixed order, what is refused."""

import dask
import dask.array
import dask.dataframe
import numpy as np
import pandas
import pytest
from sklearn.base import clone

from horseshoe import (
    AdaptiveClassifier,
    AdaptiveRegressor,
    HorseshoeClassifier,
    HorseshoeRegressor,
    load_model,
)
from horseshoe.data.sources import dask as dask_parts_room
from horseshoe.data.sources.dask import OFTEN, DaskParts, dask_parts
from horseshoe.data.sources.parts import ArrayParts
from horseshoe.data.validation import check_x
from horseshoe.families import FAMILIES
from registry import DASK


@pytest.fixture(autouse=True)
def in_this_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


FORMS = DASK
frame = DASK["frame"]
SHAPES = {"long": (240, 12), "wide": (50, 90), "tall": (6_000, 7)}


def data(shape, seed=0):
    n, p = SHAPES[shape]
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, p)) * (rng.random((n, p)) < 0.7)
    coef = np.zeros(p)
    coef[:3] = 1.5, -1.0, 0.8
    return x, x @ coef + 0.7 * rng.standard_normal(n), rng


def response(family, eta, rng):
    if family in ("gamma", "tweedie"):
        return rng.gamma(2.0, np.exp(0.3 * eta))
    if family in ("poisson", "negative_binomial"):
        return rng.poisson(np.exp(0.5 * eta)).astype(float)
    return (rng.random(eta.size) < 1.0 / (1.0 + np.exp(-eta))).astype(float) if family == "binomial" else eta


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", SHAPES)
def test_a_fit_is_that_of_the_array(shape, form):
    x, y, rng = data(shape)
    known = {"sample_weight": rng.uniform(0.5, 2.0, y.size), "offset": rng.uniform(-0.3, 0.3, y.size)}
    given = {name: dask.array.from_array(values, chunks=37) for name, values in known.items()}
    X = FORMS[form](x)
    ours = HorseshoeRegressor().fit(X, dask.array.from_array(y, chunks=41), **given)
    theirs = HorseshoeRegressor().fit(x, y, **known)
    same(ours, theirs)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(x), rtol=1e-8)
    for mine, other in zip(ours.predict(X, return_std=True), theirs.predict(x, return_std=True), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-8)


@pytest.mark.parametrize("shape", ["long", "wide", "tall"])
@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "gaussian"])
def test_every_family(family, shape):
    x, eta, rng = data(shape)
    y, weights = response(family, eta, rng), rng.uniform(0.5, 2.0, eta.size)
    known = {"sample_weight": weights, "offset": rng.uniform(-0.3, 0.3, eta.size)}
    form = {"long": "both", "wide": "rows", "tall": "frame"}[shape]
    same(
        HorseshoeRegressor(family=family).fit(FORMS[form](x), y, **known),
        HorseshoeRegressor(family=family).fit(x, y, **known),
    )


def same(ours, theirs, rtol=1e-8):
    assert np.array_equal(ours.support_, theirs.support_)
    for name in ("coef_", "intercept_", "coef_std_", "sigma2_"):
        mine, other = np.asarray(getattr(ours, name)), np.asarray(getattr(theirs, name))
        np.testing.assert_allclose(mine, other, rtol=0, atol=rtol * max(float(np.abs(other).max()), 1e-3))


@pytest.mark.parametrize("options", [{"fit_intercept": False}, {"standardize": False}, {"prior": "ridge"}])
def test_options(options):
    for shape in ("long", "tall"):
        x, y, _ = data(shape)
        same(
            HorseshoeRegressor(**options).fit(frame(x + 1.0), y),
            HorseshoeRegressor(**options).fit(x + 1.0, y),
        )


def test_columns_far_from_zero_lose_no_more_than_two_digits():
    x, y, _ = data("tall")
    ours = HorseshoeRegressor().fit(FORMS["rows"](x + 1e6), y)
    theirs = HorseshoeRegressor().fit(x, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-9)


ESTIMATORS = {
    "mode of classes": HorseshoeClassifier(),
    "average": AdaptiveRegressor(cv=2),
    "average of classes": AdaptiveClassifier(cv=2),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator(name):
    x, y, _ = data("long")
    y = np.where(y > 0.0, "yes", "no").astype(object) if "classes" in name else y
    ours = clone(ESTIMATORS[name]).fit(FORMS["both"](x), dask.array.from_array(y, chunks=50))
    theirs = clone(ESTIMATORS[name]).fit(x, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-9)
    if "classes" in name:
        np.testing.assert_allclose(ours.predict_proba(frame(x).values), theirs.predict_proba(x), atol=1e-8)


def test_all_folds_of_an_average_are_summed_up_in_one_pass(monkeypatch):
    """Beside it: one to standardise, one for what is predicted of each row left out, one for the average."""
    x, y, rng = data("tall")
    known = {"sample_weight": rng.uniform(0.5, 2.0, y.size), "offset": rng.uniform(-0.3, 0.3, y.size)}
    ours = AdaptiveRegressor().fit(FORMS["rows"](x), y, **known)
    assert ours._training.rows.columns._parts.passes == 4
    theirs = AdaptiveRegressor().fit(x, y, **known)
    for name in ("coef_", "sparse_coef_", "cv_prediction_", "inclusion_", "cv_error_", "intercept_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=0, atol=1e-9)
    np.testing.assert_allclose(ours.predict_interval(x[:9]), theirs.predict_interval(x[:9]), atol=1e-9)
    np.testing.assert_allclose(ours.coef_interval(), theirs.coef_interval(), atol=1e-9)


@pytest.mark.parametrize("room", [0, 1 << 28])
def test_averages_of_other_families_hold_what_has_room(room, monkeypatch):
    monkeypatch.setattr("horseshoe.data.chunked.ROOM", room)
    x, eta, rng = data("long")
    y = response("poisson", eta, rng)
    ours = AdaptiveRegressor(family="poisson", cv=2).fit(FORMS["rows"](x), y)
    theirs = AdaptiveRegressor(family="poisson", cv=2).fit(x, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=0, atol=1e-9)
    assert (ours._training.rows.columns._parts.passes <= 5) == (room > 0)


def test_names_of_a_frame_are_known_and_checked(tmp_path):
    x, y, _ = data("long")
    model = HorseshoeRegressor().fit(frame(x), y)
    assert model.feature_names_in_[0] == "c0"
    model.save(tmp_path / "model.json")
    table = frame(x)
    assert np.array_equal(load_model(tmp_path / "model.json").predict(table), model.predict(table))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table.rename(columns={"c3": "other"}))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table[[f"c{j}" for j in range(11)]])


@pytest.mark.parametrize("form", FORMS)
def test_a_fit_that_selects_nothing_predicts_too(form):
    x, _, rng = data("long")
    y = rng.standard_normal(len(x))
    model, theirs = (HorseshoeRegressor(zero_threshold=10.0).fit(X, y) for X in (FORMS[form](x), x))
    assert not model.support_.any()
    np.testing.assert_allclose(model.predict(FORMS[form](x)), theirs.predict(x), rtol=1e-12)


def passes(model):
    return model._training.rows.columns._parts.passes


def test_a_gaussian_fit_is_one_pass_and_others_a_few():
    x, y, rng = data("tall")
    assert passes(HorseshoeRegressor().fit(FORMS["rows"](x), y)) == 1
    counts = response("binomial", y, rng)
    assert passes(HorseshoeRegressor(family="binomial").fit(FORMS["rows"](x), counts)) <= 25


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # Dask's own, when it reads a file
def test_files_are_read_by_the_columns_that_are_asked_for(tmp_path):
    """Dask joins small partitions when few columns are left; ours must stay the same."""
    x, y, _ = data("tall")
    names = [f"c{j}" for j in range(x.shape[1])]
    for part in range(8):
        rows = slice(part * 750, (part + 1) * 750)
        table = pandas.DataFrame(x[rows], columns=names).assign(y=y[rows])
        table.to_parquet(tmp_path / f"{part}.parquet", index=False)
    table = dask.dataframe.read_parquet(tmp_path)
    counts = table["y"] > 0.0
    same(HorseshoeRegressor().fit(table[names], table["y"]), HorseshoeRegressor().fit(x, y))
    same(
        HorseshoeRegressor(family="binomial").fit(table[names], counts),
        HorseshoeRegressor(family="binomial").fit(x, y > 0.0),
    )


class TestParts:
    """What every table in parts has to do, and does as `ArrayParts`."""

    @pytest.fixture(params=[*FORMS])
    def both(self, request):
        x = np.random.default_rng(0).standard_normal((30, 9))
        ours = dask_parts(FORMS[request.param](x), check_x)
        return ours, ArrayParts(x, axis=ours.axis, step=ours.edges[1])

    def test_each_and_summed(self, both):
        ours, theirs = both
        assert (ours.shape, ours.edges) == (theirs.shape, theirs.edges)
        along = np.arange(ours.shape[ours.axis])
        across = np.array([1, 4])
        for options in ({}, {"across": across}, {"which": [0]}, {"across": across, "which": [0]}):
            mine, other = (list(parts.each(total, along, **options)) for parts in both)
            np.testing.assert_allclose(mine, other, rtol=1e-12)
            mine, other = (parts.summed(total, along, **options) for parts in both)
            np.testing.assert_allclose(mine, other, rtol=1e-12)
        assert ours.summed(total, along, which=[]) is None

    def test_passes_are_counted(self, both):
        ours, _ = both
        list(ours.each(total, np.zeros(ours.shape[ours.axis])))
        assert ours.passes == 1


@pytest.mark.parametrize("form", FORMS)
def test_what_is_small_and_asked_for_often_is_held(form, monkeypatch):
    """Its sums keep every bit, and Dask hears no more of it."""
    x = np.random.default_rng(0).standard_normal((64, 9)) * 10.0 ** np.arange(-32, 32)[:, None]
    ours, runs = dask_parts(FORMS[form](x), check_x), []
    run = dask_parts_room.run
    monkeypatch.setattr(dask_parts_room, "run", lambda tasks: runs.append(1) or run(tasks))
    before = [ours.summed(column_sums), *ours.each(column_sums), *ours.each_and_summed(two_sums)]
    for _ in range(OFTEN):
        after = [ours.summed(column_sums), *ours.each(column_sums), *ours.each_and_summed(two_sums)]
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(np.asarray(one), np.asarray(other))
    assert len(runs) == OFTEN + 1
    assert ours.passes == 3 * (OFTEN + 1) + 1
    assert ours.summed(column_sums, which=[]) is None
    across = np.array([1, 4])
    np.testing.assert_array_equal(
        next(ours.each(column_sums, across=across)),
        next(dask_parts(FORMS[form](x), check_x).each(column_sums, across=across)),
    )


def test_what_has_no_room_is_not_held(monkeypatch):
    monkeypatch.setattr(dask_parts_room, "HELD", 8 * 30 * 9 - 1)
    ours = dask_parts(FORMS["rows"](np.ones((30, 9))), check_x)
    for _ in range(OFTEN + 5):
        ours.summed(column_sums)
    assert ours._held is None


def test_a_fit_that_goes_on_and_on_leaves_dask_alone(monkeypatch):
    x, y, _ = data("wide")
    runs, run = [], dask_parts_room.run
    monkeypatch.setattr(dask_parts_room, "run", lambda tasks: runs.append(1) or run(tasks))
    model = HorseshoeRegressor(family="binomial", prior="ridge", tau=100.0)
    ours = clone(model).fit(FORMS["rows"](x), 1.0 * (y > 0.0))
    np.testing.assert_allclose(ours.coef_, model.fit(x, 1.0 * (y > 0.0)).coef_, rtol=0, atol=1e-8)
    assert passes(ours) > 2 * OFTEN
    assert len(runs) <= OFTEN + 5


def two_sums(part):
    return part.sum(axis=0), part.sum()


def total(part, along):
    return float(part.sum()) + float(along.sum())


def test_the_order_of_a_sum_is_fixed():
    x = np.random.default_rng(0).standard_normal((64, 3)) * 10.0 ** np.arange(64)[:, None]
    parts = dask_parts(dask.array.from_array(x, chunks=(5, -1)), check_x)
    found = {}
    for scheduler in ("synchronous", "threads"):
        with dask.config.set(scheduler=scheduler):
            found[scheduler] = [parts.summed(column_sums) for _ in range(5)]
    assert all(np.array_equal(one, found["threads"][0]) for some in found.values() for one in some)


def column_sums(part):
    return part.sum(axis=0)


def refusal(x, y=None, error=ValueError):
    y = np.arange(float(len(x))) if y is None else y
    with pytest.raises(error) as caught:
        HorseshoeRegressor().fit(x, y)
    return str(caught.value)


class TestRefused:
    def test_nan_in_one_chunk_is_named_by_chunk_row_and_column(self):
        x = np.random.default_rng(0).standard_normal((30, 4))
        x[17, 2] = np.nan
        told = refusal(dask.array.from_array(x, chunks=(10, -1)))
        assert "chunk 1 of X, which begins at row 10, column 0" in told
        assert "NaN in column 2, row 7" in told
        told = refusal(frame(x), np.arange(30.0))
        assert "NaN in column 'c2' (2), row 7" in told
        model = HorseshoeRegressor().fit(np.nan_to_num(x), np.arange(30.0))
        with pytest.raises(ValueError, match="in chunk 1 of X"):
            model.predict(dask.array.from_array(x, chunks=(10, -1)))

    def test_chunks_of_other_kinds_and_names(self):
        first = pandas.DataFrame({"a": [1.0, 2.0], "b": [1.0, 2.0]})
        others = {"'x'": {"a": ["x", "y"], "b": 1.0}, "'c'": {"a": [1.0, 2.0], "c": [2.0, 3.0]}}
        for name, other in others.items():
            parts = [dask.delayed(table) for table in (first, pandas.DataFrame(other))]
            table = dask.dataframe.from_delayed(parts, meta=first.iloc[:0], verify_meta=False)
            told = refusal(table, np.arange(4.0))
            assert "chunk 1 of X" in told
            assert name in told

    def test_chunks_of_other_sizes_than_announced(self):
        blocks = [dask.delayed(np.ones)((2, width)) for width in (3, 2)]
        x = dask.array.concatenate([dask.array.from_delayed(one, (2, 3), float) for one in blocks])
        assert "chunk 1 of X, which begins at row 2, column 0, has 2 rows and 2 columns" in refusal(x)

    def test_chunks_of_other_dtypes_are_numbers_too(self):
        x, y, _ = data("long")
        x = np.round(4.0 * x)
        parts = [
            dask.array.from_array(x[:80].astype(np.int8)),
            dask.array.from_array(x[80:].astype(np.float32)),
        ]
        blocks = [dask.array.from_delayed(part.to_delayed().ravel()[0], part.shape, float) for part in parts]
        same(HorseshoeRegressor().fit(dask.array.concatenate(blocks), y), HorseshoeRegressor().fit(x, y))

    def test_empty_chunks_are_left_out(self):
        x, y, _ = data("long")
        X = dask.array.concatenate([dask.array.from_array(part) for part in (x[:100], x[:0], x[100:])])
        same(HorseshoeRegressor().fit(X, y), HorseshoeRegressor().fit(x, y))
        assert "X has no rows" in refusal(dask.array.from_array(x[:0]), y[:0])
        assert "X has no rows" in refusal(frame(x)[frame(x).c0 > 1e9], y[:0])

    def test_unknown_sizes_are_found(self):
        x, y, _ = data("long")
        same(HorseshoeRegressor().fit(frame(x).values, y), HorseshoeRegressor().fit(x, y))
        table = frame(np.column_stack([x, y]))
        some = table[table.c0 > 0.0]
        kept = x[:, 0] > 0.0
        names = list(table.columns)
        same(
            HorseshoeRegressor().fit(some[names[:-1]], some[names[-1]]),
            HorseshoeRegressor().fit(x[kept], y[kept]),
        )

    def test_what_is_no_table(self):
        assert "Dask Delayed" in refusal(dask.delayed(np.ones)((3, 2)), np.arange(3.0), TypeError)
        assert "2D" in refusal(dask.array.ones((3, 2, 2)), np.arange(3.0))
        assert "2D" in refusal(dask.array.ones(3), np.arange(3.0))
        x, y, _ = data("long")
        table = dask.array.from_array(np.zeros((240, 2, 2)))
        assert "y is a Dask collection of shape (240, 2, 2)" in refusal(FORMS["rows"](x), table)
        assert "inconsistent numbers" in refusal(FORMS["rows"](x), dask.array.from_array(y[:50]))

    def test_dask_is_found_without_being_imported(self, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "dask", None)
        with pytest.raises(ImportError, match=r"pip install 'horseshoe\[dask\]'"):
            DaskParts(lambda across: ([], False), [chunk()], 0, check_x).summed(total, which=[])


def chunk():
    from horseshoe.data.sources.dask import Chunk

    return Chunk(0, (0, 0), (2, 2), None)
