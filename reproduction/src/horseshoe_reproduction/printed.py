"""What the paper prints."""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class Printed(NamedTuple):
    """A printed number: ``error`` is its standard error, None where there is none."""

    mean: float
    error: float | None
    # Half a unit of the last digit.
    rounding: float


@cache
def printed(table: str) -> dict[tuple[str, str, str], Printed]:
    """Return the numbers of a table by setting, metric and column.

    Examples
    --------
    >>> printed("table3")["rho=0.7,sigma2=1", "MSE", "HS-EM"]
    Printed(mean=12.7, error=1.29, rounding=0.05)
    """
    text = files("horseshoe_reproduction").joinpath("printed.csv").read_text(encoding="utf-8")
    found = {}
    for row in csv.DictReader(text.splitlines()):
        if row["table"] == table:
            error = float(row["standard_error"]) if row["standard_error"] else None
            number = Printed(float(row["mean"]), error, _half_unit(row["mean"]))
            found[row["setting"], row["metric"], row["column"]] = number
    return found


def _half_unit(text: str) -> float:
    """Return half a unit of the last digit of a number as it is written."""
    decimals = len(text.partition(".")[2])
    return float(f"5e-{decimals + 1}")
