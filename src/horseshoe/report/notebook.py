"""What a fitted model shows in a notebook below scikit-learn's diagram: the selected columns."""

from __future__ import annotations

from typing import Any

from horseshoe.report.axes import largest
from horseshoe.report.digits import share, significant, together
from horseshoe.report.formats import Grid, write_grid
from horseshoe.report.model import part_labels, parts_of
from horseshoe.report.tables import feature_names

MOST = 20
"""Columns that are shown, at most."""


def selected_table(model: Any) -> str:
    """Return a small HTML table of the selected columns, the strongest first.

    Nothing is computed for it but what the fit already knows: intervals are for `summary`.

    Examples
    --------
    >>> import numpy as np
    >>> from horseshoe import HorseshoeRegressor
    >>> x = np.arange(20.0)
    >>> print(selected_table(HorseshoeRegressor().fit(x[:, None], 0.0 * x)))
    <p>none of 1 columns selected</p>
    """
    parts = parts_of(model)
    labels = part_labels(model)
    lines: list[list[str]] = []
    for label, part in zip(labels, parts, strict=True):
        found = _lines(part)
        lines += found if label is None else [[str(label), *line] for line in found]
    p, n_selected = model.n_features_in_, int(model.get_support().sum())
    said = f"{n_selected:,} of {p:,} columns selected" if n_selected else f"none of {p:,} columns selected"
    if not lines:
        return f"<p>{said}</p>"
    averaged = hasattr(model, "inclusion_")
    header = [*([""] if len(parts) > 1 else []), "selected", "coef", "per sd"]
    header += ["inclusion"] if averaged else ["std"]
    if len(lines) > MOST:
        said += f"; the first {MOST} are shown"
    return write_grid(Grid(header, lines[:MOST], [said], len(header) - 3), "html")


def _lines(part: Any) -> list[list[str]]:
    """Return a line for each selected column of one regression."""
    averaged = hasattr(part, "inclusion_")
    coef = part.sparse_coef_ if averaged else part.coef_
    strength = coef * part.scale_
    order = largest(strength, int((coef != 0.0).sum()))[::-1]
    names = feature_names(part)
    lines = []
    for j in order:
        if averaged:
            numbers = [significant(coef[j]), significant(strength[j]), share(part.inclusion_[j])]
        else:
            first, second = together([coef[j], part.coef_std_[j]])
            numbers = [first, significant(strength[j]), second]
        lines.append([names[j], *numbers])
    return lines
