"""The options that commands share, with their help: what is asked of which data."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

DATA, MODEL, OUTPUT = "What is asked", "How it is fitted", "What is written"
"""The panels of the help."""


class Decimal(StrEnum):
    """The decimal sign of a file."""

    point = "point"
    comma = "comma"


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A CSV, TSV, Parquet or Feather file; a PLINK .bed file; - for standard input; or a built-in "
        "set: diabetes, breast_cancer, wine, iris.",
        show_default=False,
    ),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target",
        "-t",
        metavar="COLUMN",
        help="The column to explain; for a .bed file FILE:COLUMN, the table of the phenotypes.",
        rich_help_panel=DATA,
    ),
]
FamilyName = Annotated[
    str | None,
    typer.Option(
        "--family",
        metavar="NAME",
        help="gaussian, student_t, laplace, huber, quantile (the median, or --quantile), poisson, "
        "negative_binomial, gamma, tweedie, ordinal, or classes; guessed from the target by default, and "
        "said. Survival is asked with --event.",
        rich_help_panel=DATA,
    ),
]
FormulaText = Annotated[
    str | None,
    typer.Option("--formula", metavar="TEXT", help="Such as 'y ~ a*b + log(c)'.", rich_help_panel=DATA),
]
MissingWay = Annotated[
    list[str] | None,
    typer.Option(
        "--missing",
        metavar="WAY",
        help="What to do with missing values: error (the default), drop to drop the rows, or median for the "
        "median or the most frequent level; COLUMN=WAY for one column; repeated. A column in --unpenalized "
        "is filled in only by name.",
        rich_help_panel=DATA,
    ),
]
MissingValue = Annotated[
    list[str] | None,
    typer.Option(
        "--missing-value",
        metavar="VALUE",
        help="A value that stands for a missing one, such as -999, or COLUMN=VALUE for one column; repeated. "
        "What looks like such a value is asked about; --numeric says that it was measured.",
        rich_help_panel=DATA,
    ),
]
DecimalSign = Annotated[
    Decimal | None,
    typer.Option(
        "--decimal",
        help="The decimal sign of the table, where its numbers do not show it: with comma, 7.805 is 7805.",
        rich_help_panel=DATA,
    ),
]
Weights = Annotated[
    str | None,
    typer.Option("--weights", metavar="COLUMN", help="How often each row counts.", rich_help_panel=DATA),
]
Offset = Annotated[
    str | None,
    typer.Option(
        "--offset", metavar="COLUMN", help="A known part of the linear predictor.", rich_help_panel=DATA
    ),
]
Exposure = Annotated[
    str | None,
    typer.Option(
        "--exposure", metavar="COLUMN", help="What counts are proportional to.", rich_help_panel=DATA
    ),
]
Event = Annotated[
    str | None,
    typer.Option(
        "--event",
        metavar="COLUMN",
        help="For survival: whether the event was seen at the time in the target (1, yes) or not (0, no); "
        "COLUMN=VALUE names the value that means the event.",
        rich_help_panel=DATA,
    ),
]
Entry = Annotated[
    str | None,
    typer.Option(
        "--entry",
        metavar="COLUMN",
        help="With --event: from when on a row is at risk (left truncation).",
        rich_help_panel=DATA,
    ),
]
Strata = Annotated[
    str | None,
    typer.Option(
        "--strata",
        metavar="COLUMN",
        help="With --event: groups with a baseline hazard each.",
        rich_help_panel=DATA,
    ),
]
QuantileLevel = Annotated[
    float | None,
    typer.Option(
        "--quantile",
        metavar="SHARE",
        help="Model this quantile of the target, 0.9 for one, in the place of its mean.",
        rich_help_panel=DATA,
    ),
]
Levels = Annotated[
    list[str] | None,
    typer.Option(
        "--levels",
        metavar="WORDS",
        help="The target is ordered levels: name them from the lowest to the highest, with commas between "
        "them; repeat the option instead for words that have commas.",
        rich_help_panel=DATA,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        "--drop", metavar="COLUMN", help="Leave this column out; may be repeated.", rich_help_panel=DATA
    ),
]
Columns = Annotated[
    list[str] | None,
    typer.Option(
        "--columns", metavar="COLUMN", help="Use only these columns; repeated.", rich_help_panel=DATA
    ),
]


class Estimator(StrEnum):
    """What is fitted: the model average, one posterior mode, or a mode with intervals from draws."""

    ADAPTIVE = "adaptive"
    MODE = "mode"
    POSTERIOR = "posterior"


EstimatorName = Annotated[
    Estimator,
    typer.Option(
        "--estimator",
        help="adaptive: the model average, which adapts to the unknown sparsity. mode: the paper's single "
        "sparse mode. posterior: that mode, with intervals from draws of the whole posterior.",
        rich_help_panel=MODEL,
    ),
]
Unpenalized = Annotated[
    list[str] | None,
    typer.Option(
        "--unpenalized",
        metavar="COLUMN",
        help="Keep this column in, without shrinkage; may be repeated.",
        rich_help_panel=MODEL,
    ),
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(
        "--categorical",
        metavar="COLUMN",
        help="Numbers that are names of groups; repeated.",
        rich_help_panel=DATA,
    ),
]
Numeric = Annotated[
    list[str] | None,
    typer.Option(
        "--numeric",
        metavar="COLUMN",
        help="Take this column as numbers that were measured; repeated.",
        rich_help_panel=DATA,
    ),
]
Level = Annotated[
    float,
    typer.Option("--level", min=0.01, max=0.9999, help="The coverage of intervals.", rich_help_panel=MODEL),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Of folds and draws.", rich_help_panel=MODEL)]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", min=1, help="Threads or processes; the answer is the same.", rich_help_panel=MODEL
    ),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint",
        metavar="FILE",
        help="Keep the state of a long fit here; the same command goes on from it, to the same answer.",
        rich_help_panel=OUTPUT,
    ),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="Show no progress on standard error.", rich_help_panel=OUTPUT),
]
AsJson = Annotated[
    bool,
    typer.Option("--json", help="Print JSON for other programs, and nothing else.", rich_help_panel=OUTPUT),
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A file that horseshoe fit --model wrote.", show_default=False)
]
