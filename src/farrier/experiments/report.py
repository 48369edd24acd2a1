"""A table as Markdown, as CSV and as a picture, ours beside the printed figures."""

from __future__ import annotations

import math

from farrier.experiments.cells import Cell
from farrier.experiments.core import Experiment
from farrier.experiments.files import csv_text
from farrier.experiments.methods import METHODS
from farrier.experiments.verdicts import verdicts

FIELDS = (
    "setting",
    "metric",
    "method",
    "mean",
    "standard_error",
    "median",
    "replicates",
    "printed_mean",
    "printed_error",
    "difference",
)


def markdown(
    experiment: Experiment, methods: tuple[str, ...], cells: list[Cell], about: dict[str, str]
) -> str:
    """Return the report."""
    lines = [f"# {experiment.heading}", ""]
    lines += [
        "Means over replicates with their standard errors in parentheses; under each what the paper prints, "
        "and the difference in combined standard errors (ours minus printed). Time is in CPU seconds on one "
        "thread; the paper's are from another machine and are not compared.",
        "",
    ]
    for setting, heading in experiment.settings.items():
        block = [cell for cell in cells if cell.setting == setting]
        lines += [f"## {heading}", "", *_table(experiment, methods, block), ""]
    found = verdicts(experiment, cells)
    lines += ["## What it comes to", "", *found, ""] if found else []
    lines += [f"{note}\n" for note in experiment.notes]
    lines += ["## How it was made", "", f"    farrier reproduce {experiment.name}{_options(about)}", ""]
    return "\n".join([*lines, *(f"- {key}: {value}" for key, value in about.items() if key != "options"), ""])


def _options(about: dict[str, str]) -> str:
    return f" {about['options']}" if about.get("options") else ""


def _table(experiment: Experiment, methods: tuple[str, ...], block: list[Cell]) -> list[str]:
    """Return one setting: a column for each method."""
    lines = [_row("", [METHODS[m].label for m in methods]), "|---" * (len(methods) + 1) + "|"]
    for metric in experiment.metrics:
        cells = [cell for cell in block if cell.metric == metric]
        lines.append(_row(f"**{metric}**", [_with_error(cell.mean, cell.error) for cell in cells]))
        if metric == "MSE":
            lines.append(_row("median", [number(cell.median) for cell in cells]))
        if any(cell.printed for cell in cells):
            lines.append(_row("printed", [_printed(cell) for cell in cells]))
        if any(cell.difference is not None for cell in cells):
            lines.append(_row("difference", [_difference(cell) for cell in cells]))
    return lines


def _row(label: str, values: list[str]) -> str:
    return f"| {label} | " + " | ".join(values) + " |"


def number(value: float) -> str:
    """Write a number with four digits, without powers of ten.

    Examples
    --------
    >>> [number(value) for value in (162.71, 0.0081234, 350.0, 13068.4, 0.0)]
    ['162.7', '0.00812', '350', '13068', '0']
    """
    if value == 0.0 or not math.isfinite(value):
        return f"{value:g}"
    decimals = min(max(3 - math.floor(math.log10(abs(value))), 0), 5)
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals else text


def _with_error(mean: float, error: float) -> str:
    return number(mean) if math.isnan(error) else f"{number(mean)} ({error:.2g})"


def _printed(cell: Cell) -> str:
    return "" if cell.printed is None else _printed_text(cell.printed.mean, cell.printed.error)


def _printed_text(mean: float, error: float | None) -> str:
    return f"{mean:g}" if error is None else f"{mean:g} ({error:g})"


def _difference(cell: Cell) -> str:
    return "" if cell.difference is None or math.isnan(cell.difference) else f"{cell.difference:+.1f}"


def table_csv(cells: list[Cell]) -> str:
    """Return the cells as CSV."""
    return csv_text(FIELDS, map(_fields, cells))


def _fields(cell: Cell) -> list[object]:
    theirs = (cell.printed.mean, cell.printed.error) if cell.printed else (None, None)
    ours = [_digits(value) for value in (cell.mean, cell.error, cell.median)]
    start = [cell.setting, cell.metric, cell.method]
    return [*start, *ours, cell.replicates, *theirs, _digits(cell.difference)]


def _digits(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.6g}"
