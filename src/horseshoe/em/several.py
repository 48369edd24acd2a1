"""Several regressions with the same columns that share their local scales: a column is in all or in none.

Response k is z_k = X b_k + noise of variance sigma2_k, and b_jk ~ N(0, sigma2_k tau2 lambda2_j). Given the
scales the precision of b_k is (X'X + D^-1) / sigma2_k: one factor serves every response, so that an iteration
costs hardly more than that of one. In the M-step W_j is the sum of E[b_jk^2] / (2 sigma2_k tau2), and the q
coefficients that share lambda_j are one coefficient in lambda power c + q - 1 (`Hyper.shared`).

The loop is plain EM. Columns leave when they only fade, by the rule of moving weights (`em/fast/limits.py`),
so that it ends in the mode of the loop without that rule.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import (
    Covariance,
    FitResult,
    Iteration,
    Mask,
    Matrix,
    Moments,
    Scales,
    Status,
    Vector,
    within_slab,
)
from horseshoe.conditional.base import condition
from horseshoe.data.adjusted import Free
from horseshoe.data.problem import LeastSquares
from horseshoe.data.products import CrossProducts
from horseshoe.em.checkpoint import cached, groups_with, label_of, part_of, restore_cache
from horseshoe.em.fast.limits import LIMITS
from horseshoe.em.fast.pruning import shared_worth_keeping
from horseshoe.em.fast.together import SharedMap, jump
from horseshoe.em.joint import joint
from horseshoe.em.mstep import Hyper, exact_noise_variance, m_step, noise_variance
from horseshoe.em.news import Teller
from horseshoe.em.options import Options
from horseshoe.em.result import NO_NOISE
from horseshoe.em.schedule import EXACT_WARMUP, NOISE_TOL, ROUNDING_TOL, approximate
from horseshoe.linalg import scatter
from horseshoe.priors import Groups, is_dense
from horseshoe.store.checkpoint import CheckpointSection
from horseshoe.threads import one_thread


class Start(NamedTuple):
    """Where the loop starts: E[b], E[b^2] and E[RSS], a column for each response."""

    mean: Matrix
    second_moment: Matrix
    expected_rss: Vector


class State(NamedTuple):
    """What is active, and the last word on it; matrices have a column for each response.

    ``pull`` is X'Z, ``spread`` are the variances in units of sigma2, which all responses share, ``trace`` is
    tr(X'X Cov[b]) / sigma2, and ``change`` is the largest of the responses'.
    """

    problem: LeastSquares
    active: Mask
    pull: Matrix
    mean: Matrix
    second_moment: Matrix
    expected_rss: Vector
    scales: Scales
    sigma2: Vector
    spread: Vector
    trace: float = 0.0
    log_det: float | None = None
    unit: Vector | None = None
    groups: Groups | None = None
    change: float = math.inf

    def take(self, keep: Mask) -> State:
        """Return the state of the columns in ``keep``."""
        active = self.active.copy()
        active[active] = keep
        return self._replace(
            problem=self.problem.take(keep),
            active=active,
            pull=self.pull[keep],
            mean=self.mean[keep],
            second_moment=self.second_moment[keep],
            scales=self.scales.take(keep),
            spread=self.spread[keep],
            unit=None if self.unit is None else self.unit[keep],
            groups=None if self.groups is None else self.groups.take(keep),
        )


def solve_several(
    problem: LeastSquares,
    targets: Matrix,
    hyper: Hyper,
    options: Options,
    unit: Vector | None = None,
    start: Start | None = None,
    known: Vector | None = None,
    groups: Groups | None = None,
    free: Free | None = None,
) -> tuple[FitResult, ...]:
    """Find the posterior mode of several regressions that share their local scales; one fit for each.

    Parameters
    ----------
    problem : LeastSquares
        The columns, each row with its sample weight; its own target is not used.
    targets : array of shape (n, q)
        The responses, weighted and centred as the columns are.
    hyper : Hyper
        The prior of the scales, with ``size`` q.
    options : Options
        How to run the loop.
    unit : array of shape (k,), optional
        The spread of each column, if they are not standardised.
    start : Start, optional
        Where to start; by default as Algorithm 1 does.
    known : array of shape (q,), optional
        The noise variances, if they are known.
    groups : Groups, optional
        Which columns share a local scale.
    free : Free, optional
        What was projected out of columns and targets, and is not shrunk.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> from horseshoe.priors import HalfCauchy, Horseshoe
    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal((50, 4))
    >>> z = np.outer(x[:, 1], [2.0, -1.0]) + 0.1 * rng.standard_normal((50, 2))
    >>> hyper = Hyper(Horseshoe(), 2.0, HalfCauchy(), size=2)
    >>> first, second = solve_several(plain(x, z[:, 0]), z, hyper, Options())
    >>> first.coef.round(1), second.coef.round(1)
    (array([0., 2., 0., 0.]), array([ 0., -1.,  0.,  0.]))
    """
    with one_thread():
        lines: list[tuple[Iteration, ...]] = []
        status, tol, checkpoint = Status.MAX_ITER, max(options.tol, ROUNDING_TOL), options.checkpoint
        tail = _Tail(targets, hyper, options, known)
        teller = Teller(options.callback, tol, problem.columns)
        again = None if checkpoint is None else _load(checkpoint, problem, tail, lines)
        if again is None:
            begin = paper_start(problem, targets) if start is None else start
            again = 0, _first(problem, targets, begin, hyper, unit, known)._replace(groups=groups)
        first, state = again
        for number in range(first, options.max_iter):
            if checkpoint is not None:
                _save(checkpoint, number, problem, state, tail, lines)
            if state.mean.shape[0] == 0:
                status = Status.NOTHING_SELECTED
                break
            before, state = state, _step(state, targets, hyper, options, known, len(lines))
            lines.append(_record(hyper, state))
            if teller.asks_to_stop(len(lines), _together(lines[-1])):
                status = Status.STOPPED
                break
            if state.change < tol and not (
                hyper.known and known is None and _noise_moves(before, state, tol)
            ):
                status = Status.CONVERGED
                break
            if options.fast and hyper.sparse and len(lines) > 1 and len(lines) % LIMITS.prune_pause == 0:
                fewer = _without_fading(hyper, before, state)
                there = None if fewer is not state else tail.jump(before, state, len(lines))
                if there is not None:
                    state, status = there, Status.CONVERGED
                    lines.append(_record(hyper, state))
                    break
                state = fewer
        return _results(state, targets, hyper, options, status, lines, known, free)


def _save(
    checkpoint: CheckpointSection,
    number: int,
    full: LeastSquares,
    state: State,
    tail: _Tail,
    lines: list[tuple[Iteration, ...]],
) -> None:
    """Offer all that the next round hangs on."""
    checkpoint.save(
        {
            "round": number,
            "state": state._replace(problem=None, groups=None),  # type: ignore[arg-type]
            "groups": label_of(state.groups),
            "full": cached(full),
            "problem": cached(state.problem),
            "tail": tail.pace,
            "trace": tuple(lines),
        }
    )


def _load(
    checkpoint: CheckpointSection, full: LeastSquares, tail: _Tail, lines: list[tuple[Iteration, ...]]
) -> tuple[int, State] | None:
    """Return after how many rounds the loop goes on, and in which state, if it was broken off."""
    found = checkpoint.load(State, Scales, Iteration, CrossProducts)
    if found is None:
        return None
    restore_cache(full, found["full"])
    problem = part_of(full, found["state"].active)
    if problem is not full:
        restore_cache(problem, found["problem"])
    tail.pace, lines[:] = found["tail"], found["trace"]
    return found["round"], found["state"]._replace(problem=problem, groups=groups_with(found["groups"]))


def paper_start(problem: LeastSquares, targets: Matrix, expected_rss: float = 1e10) -> Start:
    """Return the start of Algorithm 1 for each response.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> paper_start(plain(np.eye(2), np.zeros(2)), np.array([[3.0, 1.0], [0.0, 2.0]])).mean
    array([[3., 1.],
           [0., 2.]])
    """
    squares = problem.squares[:, None]
    pull = np.asarray(problem.weighted.rmatvec(targets))
    mean = np.divide(pull, squares, out=np.zeros_like(pull), where=squares > 0.0)
    return Start(mean, mean * mean, np.full(targets.shape[1], expected_rss))


def _first(
    problem: LeastSquares,
    targets: Matrix,
    start: Start,
    hyper: Hyper,
    unit: Vector | None,
    known: Vector | None,
) -> State:
    k = start.mean.shape[0]
    sigma2 = _noise(start.expected_rss, problem.total_weight) if known is None else known
    scales = Scales(np.zeros(k), hyper.tau.bounds[1], 1.0, hyper.slab2)
    active, pull = np.ones(k, dtype=np.bool_), np.asarray(problem.weighted.rmatvec(targets))
    return State(problem, active, pull, *start, scales, sigma2, np.zeros(k), unit=unit)


def _noise_moves(before: State, state: State, tol: float) -> bool:
    """Tell whether a noise variance still moves: where all scales are known, the coefficients stand still."""
    moved = np.abs(state.expected_rss - before.expected_rss)
    return bool((moved > max(tol, NOISE_TOL) * state.expected_rss).any())


def _noise(expected_rss: Vector, total_weight: float) -> Vector:
    return np.array([noise_variance(float(rss), total_weight) for rss in expected_rss])


def _sigma2(state: State, options: Options, known: Vector | None, n_steps: int) -> Vector:
    """Return the noise variances: known, Eq. (18), or the exact minimisers."""
    if known is not None:
        return known
    total = state.problem.total_weight
    if options.sigma2 != "exact" or n_steps == 0:
        return _noise(state.expected_rss, total)
    pairs = zip(state.expected_rss, state.second_moment.T, strict=True)
    d = state.scales.prior_variance
    return np.array([exact_noise_variance(float(rss), total, second, d) for rss, second in pairs])


def _step(
    state: State, targets: Matrix, hyper: Hyper, options: Options, known: Vector | None, n_steps: int
) -> State:
    """Return the state after one M-step and one E-step."""
    sigma2 = _sigma2(state, options, known, n_steps)
    scales = m_step(hyper, state.second_moment @ (1.0 / sigma2), 1.0, state.groups)
    return _expect(
        state, targets, scales, sigma2, options.expectation == "approximate" and n_steps >= EXACT_WARMUP
    )


def _expect(state: State, targets: Matrix, scales: Scales, sigma2: Vector, diagonal: bool) -> State:
    """Return the state after an E-step at these scales."""
    d, problem = scales.prior_variance, state.problem
    given = condition(problem, d)
    wide = problem.n_columns > problem.n_rows
    mean = given.mean_of(targets) if wide else given.solve_for(state.pull)
    form = approximate(problem, d) if diagonal else given
    spread, trace = form.variance(), form.fit_trace
    residual = targets - problem.weighted.matvec(mean)
    rss = np.einsum("ij,ij->j", residual, residual)
    return state._replace(
        mean=mean,
        second_moment=mean * mean + spread[:, None] * sigma2,
        expected_rss=rss + sigma2 * trace,
        scales=scales,
        sigma2=sigma2,
        spread=spread,
        trace=trace,
        log_det=form.log_det,
        change=largest_change(mean, state.mean, state.unit),
    )


def largest_change(mean: Matrix, before: Matrix, unit: Vector | None) -> float:
    """Return the paper's measure of change, the largest of all regressions'.

    Examples
    --------
    >>> largest_change(np.array([[1.0, 3.0]]), np.array([[1.0, 1.0]]), None)
    0.5
    """
    if unit is not None:
        mean, before = unit[:, None] * mean, unit[:, None] * before
    return float((np.abs(mean - before).sum(axis=0) / (1.0 + np.abs(mean).sum(axis=0))).max())


def _without_fading(hyper: Hyper, before: State, state: State) -> State:
    """Return the state without the columns that only fade, unless the noise still falls faster than they do.

    sum_k E[b_jk^2] / sigma2_k changes by the factor (1 - leverage_j + mean gain_j) size / (2A).
    """
    if float((before.sigma2 / state.sigma2).max()) * hyper.slowest(state.groups) > 1.0:
        return state
    d, limit = state.scales.prior_variance, LIMITS.prune_moving
    gain = (state.mean * state.mean) @ (1.0 / (hyper.size * state.sigma2))
    keep = shared_worth_keeping(state.spread, gain, d, state.groups, hyper.size, limit)
    few = int(keep.sum())
    if few == keep.size or (few > LIMITS.prune_share * keep.size and keep.size > LIMITS.few_columns):
        return state  # a copy of the columns must pay
    return state.take(keep)


class _Tail:
    """The end of the way: Newton's method, once only the tail is left, tried at growing distances."""

    def __init__(self, targets: Matrix, hyper: Hyper, options: Options, known: Vector | None) -> None:
        self._targets, self._hyper, self._known = targets, hyper, known
        self.pace = 0, 4
        self._off = options.sigma2 == "exact" or options.expectation != "exact"

    def jump(self, before: State, state: State, n_steps: int) -> State | None:
        """Return the state at the fixed point, if going there is safe."""
        until, wait = self.pace
        if self._off or n_steps < until or state.mean.shape[0] > state.problem.n_rows:
            return None
        now, then = ((one.second_moment / one.sigma2).sum(axis=1) for one in (state, before))
        settled = bool((np.abs(now - then) < LIMITS.settled_change * then).all())
        if not settled or state.scales.tau2 not in self._hyper.tau.bounds:
            return None
        self.pace = n_steps + wait, 2 * wait
        known = self._known is not None
        em = SharedMap(state.problem, self._targets, state.pull, self._hyper, known, state.groups)
        found = jump(em, state.scales.prior_variance, state.sigma2)
        if found is None:
            return None
        d, sigma2 = found
        tau2, slab2 = state.scales.tau2, state.scales.slab2
        bare = d if slab2 == math.inf else d / (1.0 - d / slab2)
        there = _expect(state, self._targets, state.scales._replace(lambda2=bare / tau2), sigma2, False)
        return there._replace(change=0.0)


def _record(hyper: Hyper, state: State) -> tuple[Iteration, ...]:
    """Return a line of the trace for each response."""
    value, scales = _objective(hyper, state), state.scales
    return tuple(
        Iteration(state.change, value, scales.tau2, float(one), state.mean.shape[0]) for one in state.sigma2
    )


def _together(lines: tuple[Iteration, ...]) -> Iteration:
    """Return what a callback is told: the noise variance is the mean of all."""
    return lines[0]._replace(sigma2=float(np.mean([line.sigma2 for line in lines])))


def _objective(hyper: Hyper, state: State) -> float | None:
    """Return -log p(lambda, tau, sigma2 | z) of the active columns, the coefficients integrated out."""
    scales, sigma2, mean = state.scales, state.sigma2, state.mean
    if state.log_det is None:
        return None
    lambda2, once = scales.lambda2, np.ones_like(scales.lambda2)
    if state.groups is not None:  # a scale of g columns counts once
        once /= state.groups.spread(state.groups.size)
    if not np.logical_and.reduce(lambda2):  # a column that is orthogonal to every response from the start
        mean, once, lambda2 = mean[lambda2 > 0.0], once[lambda2 > 0.0], lambda2[lambda2 > 0.0]
    bare = scales.tau2 * lambda2
    d = within_slab(bare, scales.slab2)
    rss = state.expected_rss - sigma2 * state.trace
    quadratic = float((1.0 / d) @ (mean * mean) @ (1.0 / sigma2)) + float((rss / sigma2).sum())
    slab = 0.0 if d is bare else float(np.log(bare / d).sum())
    return (
        0.5 * state.problem.total_weight * float(np.log(sigma2).sum())
        + 0.5 * hyper.size * (state.log_det + slab)
        + 0.5 * quadratic
        + float(once @ hyper.local.neg_log_density(lambda2, hyper.lambda_power))
        + hyper.tau.neg_log_density(scales.tau2)
    )


def _selected(state: State, targets: Matrix, hyper: Hyper, options: Options) -> Mask:
    """Tell which active columns are in: their root mean square over the responses is not negligible."""
    limit, problem = options.zero_threshold, state.problem
    if limit is None:
        limit = 0.0 if is_dense(hyper.local) else 1.0 / (5.0 * math.sqrt(problem.total_weight))
    scale2 = np.einsum("ij,ij->j", targets, targets) / problem.total_weight
    size = np.sqrt((state.mean**2 / scale2).mean(axis=1)) * problem.column_scale
    size = size if state.groups is None else state.groups.rms(size)
    return np.asarray((size >= limit) & (size > 0.0))


def _results(
    state: State,
    targets: Matrix,
    hyper: Hyper,
    options: Options,
    status: Status,
    lines: list[tuple[Iteration, ...]],
    known: Vector | None,
    free: Free | None,
) -> tuple[FitResult, ...]:
    """Set what is negligible to zero, and return the fit of each response, all columns in their places."""
    if state.mean.shape[0] == 0:
        rss = np.einsum("ij,ij->j", targets, targets)
        sigma2 = _noise(rss, state.problem.total_weight) if known is None else known
        state = state._replace(sigma2=sigma2, expected_rss=rss, trace=0.0, log_det=0.0)
    selected = _selected(state, targets, hyper, options)
    if status is Status.CONVERGED and not selected.any():
        status = Status.NOTHING_SELECTED
    given = condition(state.problem, state.scales.prior_variance) if state.mean.size else None
    total = state.problem.total_weight if free is None else free.total_weight
    active, (low, high) = state.active, hyper.tau.bounds
    found = []
    for k, sigma2 in enumerate(state.sigma2.tolist()):
        mean = state.mean[:, k]
        coef = np.where(selected, mean, 0.0)
        here = coef != 0.0
        variance = scatter(active, sigma2 * state.spread)
        bare = status is Status.CONVERGED and known is None and sigma2 < NO_NOISE
        found.append(
            FitResult(
                coef=scatter(active, coef),
                intercept=0.0,
                scales=state.scales._replace(lambda2=scatter(active, state.scales.lambda2), sigma2=sigma2),
                moments=Moments(
                    scatter(active, mean), variance, float(state.expected_rss[k]), state.trace, state.log_det
                ),
                active=active,
                status=Status.NO_NOISE if bare else status,
                tau_at_bound=low < high and state.scales.tau2 in (low, high),
                n_iter=len(lines),
                trace=tuple(line[k] for line in lines),
                covariance=_covariance(given, sigma2, here, active, free),
                center=np.zeros(active.size),
                intercept_variance=sigma2 / total,
            )
        )
    return tuple(found)


def _covariance(given: Any, sigma2: float, of: Mask, active: Mask, free: Free | None) -> Covariance | None:
    """Return the covariance of the coefficients that are not zero, with those that are not shrunk behind."""
    if free is None:
        return given.covariance(sigma2, of) if of.any() else None
    variance = sigma2 / free.total_weight * np.eye(len(free.turn))
    return joint(given, sigma2, of, free.loads[:, active], variance)
