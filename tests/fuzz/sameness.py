"""Whether two answers are the same up to order and units.

What is compared has no unit: coefficients times the range of their column over that of y, linear predictors
over the range of y. Powers of two leave every digit (`EXACT`). Otherwise rounding differs, and two fits may
stop an iteration apart: by the rule that stops them their coefficients then differ by ``tol`` times 1 + their
sum. `STEPS` times that is allowed, and at least `ROUNDED`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.calls import Values
from fuzz.cases import Case
from fuzz.changes import Changed, is_exact
from fuzz.data import unit_columns

EXACT = 1e-9
ROUNDED = 1e-6
STEPS = 10.0
TIED = 1e-9
"""Columns that differ by less, in units of their range, are copies of each other."""


def different(one: Changed, values: Values, other: Changed, others: Values) -> list[str]:
    """Return what differs between two answers: names, and by how much."""
    first, second = _neutral(one, one, values), _neutral(one, other, others)
    slack = _slack(other.case) if other is not one else _slack(other.case.but(change="rows"))
    skip = _decided_by_order(one) if other.case.change == "columns" else ()
    size = 1.0 + float(np.sum(np.abs(first.get("coef_", 0.0))))
    found = []
    for name in first.keys() - set(skip):
        gap = float(np.max(np.abs(first[name] - second[name]), initial=0.0))
        if not gap <= slack * max(size, float(np.max(np.abs(first[name]), initial=0.0))):
            found.append(f"{name} by {gap:.2g} (allowed {slack * size:.2g})")
    return sorted(found)


def _slack(case: Case) -> float:
    return EXACT if is_exact(case) else max(STEPS * case.options.get("tol", 1e-5), ROUNDED)


def _decided_by_order(one: Changed) -> tuple[str, ...]:
    """Return what may depend on the order of the columns: which of tied ones carries the effect."""
    if one.case.twist in ("sum", "one-hot"):  # which of three is left out changes what the prior says
        return ("coef_", "coef_std_", "eta", "sigma_")
    columns = unit_columns(one.data.X)
    columns = columns[:, np.abs(columns).max(axis=0) > 0.0]
    signed = columns * np.where(
        np.take_along_axis(columns, np.abs(columns).argmax(axis=0)[None], 0) < 0, -1, 1
    )
    apart = np.abs(signed[:, :, None] - signed[:, None, :]).max(axis=0)
    tied = (apart < TIED).sum() > columns.shape[1]
    return ("coef_", "coef_std_") if tied else ()


def _neutral(one: Changed, other: Changed, values: Values) -> dict[str, Any]:
    """Return the numbers of an answer without units, in the order of ``one``."""
    unit = _range(one.data.y) if one.case.is_location else 1.0
    if one.case.call == "sampler":
        return _neutral_draws(one, other, values, unit)
    means = one.case.call == "means"
    out = {}
    for name in ("coef_", "coef_std_") if "coef_std_" in values else ("coef_",):
        found = values[name] / other.y
        out[name] = _turned(found, other.rows) / unit if means else _by_column(found, one, other, unit)
    eta = np.asarray(values["eta"], dtype=float) / other.y / unit
    out["eta"] = _turned(eta.T, other.rows)
    if "sigma2_" in values and one.case.is_location:
        out["sigma_"] = np.sqrt(values["sigma2_"]) / other.y / unit
    if "draws of coef" in values:
        out |= _neutral_draws(one, other, values, unit)
    return out


def _neutral_draws(one: Changed, other: Changed, values: Values, unit: float) -> dict[str, Any]:
    return {
        "draws_of_coef": _by_column(values["draws of coef"] / other.y, one, other, unit),
        "draws_of_tau": np.sqrt(values["draws of tau2"]),
    }


def _by_column(found: Any, one: Changed, other: Changed, unit: float) -> Any:
    """Return coefficients times the range of their column over the unit of y."""
    ranges = np.array([_range(column, 0.0) for column in one.data.X.T])
    return _turned(found * other.x, other.columns) * (ranges / unit)


def _turned(values: Any, order: np.ndarray) -> Any:
    """Return the last axis as it was before it was put into this order."""
    out = np.empty_like(values)
    out[..., order] = values
    return out


def _range(values: np.ndarray, constant: float = 1.0) -> float:
    """Return the largest less the smallest; if there is no difference the largest, or ``constant``."""
    spread = float(values.max() - values.min())
    if spread > 0.0:
        return spread
    return float(np.abs(values[0])) or 1.0 if constant else 0.0
