"""The hazard behind Cox's model, which the partial likelihood leaves out, and step functions of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from horseshoe._types import Matrix, Vector
from horseshoe.families.cox import Coupling, Cox


@dataclass(frozen=True)
class Baseline:
    """The cumulative hazard of each stratum, of whoever has the linear predictor ``level`` of that stratum.

    ``times`` are all times that were seen in a stratum, the censored ones too; those of the strata stand one
    after the other, and ``ends`` tells where each ends. ``concordance`` is Harrell's, of the rows of the fit;
    of an average by fits that have not seen the row; None where no two rows can be compared.
    """

    times: Vector
    hazard: Vector
    ends: NDArray[np.int64]
    level: Vector
    n_events: float
    concordance: float | None = None

    def of(self, stratum: int) -> tuple[Vector, Vector]:
        """Return the times of a stratum, and the cumulative hazard from each on."""
        start = 0 if stratum == 0 else int(self.ends[stratum - 1])
        part = slice(start, int(self.ends[stratum]))
        return self.times[part], self.hazard[part]


def baseline(family: Cox, y: Vector, eta: Vector) -> Baseline:
    """Return Breslow's estimate: at each time the events over the summed hazards of who is at risk.

    With Efron's ties the events leave the sum bit by bit, as in the likelihood.

    Examples
    --------
    >>> from horseshoe.families.risk import Lifetimes
    >>> one, time = np.ones(3), np.array([1.0, 2.0, 3.0])
    >>> family = Cox(seen=Lifetimes(time, one > 0, 0 * one, np.zeros(3, int), one))
    >>> baseline(family, family.encode(time).values, np.zeros(3)).hazard.round(3)
    array([0.333, 0.833, 1.833])
    """
    sets = family.risk_sets(y)
    seen, jumps = sets.seen, Coupling(sets, eta).hazard
    level = np.full(int(seen.stratum.max()) + 1, -np.inf)
    np.maximum.at(level, seen.stratum, eta)
    times, hazard = [], []
    for stratum in range(level.size):
        grid = np.unique(seen.time[seen.stratum == stratum])
        here = sets.stratum == stratum
        rise = np.zeros(grid.size)
        rise[np.searchsorted(grid, sets.time[here])] = jumps[here]
        times.append(grid)
        hazard.append(np.cumsum(rise))
    ends = np.cumsum([grid.size for grid in times], dtype=np.int64)
    total = float(sets.dead.sum())
    return Baseline(np.concatenate(times), np.concatenate(hazard), ends, level, total)


class StepFunction:
    """A function of time that is ``y[i]`` from ``x[i]`` on: what scikit-survival's tools ask of one.

    Parameters
    ----------
    x, y : arrays of shape (n_times,)
        Times, ascending, and the values from each of them on.
    before : float
        The value before the first of them.

    Attributes
    ----------
    domain : tuple of float
        From 0 to the last time; nothing is known beyond it.

    Examples
    --------
    >>> step = StepFunction(np.array([1.0, 3.0]), np.array([0.9, 0.5]), before=1.0)
    >>> step([0.5, 1.0, 2.0, 3.0])
    array([1. , 0.9, 0.9, 0.5])
    """

    a, b = 1.0, 0.0

    def __init__(self, x: Vector, y: Vector, before: float) -> None:
        self.x, self.y, self.before = x, y, before
        self.domain = (0.0, float(x[-1]))

    def __call__(self, x: Any) -> Any:
        """Return the values at times ``x``, one or several."""
        times = np.asarray(x, dtype=np.float64)
        low, high = self.domain
        if not np.all((times >= low) & (times <= high)):
            raise ValueError(
                f"x must be within [{low:g}, {high:g}]: after the last time nothing was seen of this stratum"
            )
        return np.append(self.y, self.before)[np.searchsorted(self.x, times, side="right") - 1]

    def __repr__(self) -> str:
        return f"StepFunction({self.x.size} times up to {self.domain[1]:g})"


def hazards(found: Baseline, eta: Vector, stratum: Any) -> list[StepFunction]:
    """Return the cumulative hazard of each row."""
    out = []
    with np.errstate(over="ignore", invalid="ignore"):  # an infinite hazard is an answer
        for one, which in zip(eta, stratum, strict=True):
            times, hazard = found.of(int(which))
            rise = np.where(hazard > 0.0, hazard * np.exp(one - found.level[which]), 0.0)
            out.append(StepFunction(times, rise, 0.0))
    return out


def on_grid(functions: list[StepFunction], grid: Vector) -> Matrix:
    """Return the values of step functions on a grid; the last one where that goes beyond a function."""
    rows = [one(np.minimum(grid, one.domain[1])) for one in functions]
    return np.stack(rows) if rows else np.empty((0, grid.size))
