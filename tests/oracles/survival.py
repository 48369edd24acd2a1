"""Cox's partial likelihood and Harrell's concordance, one pair of rows after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from oracles.arrays import Vector


def partial_log_likelihood(
    eta: Vector,
    time: Vector,
    event: Any,
    entry: Vector,
    stratum: Any,
    weights: Vector,
    efron: bool,
    counted: bool = True,
) -> float:
    """Cox's, one event time of one stratum after the other, and one row at risk after the other.

    ``counted``: an event of whole weight w is w events at the same time. Otherwise those of one time share
    their mean weight, as in R.
    """
    total = 0.0
    for s in set(stratum.tolist()):
        for t in sorted({time[i] for i in range(time.size) if event[i] and stratum[i] == s}):
            here = [i for i in range(time.size) if stratum[i] == s and entry[i] < t <= time[i]]
            dead = [i for i in here if event[i] and time[i] == t]
            risk = sum(weights[i] * np.exp(eta[i]) for i in here)
            gone = sum(weights[i] * np.exp(eta[i]) for i in dead)
            total += sum(weights[i] * eta[i] for i in dead)
            weight = sum(weights[i] for i in dead)
            if not efron:
                total -= weight * np.log(risk)
                continue
            steps = round(weight) if counted else len(dead)
            for step in range(steps):
                total -= (1 if counted else weight / steps) * np.log(risk - step / steps * gone)
    return total


def concordance(time: Vector, event: Any, risk: Vector, weights: Vector) -> float:
    """Harrell's, one pair after the other."""
    right = pairs = 0.0
    for i in range(time.size):
        for j in range(time.size):
            if event[i] and (time[i] < time[j] or (time[i] == time[j] and not event[j])):
                pairs += weights[i] * weights[j]
                right += weights[i] * weights[j] * (1.0 if risk[i] > risk[j] else 0.5 * (risk[i] == risk[j]))
    return right / pairs
