"""The loop for classes that share the local scales of the columns: Algorithm 1 on `Softmax`."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import helmert

from horseshoe._types import Covariance, FitResult, Iteration, Mask, Matrix, Moments, Scales, Status, Vector
from horseshoe.conditional.base import condition
from horseshoe.data.adjusted import Adjusted
from horseshoe.data.problem import LeastSquares, Targets
from horseshoe.data.standardise import Standardised
from horseshoe.em.checkpoint import groups_with, label_of
from horseshoe.em.fast.limits import LIMITS
from horseshoe.em.fast.pruning import shared_worth_keeping
from horseshoe.em.joint import joint
from horseshoe.em.mstep import Hyper, m_step
from horseshoe.em.news import Teller
from horseshoe.em.options import Options
from horseshoe.em.schedule import EXACT_WARMUP, MOST_STALLS, ROUNDING_TOL, approximate
from horseshoe.em.several import largest_change, solve_several
from horseshoe.em.softmax import Place, Softmax
from horseshoe.linalg import cholesky, scatter, triangular_inverse
from horseshoe.priors import Groups, is_dense
from horseshoe.store.checkpoint import CheckpointSection
from horseshoe.threads import one_thread

START_STEPS, START_TOL, LINEAR_TOL = 100, 1e-3, 1e-3
"""Of the ridge and of the Gaussian fit that a fit may start from."""
MOST_JOINT = 2_000
"""Coefficients whose joint covariance is formed at the end; of more, that of the shared factor is taken."""


class State(NamedTuple):
    """What is active, and the last word on it; ``spread`` are the variances in each of q - 1 directions."""

    softmax: Softmax
    place: Place
    active: Mask
    second_moment: Vector
    scales: Scales
    spread: Vector
    log_det: float | None = None
    unit: Vector | None = None
    groups: Groups | None = None
    change: float = math.inf
    left_out: float = 0.0
    stalls: int = 0

    def take(self, keep: Mask) -> State:
        """Return the state of the columns in ``keep``."""
        active = self.active.copy()
        active[active] = keep
        part = self.softmax.take(keep)
        return self._replace(
            softmax=part,
            place=part.at(self.place.coef[keep], self.place.flat),
            active=active,
            second_moment=self.second_moment[keep],
            scales=self.scales.take(keep),
            spread=self.spread[keep],
            unit=None if self.unit is None else self.unit[keep],
            groups=None if self.groups is None else self.groups.take(keep),
        )


def solve_multinomial(
    design: Standardised,
    chosen: Matrix,
    hyper: Hyper,
    options: Options,
    center: bool = True,
    augmentation: str = "polya_gamma",
    start: str | Place = "linear",
    groups: Groups | None = None,
) -> tuple[FitResult, ...]:
    """Find the posterior mode of softmax regression; one fit for each class, and they add up to zero.

    Parameters
    ----------
    design : Standardised
        The columns, and the sample weights.
    chosen : array of shape (n, q)
        1 in the column of the class of a row, otherwise 0.
    hyper : Hyper
        The prior of the scales, with ``size`` q - 1.
    options : Options
        How to run the loop.
    center : bool
        Whether there are intercepts.
    augmentation : {"polya_gamma", "irls"}
        As in `Softmax`.
    start : {"linear", "marginal", "paper"} or Place
        Where to start, as in `HorseshoeRegressor`, or an earlier fit on the scale of the prior.
    groups : Groups, optional
        Which columns share a local scale.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.data.standardise import standardise
    >>> from horseshoe.priors import HalfCauchy, Horseshoe
    >>> rng = np.random.default_rng(0)
    >>> x = rng.standard_normal((200, 4))
    >>> chosen = np.eye(3)[np.digitize(x[:, 1] + 0.3 * rng.standard_normal(200), [-0.5, 0.5])]
    >>> design = standardise(Dense(x), None, center=True, scale=True)
    >>> found = solve_multinomial(design, chosen, Hyper(Horseshoe(), 2.0, HalfCauchy(), size=2), Options())
    >>> [one.support.tolist() for one in found][0]
    [False, True, False, False]
    """
    softmax = Softmax(design, chosen, center, augmentation)
    with one_thread():
        lines: list[Iteration] = []
        status, tol, checkpoint = Status.MAX_ITER, max(options.tol, ROUNDING_TOL), options.checkpoint
        teller = Teller(options.callback, tol, design.columns)
        again = None if checkpoint is None else _load(checkpoint, softmax, lines)
        first, state = again or (0, _first(softmax, hyper, options, design.unit, start, groups))
        for number in range(first, options.max_iter):
            if checkpoint is not None:
                _save(checkpoint, number, state, lines)
            if state.spread.size == 0:
                status = Status.NOTHING_SELECTED
                break
            state = _step(state, hyper, options, len(lines))
            line = Iteration(state.change, None, state.scales.tau2, 1.0, state.spread.size)
            lines.append(line)
            if teller.asks_to_stop(len(lines), line):
                status = Status.STOPPED
                break
            if max(state.change, state.left_out) < tol or state.stalls >= MOST_STALLS:
                status = Status.CONVERGED if state.stalls < MOST_STALLS else Status.STALLED
                break
            if options.fast and hyper.sparse and len(lines) > 1:
                state = _without_fading(hyper, state)
        return _results(state, hyper, options, status, lines)


def _save(checkpoint: CheckpointSection, number: int, state: State, lines: list[Iteration]) -> None:
    """Offer all that the next round hangs on."""
    bare = state._replace(softmax=None, groups=None)  # type: ignore[arg-type]
    label = label_of(state.groups)
    checkpoint.save({"round": number, "state": bare, "groups": label, "trace": tuple(lines)})


def _load(
    checkpoint: CheckpointSection, softmax: Softmax, lines: list[Iteration]
) -> tuple[int, State] | None:
    """Return after how many rounds the loop goes on, and in which state, if it was broken off."""
    found = checkpoint.load(State, Place, Scales, Iteration)
    if found is None:
        return None
    lines[:], state = found["trace"], found["state"]
    here = softmax if state.active.all() else softmax.take(state.active)
    return found["round"], state._replace(softmax=here, groups=groups_with(found["groups"]))


def _step(state: State, hyper: Hyper, options: Options, n_steps: int) -> State:
    """Return the state after one M-step, one step of the coefficients, and their variances."""
    softmax, place = state.softmax, state.place
    scales = m_step(hyper, state.second_moment, 1.0, state.groups)
    d = scales.prior_variance
    problem, given = softmax.given(place.eta, d)
    there, left_out = softmax.step(place, d, problem, given)
    diagonal = options.expectation == "approximate" and n_steps >= EXACT_WARMUP
    form = approximate(problem, d) if diagonal else given
    spread, before = form.variance(), np.vstack([place.coef, place.flat])
    after = np.vstack([there.coef, there.flat])
    unit = None if state.unit is None else np.append(state.unit, np.ones(len(place.flat)))
    change = largest_change(after, before, unit)
    return state._replace(
        place=there,
        second_moment=_second_moment(there.coef, spread, hyper),
        scales=scales,
        spread=spread,
        log_det=form.log_det,
        change=change,
        left_out=left_out * change if left_out < 1.0 else 0.0,
        stalls=state.stalls + 1 if left_out == 1.0 else 0,
    )


def _second_moment(coef: Matrix, spread: Vector, hyper: Hyper) -> Vector:
    """Return the sum over classes of E[b_jk^2]: they have q - 1 directions to spread in."""
    return np.asarray(np.einsum("jk,jk->j", coef, coef) + hyper.size * spread)


def _without_fading(hyper: Hyper, state: State) -> State:
    """Return the state without the columns that only fade, as in `several`."""
    d, limit = state.scales.prior_variance, LIMITS.prune_moving
    gain = np.einsum("jk,jk->j", state.place.coef, state.place.coef) / hyper.size
    keep = shared_worth_keeping(state.spread, gain, d, state.groups, hyper.size, limit)
    few = int(keep.sum())
    if few == keep.size or (few > LIMITS.prune_share * keep.size and keep.size > LIMITS.few_columns):
        return state
    return state.take(keep)


# --- where it starts -------------------------------------------------------------------------------


def _first(
    softmax: Softmax,
    hyper: Hyper,
    options: Options,
    unit: Vector | None,
    start: str | Place,
    groups: Groups | None,
) -> State:
    k = softmax.columns.shape[1]
    scales = Scales(np.zeros(k), hyper.tau.bounds[1], 1.0, hyper.slab2)
    state = State(softmax, softmax.nowhere(), np.ones(k, dtype=np.bool_), np.zeros(k), scales, np.zeros(k))
    state = state._replace(unit=unit, groups=groups)
    if k == 0:
        return state
    if isinstance(start, Place):
        return _from(state, start, np.zeros(k))
    if not hyper.sparse or start == "paper":
        return _from_ridge(state, hyper)
    if start == "marginal":
        left, error2 = _left(state.softmax, state.place)
        second = np.maximum(np.einsum("jk,jk->j", left, left) - hyper.size * error2, 0.0)
        return state._replace(second_moment=second)
    return _from_linear(state, hyper, options)


def _left(softmax: Softmax, place: Place) -> tuple[Matrix, Vector]:
    """Return what each column alone explains of what is left of the classes, and its variance."""
    problem = softmax.problem(place.eta)
    rows = softmax.sample[:, None] * (softmax.chosen - softmax.shares(place.eta))
    pull, _ = softmax.beside(problem).pulled(softmax.columns, rows)
    squares = problem.squares
    error2 = np.divide(1.0, squares, out=np.zeros_like(squares), where=squares > 0.0)
    return np.asarray(pull * error2[:, None]), error2


def _from(state: State, place: Place, variance: Vector) -> State:
    """Start at coefficients; what is zero there starts from its fit to what they leave."""
    left, _ = _left(state.softmax, place)
    here = place.coef.any(axis=1)
    own = np.einsum("jk,jk->j", place.coef, place.coef) + variance
    return state._replace(place=place, second_moment=np.where(here, own, np.einsum("jk,jk->j", left, left)))


def _from_ridge(state: State, hyper: Hyper) -> State:
    """Start at a ridge with precision 1 and free intercepts, with its variances."""
    softmax, place = state.softmax, state.place
    ones = np.ones(state.spread.size)
    for _ in range(START_STEPS):
        problem, given = softmax.given(place.eta, ones)
        before, (place, _) = place, softmax.step(place, ones, problem, given)
        if largest_change(place.coef, before.coef, state.unit) < START_TOL:
            break
    spread = softmax.given(place.eta, ones)[1].variance()
    return state._replace(place=place, second_moment=_second_moment(place.coef, spread, hyper))


def _from_linear(state: State, hyper: Hyper, options: Options) -> State:
    """Start at the mode of a Gaussian fit to the working responses at the shares of the classes."""
    softmax, place = state.softmax, state.place
    problem = softmax.problem(place.eta)
    assert problem.targets.weights is not None
    left = softmax.sample[:, None] * (softmax.chosen - softmax.shares(place.eta))
    rows = np.asarray(problem.targets.rooted(left / problem.targets.weights[:, None]))
    alone = LeastSquares(problem.weighted, Targets(rows[:, 0], softmax.total_weight))
    quick = Options(tol=LINEAR_TOL, max_iter=options.max_iter, fast=options.fast)
    quick = quick._replace(checkpoint=options.section("start").checkpoint)
    found = solve_several(alone, rows, hyper, quick, state.unit, groups=state.groups)
    coef = np.column_stack([one.coef for one in found])
    coef = coef - coef.mean(axis=1, keepdims=True)
    flat = softmax.beside(problem)
    begin = softmax.at(coef, place.flat + flat.solve(softmax.basis.T @ left) - flat.loads @ coef)
    variance = hyper.size * np.mean([one.moments.variance for one in found], axis=0)
    if softmax.loss(begin.eta) > 2.0 * softmax.loss(place.eta):  # it may be far beyond what a class can be
        begin = softmax.at(0.5 * coef, place.flat)
    return _from(state, begin, variance)


# --- the end ---------------------------------------------------------------------------------------


def _results(
    state: State, hyper: Hyper, options: Options, status: Status, lines: list[Iteration]
) -> tuple[FitResult, ...]:
    """Set what is negligible to zero, and return the fit of each class with all columns in their places."""
    softmax, place = state.softmax, state.place
    if place.coef.shape[0] == 0:
        place = softmax.alone()
    problem = softmax.problem(place.eta)
    limit = options.zero_threshold
    if limit is None:
        limit = 0.0 if is_dense(hyper.local) else 1.0 / (5.0 * math.sqrt(softmax.total_weight))
    scale = np.sqrt(softmax.columns.squares(softmax.sample) / softmax.total_weight)
    size = np.sqrt(np.einsum("jk,jk->j", place.coef, place.coef) / hyper.size) * scale
    size = size if state.groups is None else state.groups.rms(size)
    selected = (size >= limit) & (size > 0.0)
    if status in (Status.CONVERGED, Status.NOTHING_SELECTED, Status.STALLED):
        own = np.einsum("ij,ij->i", place.eta, softmax.chosen)
        apart = bool((own > _others(place.eta, softmax.chosen)).all())
        apart &= bool(selected.any()) or softmax.free is not None
        status = status if selected.any() or status is Status.STALLED else Status.NOTHING_SELECTED
        status = Status.SEPARATED if apart else status
    known = _uncertainty(state, place, problem, selected)
    active, (low, high) = state.active, hyper.tau.bounds
    shared = 1.0 - 1.0 / softmax.n_classes
    found = []
    for k, (covariance, center, variance, free) in enumerate(known):
        coef = np.where(selected, place.coef[:, k], 0.0)
        mid = np.zeros(selected.size)
        mid[selected] = center
        moments = Moments(
            scatter(active, place.coef[:, k]), scatter(active, shared * state.spread), 0.0, 0.0, state.log_det
        )
        found.append(
            FitResult(
                coef=scatter(active, coef),
                intercept=_level(softmax, place.flat[:, k]),
                scales=state.scales._replace(lambda2=scatter(active, state.scales.lambda2)),
                moments=moments,
                active=active,
                status=status,
                tau_at_bound=low < high and state.scales.tau2 in (low, high),
                n_iter=len(lines),
                trace=tuple(lines),
                covariance=None
                if covariance is None
                else covariance.take(np.append(coef[selected] != 0.0, np.ones(free.size, dtype=np.bool_))),
                center=scatter(active, mid),
                intercept_variance=variance,
                at_information=True,
                free=None if softmax.free is None else free,
            )
        )
    return tuple(found)


def _level(softmax: Softmax, flat: Vector) -> Any:
    """Return the intercept of a class, with what is always in behind it if there is any."""
    if softmax.free is not None:
        return flat
    return float(flat[0]) if softmax.center else 0.0


def _others(eta: Matrix, chosen: Matrix) -> Vector:
    """Return the largest linear predictor of another class than that of the row."""
    return np.asarray(np.where(chosen > 0.0, -np.inf, eta).max(axis=1))


class Known(NamedTuple):
    """Cov[b_k] of the selected columns of a class, with what is not shrunk behind them.

    ``center`` and ``free`` are where eta_k is best known, ``variance`` is that of it there.
    """

    covariance: Covariance | None
    center: Vector
    variance: float
    free: Vector


def _uncertainty(state: State, place: Place, problem: LeastSquares, selected: Mask) -> list[Known]:
    """Return how sure the coefficients of each class are.

    That comes from the information about all classes together, at the mode and given the scales.
    """
    softmax, q, d = state.softmax, state.softmax.n_classes, state.scales.prior_variance[selected]
    f = 0 if softmax.free is None else len(softmax.free.turn)
    s, m, total = int(selected.sum()), softmax.basis.shape[1], problem.targets.information
    known = np.zeros((f, s)) if softmax.free is None else softmax.free.loads[:, state.active][:, selected]
    if (s == 0 and f == 0) or (s + m) * (q - 1) > MOST_JOINT:
        return [_by_factor(softmax.take(selected), place, d, known)] * q
    basis = helmert(q).T  # (q, q - 1): orthonormal, and orthogonal to what all classes share
    matrix = softmax.take(selected).hessian(place.eta, basis)
    root = np.repeat(np.append(np.ones(m), np.sqrt(d)), q - 1)
    scaled = matrix * root * root[:, None]
    prior = np.ones(root.size)
    prior[: (q - 1) * m] = 0.0
    scaled[np.diag_indices(root.size)] += prior
    half = (triangular_inverse(cholesky(scaled)) * root).reshape(root.size, -1, q - 1)
    found: list[Known] = []
    for k in range(q):
        factor = half @ basis[k]
        slopes = factor[:, m:]
        own = np.hstack([slopes, factor[:, m - f : m] - slopes @ known.T])
        covariance = Covariance(np.zeros(s + f), own, 1.0)
        if not softmax.center:
            found.append(Known(covariance, np.zeros(s), (1.0 - 1.0 / q) / total, np.zeros(f)))
            continue
        center, *_ = np.linalg.lstsq(own, -factor[:, 0], rcond=None)
        rest = factor[:, 0] + own @ center
        found.append(Known(covariance, center[:s], float(rest @ rest), center[s:]))
    return found


def _by_factor(softmax: Softmax, place: Place, d: Vector, known: Matrix) -> Known:
    """Return the same from the factor that all classes share, where there are too many coefficients."""
    problem, share = softmax.problem(place.eta), 1.0 - 1.0 / softmax.n_classes
    given = condition(problem, d) if d.size else None
    variance = share / problem.targets.information
    if isinstance(problem, Adjusted):
        targets, every = problem.targets, np.ones(d.size, dtype=np.bool_)
        found = joint(given, share, every, problem.loads + known, share * targets.covariance())
        return Known(found, problem.x_mean + targets.middle @ known, variance, targets.middle)
    return Known(None if given is None else given.covariance(share), problem.x_mean, variance, np.zeros(0))
