"""Every experiment runs, resumes, and prints what it promises."""

import csv
import json
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from typer.testing import CliRunner

from horseshoe.cli.app import app
from horseshoe_reproduction import TABLES, load
from horseshoe_reproduction.cells import summarise
from horseshoe_reproduction.designs import base
from horseshoe_reproduction.experiment import Fit
from horseshoe_reproduction.journal import Journal, Record
from horseshoe_reproduction.methods import METHODS, Method
from horseshoe_reproduction.printed import printed
from horseshoe_reproduction.runner import Task, run_task
from paper_data import need

FAST = {  # one replicate of these is enough to see the structure; the compiled peers have tests of their own
    "table2": None,
    "table3": "hs-em,hs-apx,hs-like,hs-like-prior,lasso-1se,ridge-min",
    "table4": None,
    "table5": "hs-em,hs-apx,hs-like,hs-like-prior,lasso-min,ridge-1se",
    "table6": "hs-em,hs-apx,lasso-1se,ridge-1se",
}


def reproduce(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])


def rows(path):
    with path.open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", TABLES)
def test_a_table_has_every_cell_and_the_printed_one_beside_it(name, tmp_path):
    need(name)
    chosen = ["--methods", FAST[name]] if FAST[name] else []
    done = reproduce(name, "--replicates", 2, "--out", tmp_path, *chosen)
    assert done.exit_code == 0, done.output
    experiment = load(name)
    methods = FAST[name].split(",") if FAST[name] else list(experiment.methods)
    (table,) = tmp_path.glob("*.csv")
    cells = rows(table)
    expected = [(s, m, k) for s in experiment.settings for m in experiment.metrics for k in methods]
    assert [(c["setting"], c["metric"], c["method"]) for c in cells] == expected
    assert all(np.isfinite(float(c["mean"])) for c in cells)
    assert {c["replicates"] for c in cells} == {"2"}
    theirs = printed(name)
    for cell in cells:
        known = theirs.get((cell["setting"], cell["metric"], METHODS[cell["method"]].printed))
        assert cell["printed_mean"] == ("" if known is None else str(known.mean))
    report = table.with_suffix(".md").read_text(encoding="utf-8")
    assert f"horseshoe reproduce {name} --replicates 2" in report
    assert report.count("\n## ") >= len(experiment.settings) + 1
    for word in ("versions:", "seed: 1000", "machine:", "date:"):
        assert word in report
    assert table.with_suffix(".png").read_bytes().startswith(b"\x89PNG")
    assert not list(tmp_path.rglob("*.draft"))


def test_the_figure_is_drawn_and_described(tmp_path):
    done = reproduce("figure1", "--out", tmp_path)
    assert done.exit_code == 0, done.output
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figure1.csv", "figure1.md", "figure1.png"]
    assert "horseshoe-like" in done.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["table9"], "'table9' is not known: use one of table2, "),
        (["table3", "--methods", "hs-em,foo"], "'foo' is not a method: use some of hs-em, "),
        (["table3", "--methods", "visu-shrink"], "'visu-shrink' is not a method of table3"),
        (["table3", "--methods", ","], "no method is left: use some of hs-em, "),
        (["figure1", "--replicates", "3"], "figure1 has no replicates, methods, settings or seed"),
    ],
)
def test_what_is_not_there_is_named(arguments, message, tmp_path):
    done = reproduce(*arguments, "--out", tmp_path)
    assert done.exit_code == 2
    assert message in done.output
    assert not list(tmp_path.iterdir())


def offline(**_):
    raise OSError("offline")


