"""What methods of others got is kept: it is what was written, or it is refused, and it saves the run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from farrier.paper import kept
from farrier.paper.core import RequestError
from farrier.paper.journal import Record
from farrier.paper.reproduce import reproduce
from farrier.paper.request import requested

ABOUT = {"seed": 7, "versions": {"numpy": "2.0"}}
RECORDS = [
    Record(setting, replicate, method, {"Error": 1.0 / (3.0 + replicate), "Time": 0.25})
    for setting in ("none", "one")
    for replicate in (0, 2)
    for method in ("lasso-min", "mean")
]
METHODS = ("lasso-min", "mean")


def in_order(records: list[Record]) -> list[tuple[object, ...]]:
    return sorted((*r.key, *(round(value, 8) for value in r.metrics.values())) for r in records)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a file that holds the records."""
    return kept.keep(tmp_path / "adaptive-peers.json", ABOUT, RECORDS)


def test_what_is_written_is_read_but_for_our_own(tmp_path: Path) -> None:
    ours = [Record("none", 0, method, {"Error": 1.0}) for method in kept.OURS]
    path = kept.keep(tmp_path / "all.json", ABOUT, [*RECORDS, *ours])
    assert in_order(kept.kept(path, ABOUT)) == in_order(RECORDS)


def test_other_versions_do_not_count(path: Path) -> None:
    assert kept.kept(path, {**ABOUT, "versions": {"numpy": "2.1"}}) == []
    assert kept.kept(path.with_name("absent.json"), ABOUT) == []


@pytest.mark.parametrize("change", [("0.25", "0.26"), ('"one"', '"two"'), ("}", ""), ('"digest"', '"other"')])
def test_a_changed_file_is_refused(change: tuple[str, str], path: Path) -> None:
    path.write_text(path.read_text().replace(*change, 1))
    with pytest.raises(RequestError, match="not as it was written: remove it"):
        kept.kept(path, ABOUT)


def test_a_run_takes_what_is_kept_and_computes_the_rest(tmp_path: Path) -> None:
    options = {"methods": METHODS, "settings": ("none",), "out": tmp_path}
    whole = reproduce("adaptive", replicates=2, **options)  # type: ignore[arg-type]
    kept.main("adaptive", tmp_path)
    journal = tmp_path / "journal" / requested("adaptive").journal
    journal.unlink()
    again = reproduce("adaptive", replicates=2, **options)  # type: ignore[arg-type]
    assert len(journal.read_text().splitlines()) == 1  # its heading
    assert again.files[1].read_text() == whole.files[1].read_text()


def test_results_of_other_data_sets_are_refused(tmp_path: Path) -> None:
    request = requested("adaptive")
    path, about = kept.file_of(request, tmp_path), kept.heading(request)
    kept.keep(path, about, [Record("none", 0, "mean", {"Error": 123.0})])
    with pytest.raises(RequestError, match="results of other data sets of none: remove it"):
        reproduce("adaptive", replicates=1, methods=METHODS, settings=("none",), out=tmp_path)
    assert json.loads(path.read_text())["heading"]["seed"] == 1000
