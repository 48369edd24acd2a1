"""What the run promises of the adaptive estimators, compared with what it measured."""

from __future__ import annotations

from benchmarks.harness.run import Run
from benchmarks.harness.verdicts import Check
from benchmarks.peers import scikit_learn
from benchmarks.peers.methods import ADAPTIVE
from benchmarks.peers.pins import SKLEARN
from benchmarks.tasks.adaptive import HUGE
from benchmarks.tasks.registry import TASKS
from benchmarks.tasks.task import Case

REGRESSOR, CLASSIFIER = "AdaptiveRegressor", "AdaptiveClassifier"
LASSO_SHAPES = ("70x350",)
PEER_SHAPES = ("200x1000", "1000x200", "500x2000", "200x10000")
CLASSES_SHAPES = ("100x400", "200x214")
HUGE_GIB = 6


def _less(run: Run, case: Case, who: str, rivals: list[str], whom: str) -> Check:
    """Compare an adaptive estimator with the fastest of some peers."""
    text = f"{case.name}: {who} takes less CPU than {whom}"
    fastest = run.fastest(case, rivals, ADAPTIVE)
    if fastest is None:
        return Check(text, "", None, case, ADAPTIVE)
    measured = f"{fastest.name} takes {fastest.times:.2f} times its CPU{fastest.note}"
    return Check(text, measured, fastest.judged(fastest.times > 1.0), case, ADAPTIVE)


def _huge(run: Run) -> Check:
    case = Case("adaptive", HUGE)
    text = f"{case.name}: peak memory of the whole process with {REGRESSOR} under {HUGE_GIB} GiB"
    result = run.results.get((case, ADAPTIVE))
    if result is None or result.whole is None:
        return Check(text, "", None, case, ADAPTIVE)
    gib = result.whole / 2**30
    return Check(text, f"{gib:.2f} GiB", gib < HUGE_GIB, case, ADAPTIVE)


def adaptive_checks(run: Run) -> list[Check]:
    """Every promise of the adaptive estimators."""
    peers, solvers = TASKS["linear"].cross_validated(), TASKS["logistic"].cross_validated(SKLEARN)
    lasso, peer = scikit_learn.LASSO, "the fastest cross-validated peer"
    solver = "the fastest scikit-learn LogisticRegressionCV"
    linear, logistic = "linear", "logistic"
    return [
        *(_less(run, Case(linear, s), REGRESSOR, [lasso.name], lasso.label) for s in LASSO_SHAPES),
        *(_less(run, Case(linear, s), REGRESSOR, peers, peer) for s in PEER_SHAPES),
        *(_less(run, Case(logistic, s), CLASSIFIER, solvers, solver) for s in CLASSES_SHAPES),
        _huge(run),
    ]
