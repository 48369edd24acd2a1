"""The adaptive estimators in the benchmark: who competes, what is judged of an answer, and the verdicts."""

import numpy as np
import pytest
from benchmarks.__main__ import parse
from benchmarks.harness.jobs import FitJob
from benchmarks.harness.measure import Result
from benchmarks.harness.plan import plan
from benchmarks.harness.report import render
from benchmarks.harness.run import Run
from benchmarks.harness.tables import cpu_cell
from benchmarks.peers.methods import ADAPTIVE, OURS, Fitted, nonzero
from benchmarks.tasks import linear
from benchmarks.tasks.adaptive import HUGE
from benchmarks.tasks.adaptive_checks import adaptive_checks
from benchmarks.tasks.checks import all_checks
from benchmarks.tasks.registry import TASKS
from benchmarks.tasks.task import Case

LASSO = Case("linear", "70x350")
PEERS = Case("linear", "200x1000")
CLASSES = Case("logistic", "100x400")
MEMORY = Case("adaptive", HUGE)
ABOUT = {
    "command": "a test",
    "date": "today",
    "seconds": 1.0,
    "cpu": "a processor",
    "cores": 2,
    "python": "3",
    "load": "0",
    "versions": {},
}


def run_of(case, **seconds):
    """Return a run in which methods took so long; names have underscores here."""
    run = Run(dict(ABOUT))
    for name, cpu in seconds.items():
        method = name.replace("_", "-")
        run.results[case, method] = Result(case, method, cold_cpu=cpu, first_cpu=cpu, rounds=[[cpu]] * 3)
    return run


def check_of(run, case, checks=adaptive_checks):
    """Return the one promise of an adaptive estimator in a case."""
    (found,) = (c for c in checks(run) if c.case == case and c.method == ADAPTIVE)
    return found


def rivals(case, cpu, **others):
    """Return the seconds of every cross-validated rival of a case."""
    library = "scikit-learn" if case.task == "logistic" else None
    names = TASKS[case.task].cross_validated(library)
    return {name.replace("-", "_"): cpu for name in names} | others


@pytest.mark.parametrize("task", ["linear", "logistic"])
def test_both_tasks_have_it_where_the_peers_compete(task):
    contest = TASKS[task].contests[0]
    assert {OURS, ADAPTIVE} <= set(contest.methods)
    assert TASKS[task].methods[ADAPTIVE].environment is None
    assert all(ADAPTIVE not in other.methods for other in TASKS[task].contests[1:])


@pytest.mark.parametrize("task", ["linear", "logistic"])
def test_we_are_no_peers_of_ourselves(task):
    assert TASKS[task].methods[ADAPTIVE].cross_validated
    assert not {OURS, ADAPTIVE} & set(TASKS[task].cross_validated())


def test_the_support_is_selected_and_the_average_has_the_error():
    coef = np.full(30, 0.1)
    selected = np.zeros(30, dtype=bool)
    selected[[0, 1, 25]] = True
    quality = linear.SIMULATION.quality(Fitted(coef, 0.0, selected), seed=1)
    assert (quality.selected, quality.true_positives, quality.false_positives) == (3, 2, 1)
    assert quality.model_error == linear.SIMULATION.model_error(coef)
    assert linear.SIMULATION.quality(nonzero(coef, 0.0), seed=1).selected == 30


def test_a_selection_of_another_size_is_refused():
    X, y = linear.SIMULATION.make_data(30, 25, 1)
    with pytest.raises(ValueError, match=r"of shape \(24,\) for 25 columns"):
        linear.SIMULATION.check(X, y, Fitted(np.zeros(25), float(y.mean()), np.ones(24, dtype=bool)))


@pytest.mark.parametrize("task", ["linear", "logistic", "adaptive"])
def test_a_worker_fits_it(task):
    record = FitJob(Case(task, "60x25"), TASKS[task].methods[ADAPTIVE]).first()
    (quality,) = record["quality"]
    assert quality["selected"] < 25
    assert record["whole"] > record["peak"] >= 0


