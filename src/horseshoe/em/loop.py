"""Algorithm 1 of the paper: EM with the coefficients as the missing data, for any likelihood and prior."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from horseshoe._types import FitResult, Moments, Scales, Status
from horseshoe.em.checkpoint import LoopPosition, restore, save
from horseshoe.em.conjugate_gradient import ConjugateGradient
from horseshoe.em.fast.mixing import Mixed
from horseshoe.em.fast.schedule import Fast
from horseshoe.em.likelihood import Likelihood
from horseshoe.em.m_step import Hyper, exact_noise_variance, m_step, noise_variance
from horseshoe.em.result import ProgressReporter, results
from horseshoe.em.schedule import Plain, Schedule
from horseshoe.em.starts import Begin
from horseshoe.em.state import Options, State
from horseshoe.priors import Groups
from horseshoe.threads import one_thread


def solve(
    likelihood: Likelihood,
    hyper: Hyper,
    options: Options,
    begin: Callable[[], Begin] | None = None,
    groups: Groups | None = None,
) -> tuple[FitResult, ...]:
    """Find the posterior mode; return a fit for each response or class.

    Parameters
    ----------
    likelihood : Likelihood
        The likelihood on data: Gaussian, with working weights, or multinomial.
    hyper : Hyper
        The prior of the scales.
    options : Options
        How to run the loop.
    begin : callable, optional
        Returns where to start; not called where the fit is resumed. By default as Algorithm 1 does.
    groups : Groups, optional
        Which columns share a local scale.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> from horseshoe.em.likelihood import GaussianLikelihood
    >>> from horseshoe.priors import HalfCauchy, Horseshoe
    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal((50, 4))
    >>> z = np.outer(x[:, 1], [2.0, -1.0]) + 0.1 * rng.standard_normal((50, 2))
    >>> hyper, first = Hyper(Horseshoe(), 2.0, HalfCauchy()), plain(x, z[:, 0])
    >>> solve(GaussianLikelihood(first), hyper, Options())[0].support
    array([False,  True, False, False])
    >>> both = GaussianLikelihood(first, targets=z)
    >>> [one.coef.round(1) for one in solve(both, hyper._replace(size=2.0), Options())]
    [array([0., 2., 0., 0.]), array([ 0., -1.,  0.,  0.])]
    """
    with one_thread():
        columns, status = likelihood.full.columns, Status.MAX_ITER
        progress = ProgressReporter(hyper, options.callback, options.tol, columns, likelihood.constant)
        schedule = _schedule(likelihood, hyper, options, progress)
        position, known = None, options.known_sigma2
        if options.checkpoint is not None:
            position = restore(options.checkpoint, likelihood, schedule, progress)
        if position is None:
            start = (begin or likelihood.begin)()
            position = LoopPosition(0, schedule.begin(_first(start, hyper, options, groups)))
        first, state = position
        for number in range(first, options.max_iter):
            if options.checkpoint is not None:
                save(options.checkpoint, LoopPosition(number, state), likelihood, schedule, progress)
            if len(state.mean) == 0:
                state, status = _without_columns(likelihood, options, state), Status.NOTHING_SELECTED
                break
            # 1. M-step: noise variances, Eq. (18); local scales, Eq. (16); global scale, Eq. (17)
            sigma2 = _sigma2(state, options.sigma2) if known is None else known
            scales = m_step(hyper, state.second_moment, sigma2, state.groups, state.scales.tau2)
            # 2. Working weights and targets at the linear predictor
            state = likelihood.at(state, scales)
            # 3. E-step: mean and variances of the coefficients, Eqs. (7)-(12)
            moments, fast = schedule.e_step(state)
            # 4. Move to the mean, backtracking where the log-posterior would fall
            before, state = state, likelihood.accept(state, moments, fast)
            # 5. One line of the trace, and the user's callback
            if progress.report(state):
                status = Status.STOPPED
                break
            # 6. Drop inactive columns, extrapolate, or stop
            state, ended = schedule.after(before, state)
            if ended is not None:
                status = ended
                break
        return results(likelihood, hyper, options, state, status, progress, groups)


def _schedule(likelihood: Likelihood, hyper: Hyper, options: Options, progress: ProgressReporter) -> Schedule:
    """Return plain EM, or what reaches its mode sooner."""
    rng, expectation = np.random.default_rng(options.random_state), options.expectation
    if likelihood.is_multivariate and expectation in ("stochastic", "conjugate_gradient"):
        gaussian = likelihood.constant and expectation == "conjugate_gradient"
        expectation = expectation if gaussian else "exact"  # draws and probes are of one response
    plain = Plain(likelihood, expectation, options.tol, rng, hyper.known and likelihood.has_noise)
    if expectation == "conjugate_gradient":
        exact = options._replace(expectation="exact", fast=True)
        return ConjugateGradient(plain, _schedule(likelihood, hyper, exact, progress), hyper, rng)
    if not options.fast or expectation == "stochastic" or likelihood.full.columns.orthogonal:
        return plain
    if not hyper.sparse:
        return Mixed(plain)
    newton = not isinstance(options.sigma2, str) or options.sigma2 != "exact"
    return Fast(plain, hyper, options.known_sigma2, progress, options.max_iter, newton)


def _first(begin: Begin, hyper: Hyper, options: Options, groups: Groups | None) -> State:
    """Return the state before the first M-step."""
    start, problem, point = begin
    k, sigma2 = len(start.mean), options.known_sigma2
    if sigma2 is None:
        sigma2 = noise_variance(start.expected_rss, problem.total_weight)
    return State(
        problem=problem,
        point=point,
        active=np.ones(k, dtype=np.bool_),
        mean=start.mean,
        second_moment=start.second_moment,
        expected_rss=start.expected_rss,
        scales=Scales(np.zeros(k), hyper.tau.bounds[1], sigma2, hyper.slab2),
        groups=groups,
    )


def _sigma2(state: State, how: Any) -> Any:
    """Return the noise variances of Eq. (18), or the exact minimisers."""
    n = state.problem.targets.total_weight
    if how == "exact" and state.n_steps > 0:
        d = state.scales.prior_variance
        return exact_noise_variance(state.expected_rss, n, state.second_moment, d)
    return noise_variance(state.expected_rss, n)


def _without_columns(likelihood: Likelihood, options: Options, state: State) -> State:
    """Return the state of the null model."""
    none = state.mean
    state, sigma2 = likelihood.without_columns(state, options.known_sigma2, options.tol)
    moments = Moments(none, none, sigma2 * likelihood.total_weight, 0.0, 0.0)
    scales = Scales(np.zeros(0), state.scales.tau2, sigma2)
    return state._replace(scales=scales, moments=moments)
