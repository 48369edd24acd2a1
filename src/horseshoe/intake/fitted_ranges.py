"""The ranges that were fitted, and new values that are far outside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from horseshoe._types import Mask, Vector
from horseshoe.intake.kinds import Column
from horseshoe.intake.messages import counted, figure, listed, shown

MOST = 10


def range_of(numbers: Vector) -> tuple[float, float]:
    """Return the smallest and the largest of numbers that are not all missing.

    Examples
    --------
    >>> range_of(np.array([3.0, np.nan, 1.0]))
    (1.0, 3.0)
    """
    return float(np.nanmin(numbers)), float(np.nanmax(numbers))


def find_outside(
    columns: Iterable[Column], ranges: Mapping[str, tuple[float, float]], kept: Mask
) -> tuple[str, ...]:
    """Return sentences on values that are far outside the range that was fitted, in the rows that are kept.

    Far outside is beyond the smallest or the largest fitted value by more than their distance: where 1 to 9
    were fitted, below -7 or above 17.

    Examples
    --------
    >>> x = Column("x", "number", np.array([2.5, 1234.0, 12.0]))
    >>> find_outside([x], {"x": (1.0, 9.0)}, np.ones(3, dtype=bool))
    ('x is far outside the range that was fitted (1 to 9) in 1 row: 1234 in row 2',)
    """
    found = []
    for column in columns:
        if column.numbers is None or column.name not in ranges:
            continue
        low, high = ranges[column.name]
        with np.errstate(over="ignore"):  # what is beyond all floats is outside
            beyond = np.maximum(low - column.numbers, column.numbers - high)
        rows = np.flatnonzero((beyond > high - low) & kept)
        if rows.size:
            places = listed((f"{figure(column.numbers[row])} in row {row + 1}" for row in rows), most=5)
            found.append(
                f"{shown(column.name)} is far outside the range that was fitted ({figure(low)} to "
                f"{figure(high)}) in {counted(rows.size, 'row')}: {places}"
            )
    more = len(found) - MOST
    rest = (f"and so {'is' if more == 1 else 'are'} {counted(more, 'more column')}",) if more > 0 else ()
    return (*found[:MOST], *rest)