def test_at_the_smallest_shape_only_the_lasso_counts():
    check = check_of(run_of(LASSO, horseshoe_cv=1.0, sklearn_lasso=1.5, celer=0.5), LASSO)
    assert check.passed is True
    assert check.measured == "sklearn-lasso takes 1.50 times its CPU"
    assert check_of(run_of(LASSO, horseshoe_cv=1.0, sklearn_lasso=0.9), LASSO).passed is False


@pytest.mark.parametrize("case", [PEERS, CLASSES])
def test_elsewhere_every_rival_counts(case):
    times = rivals(case, 2.0)
    assert check_of(run_of(case, horseshoe_cv=1.0, **times), case).passed is True
    fast = next(iter(times))
    assert check_of(run_of(case, horseshoe_cv=1.0, **times | {fast: 0.8}), case).passed is False
    assert check_of(run_of(case, horseshoe_cv=1.0, **times | {fast: 1.0}), case).passed is False
    del times[fast]
    found = check_of(run_of(case, horseshoe_cv=1.0, **times), case)
    assert found.passed is None
    assert f"not measured: {fast.replace('_', '-')}" in found.measured


def test_the_fast_peer_that_ran_refutes_without_the_others():
    assert check_of(run_of(PEERS, horseshoe_cv=1.0, celer=0.5), PEERS).passed is False


def test_methods_that_are_not_cross_validated_are_no_rivals():
    times = rivals(PEERS, 2.0, abess=0.1, sklearn_ard=0.1)
    assert check_of(run_of(PEERS, horseshoe_cv=1.0, **times), PEERS).passed is True


def test_our_default_keeps_its_own_checks_and_is_what_ratios_refer_to():
    run = run_of(PEERS, horseshoe=0.1, horseshoe_cv=1.0, **rivals(PEERS, 2.0))
    (ours,) = (c for c in all_checks(run) if c.case == PEERS and "at least" in c.text)
    assert (ours.passed, ours.measured) == (True, "20.0 times less than sklearn-lasso")
    assert cpu_cell(run)(run.results[PEERS, ADAPTIVE]) == "1.00 (10.00x)"


def huge(whole=None, reason=""):
    run = Run(dict(ABOUT))
    run.results[MEMORY, ADAPTIVE] = Result(
        MEMORY, ADAPTIVE, reason, cold_cpu=30.0, first_cpu=29.0, whole=whole, peak=whole
    )
    return run


def test_the_whole_process_counts_for_memory():
    assert check_of(huge(2**31), MEMORY, all_checks).passed is True
    assert check_of(huge(6 * 2**30), MEMORY, all_checks).passed is False
    assert check_of(huge(2**31), MEMORY).measured == "2.00 GiB"


def test_a_fit_that_was_lost_fails():
    lost = check_of(huge(reason="killed (out of memory?)"), MEMORY, all_checks)
    assert (lost.passed, lost.measured) == (False, "our fit failed: killed (out of memory?)")


def test_what_did_not_run_is_not_measured():
    assert {c.verdict for c in adaptive_checks(Run(dict(ABOUT)))} == {"NOT MEASURED"}


def test_one_fit_is_all_that_the_largest_data_get():
    (step,) = plan(parse(["--tasks", "adaptive"]))
    assert (step.case, step.methods, step.rounds) == (MEMORY, (ADAPTIVE,), 0)
    assert "adaptive" not in {step.case.task for step in plan(parse(["--quick"]))}


def test_the_shapes_of_the_adaptive_estimators_can_be_run_alone():
    names = ["--tasks", "linear", "logistic", "adaptive", "--methods", ADAPTIVE, "sklearn-lasso"]
    steps = plan(parse(names))
    shapes = [
        shape for task in TASKS.values() if ADAPTIVE in task.methods for shape in task.contests[0].shapes
    ]
    assert [step.case.shape for step in steps] == shapes


def test_the_report_has_a_fit_without_rounds():
    report = render(huge(2**31))
    assert "| horseshoe AdaptiveRegressor() | yes | first fit 29.00 |" in report
    assert f"PASS: adaptive {HUGE}: peak memory of the whole process" in report
