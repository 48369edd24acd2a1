"""Paired differences and verdicts against what was computed by hand."""

import math

import pytest

from horseshoe_reproduction import load
from horseshoe_reproduction.adaptive_criteria import criteria
from horseshoe_reproduction.comparison import DIFFERENCE, OURS, cells_of, index, rival_auc, verdicts_of
from horseshoe_reproduction.journal import Record
from horseshoe_reproduction.report import make_report, markdown

ADAPTIVE = load("adaptive")


def records(setting, **errors):
    """Return the errors of each method, in the order of the data sets."""
    return [
        Record(setting, k, method.replace("_", "-"), {"Error": error})
        for method, values in errors.items()
        for k, error in enumerate(values)
    ]


def verdicts(*found):
    methods = tuple(dict.fromkeys(record.method for record in found))
    return verdicts_of(ADAPTIVE, cells_of(ADAPTIVE, methods, list(found)))


def test_the_difference_is_that_of_pairs():
    (verdict,) = verdicts(
        *records("one", adaptive=[1.0, 2.0, 4.0], mcp=[1.0, 1.0, 1.0], scad=[3.0, 3.0, 3.0])
    )
    assert verdict.best.method == "mcp"
    assert verdict.difference.mean == pytest.approx(4.0 / 3.0)  # of 0, 1, 3
    assert verdict.difference.error == pytest.approx(math.sqrt(42.0 / 18.0) / math.sqrt(3.0))
    assert verdict.z == pytest.approx((4.0 / 3.0) / math.sqrt(42.0 / 54.0))
    assert verdict.percent == pytest.approx(400.0 / 3.0)
    assert not verdict.within


def test_the_price_of_a_prediction_has_the_noise_that_the_truth_has():
    ours = [Record("one", k, OURS, {"Error": 1.0 + k, "Truth": 2.0 + 2.0 * k}) for k in range(2)]
    (verdict,) = verdicts(*ours, *records("one", mcp=[1.0, 1.0]))
    assert verdict.percent == pytest.approx(50.0)
    assert verdict.of_prediction == pytest.approx(12.5)  # 0.5 of 1 + 3
    (verdict,) = verdicts(*records("real-eye", adaptive=[1.0, 2.0], mcp=[1.0, 1.0]))
    assert verdict.of_prediction == verdict.percent


def test_a_difference_within_its_error_passes_however_wide_the_errors_are_apart():
    """Errors that go together: 0.1 apart on average, with an error of 0.1."""
    (verdict,) = verdicts(*records("one", adaptive=[10.0, 20.2], mcp=[10.0, 20.0]))
    assert verdict.z == pytest.approx(1.0)
    assert verdict.within == (verdict.difference.mean <= verdict.difference.error)
    (verdict,) = verdicts(*records("one", adaptive=[10.1, 20.1, 15.2], mcp=[10.0, 20.0, 15.0]))
    assert verdict.z == pytest.approx(4.0)
    assert not verdict.within


def test_rows_that_fail_come_first_the_worst_at_the_top():
    found = verdicts(
        *records("dense", adaptive=[1.0, 1.2], ridge_min=[2.0, 2.1]),
        *records("one", adaptive=[1.3, 1.2], mcp=[1.0, 1.0]),
        *records("none", adaptive=[1.21, 1.2], mcp=[1.0, 1.0]),
        *records("tall", adaptive=[1.0, 1.0], mcp=[1.0, 1.0]),
    )
    assert [verdict.ours.setting for verdict in found] == ["none", "one", "dense", "tall"]
    assert [verdict.within for verdict in found] == [False, False, True, True]
    assert found[-1].z == 0.0


def test_the_mean_and_stability_selection_are_no_rivals():
    (verdict,) = verdicts(*records("none", adaptive=[2.0, 3.0], mean=[1.0, 1.0], mcp=[4.0, 4.0]))
    assert verdict.best.method == "mcp"


def test_one_data_set_gives_no_verdict():
    assert verdicts(*records("none", adaptive=[2.0], mcp=[4.0])) == []


def test_only_data_sets_that_both_have_are_paired():
    found = records("one", adaptive=[1.0, 2.0, 9.0], mcp=[1.0, 1.0])
    cell = index(cells_of(ADAPTIVE, (OURS, "mcp"), found))["one", DIFFERENCE, "mcp"]
    assert (cell.mean, cell.replicates) == (0.5, 2)


def test_the_bins_are_added_up_over_all_truths():
    found = [
        Record("one", 0, OURS, {"Error": 1.0, "columns 8": 2.0, "inclusion 8": 1.7, "true 8": 2.0}),
        Record("tall", 0, OURS, {"Error": 1.0, "columns 8": 3.0, "inclusion 8": 2.4, "true 8": 1.0}),
    ]
    cells = index(cells_of(ADAPTIVE, (OURS,), found))
    share, inclusion = (cells["all truths", f"{what}, bin 8", OURS] for what in ("True", "Inclusion"))
    assert share.mean == pytest.approx(0.6)
    assert share.error == pytest.approx(math.sqrt(0.6 * 0.4 / 5.0))
    assert inclusion.mean == pytest.approx(0.82)
    assert share.replicates == 5


