"""The experiment "adaptive": its rows, its methods, and that it runs, resumes and says what it must."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from horseshoe.cli.app import app
from horseshoe_reproduction import adaptive, load, tuning
from horseshoe_reproduction.adaptive_rows import real_rows, table_rows, truth_rows
from horseshoe_reproduction.cells import Cell
from horseshoe_reproduction.comparison import OURS
from horseshoe_reproduction.designs import base
from horseshoe_reproduction.experiment import Fit, Problem
from horseshoe_reproduction.methods import METHODS
from horseshoe_reproduction.report import make_report
from horseshoe_reproduction.runner import Task, run_task
from paper_data import need

pytest.importorskip("glmnet", reason="python-glmnet is not installed: pip install './reproduction[peers]'")


def reproduce(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])


def cells(folder):
    (table,) = folder.glob("*.csv")
    with table.open(encoding="utf-8") as file:
        return [cell for cell in csv.DictReader(file) if cell["metric"] != "Time"]


def test_every_row_that_is_asked_for_is_there():
    experiment = load("adaptive")
    settings = set(experiment.settings)
    assert len(settings) == 22 + 12 + 6
    assert sum(name.startswith("binary-") for name in settings) == 6
    assert sum(name.startswith("count-") for name in settings) == 6
    for table in ("table3", "table5", "table6"):
        ours = {row.stream[1] for row in table_rows().values() if row.stream[0] == table}
        assert ours == set(load(table).settings)
        counts = {experiment.count(key, 100) for key in settings if key.startswith(table)}
        assert counts == {load(table).replicates}
    assert {experiment.count(key, 100) for key in (*truth_rows(), *real_rows())} == {100}
    assert {experiment.count(key, 7) for key in settings} == {7}


def metrics(experiment, setting, method, replicate=0):
    (record,) = run_task(Task(experiment, setting, replicate, (method,), 1000)).records
    return record.metrics


def test_a_row_of_a_table_has_its_very_data_and_folds():
    ours = metrics("adaptive", "table3-0.7-9", "lasso-1se", replicate=1)
    theirs = metrics("table3", "rho=0.7,sigma2=9", "lasso-1se", replicate=1)
    assert ours["Error"] == theirs["MSE"]
    assert (ours["True"], ours["False"]) == (theirs["TNZ"], theirs["FNZ"])
    ours, theirs = metrics("adaptive", "table5-diabetes", "hs-like"), metrics("table5", "diabetes", "hs-like")
    assert ours["Error"] == pytest.approx(theirs["MSE"], rel=1e-12)


def test_a_row_of_table_6_is_scored_by_its_log_loss():
    need("heart")
    ours = metrics("adaptive", "table6-heart-200", "ridge-min")
    theirs = metrics("table6", "heart,n=200", "ridge-min")
    assert ours["Error"] == pytest.approx(theirs["NLL"] / 103.0, rel=1e-9)


@pytest.mark.parametrize("name", ["boston", "concrete", "eye", "pima", "heart", "diabetes"])
def test_a_real_data_set_is_taken_as_it_is(name):
    need(name)
    problem = real_rows()[f"real-{name}"].draw(np.random.default_rng(0))
    assert problem.design.shape == (100, base(name).columns.values.shape[1])
    assert problem.new.shape[0] == base(name).target.size - 100


def test_the_truths_to_tune_on_have_random_numbers_of_their_own():
    first, second = (metrics(name, "none", "mean") for name in ("adaptive", "tuning"))
    assert first["Error"] != second["Error"]
    assert set(tuning.EXPERIMENT.settings) == set(truth_rows())


@pytest.mark.parametrize(
    ("setting", "method", "has"),
    [
        ("binary-one", "hs-like", False),
        ("count-one", "mixture", False),
        ("one", "hs-like", True),
        ("one", "stability", True),
        ("dense", "stability", False),
        ("binary-none", "stability", False),
        ("real-eye", "stability", False),
        ("count-tall", "lasso-min", True),
    ],
)
def test_a_method_has_only_the_rows_that_it_can_do(setting, method, has):
    assert adaptive.EXPERIMENT.applies(setting, method) == has


def test_a_method_that_cannot_be_run_is_left_out_and_named(monkeypatch):
    monkeypatch.setitem(METHODS, "scad", METHODS["scad"].__class__("SCAD", None, print, ("no_such_module",)))
    experiment = adaptive.experiment("adaptive", "title", truth_rows())
    assert "mcp" in experiment.methods
    assert "scad" not in experiment.methods
    notes = " ".join(note.text for note in experiment.notes)
    assert "Left out: scad, since no_such_module is not installed." in notes


OPTIONS = ("--replicates", 2, "--settings", "one,none,binary-none")


def test_it_runs_and_goes_on_where_it_was(tmp_path):
    done = reproduce("adaptive", *OPTIONS, "--methods", "mean,hs-like", "--jobs", 1, "--out", tmp_path / "a")
    assert done.exit_code == 0, done.output
    assert "Mean errors" in done.output
    assert [p.name for p in (tmp_path / "a").glob("*.csv")] == [
        "adaptive-r2-hs-like-mean-one-none-binary-none.csv"
    ]
    journal = tmp_path / "a" / "journal" / "adaptive-seed1000.jsonl"
    before = journal.read_text().splitlines()
    assert len(before) == 1 + 2 * 2 + 3 * 2
    again = reproduce(
        "adaptive", *OPTIONS, "--methods", "mean,hs-like,lasso-min", "--jobs", 1, "--out", tmp_path / "a"
    )
    assert again.exit_code == 0, again.output
    after = journal.read_text().splitlines()
    assert after[: len(before)] == before
    assert {json.loads(line)["method"] for line in after[len(before) :]} == {"lasso-min"}


def test_the_number_of_processes_changes_nothing(tmp_path):
    for jobs in (1, 2):
        options = ["--methods", "mean,lasso-min,stability", "--jobs", jobs, "--out", tmp_path / str(jobs)]
        assert reproduce("adaptive", *OPTIONS, *options).exit_code == 0
    assert cells(tmp_path / "1") == cells(tmp_path / "2")


def test_a_setting_that_is_not_there_is_named(tmp_path):
    done = reproduce("adaptive", "--settings", "one,two", "--out", tmp_path)
    assert done.exit_code == 2
    assert "'two' is not a setting of adaptive: use some of dense; one; none" in done.output
    assert "no setting is left" in reproduce("adaptive", "--settings", ",", "--out", tmp_path).output


def test_some_settings_of_a_table_of_the_paper(tmp_path):
    done = reproduce(
        "table3", "--replicates", 1, "--settings", "rho=0,sigma2=1", "--methods", "hs-em", "--out", tmp_path
    )
    assert done.exit_code == 0, done.output
    assert {cell["setting"] for cell in cells(tmp_path)} == {"rho=0,sigma2=1"}


def test_only_the_data_of_the_chosen_rows_are_needed(tmp_path, monkeypatch):
    monkeypatch.setenv("HORSESHOE_DATA", str(tmp_path / "empty"))
    base.cache_clear()
    options = ("--replicates", 1, "--methods", "mean", "--jobs", 1, "--out", tmp_path / "out")
    missing = reproduce("adaptive", *options, "--settings", "none,real-heart")
    assert missing.exit_code == 2
    assert "heart.csv" in missing.output
    assert not (tmp_path / "out").exists()
    assert reproduce("adaptive", *options, "--settings", "none").exit_code == 0


class Stand:
    """A least squares fit to the first column, in the place of the estimators that adapt."""

    def __init__(self, family="binomial", random_state=None):
        self.family = family

    def fit(self, X, y):
        p = X.shape[1]
        self.coef_, self.intercept_ = np.zeros(p), float(np.mean(y))
        if self.family == "gaussian":
            self.coef_[0] = X[:, 0] @ (y - y.mean()) / (X[:, 0] @ X[:, 0])
        self.support_ = self.coef_ != 0.0
        self.inclusion_ = np.where(self.support_, 0.93, 0.02)
        return self

    def coef_interval(self, level):
        return np.column_stack([self.coef_ - 0.3, self.coef_ + 0.3])

    def predict_interval(self, X, level):
        mean = X @ self.coef_ + self.intercept_
        return np.column_stack([mean - 2.0, mean + 2.0])

    def predict_proba(self, X):
        return np.full((len(X), 2), 0.5)


@pytest.fixture
def stand(monkeypatch):
    names = {"AdaptiveRegressor": Stand, "AdaptiveClassifier": Stand}
    for name, kind in names.items():
        monkeypatch.setattr(f"horseshoe_reproduction.methods.{name}", kind)
    rows = {**truth_rows(), **table_rows(), **real_rows()}
    monkeypatch.setattr(adaptive, "EXPERIMENT", adaptive.experiment("adaptive", "title", rows))


@pytest.mark.usefixtures("stand")
def test_with_an_estimator_that_adapts_there_are_verdicts_and_a_picture(tmp_path):
    options = ("--replicates", 3, "--settings", "one,none,real-diabetes", "--jobs", 1, "--out", tmp_path)
    done = reproduce("adaptive", *options, "--methods", "adaptive,lasso-min,ridge-best,mean,stability")
    assert done.exit_code == 0, done.output
    (report,) = tmp_path.glob("*.md")
    text = report.read_text(encoding="utf-8")
    parts = [
        "row by row; rows that fail first",
        "## Mean errors",
        "## What the adaptive",
        "## Inclusion over",
    ]
    assert sorted(text.index(part) for part in parts) == [text.index(part) for part in parts]
    table = text.split("rows that fail first")[1].split("## Mean errors")[0].splitlines()[4:]
    verdicts = [line.split("|")[-2].strip() for line in table if line]
    assert verdicts == sorted(verdicts)  # "NOT within" before "within"
    said = text.split("- Mean error within")[1].split("\n- ")[0]
    assert said.count("  - NOT in") == sum(verdict.startswith("NOT") for verdict in verdicts)
    assert "found in 100% of data sets, with 0 false columns" in text
    assert "AUC of inclusion at least that of stability selection in 1 of 1 truths" in text
    assert next(tmp_path.glob("*.png")).read_bytes().startswith(b"\x89PNG")
    bins = {cell["metric"] for cell in cells(tmp_path) if cell["setting"] == "all truths"}
    assert bins == {f"{what}, bin {k}" for what in ("True", "Inclusion") for k in (0, 9)}


def number(text):
    return float(text) if text else float("nan")


@pytest.mark.usefixtures("stand")
def test_what_is_said_follows_from_the_numbers_that_are_written(tmp_path):
    methods = ("adaptive", "lasso-min", "ridge-min", "mean", "stability")
    options = ("--replicates", 3, "--settings", "one,none,groups", "--jobs", 1, "--out", tmp_path)
    assert reproduce("adaptive", *options, "--methods", ",".join(methods)).exit_code == 0
    (table,) = tmp_path.glob("*.csv")
    with table.open(encoding="utf-8") as file:
        written = [
            Cell(
                *(row[name] for name in ("setting", "metric", "method")),
                *(number(row[name]) for name in ("mean", "standard_error", "median")),
                int(row["replicates"]),
                None,
            )
            for row in csv.DictReader(file)
        ]
    report = make_report(adaptive.EXPERIMENT, methods, written, "", {})
    said = table.with_suffix(".md").read_text(encoding="utf-8").split("## What it comes to\n\n")[1]
    expected = "\n".join([*report.verdicts, "", *(f"{note}\n" for note in report.notes), ""])
    assert said.split("## How it was made")[0] == expected
    assert "With so few replicates" in said


@pytest.mark.usefixtures("stand")
@pytest.mark.parametrize("kind", ["gaussian", "binomial", "poisson"])
def test_what_the_estimator_says_reaches_the_score(kind):
    X = np.random.default_rng(0).standard_normal((30, 4))
    y = (X[:, 0] > 0.0).astype(float)
    problem = Problem(kind, X, y, lambda fit: {}, X[:7])
    fit = METHODS[OURS].run(problem, np.random.default_rng(0))
    assert isinstance(fit, Fit)
    assert fit.intervals[0].shape == (4, 2)
    assert fit.intervals[1].shape == ((0, 2) if kind == "binomial" else (7, 2))
    assert (fit.predicted is None) == (kind != "binomial")
    assert fit.inclusion.shape == fit.support.shape == (4,)
