"""What the pictures have in common: colours, names, and the axes of coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farrier._checks import check_number
from farrier._extras import require
from farrier._types import Vector

SELECTED, ZERO, MODE = "#1b4965", "#b0b0b0", "#c8553d"
CHAINS = (SELECTED, MODE, "#5fa8a0", "#e0a030", "#7a5c99", "#6b8e23")
LONGEST = 30
"""Characters of a name; of a longer one the beginning and the end are shown."""


def largest(values: Vector, most: int) -> NDArray[np.intp]:
    """Return the places of the largest values, whatever their sign, the largest last: at the top.

    Examples
    --------
    >>> largest(np.array([1.0, -3.0, 2.0]), most=2)
    array([2, 1])
    """
    return np.argsort(-np.abs(values), kind="stable")[:most][::-1]


def coefficient_axes(ax: Any, names: Sequence[Any], standardized: bool) -> Any:
    """Return axes with a line for each coefficient, those given or new ones.

    Examples
    --------
    >>> [text.get_text() for text in coefficient_axes(None, ["age", "bmi"], True).get_yticklabels()]
    ['age', 'bmi']
    """
    if ax is None:
        ax = new_axes(7.0, 1.3 + 0.3 * len(names))
    ax.axvline(0.0, color=ZERO, linewidth=1.0, zorder=0)
    ax.set_yticks(np.arange(len(names)), [shown(name) for name in names])
    ax.set_xlabel("effect of one standard deviation" if standardized else "coefficient")
    hide_spines(ax, "top", "right")
    return ax


def finish(ax: Any, title: str, left_out: int) -> Any:
    """Put the title and the legend to the axes of coefficients."""
    ax.set_title(title + (f" ({left_out} more not shown)" if left_out else ""))
    ax.legend(frameon=False, loc="best")
    return ax


def new_axes(width: float, height: float) -> Any:
    """Return the axes of a new picture."""
    pyplot = require("matplotlib.pyplot", extra="plot")
    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def hide_spines(ax: Any, *sides: str) -> None:
    """Leave out lines around a picture."""
    ax.spines[list(sides)].set_visible(False)


def at_least_one(name: str, value: Any) -> int:
    """Return a whole number of at least one.

    Examples
    --------
    >>> at_least_one("most", 0)
    Traceback (most recent call last):
    ValueError: most=0 must be a finite number of at least 1 (not negative)
    """
    return int(check_number(name, value, low=1.0, low_allowed=True))


def percent(level: float) -> str:
    """Write a probability.

    Examples
    --------
    >>> percent(0.95), percent(0.999)
    ('95%', '99.9%')
    """
    return f"{100.0 * level:.6g}%"


def shown(name: Any) -> str:
    r"""Return a name as it is written: not too long, and no dollar sign that would start mathematics.

    Examples
    --------
    >>> print(shown("price in $"), shown("the temperature of the water in the bay"))
    price in \$ the temperature o...in the bay
    """
    text = str(name)
    if len(text) > LONGEST:
        text = f"{text[: LONGEST - 13]}...{text[-10:]}"
    return text.replace("$", r"\$")