def test_missing_data_are_named_before_anything_is_computed(tmp_path, monkeypatch):
    monkeypatch.setenv("HORSESHOE_DATA", str(tmp_path / "empty"))
    monkeypatch.setattr("sklearn.datasets.fetch_openml", offline)
    base.cache_clear()
    done = reproduce("table6", "--replicates", 1, "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert "HORSESHOE_DATA" in done.output
    assert "pima.csv" in done.output
    assert not (tmp_path / "out").exists()


def without_times(folder):
    (table,) = folder.glob("*.csv")
    return [c for c in rows(table) if c["metric"] != "Time"]


def records(folder):
    (journal,) = (folder / "journal").glob("*.jsonl")
    lines = [json.loads(line) for line in journal.read_text(encoding="utf-8").splitlines()[1:]]
    for line in lines:
        line["metrics"].pop("Time")
        line.pop("digest")  # of the times too
    return sorted(lines, key=lambda line: (line["setting"], line["replicate"], line["method"]))


@pytest.mark.parametrize(
    ("name", "methods"),
    [("table2", "hs-em,bayes-shrink,posterior-mean"), ("table3", "hs-em,lasso-1se")],
)
def test_the_number_of_processes_changes_nothing(name, methods, tmp_path):
    for jobs in (1, 2):
        options = ["--replicates", 1, "--methods", methods, "--jobs", jobs, "--out", tmp_path / str(jobs)]
        assert reproduce(name, *options).exit_code == 0
    assert records(tmp_path / "1") == records(tmp_path / "2")
    assert without_times(tmp_path / "1") == without_times(tmp_path / "2")


def breaks(problem, rng):
    if problem.y[0] > 9.0:
        raise np.linalg.LinAlgError("Singular matrix")
    return Fit(problem.y)


def test_a_method_that_fails_is_named_and_the_others_are_kept(tmp_path, monkeypatch):
    monkeypatch.setitem(METHODS, "visu-shrink", Method("breaks", None, breaks))
    done = reproduce(
        "table2", "--replicates", 1, "--methods", "visu-shrink,bayes-shrink", "--jobs", 1, "--out", tmp_path
    )
    assert done.exit_code == 2
    assert "visu-shrink on b=10, replicate 0, seed 1000: LinAlgError: Singular matrix" in done.output
    kept = {(line["setting"], line["method"]) for line in records(tmp_path)}
    assert kept == {("b=3", "visu-shrink"), ("b=3", "bayes-shrink"), ("b=10", "bayes-shrink")}
    assert not list(tmp_path.glob("*.csv"))


def test_what_is_not_installed_is_named_before_anything_is_computed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "glmnet", None)
    done = reproduce("table3", "--replicates", 1, "--methods", "hs-em,lasso-1se", "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert "glmnet is needed here: pip install './reproduction[peers]'" in done.output
    assert not (tmp_path / "out").exists()


def test_two_runs_do_not_share_a_journal(tmp_path):
    with Journal(tmp_path / "journal" / "table2-seed1000.jsonl", {}):
        done = reproduce("table2", "--replicates", 1, "--methods", "visu-shrink", "--out", tmp_path)
    assert done.exit_code == 2
    assert "another run is using" in done.output


def test_a_journal_that_was_changed_is_refused_by_name(tmp_path):
    options = ["table2", "--replicates", 2, "--methods", "visu-shrink", "--jobs", 1, "--out", tmp_path]
    reproduce(*options)
    (journal,) = (tmp_path / "journal").glob("*.jsonl")
    before, lines = without_times(tmp_path), journal.read_bytes().splitlines(keepends=True)
    changed = b"".join([*lines[:3], lines[3].replace(b'"MSE": ', b'"MSE": 1'), *lines[4:]])
    journal.write_bytes(changed)
    done = reproduce(*options)
    assert done.exit_code == 2
    assert f"line 4 of {journal} is not as it was written" in done.output
    assert "--fresh" in done.output
    assert journal.read_bytes() == changed
    assert reproduce(*options, "--fresh").exit_code == 0
    assert without_times(tmp_path) == before


def test_a_table_with_a_hole_is_not_printed():
    holes = [Record("b=3", 0, "visu-shrink", {"MSE": 1.0, "Time": 1.0, "Inc_z": 1.0, "No.V": 1.0})]
    with pytest.raises(ValueError, match="table2: some cells have 0 results, others 1"):
        summarise(load("table2"), ("visu-shrink",), holes)


def test_fresh_computes_anew(tmp_path):
    options = ["table2", "--replicates", 1, "--methods", "visu-shrink", "--jobs", 1, "--out", tmp_path]
    reproduce(*options)
    done = reproduce(*options, "--fresh")
    assert done.exit_code == 0
    assert "do not count" in done.output
    assert len(list((tmp_path / "journal").glob("*.jsonl"))) == 2


def test_a_method_gets_the_same_whichever_others_run_beside_it():
    alone = run_task(Task("table3", "rho=0,sigma2=9", 4, ("lasso-min",), seed=5))
    beside = run_task(Task("table3", "rho=0,sigma2=9", 4, ("hs-em", "lasso-min"), seed=5))
    ours, theirs = alone.records[0].metrics, beside.records[1].metrics
    assert {k: v for k, v in ours.items() if k != "Time"} == {k: v for k, v in theirs.items() if k != "Time"}


def test_another_seed_gives_other_data():
    first, second = (run_task(Task("table2", "b=3", 0, ("visu-shrink",), seed)) for seed in (1, 2))
    assert first.records[0].metrics["MSE"] != second.records[0].metrics["MSE"]


def test_a_killed_run_goes_on_and_ends_with_the_same_table(tmp_path):
    command = [sys.executable, "-m", "horseshoe", "reproduce", "table2", "--replicates", "4", "--methods"]
    command += ["hs-em,hs-like-prior,posterior-mean", "--out"]
    journal = tmp_path / "killed" / "journal" / "table2-seed1000.jsonl"
    with subprocess.Popen([*command, str(tmp_path / "killed")], stdout=subprocess.DEVNULL) as run:
        end = time.monotonic() + 60.0
        while time.monotonic() < end and not (journal.exists() and journal.read_bytes().count(b"\n") > 4):
            time.sleep(0.02)
        run.send_signal(signal.SIGKILL)
    kept = [json.loads(line) for line in journal.read_text().splitlines()[1:] if line.endswith("}")]
    assert 3 <= len(kept) < 4 * 2 * 3
    with journal.open("a") as file:
        file.write('{"setting": "b=3", "repl')  # as if killed in the middle of a line
    subprocess.run([*command, str(tmp_path / "killed")], check=True, stdout=subprocess.DEVNULL)
    assert reproduce(*command[4:], tmp_path / "whole", "--jobs", 1).exit_code == 0
    assert without_times(tmp_path / "killed") == without_times(tmp_path / "whole")
    again = [json.loads(line) for line in journal.read_text().splitlines()[1:]]
    assert again[: len(kept)] == kept  # what was computed before was not computed again


def test_results_of_other_versions_are_set_aside(tmp_path):
    options = ["table2", "--replicates", 1, "--methods", "visu-shrink", "--jobs", 1, "--out", tmp_path]
    reproduce(*options)
    (journal,) = (tmp_path / "journal").glob("*.jsonl")
    heading = json.loads(journal.read_text().splitlines()[0])
    del heading["digest"]
    with Journal(journal, {**heading, "versions": {"numpy": "0.9"}}):
        text = journal.read_text()
    journal.with_name("table2-seed1000.old1.jsonl").unlink()
    done = reproduce(*options)
    assert "table2-seed1000.old1.jsonl" in done.output.replace("\n", "")
    assert journal.with_name("table2-seed1000.old1.jsonl").read_text() == text
