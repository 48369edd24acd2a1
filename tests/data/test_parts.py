"""Tables in parts: order, threads, what is read and what is not, and files that change."""

import os

import numpy as np
import pytest

from horseshoe.data.chunked import Chunked
from horseshoe.data.sources.parts import ArrayParts, Picked, Reading


class Counted(ArrayParts):
    """Remembers which parts were read."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.seen = []

    def read(self, part, across):
        self.seen.append(part)
        return super().read(part, across)


@pytest.fixture(params=[1, 3])
def threads(request, monkeypatch):
    monkeypatch.setattr("horseshoe.data.sources.parts.available_threads", lambda: request.param)
    return request.param


X = np.arange(60.0).reshape(6, 10)


@pytest.mark.parametrize("axis", [0, 1])
def test_parts_come_in_order_whatever_the_threads(axis, threads):
    parts = ArrayParts(X, axis=axis, step=4)
    pieces = np.arange(X.shape[axis])
    found = list(parts.each(lambda part, along: (part.copy(), along), pieces))
    np.testing.assert_array_equal(np.concatenate([part for part, _ in found], axis=axis), X)
    np.testing.assert_array_equal(np.concatenate([along for _, along in found]), pieces)
    assert parts.summed(lambda part: part.sum()) == X.sum()


def test_sums_do_not_depend_on_the_threads(monkeypatch):
    x = np.random.default_rng(0).standard_normal((500, 40))
    found = []
    for threads in (1, 2, 5):
        monkeypatch.setattr("horseshoe.data.sources.parts.available_threads", lambda threads=threads: threads)
        found.append(Chunked(ArrayParts(x, axis=0, step=7)).gram())
    assert all(np.array_equal(found[0], other) for other in found[1:])


@pytest.mark.parametrize("axis", [0, 1])
def test_picked_parts_are_read_only_where_something_is_left(axis, threads):
    parts = Counted(X, axis=axis, step=2)
    keep = np.zeros(X.shape[axis], dtype=bool)
    keep[[2, 3, 5]] = True
    picked = Picked(parts, keep)
    again = Picked(picked, np.array([False, True, True]))
    blocks = list(again.each(lambda part, along: part + 0.0 * along.sum(), np.arange(2.0)))
    np.testing.assert_array_equal(np.concatenate(blocks, axis=axis), np.take(X, [3, 5], axis=axis))
    assert sorted(parts.seen) == [1, 2]
    assert again.shape == ((2, 10) if axis == 0 else (6, 2))


def test_the_other_axis_is_cut_before_the_work(threads):
    found = ArrayParts(X, axis=0, step=4).summed(lambda part: part.sum(axis=0), across=np.array([1, 7]))
    np.testing.assert_array_equal(found, X[:, [1, 7]].sum(axis=0))


def test_an_error_in_a_part_comes_through(threads):
    def work(part):
        raise ValueError("in a part")

    with pytest.raises(ValueError, match="in a part"):
        list(ArrayParts(X, axis=0, step=2).each(work))


def test_columns_that_left_are_not_read_again(monkeypatch):
    monkeypatch.setattr("horseshoe.data.chunked.ROOM", 0)
    parts = Counted(X, axis=1, step=3)
    some = Chunked(parts).take(np.arange(10) > 6)
    parts.seen.clear()
    np.testing.assert_array_equal(some.rmatvec(np.ones(6)), X[:, 7:].sum(axis=0))
    assert sorted(parts.seen) == [2, 3]


def test_few_columns_are_held_in_memory():
    parts = Counted(X, axis=1, step=3)
    some = Chunked(parts).take(np.arange(10) > 6)
    parts.seen.clear()
    some.rmatvec(np.ones(6))
    assert parts.seen == []


@pytest.mark.parametrize("room", [0, 1 << 20])
def test_rows_and_columns_of_chunks(room, monkeypatch):
    monkeypatch.setattr("horseshoe.data.chunked.ROOM", room)
    keep, rows = np.arange(10) % 3 == 0, np.array([True, False, True, True, False, True])
    for home in (Chunked(ArrayParts(X, axis=0, step=4)), Chunked(ArrayParts(X, axis=1, step=4))):
        np.testing.assert_array_equal(home.take(keep).rows(rows).dense(), X[rows][:, keep])
        np.testing.assert_array_equal(home.rows(rows).take(keep).dense(), X[rows][:, keep])
        weighed = home.reweighted(np.arange(6.0)).rows(rows).take(keep)
        np.testing.assert_array_equal(weighed.dense(), (np.arange(6.0)[:, None] * X)[rows][:, keep])


def test_a_file_that_changes_is_not_read_on(tmp_path):
    path = tmp_path / "x.f64"
    X.tofile(path)
    parts = ArrayParts(np.memmap(path, shape=X.shape, mode="r"), axis=0, step=2)
    parts.summed(np.sum)
    os.utime(path, ns=(1, 1))
    with pytest.raises(ValueError, match=r"x.f64 changed while it was read: fit again"):
        parts.summed(np.sum)
    path.unlink()
    with pytest.raises(ValueError, match="changed while it was read"):
        parts.summed(np.sum)


def test_extreme_units_are_refused_by_the_column():
    x = np.random.default_rng(0).standard_normal((6, 3)) * np.array([1.0, 1e-130, 1.0])
    for home in (Chunked(ArrayParts(x, axis=0)), Chunked(ArrayParts(x, axis=1))):
        with pytest.raises(ValueError, match=r"column 1 of X has values up to .*change its unit"):
            home.standardised(None, True, True)


def test_reading_must_be_said():
    with pytest.raises(NotImplementedError):
        Reading().read(0, None)
