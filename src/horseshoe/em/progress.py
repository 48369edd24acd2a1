"""The trace of a fit, and what the user's callback is told: iteration, passes over the data, time left."""

from __future__ import annotations

import math
import time
from collections import deque
from typing import Any

import numpy as np

from horseshoe._types import Callback, Iteration, Step, within_slab
from horseshoe.em.m_step import Hyper
from horseshoe.em.state import State

WINDOW = 10
"""Iterations over which the change must have fallen before the time left is estimated."""
LEAST_FALL = 1e-3
"""By which its logarithm must have fallen in each of them, on average."""


class ProgressReporter:
    """One line of the trace for each E-step, and a call of the user's callback.

    Parameters
    ----------
    hyper : Hyper
        The prior of the scales.
    callback : callable or None
        Called with a `Step`; returning False stops the fit.
    tol : float
        The change at which the fit ends.
    columns : Columns
        The columns, which may count the passes over them.
    has_objective : bool
        Whether the marginal objective follows from the moments.
    """

    def __init__(
        self, hyper: Hyper, callback: Callback | None, tol: float, columns: Any, has_objective: bool
    ) -> None:
        self._hyper, self._callback, self._tol, self._columns = hyper, callback, tol, columns
        self._has_objective, self._start = has_objective, time.perf_counter()
        self._recent: deque[tuple[float, float]] = deque(maxlen=WINDOW + 1)
        self.lines: list[Iteration] = []

    def report(self, state: State) -> bool:
        """Add a line and call the callback; return whether it returned False."""
        scales, moments, k = state.scales, state.moments, len(state.mean)
        has_pruned = state.fast is not None and state.fast.pruned is not None
        value = objective(self._hyper, state) if self._has_objective and not has_pruned else None
        error = None if moments is None else moments.error
        line = Iteration(state.change, value, scales.tau2, scales.sigma2, k, error)
        self.lines.append(line)
        if self._callback is None:
            return False
        now = time.perf_counter()
        self._recent.append((now, line.change))
        left = seconds_left(list(self._recent), self._tol)
        passes = getattr(self._columns, "passes", None)
        line = line._replace(sigma2=float(np.mean(line.sigma2)))
        return self._callback(Step.of(line, len(self.lines), passes, now - self._start, left)) is False


def objective(hyper: Hyper, state: State) -> float | None:
    """Return -log p(lambda, tau, sigma2 | z) of the active columns, the coefficients integrated out."""
    moments, scales = state.moments, state.scales
    if moments is None or moments.log_det is None:
        return None
    lambda2, mean = scales.lambda2, moments.mean
    positive = slice(None) if np.logical_and.reduce(lambda2) else lambda2 > 0.0  # 0: orthogonal to z
    lambda2, mean = lambda2[positive], mean[positive]
    # 1. the likelihood: with M = I + X D X', z'M^-1 z = RSS + m'D^-1 m for each response
    rss = moments.expected_rss - scales.sigma2 * moments.fit_trace
    bare = scales.tau2 * lambda2
    d = bare if scales.slab2 == math.inf else within_slab(bare, scales.slab2)
    quadratic = (rss + np.add.reduce((mean * mean).T / d, axis=-1)) / scales.sigma2
    if mean.ndim == 1:
        log_sigma2 = math.log(scales.sigma2)
    else:
        quadratic, log_sigma2 = np.add.reduce(quadratic), np.add.reduce(np.log(scales.sigma2))
    log_det = moments.log_det + (0.0 if d is bare else float(np.log(bare / d).sum()))
    # 2. the prior: a scale of g columns counts once
    local = hyper.local.neg_log_density(lambda2, hyper.lambda_power)
    if state.groups is not None:
        local = local / state.groups.spread(state.groups.size)[positive]
    return float(
        0.5 * state.problem.targets.total_weight * log_sigma2
        + 0.5 * hyper.size * log_det
        + 0.5 * quadratic
        + np.add.reduce(local)
        + hyper.tau.neg_log_density(scales.tau2)
    )


def seconds_left(recent: list[tuple[float, float]], tol: float) -> float | None:
    """Return how long the change takes to fall to ``tol`` at its present rate; None if unknown.

    ``recent`` are times and changes of the last iterations. It is a guess: columns that leave make iterations
    cheaper, and Newton's method in the tail makes them fewer.

    Examples
    --------
    >>> recent = [(float(k), 10.0**-k) for k in range(11)]
    >>> round(seconds_left(recent, 1e-13), 6), seconds_left(recent[:5], 1e-13)
    (3.0, None)
    """
    if len(recent) <= WINDOW:
        return None
    (begun, before), (now, change) = recent[0], recent[-1]
    if not (0.0 < change < math.inf and 0.0 < before < math.inf):
        return None
    fall = math.log(before / change) / WINDOW
    if fall < LEAST_FALL or tol <= 0.0:
        return None
    iterations = max(math.log(change / tol), 0.0) / fall
    return iterations * (now - begun) / WINDOW
