"""What a terminal obeys is shown and not sent, wherever it stands in the user's names and values."""

import io
import json
import re
import sys

import numpy as np
import pandas
import pytest

from cli.commands import done, refused
from horseshoe import HorseshoeRegressor
from horseshoe.cli.terminal import write_data
from horseshoe.report.page.phrases import named
from horseshoe.report.summaries import summary_text

RED, TITLE, TURNED, LINES = "\x1b[31mred", "\x9b2Jclear", "\u202egnp.exe", "two\nlines\tand a tab"
NAMES = (RED, TITLE, TURNED, LINES)
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pandas.DataFrame(rng.standard_normal((60, 4)), columns=list(NAMES))
    frame["y"] = frame.sum(axis=1) + 0.3 * rng.standard_normal(60)
    frame["kind\x07"] = np.where(frame["y"] > 0.0, "a\x1b]0;title\x07", "b\u202e")
    path = tmp_path / "hostile.csv"
    frame.to_csv(path, index=False)
    return path


def check(text):
    assert not OBEYED.search(text), text


@pytest.mark.parametrize("mode", [["--estimator", "mode"], []])
def test_the_answer_of_a_fit(table, mode):
    result = done("fit", table, "--target", "y", "--drop", "kind\x07", *mode)
    check(result.stdout)
    check(result.stderr)
    cells = [line.split("  ")[0].strip() for line in result.stdout.splitlines()]
    for name in (r"\x1b[31mred", r"\x9b2Jclear", r"\u202egnp.exe", r"two\nlines\tand a tab"):
        assert name in cells
    assert r"\x1b[31mred (" in " ".join(result.stdout.split())  # in the sentence too


def test_classes_and_their_levels(table):
    result = done("fit", table, "--target", "kind\x07", "--estimator", "mode", "--drop", "y")
    check(result.stdout + result.stderr)
    assert r"\x07" in result.stdout


def test_the_posterior(table):
    result = done("sample", table, "--target", RED, "--draws", 20, "--warmup", 20, "--chains", 2)
    check(result.stdout + result.stderr)


def test_errors_and_notices(table):
    for options in (
        ["--target", RED + "?"],
        ["--target", "y", "--unpenalized", "\x1b[0m\n"],
        ["--target", "kind\x07", "--family", "poisson"],
    ):
        text = refused("fit", table, *options)
        check(text)
        assert text.count("\n") == 1


def test_json_says_the_same_without_them(table):
    text = done("fit", table, "--target", "y", "--drop", "kind\x07", "--estimator", "mode", "--json").stdout
    check(text)
    assert {row["feature"] for row in json.loads(text)["coefficients"]} >= set(NAMES)


def test_predictions_are_data_but_not_in_a_terminal(table, tmp_path, monkeypatch):
    model = tmp_path / "model.json"
    done("fit", table, "--target", "kind\x07", "--drop", "y", "--estimator", "mode", "--model", model)
    text = done("predict", model, table).stdout
    assert "p(a\x1b]0;title\x07)" in text.splitlines()[0]  # as the table has it, for other programs

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    write_data(text)
    check(terminal.getvalue())
    assert terminal.getvalue().count("\n") == text.count("\n")


def test_summaries_and_sentences():
    rng = np.random.default_rng(1)
    X = pandas.DataFrame(rng.standard_normal((50, 4)), columns=list(NAMES))
    model = HorseshoeRegressor().fit(X, X.sum(axis=1) + 0.1 * rng.standard_normal(50))
    check(summary_text(model))
    assert named(RED) == r"\x1b[31mred"
    assert named(TURNED) == r"\u202egnp.exe"


def test_labels_of_pictures():
    from horseshoe.report.figure import plot_label

    for name in NAMES:
        check(plot_label(name))
