"""What methods of others got is kept: it is what was written, or it is refused, and it saves the run."""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from horseshoe_reproduction import peer_results
from horseshoe_reproduction.experiment import Fit, RequestError
from horseshoe_reproduction.journal import Journal, Record
from horseshoe_reproduction.methods import METHODS as KNOWN
from horseshoe_reproduction.reproduce import Outcome, reproduce
from horseshoe_reproduction.request import requested
from horseshoe_reproduction.runner import FitError

ABOUT = {"seed": 7, "versions": {"numpy": "2.0"}}
RECORDS = [
    Record(setting, replicate, method, {"Error": 1.0 / (3.0 + replicate), "Time": 0.25})
    for setting in ("none", "one")
    for replicate in (0, 2)
    for method in ("lasso-min", "mean")
]
METHODS = ("lasso-min", "mean")


def in_order(records: list[Record]) -> list[tuple[object, ...]]:
    return sorted((*r.key, round(r.metrics["Error"], 8)) for r in records)


def run(out: Path, replicates: int = 1) -> Outcome:
    return reproduce("adaptive", replicates, methods=METHODS, settings=("none",), out=out)


def journal_of(out: Path) -> Path:
    return out / "journal" / requested("adaptive").journal


def journal_with(out: Path, records: list[Record], **other: Any) -> Path:
    """Write a journal, with another machine or other versions if they are given."""
    with Journal(journal_of(out), {**requested("adaptive").heading(), **other}) as journal:
        journal.append(records)
    return journal.path


def versions(**other: str) -> dict[str, str]:
    found: Any = requested("adaptive").heading()["versions"]
    return {**found, **other}


def held(out: Path) -> list[Record]:
    request = requested("adaptive")
    return peer_results.load(peer_results.file_of(request, out), peer_results.heading(request))


