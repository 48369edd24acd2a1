"""What is said under a table is true of the numbers in it."""

import math

import pytest

from horseshoe_reproduction import TABLES, load
from horseshoe_reproduction.cells import Cell
from horseshoe_reproduction.methods import METHODS
from horseshoe_reproduction.printed import printed
from horseshoe_reproduction.report import make_report, markdown


def cells_of(name, methods, shift, replicates=30):
    """Return a table in which ours is ``shift`` of the printed standard errors above the printed mean."""
    theirs = printed(name)
    found = []
    for setting in load(name).settings:
        for metric in load(name).metrics:
            for method in methods:
                number = theirs.get((setting, metric, METHODS[method].printed))
                error = math.nan if replicates == 1 else 0.5 if number is None else number.error or 0.5
                mean = 7.0 if number is None else number.mean + (0.0 if replicates == 1 else shift * error)
                found.append(Cell(setting, metric, method, mean, error, mean, replicates, number))
    return found


def said(name, methods, cells):
    report = make_report(load(name), methods, cells, "command", {})
    assert markdown(report).count("\n## ") == len(report.blocks) + 1 + bool(report.verdicts)
    return "\n".join([*report.verdicts, *report.notes])


@pytest.mark.parametrize("name", ["table3", "table5"])
@pytest.mark.parametrize(
    ("shift", "more", "fewer", "near"), [(9.0, 4, 0, 0), (-9.0, 0, 4, 0), (0.1, 0, 0, 4)]
)
def test_the_sizes_of_the_models_are_counted_in_the_run(name, shift, more, fewer, near):
    methods = ("hs-em", "hs-em-released")
    text = said(name, methods, cells_of(name, methods, shift))
    metrics = sum(metric != "Time" for metric in load(name).metrics)
    for label in ("HS-EM", "HS-EM, as released"):
        assert f"- {label}: more than printed in {more} of 4 settings, fewer in {fewer}" in text
        beside = f"- {label}, beside the printed HS-EM: {near * metrics} of {4 * metrics} printed means"
        assert beside in text
    worse = 4 if shift > 2.0 else 0
    assert f"in {4 - worse} of 4 cells" in text
    for beforehand in ("lower MSE", "keep more variables", "where the paper has them", "keep as many"):
        assert beforehand not in text


@pytest.mark.parametrize("name", TABLES)
def test_nothing_is_said_of_a_method_that_is_not_there(name):
    experiment = load(name)
    labels = {METHODS[method].label: method for method in experiment.methods}
    for method in experiment.methods:
        text = said(name, (method,), cells_of(name, (method,), 9.0))
        if method not in ("mcp", "scad"):
            assert "SCAD" not in text
            assert "MCP" not in text
        for label in ("HS-like, mended", "HS-like", "as released", "Ridge", "Lasso"):
            named = [
                other for full, other in labels.items() if full.startswith(label) or full.endswith(label)
            ]
            assert label not in text or method in named, (label, text)


@pytest.mark.parametrize(("kept", "is_said"), [(0.0, True), (2.5, False)])
def test_that_nothing_is_kept_is_said_where_nothing_is(kept, is_said):
    methods = ("hs-like-mended", "visu-shrink")
    cells = [
        cell._replace(mean=kept) if (cell.method, cell.metric) == ("hs-like-mended", "No.V") else cell
        for cell in cells_of("table2", methods, 0.0)
    ]
    assert ("ends with nothing" in said("table2", methods, cells)) == is_said


def test_a_reason_that_shifts_a_count_says_what_is_left():
    cells = cells_of("table6", ("mcp",), -5.0)
    text = said("table6", ("mcp",), cells)
    sizes = [cell for cell in cells if cell.metric == "No.V"]
    for cell in sizes:
        assert abs(cell.difference) > 3.0
        assert f"With 1 more: {cell.shifted(1.0):+.1f} standard errors." in text


def test_one_replicate_compares_nothing():
    text = said("table3", ("hs-em", "mcp"), cells_of("table3", ("hs-em", "mcp"), 0.0, replicates=1))
    assert "no standard errors, and nothing is compared" in text
    assert "printed means" not in text
    assert "more than printed" not in text
