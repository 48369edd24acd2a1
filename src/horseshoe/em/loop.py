"""The driver: Algorithm 1 of the paper, for any likelihood, any prior, any home of the data."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from horseshoe._types import FitResult, Moments, Scales, Status
from horseshoe.em.beginnings import Begin
from horseshoe.em.checkpoint import LoopPosition, load_loop, save_loop
from horseshoe.em.fast.mixing import Mixed
from horseshoe.em.fast.schedule import Fast
from horseshoe.em.gradient import Probed
from horseshoe.em.mstep import Hyper, exact_noise_variance, m_step, noise_variance
from horseshoe.em.news import Teller
from horseshoe.em.options import Options
from horseshoe.em.result import sparsify
from horseshoe.em.schedule import Plain, Schedule
from horseshoe.em.state import State
from horseshoe.em.trace import Trace
from horseshoe.em.weights import Weights
from horseshoe.priors import Groups
from horseshoe.threads import one_thread


def solve(
    weights: Weights,
    hyper: Hyper,
    options: Options,
    begin: Callable[[], Begin] | None = None,
    groups: Groups | None = None,
) -> FitResult:
    """Find the posterior mode by EM with the coefficients as the missing data.

    ``begin`` says where, and is asked unless the fit goes on where it was broken off. ``groups`` tells which
    columns share a local scale; without them none does.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> from horseshoe.em.weights import Constant
    >>> from horseshoe.priors import HalfCauchy, Horseshoe
    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal((50, 4))
    >>> problem = plain(x, 2.0 * x[:, 1] + 0.1 * rng.standard_normal(50))
    >>> solve(Constant(problem), Hyper(Horseshoe(), 2.0, HalfCauchy()), Options()).support
    array([False,  True, False, False])
    """
    with one_thread():
        teller = Teller(options.callback, options.tol, weights.full.columns)
        trace = Trace(hyper, teller, weights.constant)
        schedule = _schedule(weights, hyper, options, trace)
        checkpoint, status = options.checkpoint, Status.MAX_ITER
        before = None if checkpoint is None else load_loop(checkpoint, weights, schedule, trace)
        if before is None:
            begin = begin or weights.begin
            before = LoopPosition(0, schedule.begin(_first(begin(), hyper, options, groups)))
        first, state = before
        for number in range(first, options.max_iter):
            if checkpoint is not None:
                save_loop(checkpoint, LoopPosition(number, state), weights, schedule, trace)
            if state.mean.size == 0:
                state, status = _without_columns(weights, options, state), Status.NOTHING_SELECTED
                break
            sigma2, tau2 = _sigma2(state, options), state.scales.tau2
            # 1. Eqs. (16)-(18)
            scales = m_step(hyper, state.second_moment, sigma2, state.groups, tau2)
            state = weights.at(state.scaled(scales))  # 2. weights and targets at eta
            moments, pace = schedule.e_step(state)  # 3. Eqs. (7)-(12)
            last, state = state, weights.accept(state, moments, pace)  # 4. as far as the likelihood lets us
            if trace.record(state):  # 5.
                status = Status.STOPPED
                break
            state, ended = schedule.after(last, state)  # 6. fewer columns, a jump, or the end
            if ended is not None:
                status = ended
                break
        return sparsify(weights, hyper, options, state, status, trace, groups)


def _schedule(weights: Weights, hyper: Hyper, options: Options, trace: Trace) -> Schedule:
    rng = np.random.default_rng(options.random_state)
    plain = Plain(weights, options.expectation, options.tol, rng, hyper.known and weights.has_noise)
    if options.expectation == "conjugate_gradient":
        exact = _schedule(weights, hyper, options._replace(expectation="exact", fast=True), trace)
        return Probed(plain, exact, hyper, rng)
    if not options.fast or options.expectation == "stochastic" or weights.full.columns.orthogonal:
        return plain
    if not hyper.sparse:
        return Mixed(plain)
    known, polish = options.known_sigma2, options.sigma2 != "exact"
    return Fast(plain, hyper, known, trace, options.max_iter, polish)


def _first(begin: Begin, hyper: Hyper, options: Options, groups: Groups | None) -> State:
    """Return the state before the first M-step."""
    start, problem, place = begin
    sigma2 = options.known_sigma2 or noise_variance(start.expected_rss, problem.total_weight)
    return State(
        problem=problem,
        place=place,
        active=np.ones(start.mean.size, dtype=np.bool_),
        mean=start.mean,
        second_moment=start.second_moment,
        expected_rss=start.expected_rss,
        scales=Scales(np.zeros_like(start.mean), hyper.tau.bounds[1], sigma2, hyper.slab2),
        groups=groups,
    )


def _sigma2(state: State, options: Options) -> float:
    """Return the noise variance: known, Eq. (18), or the exact minimiser."""
    n = state.problem.total_weight
    if options.sigma2 == "exact" and state.n_steps > 0:
        d = state.scales.prior_variance
        return exact_noise_variance(state.expected_rss, n, state.second_moment, d)
    return options.known_sigma2 or noise_variance(state.expected_rss, n)


def _without_columns(weights: Weights, options: Options, state: State) -> State:
    none = np.zeros(0)
    state, sigma2 = weights.without_columns(state, options.known_sigma2, options.tol)
    moments = Moments(none, none, sigma2 * weights.total_weight, 0.0, 0.0)
    return state._replace(scales=Scales(none, state.scales.tau2, sigma2), moments=moments)