def numbers(outcome: Outcome) -> list[dict[str, str]]:
    with outcome.files[1].open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a file that holds the records."""
    return peer_results.save(tmp_path / "adaptive-peers.json", ABOUT, RECORDS)


def test_what_is_written_is_read_but_for_our_own(tmp_path: Path) -> None:
    ours = [Record("none", 0, method, {"Error": 1.0}) for method in peer_results.OURS]
    path = peer_results.save(tmp_path / "all.json", ABOUT, [*RECORDS, *ours])
    assert in_order(peer_results.load(path, ABOUT)) == in_order(RECORDS)


def test_other_versions_do_not_count(path: Path) -> None:
    assert peer_results.load(path, {**ABOUT, "versions": {"numpy": "2.1"}}) == []
    assert peer_results.load(path.with_name("absent.json"), ABOUT) == []


@pytest.mark.parametrize("change", [("0.2]", "0.3]"), ('"one"', '"two"'), ("}", ""), ('"digest"', '"other"')])
def test_a_changed_file_is_refused(change: tuple[str, str], path: Path) -> None:
    path.write_text(path.read_text().replace(*change, 1))
    with pytest.raises(RequestError, match="not as it was written: remove it"):
        peer_results.load(path, ABOUT)


def test_a_run_takes_what_is_kept_and_computes_the_rest(tmp_path: Path) -> None:
    whole = run(tmp_path, replicates=2)
    peer_results.main("adaptive", tmp_path)
    journal = journal_of(tmp_path)
    journal.unlink()
    again = run(tmp_path, replicates=2)
    assert len(journal.read_text().splitlines()) == 1  # its heading
    assert numbers(again) == [row for row in numbers(whole) if row["metric"] != "Time"]


def test_a_time_is_not_that_of_another_machine_nor_of_a_part_of_the_data_sets(tmp_path: Path) -> None:
    run(tmp_path)
    peer_results.main("adaptive", tmp_path)
    assert held(tmp_path)
    assert not any("Time" in record.metrics for record in held(tmp_path))
    journal_of(tmp_path).unlink()
    more = run(tmp_path, replicates=3)  # two of three have times
    assert {row["replicates"] for row in numbers(more)} == {"3"}


def test_results_of_other_data_sets_are_refused(tmp_path: Path) -> None:
    request = requested("adaptive")
    path, about = peer_results.file_of(request, tmp_path), peer_results.heading(request)
    before = peer_results.save(path, about, [Record("none", 0, "mean", {"Error": 123.0})]).read_bytes()
    with pytest.raises(RequestError, match="results of other data sets of none: remove it"):
        run(tmp_path)
    assert path.read_bytes() == before


def test_results_without_a_witness_are_not_kept_and_not_taken(tmp_path: Path) -> None:
    records = [record for record in RECORDS if (record.setting, record.method) != ("one", "mean")]
    path = peer_results.save(tmp_path / "some.json", ABOUT, records)
    assert {record.setting for record in peer_results.load(path, ABOUT)} == {"none"}
    with pytest.raises(RequestError, match="has no result of 'mean' on one to check it by: remove it"):
        peer_results.check(path, records, [records[1]])


def test_a_record_that_is_not_finite_is_not_kept(tmp_path: Path) -> None:
    bad = [
        Record("none", 0, "mean", {"Error": math.nan, "True": 0.0}),
        Record("none", 1, "lasso-min", {"Error": math.inf, "True": 0.0}),
    ]
    good = [Record("none", 1, "mean", {"Error": 0.5, "True": 0.0})]
    assert peer_results.load(peer_results.save(tmp_path / "some.json", ABOUT, [*bad, *good]), ABOUT) == good


def test_a_witness_without_an_error_is_refused(tmp_path: Path) -> None:
    old, new = (Record("none", 0, "mean", metrics) for metrics in ({"True": 0.0}, {"Error": 0.5}))
    with pytest.raises(RequestError, match="results of other data sets of none: remove it"):
        peer_results.check(tmp_path, [old], [new])


def test_a_witness_that_fails_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(tmp_path)
    peer_results.main("adaptive", tmp_path)

    def broken(problem: object, rng: object) -> Fit:
        raise ArithmeticError("no mean today")

    monkeypatch.setitem(KNOWN, "mean", replace(KNOWN["mean"], run=broken))
    with pytest.raises(FitError, match=r"mean failed, so nobody can tell .* no mean today"):
        run(tmp_path)


def test_a_file_of_other_versions_is_not_replaced(tmp_path: Path) -> None:
    request = requested("adaptive")
    journal_with(tmp_path, RECORDS)
    about = peer_results.heading(request)
    about["versions"] = {**about["versions"], "numpy": "1.0"}
    path = peer_results.save(peer_results.file_of(request, tmp_path), about, RECORDS)
    before = path.read_bytes()
    with pytest.raises(RequestError, match=r"peers.json is of numpy 1\.0 \(here [^,]*\): remove it"):
        peer_results.main("adaptive", tmp_path)
    assert path.read_bytes() == before


def test_a_journal_of_another_horseshoe_and_another_machine_is_kept(tmp_path: Path) -> None:
    journal = journal_with(tmp_path, RECORDS, machine="another", versions=versions(horseshoe="0.0.1"))
    before = journal.read_bytes()
    assert "8 results, up to 3 data sets" in peer_results.main("adaptive", tmp_path)
    assert in_order(held(tmp_path)) == in_order(RECORDS)
    assert journal.read_bytes() == before
    assert not list(journal.parent.glob("*.old*"))


def test_a_journal_of_other_versions_is_refused(tmp_path: Path) -> None:
    journal_with(tmp_path, RECORDS, versions=versions(numpy="1.0"))
    with pytest.raises(RequestError, match=r"jsonl is of numpy 1\.0 \(here .*\): run horseshoe reproduce"):
        peer_results.main("adaptive", tmp_path)
    assert list(tmp_path.glob("*")) == [tmp_path / "journal"]


def test_without_a_journal_there_is_nothing_to_keep(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"there is no .*jsonl: run horseshoe reproduce adaptive first"):
        peer_results.main("adaptive", tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_journal_is_read_while_a_run_is_writing_it(tmp_path: Path) -> None:
    with Journal(journal_of(tmp_path), requested("adaptive").heading()) as journal:
        journal.append(RECORDS)
        with journal.path.open("ab") as file:
            file.write(b'{"setting": "none", "repl')
        before, files = journal.path.read_bytes(), sorted(journal.path.parent.iterdir())
        peer_results.main("adaptive", tmp_path)
        assert journal.path.read_bytes() == before
        assert sorted(journal.path.parent.iterdir()) == files
    assert in_order(held(tmp_path)) == in_order(RECORDS)


def test_a_journal_of_other_data_sets_is_not_added(tmp_path: Path) -> None:
    journal = journal_with(tmp_path, RECORDS)
    peer_results.main("adaptive", tmp_path)
    journal.unlink()
    journal_with(tmp_path, [Record("one", 2, "mean", {"Error": 0.3})])
    with pytest.raises(RequestError, match="results of other data sets of one: remove it"):
        peer_results.main("adaptive", tmp_path)
    assert in_order(held(tmp_path)) == in_order(RECORDS)


@pytest.mark.parametrize("name", ["table3", "coverage"])
def test_other_experiments_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=f"nothing of {name} can be kept: .* adaptive and mean; use"):
        peer_results.main(name, tmp_path)