def test_of_stability_selection_only_the_ranks_count():
    found = [Record("one", k, "stability", {"AUC 0": 0.7, "Error": 5.0, "True": 0.0}) for k in range(2)]
    found += records("one", adaptive=[1.0, 2.0])
    cells = index(cells_of(ADAPTIVE, (OURS, "stability"), found))
    assert {metric for _, metric, method in cells if method == "stability"} == {"AUC 0"}


def test_stability_selection_is_judged_at_its_best_penalty():
    found = [Record("one", k, "stability", {"AUC 0": 0.7 + 0.1 * k, "AUC 1": 0.9}) for k in range(2)]
    assert rival_auc(index(cells_of(ADAPTIVE, ("stability",), found)), "one").mean == pytest.approx(0.9)


GOOD = {
    "True": 1.0,
    "False": 0.0,
    "Empty": 1.0,
    "AUC": 0.99,
    "Rows covered": 0.95,
    "Effects covered": 0.92,
    "columns 9": 60.0,
    "inclusion 9": 57.0,
    "true 9": 56.0,
}
BAD = {
    "True": 0.5,
    "False": 0.4,
    "Empty": 0.5,
    "AUC": 0.8,
    "Rows covered": 0.9,
    "Effects covered": 0.8,
    "columns 9": 60.0,
    "inclusion 9": 57.0,
    "true 9": 40.0,
}


@pytest.mark.parametrize(("metrics", "ours", "met"), [(GOOD, 1.01, True), (BAD, 1.1, False)])
def test_what_it_comes_to_is_counted_in_the_cells(metrics, ours, met):
    found = []
    for setting in ("one", "none"):
        for k, shift in enumerate((0.0, 0.05)):
            truth = {"Truth": 1.0} if setting == "none" else {}
            found.append(Record(setting, k, OURS, {"Error": ours + shift, **metrics, **truth}))
            found.append(Record(setting, k, "mcp", {"Error": 1.02}))
            found.append(Record(setting, k, "mean", {"Error": 1.02}))
            found.append(Record(setting, k, "stability", {"AUC 0": 0.9, "Error": 5.0}))
    cells = cells_of(ADAPTIVE, (OURS, "mcp", "mean", "stability"), found)
    text = "\n".join(criteria(ADAPTIVE, cells))
    count = 2 if met else 0
    for line in (
        f"or better, in {count} of 2 rows",
        f"above that of the best of the others in {count} of 2 rows",
        f"at least that of stability selection in {count} of 2 truths",
        f"cover 93 to 97 % in {count} of 2 rows",
        f"cover at least 90 % in {count} of 2 rows",
    ):
        assert line in text
    assert ("NOT" in text) == (not met)
    assert text.count("- Met") == (3 if met else 0)
    if not met:
        assert "- NOT in one signal, 100 x 200: 1.125, MCP 1.02: +10.3 %, z = +4.2." in text
        assert "  - one signal, 100 x 200: +10.3 %." in text  # without signal the noise is known: 5.2 %
        assert "  - no signal, 100 x 200: +5.2 %." in text
        assert "nothing is selected in 50% of data sets" in text
        assert "found in 50% of data sets, with 0.4 false columns" in text
        assert "the farthest is 0.28 away" in text


def test_the_report_has_the_verdict_first():
    found = [
        *records("dense", adaptive=[1.0, 1.2], ridge_min=[2.0, 2.1]),
        *records("one", adaptive=[1.3, 1.2], ridge_min=[1.0, 1.0], mcp=[1.1, 1.0]),
    ]
    methods = (OURS, "ridge-min", "mcp")
    report = make_report(ADAPTIVE, methods, cells_of(ADAPTIVE, methods, found), "command", {})
    first, errors = report.blocks
    assert [row[0] for row in first.rows] == ["one signal, 100 x 200", "dense, 100 x 200"]
    assert first.rows[0][2:] == [
        "Ridge, least error",
        "1 (0)",
        "0.25 (0.05)",
        "+5.0",
        "+25.0 %",
        "+25.0 %",
        "NOT within one s.e.",
    ]
    assert errors.header[1:] == ["Adaptive", "Ridge, least error", "MCP"]
    dense = next(row for row in errors.rows if row[0] == "dense, 100 x 200")
    assert dense == ["dense, 100 x 200", "1.1 (0.1)", "2.05 (0.05)", ""]
    assert markdown(report).index("NOT within") < markdown(report).index("Mean errors")
