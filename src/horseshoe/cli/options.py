"""The options that commands share, each declared once, with its help."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import partial, wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

# Options in one of the panels of the help.
of_data, of_model, of_output = (
    partial(typer.Option, rich_help_panel=panel)
    for panel in ("What is asked", "How it is fitted", "What is written")
)
of_column = partial(of_data, metavar="COLUMN")


class Decimal(StrEnum):
    """The decimal sign of a file."""

    point = "point"
    comma = "comma"


class Estimator(StrEnum):
    """What is fitted: the model average, one posterior mode, or a mode with intervals from draws."""

    ADAPTIVE = "adaptive"
    MODE = "mode"
    POSTERIOR = "posterior"


Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A CSV, TSV, Parquet or Feather file; a PLINK .bed file; - for standard input; or a built-in "
        "set: diabetes, breast_cancer, wine, iris.",
        show_default=False,
    ),
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A file that horseshoe fit --model wrote.", show_default=False)
]
DecimalSign = Annotated[
    Decimal | None,
    of_data(
        help="The decimal sign of the table, where its numbers do not show it: with comma, 7.805 is 7805."
    ),
]
Level = Annotated[float, of_model(min=0.01, max=0.9999, help="The coverage of intervals.")]
Jobs = Annotated[int | None, of_model(min=1, help="Threads or processes; the answer is the same.")]
Seed = Annotated[
    int | None,
    of_model(min=0, help="Of folds and draws; without one the same data have the same."),
]
Quiet = Annotated[bool, of_output("--quiet", "-q", help="Show no progress on standard error.")]
AsJson = Annotated[bool, of_output("--json", help="Print JSON for other programs, and nothing else.")]


@dataclass(frozen=True)
class CliOptions:
    """What is asked of which data: the options of all commands that fit.

    Examples
    --------
    >>> CliOptions(levels=["none,mild,severe"]).as_arguments()["levels"]
    ('none', 'mild', 'severe')
    """

    target: Annotated[
        str | None,
        of_data(
            "--target",
            "-t",
            metavar="COLUMN",
            help="The column to explain; for a .bed file FILE:COLUMN, the table of the phenotypes.",
        ),
    ] = None
    family: Annotated[
        str | None,
        of_data(
            metavar="NAME",
            help="gaussian, student_t, laplace, huber, quantile (the median, or --quantile), poisson, "
            "negative_binomial, gamma, tweedie, ordinal, or classes; guessed from the target by default, and "
            "said. Survival is asked with --event.",
        ),
    ] = None
    formula: Annotated[str | None, of_data(metavar="TEXT", help="Such as 'y ~ a*b + log(c)'.")] = None
    missing: Annotated[
        list[str] | None,
        of_data(
            metavar="WAY",
            help="What to do with missing values: error (the default), drop to drop the rows, or median for "
            "the median or the most frequent level; COLUMN=WAY for one column; repeated. A column in "
            "--unpenalized is filled in only by name.",
        ),
    ] = None
    weights: Annotated[str | None, of_column(help="How often each row counts.")] = None
    offset: Annotated[str | None, of_column(help="A known part of the linear predictor.")] = None
    exposure: Annotated[str | None, of_column(help="What counts are proportional to.")] = None
    event: Annotated[
        str | None,
        of_column(
            help="For survival: whether the event was seen at the time in the target (1, yes) or not "
            "(0, no); COLUMN=VALUE names the value that means the event.",
        ),
    ] = None
    entry: Annotated[
        str | None, of_column(help="With --event: from when on a row is at risk (left truncation).")
    ] = None
    strata: Annotated[str | None, of_column(help="With --event: groups with a baseline hazard each.")] = None
    quantile: Annotated[
        float | None,
        of_data(
            metavar="SHARE",
            help="Model this quantile of the target, 0.9 for one, in the place of its mean.",
        ),
    ] = None
    levels: Annotated[
        list[str] | None,
        of_data(
            metavar="WORDS",
            help="The target is ordered levels: name them from the lowest to the highest, with commas "
            "between them; repeat the option instead for words that have commas.",
        ),
    ] = None
    drop: Annotated[list[str] | None, of_column(help="Leave this column out; may be repeated.")] = None
    columns: Annotated[list[str] | None, of_column(help="Use only these columns; repeated.")] = None
    categorical: Annotated[
        list[str] | None, of_column(help="Numbers that are names of groups; repeated.")
    ] = None
    numeric: Annotated[
        list[str] | None,
        of_column(help="Take this column as numbers that were measured; repeated."),
    ] = None
    missing_value: Annotated[
        list[str] | None,
        of_data(
            metavar="VALUE",
            help="A value that stands for a missing one, such as -999, or COLUMN=VALUE for one column; "
            "repeated. What looks like such a value is asked about; --numeric says that it was measured.",
        ),
    ] = None
    decimal: DecimalSign = None
    unpenalized: Annotated[
        list[str] | None,
        of_model(metavar="COLUMN", help="Keep this column in, without shrinkage; may be repeated."),
    ] = None

    def as_arguments(self) -> dict[str, Any]:
        """Return the arguments of `horseshoe.intake.problem.prepare_problem`."""
        from horseshoe.intake.ordered_target import split_levels

        found = {name: value for name, value in vars(self).items() if name != "decimal"}
        return found | {"levels": split_levels(self.levels), "missing_values": found.pop("missing_value")}


def with_cli_options(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that has the options of `CliOptions`, in the place of its parameter ``options``.

    Examples
    --------
    >>> def show(options: CliOptions, level: float = 0.9) -> None:
    ...     print(options.target, level)
    >>> with_cli_options(show)(target="y")
    y 0.9
    >>> [*signature(with_cli_options(show)).parameters][-3:]
    ['decimal', 'unpenalized', 'level']
    """
    shared = fields(CliOptions)
    hints = get_type_hints(CliOptions, include_extras=True) | get_type_hints(command, include_extras=True)
    own = signature(command).parameters.values()
    place = [one.name for one in own].index("options")
    defaults = [(one.name, one.default) for one in own]
    defaults[place : place + 1] = [(one.name, one.default) for one in shared]

    @wraps(command)
    def run(**given: Any) -> None:
        options = CliOptions(**{one.name: given.pop(one.name) for one in shared if one.name in given})
        command(options=options, **given)

    run.__annotations__ = {name: hints[name] for name, _ in defaults}
    run.__signature__ = Signature(  # type: ignore[attr-defined]
        [
            Parameter(name, Parameter.KEYWORD_ONLY, default=default, annotation=hints[name])
            for name, default in defaults
        ]
    )
    return run
