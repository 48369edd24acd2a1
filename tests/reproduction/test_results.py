"""The committed tables are whole, and as near to the paper as they must be; slowly, with another seed too."""

import csv
from pathlib import Path

import pytest

from horseshoe_reproduction import TABLES, load
from horseshoe_reproduction.cells import Cell, summarise
from horseshoe_reproduction.journal import Journal
from horseshoe_reproduction.methods import METHODS
from horseshoe_reproduction.printed import printed
from horseshoe_reproduction.report import make_report
from horseshoe_reproduction.runner import run
from horseshoe_reproduction.verdicts import TIMES_FASTER, compared, far, worse
from paper_data import need

RESULTS = Path(__file__).resolve().parents[2] / "experiments" / "results"


def number(text):
    return float(text) if text else float("nan")


def committed(name):
    theirs = printed(name)
    with (RESULTS / f"{name}.csv").open(encoding="utf-8") as file:
        return [
            Cell(
                row["setting"],
                row["metric"],
                row["method"],
                number(row["mean"]),
                number(row["standard_error"]),
                number(row["median"]),
                int(row["replicates"]),
                theirs.get((row["setting"], row["metric"], METHODS[row["method"]].printed)),
            )
            for row in csv.DictReader(file)
        ]


@pytest.mark.parametrize("name", TABLES)
def test_the_committed_table_is_whole(name):
    experiment = load(name)
    cells = committed(name)
    expected = {
        (s, m, k) for s in experiment.settings for m in experiment.metrics for k in experiment.methods
    }
    assert {(c.setting, c.metric, c.method) for c in cells} == expected
    assert {c.replicates for c in cells} == {experiment.replicates}
    report = (RESULTS / f"{name}.md").read_text(encoding="utf-8")
    for word in ("versions:", "seed: 1000", "machine:", "date:"):
        assert word in report
    assert (RESULTS / f"{name}.png").stat().st_size > 10_000


@pytest.mark.parametrize("name", TABLES)
def test_the_committed_report_says_what_its_numbers_say(name):
    experiment = load(name)
    report = make_report(experiment, experiment.methods, committed(name), "", {})
    said = (RESULTS / f"{name}.md").read_text(encoding="utf-8").split("## What it comes to\n\n")[1]
    expected = "\n".join([*report.verdicts, "", *(f"{note}\n" for note in report.notes), ""])
    assert said.split("## How it was made")[0] == expected


def test_competitors_are_where_the_paper_has_them():
    cells = [cell for name in TABLES for cell in committed(name)]
    assert len(far(cells)) <= 0.1 * len(compared(cells, "others"))


@pytest.mark.parametrize("name", TABLES)
def test_what_differs_has_a_reason(name):
    experiment, cells = load(name), committed(name)
    for cell in far(cells) + worse(cells):
        assert experiment.reason(cell.setting, cell.metric, cell.method), cell


BAYESREG = (-0.009, -18.89, 5.767, 1.041, -0.228, 0.015, -0.583, 2.506, 48.88, 0.173)
BAYESREG_ERROR = (0.0014, 0.085, 0.0086, 0.0027, 0.0051, 0.0037, 0.011, 0.097, 0.13, 0.0046)
"""Means of a run of R bayesreg 1.3 (1,000 + 10,000 iterations), and their Monte Carlo standard errors."""


def test_the_posterior_means_are_those_of_bayesreg():
    ours = [cell for cell in committed("table4") if cell.method == "run-mean"]
    for cell, mean, error in zip(ours, BAYESREG, BAYESREG_ERROR, strict=True):
        assert abs(cell.mean - mean) < 4.0 * (cell.error**2 + error**2) ** 0.5, cell


def test_the_mode_of_table_4_has_the_printed_variables():
    for cell in committed("table4"):
        if cell.method == "hs-em":
            assert cell.mean == pytest.approx(cell.printed.mean, rel=2e-3, abs=0.0)


@pytest.mark.parametrize(
    ("name", "least"), [("table3", TIMES_FASTER), ("table5", TIMES_FASTER), ("table6", 5.0)]
)
def test_ours_takes_a_fraction_of_the_time_of_mcp(name, least):
    """A twentieth; for two classes, where the peer is compiled for the purpose, a fifth."""
    times = {(c.setting, c.method): c.mean for c in committed(name) if c.metric == "Time"}
    for setting in load(name).settings:
        assert times[setting, "hs-em"] * least < times[setting, "mcp"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "replicates", "methods"),
    [
        ("table2", 100, ("hs-em-small", "bayes-shrink", "visu-shrink")),
        ("table3", 25, ("hs-em", "hs-apx", "hs-like", "lasso-1se", "mcp", "scad", "ridge-1se")),
        ("table4", 30, ("run-mean", "run-low", "run-high", "hs-em")),
        ("table5", 15, ("hs-em", "hs-apx", "hs-like", "lasso-1se", "ridge-1se")),
        ("table6", 15, ("hs-em", "hs-apx", "lasso-1se", "ridge-1se")),
    ],
)
def test_another_seed_says_the_same(name, replicates, methods, tmp_path):
    need(name)
    experiment = load(name)
    with Journal(tmp_path / "new.jsonl", {}) as journal:
        records = run(experiment, journal, replicates, methods, seed=2026, jobs=1)
    cells = summarise(experiment, methods, records)
    judged = [c for c in compared(cells, "others") if not experiment.reason(c.setting, c.metric, c.method)]
    outside = [c for c in judged if abs(c.difference) > 3.0]
    assert len(judged) > 8
    assert len(outside) <= 0.1 * len(judged), outside
    for cell in worse(cells):
        assert cell.difference * (1.0 if cell.metric != "CA" else -1.0) < 3.0, cell
