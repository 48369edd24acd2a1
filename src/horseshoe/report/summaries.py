"""The table of a fit, written for people: digits that can be read, and the numbers of the fit below."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._checks import check_choice, check_level
from horseshoe.report.figure import percent, strongest
from horseshoe.report.markup import FORMATS, TextTable, write_table
from horseshoe.report.number_text import format_number, format_ratios, format_share, format_together
from horseshoe.report.parts import feature_names, is_average, part_kind, part_labels, parts_of
from horseshoe.report.tables import coefficient_columns, summary_frame

# Of more columns than this only those are written that are selected, unless others are asked for.
FEW = 30
# Columns that a notebook shows, at most.
MOST_SELECTED = 20
RATIOS = {"odds_ratio": "odds ratio", "rate_ratio": "rate ratio"}


def summarize(
    model: Any, style: str, level: float, exponentiate: bool, by: str = "column", **options: Any
) -> Any:
    """Return the table of a model as a data frame, or as text in one of the other styles.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> model = HorseshoeRegressor().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5])
    >>> print(summarize(model, "markdown", 0.95, False).splitlines()[0])
    |  | coef | 95% interval | per sd | shrinkage |
    """
    if check_choice("style", style, ("frame", *FORMATS)) == "frame":
        return summary_frame(model, level, exponentiate, by, **options)
    if check_choice("by", by, ("column", "group")) == "group":
        raise ValueError(f"by='group' is a data frame, and style={style!r} is text: leave one of them out")
    return summary_text(model, style, level=level, exponentiate=exponentiate, **options)


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
        exponentiate = parts[0].family_.ratio is not None
    every = rows == "all" or (rows == "auto" and model.n_features_in_ <= FEW)
    notes = [] if every else [f"of {model.n_features_in_:,} columns those that are selected"]
    if statistics:
        notes += [f"{name}: {value}" for name, value in model.statistics().lines()]
    header, lines = list[str](), list[list[str]]()
    for label, part in zip(part_labels(model), parts, strict=True):
        table = coefficient_columns(part, level, exponentiate, **options)
        if not every:
            keep = table["selected"] | np.isnan(table["per_sd"])
            table = {name: values[keep] for name, values in table.items()}
        header, found = _header(table, level), _lines(table)
        lines += found if label is None else [[str(label), *line] for line in found]
    names = 1 if part_labels(model) == [None] else 2
    return write_table(TextTable([part_kind(model)] * (names - 1) + header, lines, notes, names), format)


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
    write = format_together if _ratio(table) is None else format_ratios
    averaged, lines = "inclusion" in table, []
    for i, name in enumerate(table["feature"].tolist()):
        lower, upper, per_sd = table["lower"][i], table["upper"][i], table["per_sd"][i]
        if not averaged and table["coef"][i] == lower == upper == 0.0:
            lines.append([name, "0", "", "", ""])
            continue
        sparse = table["sparse_coef"][i] if averaged else np.nan
        sparse = np.exp(sparse) if _ratio(table) else sparse
        effect, low, high, few = write([effects[i], lower, upper, sparse])
        line = [name, effect, f"{low} to {high}" if low else "", format_number(per_sd)]
        if averaged:
            chosen = table["selected"][i] or np.isnan(table["inclusion"][i])
            lines.append([*line, format_share(table["inclusion"][i]), few if chosen else ""])
        else:
            lines.append([*line, format_share(table["shrinkage"][i])])
    return lines


def selected_table(model: Any) -> str:
    """Return a small HTML table of the selected columns, the strongest first, for a notebook.

    Nothing is computed for it but what the fit already knows: intervals are for `summary`.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> x = np.arange(20.0)
    >>> print(selected_table(HorseshoeRegressor().fit(x[:, None], 0.0 * x)))
    <p>none of 1 columns selected</p>
    """
    lines: list[list[str]] = []
    labels = part_labels(model)
    for label, part in zip(labels, parts_of(model), strict=True):
        lines += [([] if label is None else [str(label)]) + line for line in _selected_lines(part)]
    p, n_selected = model.n_features_in_, int(model.get_support().sum())
    said = f"{f'{n_selected:,}' if n_selected else 'none'} of {p:,} columns selected"
    if not lines:
        return f"<p>{said}</p>"
    if len(lines) > MOST_SELECTED:
        said += f"; the first {MOST_SELECTED} are shown"
    header = ["selected", "coef", "per sd", "inclusion" if is_average(model) else "std"]
    names = 1 if labels == [None] else 2
    return write_table(TextTable([""] * (names - 1) + header, lines[:MOST_SELECTED], [said], names), "html")


def _selected_lines(part: Any) -> list[list[str]]:
    """Return a line for each selected column of one regression."""
    averaged, names = is_average(part), feature_names(part)
    coef = part.sparse_coef_ if averaged else part.coef_
    strength, lines = coef * part.scale_, []
    for j in strongest(strength, int((coef != 0.0).sum()))[::-1]:
        if averaged:
            first, last = format_number(coef[j]), format_share(part.inclusion_[j])
        else:
            first, last = format_together([coef[j], part.coef_std_[j]])
        lines.append([names[j], first, format_number(strength[j]), last])
    return lines
