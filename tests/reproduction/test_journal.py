"""The journal of a run: what is in it is what was written, or the line is named that is not."""

import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from horseshoe_reproduction.experiment import RequestError
from horseshoe_reproduction.journal import Journal, Record, read
from mutations.files import opened
from mutations.journals import mutated_journal

HEADING = {"experiment": "table3", "seed": 7, "versions": {"numpy": "2.0"}}
RECORDS = [
    Record(f"rho={k % 2}", k // 2, method, {"MSE": 0.1 * k + 1.0 / 3.0, "Time": 1e-3 * k})
    for k in range(4)
    for method in ("hs-em", "mcp")
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a journal in two parts, as a run that was taken up again leaves it."""
    path = tmp_path / "table3-seed7.jsonl"
    for part in (RECORDS[:3], RECORDS[3:]):
        with Journal(path, HEADING) as journal:
            journal.append(part[:1])
            journal.append(part[1:])
    return path


def found(path: Path) -> list[Record]:
    with Journal(path, HEADING) as journal:
        return journal.records()


def in_order(records: list[Record]) -> list[Record]:
    return sorted(records, key=lambda record: record.key)


def test_what_is_written_is_read(path):
    assert found(path) == in_order(RECORDS)


@pytest.mark.parametrize(
    ("count", "seed"), [(400, 1), *(pytest.param(1000, s, marks=pytest.mark.slow) for s in (2, 3))]
)
def test_a_changed_journal_is_refused_or_is_a_beginning_of_what_was_written(count, seed, path):
    content, rng = path.read_bytes(), np.random.default_rng(seed)
    beginnings = [in_order(RECORDS[:k]) for k in range(len(RECORDS) + 1)]
    refused: Counter[str] = Counter()
    for _ in range(count):
        change, changed = mutated_journal(content, rng)
        path.write_bytes(changed)
        records, why = opened(lambda: found(path))
        if why is not None:
            assert re.search(r"line \d+ of .* is not as it was written|.* has no digests", why), (change, why)
            assert str(path) in why, change
            assert "left as it is; remove it, or start anew with --fresh" in why, change
            assert path.read_bytes() == changed, change
            refused[change] += 1
        else:
            assert records in beginnings, change
            kept = path.read_bytes()
            assert content.startswith(kept), change  # only what a crash leaves was dropped
            assert changed.startswith(kept), change
            assert b"\n" not in changed[len(kept) :], change
        assert not list(path.parent.glob("*.old*")), change
    assert len(refused) > 12
    assert refused.total() > 0.7 * count  # the others were cut at the end


@pytest.mark.parametrize("number", range(1, len(RECORDS) + 2))
def test_the_line_that_was_changed_is_named(number, path):
    lines = path.read_bytes().splitlines(keepends=True)
    lines[number - 1] = lines[number - 1].replace(b'"digest": "', b'"digest": "0', 1)
    path.write_bytes(b"".join(lines))
    with pytest.raises(RequestError, match=f"line {number} of .*table3-seed7.jsonl is not as it was written"):
        Journal(path, HEADING)


def test_a_journal_from_before_there_were_digests(path):
    path.write_text('{"experiment": "table3", "seed": 7}\n')
    with pytest.raises(RequestError, match=r"table3-seed7.jsonl has no digests .*older versions.*--fresh"):
        Journal(path, HEADING)


def test_a_changed_journal_can_be_set_aside_and_is_not_locked(path):
    path.write_bytes(path.read_bytes().replace(b"mcp", b"scad"))
    changed = path.read_bytes()
    with pytest.raises(RequestError, match="line 3 of"):
        Journal(path, HEADING)
    with Journal(path, HEADING, fresh=True) as journal:
        assert journal.records() == []
        assert journal.set_aside is not None
        assert journal.set_aside.read_bytes() == changed


@pytest.mark.parametrize("cut", [1, 5, 80])
def test_a_last_line_without_an_end_is_dropped_and_the_journal_goes_on(cut, path):
    path.write_bytes(path.read_bytes()[:-cut])
    assert found(path) == in_order(RECORDS[:-1])
    with Journal(path, HEADING) as journal:
        journal.append(RECORDS[-1:])
    assert found(path) == in_order(RECORDS)


@pytest.mark.parametrize("cut", [0, 1, 80])
def test_a_journal_in_use_is_read_and_left_alone(cut, path):
    with Journal(path, HEADING):
        content = path.read_bytes()
        path.write_bytes(content[: len(content) - cut])
        before = path.read_bytes()
        assert read(path)[:2] == (HEADING, RECORDS[:-1] if cut else RECORDS)
        assert path.read_bytes() == before
    path.write_bytes(content[:9])
    with pytest.raises(RequestError, match="line 1 of"):
        read(path)


def test_a_line_without_an_end_does_not_hide_a_changed_one(path):
    changed = path.read_bytes()[:-9].replace(b'"rho=1"', b'"rho=2"', 1)
    path.write_bytes(changed)
    with pytest.raises(RequestError, match="is not as it was written"):
        Journal(path, HEADING)
    assert path.read_bytes() == changed
