"""The answer of a fit: in a terminal, and as JSON."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from horseshoe._version import __version__
from horseshoe.cli.terminal import WIDE, as_options, cell, line, print_notes
from horseshoe.report.page.content import PER_SD, SELECTED_ONLY

if TYPE_CHECKING:
    from horseshoe.report.page.effects import Effects

# The most rows of a table that are printed; the report and --json have all.
MAX_ROWS = 30
# Characters that a name keeps before it is folded; below that a column of numbers is left out instead.
NAME_WIDTH = 20
# With more classes the components are not printed: five lines for each would hide the answer.
MAX_CLASSES = 3
# The columns of numbers that a narrow terminal has no room for; the first choice that fits is taken.
OMITTED: tuple[tuple[str, ...], ...] = ((), (PER_SD,), (PER_SD, SELECTED_ONLY))
# A column of the report's table that is never printed: the names of levels have the variable in them.
VARIABLE = "Belongs to"


@dataclass(frozen=True)
class Answer:
    """A fitted model, and what was asked of which data.

    Attributes
    ----------
    model : estimator
    level : float
        The coverage of the intervals.
    target : str
        The name of the response.
    terms : dict
        The user's column behind each column of X.
    method : str
        How the intervals are made.
    notes, warnings : tuple of str
        How the data were read, and what to be careful with.
    facts : dict
        What --json has on the data.
    """

    model: Any
    level: float = 0.95
    target: str = "y"
    terms: dict[str, str] = field(default_factory=dict)
    method: str = "auto"
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    facts: dict[str, Any] = field(default_factory=dict)

    def effects(self) -> list[Effects]:
        """Return the effects of the columns, for each regression of the model."""
        from horseshoe.report.page.effects import effects_of

        return effects_of(self.model, self.level, self.terms, self.method)

    def sentences(self, effects: Sequence[Effects]) -> tuple[str, ...]:
        """Return the answer in words."""
        from horseshoe.report.page.answer import answer

        return answer(effects, self.level, self.target, self.classes)

    @property
    def classes(self) -> list[str]:
        """The labels, of a classifier."""
        return (
            [str(label) for label in self.model.classes_.tolist()] if hasattr(self.model, "classes_") else []
        )


def print_answer(console: Console, answer: Answer) -> None:
    """Print the answer: words, table, statistics, and what to be careful with."""
    from horseshoe.report.page.coefficient_table import table_of
    from horseshoe.report.page.evidence import components

    effects = answer.effects()
    print_notes(console, answer)
    if answer.notes or answer.warnings:
        console.print()
    for sentence in answer.sentences(effects):
        console.print(line(sentence))
    table = table_of(effects, answer.level)
    shown = [row for row in table.rows if row.selected][:MAX_ROWS]
    if shown:
        *grids, narrowest = (_grid(table, shown, without) for without in OMITTED)
        console.print(next((grid for grid in grids if _fits(console, grid)), narrowest))
        _count_rest(console, len(shown), table.rows)
    console.print(_pairs(_with_variables(answer.model.statistics().lines(), effects[0])))
    parts = components(effects)
    if parts and len(effects) > MAX_CLASSES:
        console.print()
        console.print(line("The report and --json say what the average of each class is made of."))
    elif parts:
        console.print()
        console.print(line("What the average is made of", "bold"))
        console.print(_pairs(parts))


def _count_rest(console: Console, shown: int, rows: Sequence[Any]) -> None:
    selected = sum(row.selected for row in rows)
    if selected > shown:
        console.print(line(f"  The {shown} strongest of {selected:,} that are selected.", "dim"))


def _fits(console: Console, grid: Table) -> bool:
    """Tell whether a table has room, however long the names are: these are folded."""
    grid.columns[0].max_width = NAME_WIDTH
    wide = Measurement.get(console, console.options.update(width=10 * WIDE), grid).maximum
    grid.columns[0].max_width = None
    return wide <= console.width


def _with_variables(lines: Iterable[tuple[str, str]], one: Effects) -> list[tuple[str, str]]:
    """Return the statistics, with the number of variables where factors have a column for each level."""
    variables = len(set(one.terms))
    more = "" if variables == len(one.names) else f" ({variables:,} variables before encoding)"
    return [(label, f"{value}{more}" if label == "columns" else value) for label, value in lines]


def _grid(found: Any, rows: Sequence[Any], without: Sequence[str]) -> Table:
    """Return rows of a report's table for a terminal, ``without`` some of its columns of numbers."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    names = [place for place, heading in enumerate(found.names) if heading.name != VARIABLE]
    numbers = [place for place, heading in enumerate(found.numbers) if heading.name not in without]
    for place in names:
        table.add_column(cell(found.names[place].name), overflow="fold", min_width=8)
    for place in numbers:
        table.add_column(cell(found.numbers[place].name), justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            *(cell(row.names[place]) for place in names),
            *(cell(row.numbers[place].text) for place in numbers),
        )
    return table


def _pairs(pairs: Iterable[tuple[str, str]]) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 1), pad_edge=True)
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for label, value in pairs:
        grid.add_row(line(label, "dim"), line(value))
    return grid


def as_plain(answer: Answer) -> dict[str, Any]:
    """Return the answer as data that JSON can hold; what is not finite is null.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> x = np.arange(20.0)
    >>> found = as_plain(Answer(HorseshoeRegressor().fit(x[:, None], 3.0 * x + np.cos(x))))
    >>> found["coefficients"][1]["feature"], found["coefficients"][1]["selected"]
    ('x0', True)
    """
    model = answer.model
    options = {} if hasattr(model, "components_") else {"method": answer.method}
    with warnings.catch_warnings(record=True) as caught:  # such as chains that do not agree
        warnings.simplefilter("always")
        effects = answer.effects()
        rows = model.summary(answer.level, **options).to_dict("records")
    caught_texts = dict.fromkeys(as_options(str(one.message)) for one in caught)
    statistics = model.statistics()
    found: dict[str, Any] = plain(
        {
            "horseshoe": __version__,
            "estimator": type(model).__name__,
            "target": answer.target,
            "classes": answer.classes or None,
            "answer": list(answer.sentences(effects)),
            "coefficients": [
                row | {"term": answer.terms.get(row["feature"], row["feature"])} for row in rows
            ],
            "level": answer.level,
            "statistics": _statistics(statistics),
            "status": {"name": statistics.status.name, "message": str(statistics.status)},
            "components": _components(model),
            "data": answer.facts,
            "notes": list(answer.notes),
            "warnings": [*answer.warnings, *caught_texts],
        }
    )
    return found


def _statistics(found: Any) -> dict[str, Any]:
    names = (
        *("n", "p", "n_selected", "family", "measure", "explained", "cv_explained", "cv_error"),
        *("noise_sd", "n_iter", "expected_by_chance", "n_events", "concordance", "cv_concordance"),
    )
    return {name: getattr(found, name) for name in names}


def _components(model: Any) -> Any:
    """Return the components of an average; of several classes those of each."""
    found = getattr(model, "components_", None)
    if found is None:
        return None
    parts = [found] if hasattr(found[0], "weight") else found if found else []
    rows = [[{"name": row.name, "error": row.error, "weight": row.weight} for row in part] for part in parts]
    return rows[0] if len(rows) == 1 else rows


def plain(value: Any) -> Any:
    """Return data without NumPy's types, and with None for what is not finite.

    Examples
    --------
    >>> plain({"a": np.float64(1.5), "b": [np.nan, np.int64(2)], "c": np.array([True])})
    {'a': 1.5, 'b': [None, 2], 'c': [True]}
    """
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if isinstance(value, str | int | None) else str(value)
