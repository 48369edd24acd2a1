"""The components of the average for classes that are fitted together, as `horseshoe.average.components`.

The mode has one local scale a column for all classes, starts at a ridge regression and goes on with the
select_active columns only; the mixtures are on rows of coefficients, in for all classes or for none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from horseshoe._lazy import lazy
from horseshoe._types import Mask, Matrix, Vector
from horseshoe.average.components import ROUND_TOL
from horseshoe.average.modes import AT_LEAST, FEWEST, MOST, MOSTLY, STAY, WIDE, WORK, select_active
from horseshoe.average.ridge_newton import side_by_side
from horseshoe.average.ridge_path import START, blended, outer, over_penalties
from horseshoe.average.sets import sizes
from horseshoe.average.shared.batch import Cube
from horseshoe.average.shared.classes import PART, ClassFits, ClassSets, apart, least_squares, shares
from horseshoe.average.shared.forward import shared_forward
from horseshoe.average.shared.mixture import fit_shared_mixture
from horseshoe.average.shared.modes import GONE, TOL, of_each_set
from horseshoe.conditional.base import condition
from horseshoe.data.problem import LeastSquares, Targets
from horseshoe.em.m_step import Hyper
from horseshoe.em.state import relative_change
from horseshoe.em.working import longest_share
from horseshoe.priors import FixedScale, Horseshoe
from horseshoe.store.checkpoint import CheckpointSection

PENALTIES: Vector = np.geomspace(1e3, 1e-2, 11)
"""Of the path of ridge regressions, in units of the number of columns."""
FIRST_STEPS, STEPS = 8, 4
"""Steps at the first penalty and at each other one."""
RISES = 2
"""So many penalties in a row that are worse than the best are enough."""
ROUNDS, SWEEPS, SWEEP_TOL = 10, 6, 1e-2
"""How often a mixture takes new weights, the most sweeps between, and the change at which these end."""


_Place = tuple[Cube, Matrix, Cube]
"""Coefficients, or what stands for them, intercepts, and what is always in."""


class ClassFitting:
    """The training sets with what components have in common.

    Examples
    --------
    >>> from horseshoe.average.sets import Sets
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.families import Binomial
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((90, 4))
    >>> codes = np.digitize(X[:, 1] + 0.5 * rng.standard_normal(90), [-0.5, 0.5])
    >>> folds = tuple((np.flatnonzero(np.arange(90) % 2 != f), np.arange(f, 90, 2)) for f in range(2))
    >>> base = Sets(Dense(X), 1.0 * (codes == 0), np.zeros(90), np.ones(90), folds, Binomial())
    >>> fits = ClassFitting(ClassSets(base, np.eye(3)[codes])).component("horseshoe")
    >>> np.flatnonzero(fits.coef[:, 2].any(axis=1)), bool(np.allclose(fits.coef.sum(axis=2), 0.0))
    (array([1]), True)
    """

    def __init__(
        self, sets: ClassSets, n_jobs: int | None = None, checkpoint: CheckpointSection | None = None
    ) -> None:
        self.sets, self.n_jobs, self.checkpoint = sets, n_jobs, checkpoint
        self._done: dict[str, ClassFits] = {}

    def component(self, name: str) -> ClassFits:
        """Return the fits of a component; each is fitted once, and kept if there is a checkpoint."""
        if name not in self._done:
            part = None if self.checkpoint is None else self.checkpoint.section(name)
            found = None if part is None else part.load(ClassFits)
            if found is None:
                found = self.sets.drop_intercepts(CLASS_COMPONENTS[name](self))
                if part is not None:
                    part.save(found)
            self._done[name] = found
        return self._done[name]

    @lazy
    def _path(self) -> tuple[ClassFits, ClassFits]:
        """The ridge averaged over penalties by cross-validation, and the first at which modes start."""
        sets, base = self.sets, self.sets.base
        n, p = base.columns.shape
        K = outer(base) if p > n else None
        solution, (level, free) = np.zeros((n if p > n else p, base.n_sets, sets.size)), sets.alone
        eta = np.zeros((n, base.n_sets, sets.size)) + level + sets.known(free)
        at, found = (solution, level, free), list[_Place]()
        losses: list[float] = []
        start = None
        rows, _ = base.tested
        for i, penalty in enumerate(PENALTIES * max(p, 1)):
            for _ in range(FIRST_STEPS if i == 0 else STEPS):
                at, eta, solved = _ridge_step(sets, K, at, eta, penalty)
            if not solved and found:
                break
            found.append(at)
            losses.append(float(base.counts[rows] @ sets.tested_losses(sets.left_out(eta))))
            if penalty <= START * p and start is None:
                start = at
            if start is not None and len(losses) - 1 - int(np.argmin(losses)) >= RISES:
                break
        size, times = sizes(base)
        weights = over_penalties(size / times * np.array(losses), PENALTIES[: len(losses)])
        ridge = tuple(blended(weights, parts) for parts in zip(*found, strict=True))
        return self._fits(ridge, K is not None), self._fits(start or found[-1], K is not None)

    def _fits(self, found: _Place, dual: bool) -> ClassFits:
        solution, level, free = found
        coef = solution
        if dual:
            n, sets, q = solution.shape
            coef = np.asarray(self.sets.base.columns.rmatvec(solution.reshape(n, sets * q)))
            coef = coef.reshape(-1, sets, q)
        return ClassFits(coef, level, np.full(coef.shape[:2], np.nan), free)


def _ridge_step(
    sets: ClassSets, K: Matrix | None, at: _Place, eta: Cube, penalty: float
) -> tuple[_Place, Cube, bool]:
    """Take a part of the step to the weighted ridge regressions near eta; tell whether these were solved."""
    targets, weights = sets.linearised(eta)
    n, T, q = targets.shape
    every, held = np.ones(T * q, dtype=np.bool_), targets - sets.known(at[2])
    steps, solved = side_by_side(
        sets.base, K, held.reshape(n, -1), np.repeat(weights, q, axis=1), penalty, every
    )
    new = np.stack([step.solution for step in steps], axis=1).reshape(at[0].shape)
    up, free = np.array([step.intercept for step in steps]).reshape(T, q), at[2]
    fit = np.stack([step.fit for step in steps], axis=1).reshape(n, T, q)
    if sets.basis is not None:
        up, free = sets.levels_of(targets - fit, weights)
    fit = fit + up + sets.known(free)
    solution, level, free = (
        apart(old + PART * (there - old)) for old, there in zip(at, (new, up, free), strict=True)
    )
    return (solution, level, free), apart(eta + PART * (fit - eta)), bool(solved.all())


def _mean(fitting: ClassFitting) -> ClassFits:
    sets, p = fitting.sets, fitting.sets.base.columns.shape[1]
    none, (level, free) = np.zeros((p, sets.base.n_sets)), sets.alone
    return ClassFits(np.zeros((*none.shape, sets.size)), level, none, free)


def _ridge(fitting: ClassFitting) -> ClassFits:
    return fitting._path[0]


def _mode(fitting: ClassFitting) -> ClassFits:
    sets, start = fitting.sets, fitting._path[1]
    if not len(start.coef):
        return fitting.component("null")
    found = of_each_set(
        lambda t: _mode_of(sets, t, start.coef[:, t], start.intercept[t], start.free[:, t]),
        sets.base.n_sets,
        fitting.n_jobs,
    )
    coef, free = (np.stack([one[k] for one in found], axis=1) for k in (0, 2))
    return ClassFits(coef, np.stack([one[1] for one in found]), coef.any(axis=2).astype(float), free)


def _mode_of(
    sets: ClassSets, t: int, coef: Matrix, level: Vector, free: Matrix
) -> tuple[Matrix, Vector, Matrix]:
    """Find a mode of one training set by EM: coefficients, intercepts, and what is always in."""
    n, p = float(sets.base.total[t]), coef.shape[0]
    fewest = min(FEWEST * n, MOSTLY * p)
    allowed = min(float(p), max(WORK / n**2, fewest))
    hyper = Hyper(Horseshoe(), sets.base.lambda_power, FixedScale(1.0), size=sets.size - 1.0)
    state = _Mode(sets, t, coef, level, free)
    state.step(np.full(p, 1.0 / (START * max(p, 1))))
    for iteration in range(1, MOST + 1):
        d = hyper.mode(0.5 * state.second, state.groups)
        allowed = max(STAY * allowed, fewest) if iteration > WIDE else allowed
        keep = select_active(d, int(allowed), GONE / n)
        if keep is not None:
            state.take(keep)
            d = d[keep]
        if not d.size:
            break
        if state.step(d) < PART * TOL and iteration >= AT_LEAST:
            break
    return state.result()


class _Mode:
    """One training set, and what an iteration changes."""

    def __init__(
        self, sets: ClassSets, t: int, coef: Matrix, level: Vector, free: Matrix | None = None
    ) -> None:
        base, inside = sets.base, sets.base.weights[:, t] > 0.0
        self.counts, self.chosen = base.weights[inside, t], sets.chosen[inside]
        self.total, self.center, self.groups = float(base.total[t]), base.center, base.groups
        self.columns, self.active = base.columns.rows(inside), np.ones(coef.shape[0], dtype=np.bool_)
        self.coef, self.level, self.second = coef, level, np.zeros(coef.shape[0])
        self.flat = None if sets.basis is None else sets.flat[inside]
        self.free = np.zeros((0, level.size)) if free is None else free

    @property
    def known(self) -> Any:
        """What is always in explains."""
        return self._rows(self.free)

    def _rows(self, free: Matrix) -> Any:
        return 0.0 if self.flat is None else self.flat[:, self.flat.shape[1] - len(free) :] @ free

    def take(self, keep: Mask) -> None:
        """Go on with some of the columns."""
        self.active[self.active] = keep
        self.columns, self.coef, self.second = self.columns.take(keep), self.coef[keep], self.second[keep]
        self.groups = None if self.groups is None else self.groups.take(keep)

    def step(self, d: Vector) -> float:
        """Take a part of the E-step at the prior variances d; return the change of the coefficients."""
        before, q = self.coef, self.chosen.shape[1]
        known = self.known
        eta = self.columns.matvec(self.coef) + self.level + known
        share, told = shares(eta)
        weights, targets = self.counts * told, apart(eta + (self.chosen - share) / told[:, None])
        held = targets - known
        problem = LeastSquares(self.columns, Targets(held[:, 0], self.total, weights, self.center))
        given = condition(problem, d)
        middle = weights @ held / weights.sum() if self.center else np.zeros(q)
        pull = np.asarray(self.columns.rmatvec(weights[:, None] * (held - middle)))
        new = given.solve_for(pull)
        seen, free = self.columns.matvec(new), self.free
        level = middle - problem.x_mean @ new if self.center else middle
        if self.flat is not None:
            flat = least_squares(self.flat, targets - seen, weights)
            level, free = flat[0] if self.center else level, flat[int(self.center) :]
        share = min(PART, longest_share(eta, seen + level + self._rows(free)))
        self.coef, self.level = before + share * (new - before), self.level + share * (level - self.level)
        self.free = self.free + share * (free - self.free)
        self.second = np.einsum("jk,jk->j", self.coef, self.coef) + (q - 1.0) * given.variance()
        return relative_change(self.coef, before)

    def result(self) -> tuple[Matrix, Vector, Matrix]:
        """Return the fit, what is negligible at exactly zero."""
        size = np.sqrt(np.einsum("jk,jk->j", self.coef, self.coef) / (self.chosen.shape[1] - 1.0))
        size = size if self.groups is None else self.groups.rms(size)
        whole = np.zeros((self.active.size, self.chosen.shape[1]))
        whole[self.active] = np.where(size[:, None] < 0.2 / np.sqrt(self.total), 0.0, self.coef)
        return whole, self.level, self.free


def _mixture(fitting: ClassFitting) -> ClassFits:
    return _mixture_from(fitting.sets, fitting.component("horseshoe"))


def _alone(fitting: ClassFitting) -> ClassFits:
    sets, begin = fitting.sets, fitting.component("null")
    eta = sets.eta(begin)
    targets, weights = sets.linearised(eta)
    coef = shared_forward(sets.stack(targets - sets.known(begin.free), weights))
    after = (coef, *sets.levels(targets, weights, coef))
    coef, level, free = sets.part_of((begin.coef, begin.intercept, begin.free), after, eta, weights)
    return _mixture_from(sets, begin._replace(coef=coef, intercept=level, free=free))


def _mixture_from(sets: ClassSets, begin: ClassFits) -> ClassFits:
    """Alternate between sweeps and new weights; a set that has converged stays as it is."""
    coef, level, inclusion, free = (value.copy() for value in begin)
    left, known = np.arange(sets.base.n_sets), None
    for _ in range(ROUNDS):
        eta = sets.eta(ClassFits(coef, level, inclusion, free))[:, left]
        targets, weights = sets.linearised(eta, left)
        found = fit_shared_mixture(
            sets.stack(targets - sets.known(free[:, left]), weights, left),
            coef[:, left],
            np.ones((left.size, sets.size)),
            weights=known,
            known_noise=True,
            whole=True,
            freedom=sets.size - 1.0,
            tol=SWEEP_TOL,
            max_sweeps=SWEEPS,
        )
        before = (coef[:, left], level[left], free[:, left])
        after = (found.coef, *sets.levels(targets, weights, found.coef))
        coef[:, left], level[left], free[:, left] = sets.part_of(before, after, eta, weights)
        inclusion[:, left] = found.reach[..., 0]
        change = np.abs(coef[:, left] - before[0]).sum(axis=(0, 2))
        moved = change > PART * ROUND_TOL * (1.0 + np.abs(coef[:, left]).sum(axis=(0, 2)))
        left, known = left[moved], (found.pi[:, moved], found.omega[moved])
        if not left.size:
            break
    return ClassFits(apart(coef), apart(level), inclusion, apart(free))


CLASS_COMPONENTS: dict[str, Callable[[ClassFitting], ClassFits]] = {
    "null": _mean,
    "ridge": _ridge,
    "horseshoe": _mode,
    "mixture_horseshoe": _mixture,
    "mixture_forward": _alone,
}
