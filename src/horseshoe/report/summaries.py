"""The table of a fit, written for people: digits that can be read, and the numbers of the fit below."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._checks import check_choice, check_level
from horseshoe._types import Mask
from horseshoe.report.axes import percent
from horseshoe.report.digits import ratios, share, significant, together
from horseshoe.report.formats import Grid, write_grid
from horseshoe.report.model import part_labels, parts_of
from horseshoe.report.tables import average_columns, has_ratios, mode_columns

FEW = 30
"""Of more columns than this only those are written that are selected, unless others are asked for."""
RATIOS = {"odds_ratio": "odds ratio", "rate_ratio": "rate ratio"}


def summary_text(
    model: Any,
    format: str = "text",
    *,
    level: float = 0.95,
    exponentiate: bool | None = None,
    rows: str = "auto",
    statistics: bool = True,
    **options: Any,
) -> str:
    """Write the table of a fitted model, and the fit in a few numbers below it.

    Parameters
    ----------
    model : HorseshoeRegressor, HorseshoeClassifier, or an Adaptive one
        A fitted model.
    format : {"text", "markdown", "latex", "html"}, default="text"
        LaTeX needs the package booktabs.
    level : float, default=0.95
        The coverage of the intervals.
    exponentiate : bool, optional
        Whether to write odds ratios or rate ratios; left out, where the family has them.
    rows : {"auto", "selected", "all"}, default="auto"
        Which columns to write; "auto" are all if they are 30 at most, and otherwise those selected.
    statistics : bool, default=True
        Whether to write the numbers of `FitStatistics` below.
    **options
        ``method`` of the intervals, for a single mode, as in `HorseshoeRegressor.summary`.

    Returns
    -------
    str

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> x = np.arange(20.0)
    >>> model = HorseshoeRegressor().fit(np.column_stack([x, np.sin(x)]), 3.0 * x + np.cos(x))
    >>> print(summary_text(model, statistics=False))
                  coef    95% interval  per sd  shrinkage
    -----------------------------------------------------
    (Intercept)   0.05   -0.58 to 0.68
    x0           3.001  2.944 to 3.057    17.3      <0.01
    x1               0
    """
    check_choice("rows", rows, ("auto", "selected", "all"))
    level, parts = check_level(level), parts_of(model)
    if exponentiate is None:
        exponentiate = has_ratios(parts[0].family_)
    every = rows == "all" or (rows == "auto" and model.n_features_in_ <= FEW)
    notes = [] if every else [f"of {model.n_features_in_:,} columns those that are selected"]
    if statistics:
        notes += [f"{name}: {value}" for name, value in model.statistics().lines()]
    kind = "output" if hasattr(model, "outputs_") else "class"
    header: list[str] = []
    lines: list[list[str]] = []
    for label, part in zip(_labels(model), parts, strict=True):
        columns = average_columns if hasattr(part, "inclusion_") else mode_columns
        table = columns(part, level, exponentiate, **options)
        keep = np.ones(len(table["coef"]), dtype=bool) if every else _selected(table)
        kept = {name: values[keep] for name, values in table.items()}
        header = [*([] if label is None else [kind]), *_header(kept, level)]
        lines += [[*([] if label is None else [label]), *line] for line in _lines(kept)]
    return write_grid(Grid(header, lines, notes, len(header) - len(_header(kept, level)) + 1), format)


def _labels(model: Any) -> list[str | None]:
    return [None if label is None else str(label) for label in part_labels(model)]


def _selected(table: dict[str, Any]) -> Mask:
    """Return which lines are of the intercept, or of a column that is selected."""
    return np.asarray(table["selected"] | np.isnan(table["per_sd"]))


def _ratio(table: dict[str, Any]) -> str | None:
    return next((name for name in RATIOS if name in table), None)


def _header(table: dict[str, Any], level: float) -> list[str]:
    """Return what stands above the columns."""
    effect = RATIOS.get(_ratio(table) or "", "coef")
    last = ["inclusion", "sparse"] if "inclusion" in table else ["shrinkage"]
    return ["", effect, f"{percent(level)} interval", "per sd", *last]


def _lines(table: dict[str, Any]) -> list[list[str]]:
    """Return a line for each row of the table."""
    effects = table[_ratio(table) or "coef"]
    write = together if _ratio(table) is None else ratios
    averaged, lines = "inclusion" in table, []
    for i, name in enumerate(table["feature"].tolist()):
        lower, upper, per_sd = table["lower"][i], table["upper"][i], table["per_sd"][i]
        if not averaged and table["coef"][i] == lower == upper == 0.0:
            lines.append([name, "0", "", "", ""])
            continue
        sparse = table["sparse_coef"][i] if averaged else np.nan
        sparse = np.exp(sparse) if _ratio(table) else sparse
        effect, low, high, few = write([effects[i], lower, upper, sparse])
        line = [name, effect, f"{low} to {high}" if low else "", significant(per_sd)]
        if averaged:
            chosen = table["selected"][i] or np.isnan(table["inclusion"][i])
            lines.append([*line, share(table["inclusion"][i]), few if chosen else ""])
        else:
            lines.append([*line, share(table["shrinkage"][i])])
    return lines
