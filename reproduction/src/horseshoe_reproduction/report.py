"""A table as Markdown, as CSV and as a picture, ours beside the printed figures."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from horseshoe_reproduction.cells import Cell, summarise
from horseshoe_reproduction.experiment import Experiment
from horseshoe_reproduction.files import csv_text
from horseshoe_reproduction.journal import Record
from horseshoe_reproduction.methods import METHODS
from horseshoe_reproduction.picture import draw
from horseshoe_reproduction.verdicts import verdicts

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


class Block(NamedTuple):
    """One setting of a table: a row for each method, or for each metric if there are more of them.

    A text may have several lines.
    """

    heading: str
    header: list[str]
    rows: list[list[str]]


class Report(NamedTuple):
    """What a reader gets to see."""

    heading: str
    explanation: str
    blocks: list[Block]
    verdicts: list[str]
    notes: tuple[str, ...]
    command: str
    about: dict[str, str]


class Presentation(NamedTuple):
    """How an experiment is presented: what its records and its cells become."""

    cells: Callable[[Experiment, tuple[str, ...], list[Record]], list[Cell]]
    blocks: Callable[[Experiment, tuple[str, ...], list[Cell]], list[Block]]
    verdicts: Callable[[Experiment, list[Cell]], list[str]]
    draw: Callable[[Experiment, tuple[str, ...], list[Cell], Path], Path]


# Replicates below which a reader is warned.
EXPLANATION = (
    "Means over replicates with their standard errors in parentheses; under each what the paper prints, and "
    "the difference in combined standard errors (ours minus printed). Time is in CPU seconds on one thread; "
    "the paper's are from another machine and are not compared."
)
FEW = 20


def presentation_of(experiment: Experiment) -> Presentation:
    """Return how an experiment is presented: as the tables of the paper, unless it says otherwise."""
    return experiment.presentation or Presentation(summarise, table_blocks, verdicts, draw)


def make_report(
    experiment: Experiment, methods: tuple[str, ...], cells: list[Cell], command: str, about: dict[str, str]
) -> Report:
    """Put a report together; a block without rows is left out."""
    presentation = presentation_of(experiment)
    blocks = [block for block in presentation.blocks(experiment, methods, cells) if block.rows]
    replicates = min(cell.replicates for cell in cells if cell.setting in experiment.settings)
    notes = (*few(replicates), *(note.text for note in experiment.notes if note.applies(cells)))
    explanation = experiment.explanation or EXPLANATION
    return Report(
        experiment.heading,
        explanation,
        blocks,
        presentation.verdicts(experiment, cells),
        notes,
        command,
        about,
    )


def table_blocks(experiment: Experiment, methods: tuple[str, ...], cells: list[Cell]) -> list[Block]:
    """Return a block for each setting."""
    return [
        _block(heading, experiment.metrics, methods, [cell for cell in cells if cell.setting == setting])
        for setting, heading in experiment.settings.items()
    ]


def few(replicates: int) -> list[str]:
    """Return a warning, if one is due.

    Examples
    --------
    >>> few(100), few(1)
    ([], ['With one replicate there are no standard errors, and nothing is compared.'])
    """
    if replicates == 1:
        return ["With one replicate there are no standard errors, and nothing is compared."]
    rough = "With so few replicates the standard errors, and so the differences, are rough."
    return [rough] if replicates < FEW else []


def markdown(report: Report) -> str:
    """Return the report as Markdown."""
    lines = [f"# {report.heading}", "", report.explanation, ""]
    for block in report.blocks:
        lines += [f"## {block.heading}", "", _row(block.header), "|---" * len(block.header) + "|"]
        lines += [*(_row(row) for row in block.rows), ""]
    lines += ["## What it comes to", "", *report.verdicts, ""] if report.verdicts else []
    lines += [f"{note}\n" for note in report.notes]
    lines += ["## How it was made", "", f"    {report.command}", ""]
    return "\n".join([*lines, *(f"- {key}: {value}" for key, value in report.about.items()), ""])


def _row(texts: list[str]) -> str:
    return "| " + " | ".join(text.replace("\n", "<br>") for text in texts) + " |"


def _block(heading: str, metrics: tuple[str, ...], methods: tuple[str, ...], cells: list[Cell]) -> Block:
    """Lay out one setting, the longer way down."""
    found = {(cell.metric, cell.method): _text(cell) for cell in cells}
    labels = [METHODS[method].label for method in methods]
    if len(metrics) > len(methods):
        rows = [[metric, *(found[metric, method] for method in methods)] for metric in metrics]
        return Block(heading, ["", *labels], rows)
    rows = [
        [label, *(found[metric, method] for metric in metrics)]
        for label, method in zip(labels, methods, strict=True)
    ]
    return Block(heading, ["", *metrics], rows)


def _text(cell: Cell) -> str:
    """Return the lines of a cell: ours, the printed number, the difference."""
    lines = [number(cell.mean) if math.isnan(cell.error) else f"{number(cell.mean)} ({cell.error:.2g})"]
    if cell.metric == "MSE":
        lines.append(f"median {number(cell.median)}")
    if cell.printed is not None:
        error = cell.printed.error
        lines.append(f"printed {cell.printed.mean:g}" + ("" if error is None else f" ({error:g})"))
    if cell.difference is not None and not math.isnan(cell.difference):
        lines.append(f"difference {cell.difference:+.1f}")
    return "\n".join(lines)


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
