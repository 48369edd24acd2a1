"""The trace of a fit: one line for each E-step, and the word of the callback."""

from __future__ import annotations

import math

import numpy as np

from horseshoe._types import Iteration, within_slab
from horseshoe.em.mstep import Hyper
from horseshoe.em.news import Teller
from horseshoe.em.state import State


class Trace:
    """What happened so far; ``exact`` says whether the marginal objective can be had from the moments."""

    def __init__(self, hyper: Hyper, teller: Teller, exact: bool) -> None:
        self._hyper, self._teller, self._exact = hyper, teller, exact
        self.lines: list[Iteration] = []

    def record(self, state: State) -> bool:
        """Add a line; return whether the callback asks to stop."""
        faded = state.pace is not None and state.pace.fading is not None
        value = objective(self._hyper, state) if self._exact and not faded else None
        error = None if state.moments is None else state.moments.error
        line = Iteration(state.change, value, state.scales.tau2, state.scales.sigma2, state.mean.size, error)
        self.lines.append(line)
        return self._teller.asks_to_stop(len(self.lines), line)


def objective(hyper: Hyper, state: State) -> float | None:
    """Return -log p(lambda, tau, sigma2 | z) of the active columns, the coefficients integrated out."""
    moments, scales = state.moments, state.scales
    if moments is None or moments.log_det is None:
        return None
    lambda2, mean = scales.lambda2, moments.mean
    if not np.logical_and.reduce(lambda2):  # a column that is orthogonal to z from the start
        lambda2, mean = lambda2[lambda2 > 0.0], mean[lambda2 > 0.0]
    rss = moments.expected_rss - scales.sigma2 * moments.fit_trace
    bare = scales.tau2 * lambda2
    d = bare if scales.slab2 == math.inf else within_slab(bare, scales.slab2)
    quadratic = rss + float(np.add.reduce(mean * mean / d))  # z' (I + X D X')^-1 z
    local = hyper.local.neg_log_density(lambda2, hyper.lambda_power)
    if state.groups is not None:  # a scale of g columns counts once; a group of W = 0 is left out whole
        local = local / state.groups.spread(state.groups.size)[scales.lambda2 > 0.0]
    return (
        0.5 * state.problem.total_weight * math.log(scales.sigma2)
        + 0.5 * moments.log_det
        + 0.5 * quadratic / scales.sigma2
        + float(np.add.reduce(local))
        + hyper.tau.neg_log_density(scales.tau2)
        + (0.0 if d is bare else 0.5 * float(np.log(bare / d).sum()))
    )
