"""What the experiment "adaptive" comes to, counted in its cells: errors, selection, intervals, inclusion."""

from __future__ import annotations

from collections.abc import Callable

from horseshoe_reproduction.cells import Cell
from horseshoe_reproduction.comparison import OURS, OVERALL, Index, Verdict, index, rival_auc, verdicts_of
from horseshoe_reproduction.experiment import Experiment
from horseshoe_reproduction.methods import METHODS
from horseshoe_reproduction.report import number
from horseshoe_reproduction.scores import BINS

# No signal: the least share of data sets with nothing selected, and the most percent above the mean's error.
# One signal: where false columns must be below.
EMPTY, ABOVE_MEAN, FALSE = 0.9, 2.0, 0.2
# Per cent of the error of a prediction by which no more than a few rows may be behind.
DEAR = 3.0
# Of intervals of 95 %, and how far from the diagonal a bin of inclusion may be.
ROWS_COVERED, EFFECTS_COVERED, DIAGONAL = (0.93, 0.97), 0.90, 0.1
# Columns in a bin, below which it is not judged.
ENOUGH = 50


def criteria(experiment: Experiment, cells: list[Cell]) -> list[str]:
    """Return what is met and what is not, as lines of Markdown."""
    found, verdicts = index(cells), verdicts_of(experiment, cells)
    return [
        *_errors(experiment, verdicts),
        *_prices(experiment, verdicts),
        *_no_signal(experiment, found),
        *_one_signal(experiment, found),
        *_ranks(experiment, found),
        *_share(experiment, found, "Rows covered", "Intervals of new rows cover 93 to 97 %", _near_level),
        *_share(
            experiment, found, "Effects covered", "Intervals of effects cover at least 90 %", _covers_enough
        ),
        *_calibrated(found),
    ]


def _near_level(share: float) -> bool:
    return ROWS_COVERED[0] <= share <= ROWS_COVERED[1]


def _covers_enough(share: float) -> bool:
    return share >= EFFECTS_COVERED


def _errors(experiment: Experiment, verdicts: list[Verdict]) -> list[str]:
    if not verdicts:
        return []
    failed = [verdict for verdict in verdicts if not verdict.within]
    line = (
        f"- Mean error within one paired standard error of the best of the others, or better, in "
        f"{len(verdicts) - len(failed)} of {len(verdicts)} rows."
    )
    return [line, *(_failure(experiment, verdict) for verdict in failed)]


def _failure(experiment: Experiment, verdict: Verdict) -> str:
    setting = verdict.ours.setting
    reason = experiment.reason(setting, "Error", OURS)
    why = f" {reason.text}" if reason else ""
    return (
        f"  - NOT in {experiment.settings[setting]}: {number(verdict.ours.mean)}, "
        f"{METHODS[verdict.best.method].label} {number(verdict.best.mean)}: {verdict.percent:+.1f} %, "
        f"z = {verdict.z:+.1f}.{why}"
    )


def _prices(experiment: Experiment, verdicts: list[Verdict]) -> list[str]:
    """Say where a user pays most for not knowing which method is best."""
    if not verdicts:
        return []
    dear = sorted((v for v in verdicts if v.of_prediction > DEAR), key=lambda v: -v.of_prediction)
    line = (
        f"- The error of a prediction, noise included, is at most {DEAR:g} % above that of the best of the "
        f"others in {len(verdicts) - len(dear)} of {len(verdicts)} rows."
    )
    return [line, *(f"  - {experiment.settings[v.ours.setting]}: {v.of_prediction:+.1f} %." for v in dear)]


def _no_signal(experiment: Experiment, found: Index) -> list[str]:
    lines = []
    for setting in (name for name in experiment.settings if name.split("-")[-1] == "none"):
        empty = found.get((setting, "Empty", OURS))
        ours, mean = (found.get((setting, "Error", method)) for method in (OURS, "mean"))
        truth = found.get((setting, "Truth", OURS))
        if empty and ours and mean and truth:
            above = 100.0 * ((truth.mean + ours.mean) / (truth.mean + mean.mean) - 1.0)
            word = _word(empty.mean >= EMPTY and above <= ABOVE_MEAN)
            lines.append(
                f"- {word}: {experiment.settings[setting]}: nothing is selected in {empty.mean:.0%} of "
                f"data sets (at least {EMPTY:.0%}), the error of predictions is {above:+.2f} % above that of "
                f"the mean (at most {ABOVE_MEAN:g} %); beyond that of the truth {number(ours.mean)} against "
                f"{number(mean.mean)}."
            )
    return lines


def _one_signal(experiment: Experiment, found: Index) -> list[str]:
    lines = []
    for setting in (name for name in experiment.settings if name.split("-")[-1] == "one"):
        true, false = (found.get((setting, metric, OURS)) for metric in ("True", "False"))
        if true and false:
            word = _word(true.mean == 1.0 and false.mean < FALSE)
            lines.append(
                f"- {word}: {experiment.settings[setting]}: found in {true.mean:.0%} of data sets, with "
                f"{false.mean:.2g} false columns on average (below {FALSE:g})."
            )
    return lines


def _word(met: bool) -> str:
    return "Met" if met else "NOT met"


def _ranks(experiment: Experiment, found: Index) -> list[str]:
    pairs = []
    for setting in experiment.settings:
        ours, theirs = found.get((setting, "AUC", OURS)), rival_auc(found, setting)
        if ours and theirs:
            pairs.append((ours, theirs))
    behind = [(ours, theirs) for ours, theirs in pairs if ours.mean < theirs.mean]
    if not pairs:
        return []
    line = (
        f"- AUC of inclusion at least that of stability selection in {len(pairs) - len(behind)} "
        f"of {len(pairs)} truths."
    )
    return [
        line,
        *(
            f"  - NOT in {experiment.settings[ours.setting]}: {ours.mean:.3f} ({ours.error:.2g}) against "
            f"{theirs.mean:.3f} ({theirs.error:.2g})."
            for ours, theirs in behind
        ),
    ]


def _share(
    experiment: Experiment, found: Index, metric: str, text: str, good: Callable[[float], bool]
) -> list[str]:
    """Count the rows in which a share is as it must be, and name the others."""
    cells = [found[key] for s in experiment.settings if (key := (s, metric, OURS)) in found]
    bad = [cell for cell in cells if not good(cell.mean)]
    if not cells:
        return []
    lines = [f"  - NOT in {experiment.settings[c.setting]}: {c.mean:.1%} ({c.error:.1%})." for c in bad]
    return [f"- {text} in {len(cells) - len(bad)} of {len(cells)} rows.", *lines]


def _calibrated(found: Index) -> list[str]:
    gaps = []
    for k in range(BINS):
        share, inclusion = (found.get((OVERALL, f"{what}, bin {k}", OURS)) for what in ("True", "Inclusion"))
        if share and inclusion and share.replicates >= ENOUGH:
            gaps.append(abs(share.mean - inclusion.mean))
    if not gaps:
        return []
    return [
        f"- {_word(max(gaps) <= DIAGONAL)}: the share of true columns is within {DIAGONAL:g} of inclusion in "
        f"every bin of at least {ENOUGH} columns; the farthest is {max(gaps):.2f} away ({len(gaps)} bins)."
    ]
