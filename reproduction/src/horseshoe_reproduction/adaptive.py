"""Does one estimator adapt to the unknown sparsity? Against every other method, on every kind of truth.

Not a table of the paper, which leaves the question open. The rows are those of `adaptive_rows`; the rivals
are at their better rule, since both rules are there.
"""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec

import numpy as np

from horseshoe_reproduction.adaptive_report import EXPLANATION, PRESENTATION
from horseshoe_reproduction.adaptive_rows import FULL, Row, real_rows, table_rows, truth_rows
from horseshoe_reproduction.comparison import OURS, REFERENCES
from horseshoe_reproduction.designs import load_all
from horseshoe_reproduction.experiment import Experiment, Note, Problem, Reason
from horseshoe_reproduction.methods import METHODS

# Truths in which all columns are true, or none: there is nothing to rank.
RIVALS = (
    "lasso-min",
    "lasso-1se",
    "ridge-min",
    "ridge-1se",
    "ridge-best",
    "enet-min",
    "enet-1se",
    "mcp",
    "scad",
    "hs-like",
    "hs-em-auto",
    "posterior-mean",
    "mixture",
)
GAUSSIAN_ONLY = ("hs-like", "mixture")
UNRANKED = ("dense", "none")


def missing(name: str) -> str | None:
    """Tell why a method cannot be run; None if it can.

    Examples
    --------
    >>> missing("adaptive") is None
    True
    """
    absent = [module for module in METHODS[name].needs if find_spec(module) is None]
    return f"{', '.join(absent)} is not installed" if absent else None


def _applies(rows: dict[str, Row], setting: str, method: str) -> bool:
    """Tell whether a method has a place in a row."""
    row = rows[setting]
    if method in GAUSSIAN_ONLY:
        return row.kind == "gaussian"
    return method != "stability" or (row.simulated and setting.split("-")[-1] not in UNRANKED)


def experiment(name: str, title: str, rows: dict[str, Row]) -> Experiment:
    """Return the experiment with these rows and all methods that can be run; a note says which cannot."""
    names = (OURS, *RIVALS, *REFERENCES)
    absent = {method: why for method in names if (why := missing(method))}

    def draw(setting: str, rng: np.random.Generator) -> Problem:
        return rows[setting].draw(rng)

    def prepare(settings: Iterable[str]) -> None:
        load_all(sorted({data for setting in settings if (data := rows[setting].data)}))

    return Experiment(
        name=name,
        title=title,
        settings={key: row.heading for key, row in rows.items()},
        metrics=("Error", "Time"),
        methods=tuple(method for method in names if method not in absent),
        replicates=FULL,
        draw=draw,
        prepare=prepare,
        reasons=REASONS,
        notes=(*NOTES, *(Note(f"Left out: {method}, since {why}.") for method, why in absent.items())),
        fewer={key: row.replicates for key, row in rows.items() if row.replicates < FULL},
        applies=lambda setting, method: _applies(rows, setting, method),
        streams={key: row.stream for key, row in rows.items() if row.stream},
        explanation=EXPLANATION,
        presentation=PRESENTATION,
    )


NOTES = (
    Note(
        "The error of rows of Table 3 is that of the table: of the coefficients, without the intercept.",
        (),
        lambda cells: any(cell.setting.startswith("table3") for cell in cells),
    ),
    Note(
        "glmnet's path of ridge ends at a hundredth of its largest penalty where p > n. The longer path goes "
        "on to a millionth, and is at its least cross-validated error.",
        ("ridge-best",),
    ),
    Note("HS-like has Gaussian responses only.", ("hs-like",)),
    Note("The normal mixture has Gaussian responses only.", ("mixture",)),
    Note(
        "Of counts, the lasso, ridge, the elastic net, MCP and SCAD are found by compiled coordinate descent "
        "with the grids of glmnet and ncvreg: python-glmnet has no counts.",
        ("lasso-min", "lasso-1se", "ridge-min", "ridge-1se", "enet-min", "enet-1se", "mcp", "scad"),
        lambda cells: any(cell.setting.startswith("count-") for cell in cells),
    ),
    Note(
        "Stability selection: the lasso on 100 random halves of the rows, its AUC at the best of four "
        "penalties for each truth, which nobody knows beforehand.",
        ("stability",),
    ),
    Note(
        "t2 noise has no finite variance: a few data sets can decide a mean.",
        (),
        lambda cells: any(cell.setting == "heavy" for cell in cells),
    ),
)

REASONS = (
    Reason(
        "Whoever says anything is at least one standard error behind the mean here, and who never does "
        "misses dense effects on classes (decision 9).",
        settings=("none", "binary-none", "count-none"),
    ),
    Reason(
        "Ridge is right here. That it is has to be found out, and meanwhile some weight goes to others.",
        settings=(
            "dense",
            "binary-dense",
            "count-dense",
            "table5-eye",
            "table6-heart-100",
            "real-boston",
            "real-diabetes",
            "real-eye",
            "real-heart",
        ),
    ),
    Reason(
        "One column says it all, and so little is left of the error that it shows what else has weight.",
        settings=("one", "binary-one", "count-one"),
    ),
    Reason(
        "Counts that scatter more than Poisson counts do: their likelihood, which weighs the components, "
        "believes single rows too much.",
        settings=("count-heavy",),
    ),
    Reason(
        "At the edge of what so few rows can tell: a few data sets on which the signals are missed have "
        "nearly all of the mean error, and other methods miss them on others.",
        settings=("widest",),
    ),
    Reason(
        "Classes have no net among their components, which gains in groups, and the mode counts half as much "
        "as a mixture: both help where few effects are alone (decision 9).",
        settings=("binary-groups",),
    ),
)

EXPERIMENT = experiment(
    "adaptive",
    "Adapting to the unknown sparsity, from no signal to all columns",
    {**truth_rows(), **table_rows(), **real_rows()},
)
