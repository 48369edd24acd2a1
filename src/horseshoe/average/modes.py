"""Horseshoe modes of the training sets, found quickly: EM that goes on with the stronger columns only.

The E-step and the M-step are those of the paper. The fit starts at a ridge regression, where all columns
share what there is to explain. From the third iteration on only the strongest of them, by their prior
variance, go on: three in ten leave each time until half as many are left as there are rows. A mode that is
found so need not be that of `HorseshoeRegressor`, which takes pains to follow plain EM; it is about as good,
and much cheaper.

Several responses, and the classes of a softmax, share the local scale of each column, and one factor serves
all of them. Coefficients of one training set have the shape (k, q).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Mask, Matrix, Vector
from horseshoe.average.ridge_path import START, Normal, Start
from horseshoe.average.sets import HALVED, Fits, Sets
from horseshoe.average.softmax_sets import center_over_classes, least_squares, softmax_and_weight
from horseshoe.conditional.base import condition
from horseshoe.data.problem import LeastSquares, Targets
from horseshoe.data.standardise import SIGMA2_FLOOR
from horseshoe.em.m_step import Hyper
from horseshoe.em.state import relative_change
from horseshoe.em.working import longest_share
from horseshoe.families import Family
from horseshoe.priors import FixedScale, Horseshoe
from horseshoe.store.checkpoint import CheckpointSection, changed_attributes, with_changes

# The share of the columns that goes on after an iteration; how many always may, per row or as a share of all
# of them, whichever is less; and how many iterations have all.
KEEP_SHARE, MIN_PER_ROW, MIN_SHARE, FULL_ITERATIONS = 0.7, 0.5, 0.75, 2
# No iteration has more columns than this over the square of the rows, or `MIN_PER_ROW`: it would be slow.
WORK = 1e7
# A column whose prior variance is below this share of the variance that one row gives is dropped; the latter
# where scales are shared. These fade slowly, and what is gained by waiting is nothing to the mixture that
# starts here: with values around it its error moved by less than 1.2 % on four data sets of each of five
# truths.
GONE, SHARED_GONE = 1e-3, 5e-2
# The change of the coefficients at which EM ends. One Gaussian response has the looser one: the mixture goes
# on from there. Where weights move, steps are shorter: it would end too soon.
TOL, LOOSE_TOL, SHARED_TOL = 1e-3, 1e-2, 2e-3
# Iterations before it may end, and the most of them.
MIN_ITERATIONS, MAX_ITERATIONS = 4, 200
# The most steps of the intercept alone, at the end.
LEVELS = 10


def find_modes(
    sets: Sets,
    start: Start,
    n_jobs: int | None = None,
    normals: tuple[tuple[Normal, ...], ...] | None = None,
    checkpoint: CheckpointSection | None = None,
) -> Fits:
    """Return a mode of every training set; ``n_jobs`` threads share the sets.

    ``normals`` are the normal equations of each response in each set, if they are known: then no row is
    looked at again. ``checkpoint`` keeps each mode that is found.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.families import Gaussian
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 8))
    >>> X -= X.mean(axis=0)
    >>> y = X[:, 0] + 0.1 * rng.standard_normal(50)
    >>> folds = tuple((np.flatnonzero(np.arange(50) % 2 != f), np.arange(f, 50, 2)) for f in range(2))
    >>> sets = Sets(Dense(X), y, np.zeros(50), np.ones(50), folds, Gaussian())
    >>> b = np.full((8, 3), 0.3)
    >>> find_modes(sets, Start(b, b * b, np.zeros(3), np.ones(3), (Gaussian(),) * 3)).coef[:2].round(1)
    array([[1., 1., 1.],
           [0., 0., 0.]])
    """

    def fit(t: int) -> _Mode:
        return _mode(sets, t, start, None if normals is None else [one[t] for one in normals])

    def restored(t: int) -> _Mode:
        return fit(t) if checkpoint is None else _restored(checkpoint, t, start.families[t], fit)

    found = each_set(restored, sets.n_sets, n_jobs)
    coef, *others = (np.stack([one[k] for one in found], axis=-1) for k in range(4))
    intercept, sigma2 = (
        value.reshape(first.shape)
        for value, first in zip(others, (start.intercept, start.sigma2), strict=False)
    )
    free = None if start.free is None else others[2]
    inside, families = coef.any(axis=0).astype(float), tuple(one.family for one in found)
    return Fits(coef.reshape(start.coef.shape), intercept, sigma2, inside, families, free)


def each_set(fit: Callable[[int], Any], n_sets: int, n_jobs: int | None) -> list[Any]:
    """Return the fit to each set; ``n_jobs`` threads share them."""
    if n_jobs is None or n_jobs == 1:
        return [fit(t) for t in range(n_sets)]
    from joblib import Parallel, delayed  # imported here: one thread does without

    return list(Parallel(n_jobs=n_jobs, prefer="threads")(delayed(fit)(t) for t in range(n_sets)))


class _Mode(NamedTuple):
    """The mode of one training set: (q, p), (q,), (q,), (q, r)."""

    coef: Matrix
    intercept: Vector
    sigma2: Vector
    free: Matrix
    family: Family


def _restored(checkpoint: CheckpointSection, t: int, family: Family, fit: Callable[[int], _Mode]) -> _Mode:
    """Return the mode of one training set, from the checkpoint if it is there."""
    section = checkpoint.section(f"mode of set {t}")
    kept = section.load()
    if kept is not None:
        *values, changes = kept
        return _Mode._make((*values, with_changes(family, changes)))
    found = fit(t)
    section.save((*found[:4], changed_attributes(found.family, family)))
    return found


def _mode(sets: Sets, t: int, start: Start, normals: list[Normal] | None) -> _Mode:
    """Find a mode of one training set."""
    n, p = float(sets.total[t]), start.coef.shape[-2]
    fewest = min(MIN_PER_ROW * n, MIN_SHARE * p)
    allowed = min(float(p), max(WORK / n**2, fewest))
    hyper = Hyper(Horseshoe(), sets.lambda_power, FixedScale(1.0), size=sets.freedom)
    state: _State
    if sets.softmax:
        state = _Softmax(sets, t, start, p)
    elif sets.family.constant_weights:
        state = _Gaussian(sets, t, start, int(allowed), normals)
    else:
        state = _Moving(sets, t, start, int(allowed))
    for iteration in range(1, MAX_ITERATIONS + 1):
        # M-step: the local scales, Eq. (16); W is the sum over those that share one.
        d = hyper.mode(state.w(), state.groups)
        allowed = max(KEEP_SHARE * allowed, fewest) if iteration > FULL_ITERATIONS else allowed
        keep = select_active(d, int(allowed), state.gone / n)
        if keep is not None:
            state.take(keep)
            d = d[keep]
        # E-step and noise, Eqs. (7)-(12) and (17).
        if not d.size or (state.step(d) < state.tol and iteration >= MIN_ITERATIONS):
            break
    return state.result()


def select_active(d: Vector, most: int, least: float) -> Mask | None:
    """Return which columns go on; None if all do, or all but a few that do no harm."""
    gone = d < least
    if d.size <= most and np.count_nonzero(gone) <= 0.1 * d.size:
        return None
    keep = ~gone
    if np.count_nonzero(keep) > most:
        keep &= d >= np.partition(d, -most)[-most]
    return np.asarray(keep)


class _State:
    """One training set, and what an iteration changes; no more columns than ``most`` are ever in."""

    def __init__(self, sets: Sets, t: int, start: Start, most: int) -> None:
        self.gone, self.tol = (GONE, TOL) if sets.freedom == 1.0 else (SHARED_GONE, SHARED_TOL)
        shape = start.coef.shape[-2], 1 if start.coef.ndim == 2 else len(start.coef)
        second, mean = (each[..., t].T.reshape(shape) for each in (start.second_moment, start.coef))
        self.sigma2: Any = np.maximum(np.atleast_1d(start.sigma2[..., t]), SIGMA2_FLOOR)
        self.family, self.sets = start.families[t], sets
        self.active = np.ones(len(second), dtype=np.bool_)
        if len(second) > most:
            size = (second / self.sigma2).sum(axis=1)
            size = size if sets.groups is None else sets.groups.rms(size)
            self.active = size >= np.partition(size, -most)[-most]
        self.groups = None if sets.groups is None else sets.groups.take(self.active)
        self.second = second[self.active]
        self.mean = mean[self.active]
        self.inside, self.y, self.offset, self.counts, self.total = sets.part(t)
        self.free = np.zeros((len(self.mean.T), 0)) if start.free is None else start.free[..., t]

    def rows(self) -> Any:
        """Return the columns that are active, in the rows of the set."""
        columns = self.sets.columns
        return (columns if self.active.all() else columns.take(self.active)).rows(self.inside)

    def w(self) -> Vector:
        """Return W of each column, the sum over the coefficients that share a local scale."""
        each = self.second / (2.0 * self.sigma2)
        return np.asarray(each[:, 0] if each.shape[1] == 1 else each.sum(axis=1))

    def take(self, keep: Mask) -> None:
        """Go on with some of the columns."""
        self.active[self.active] = keep
        self.groups = None if self.groups is None else self.groups.take(keep)
        self.mean, self.second = self.mean[keep], self.second[keep]

    def step(self, d: Vector) -> float:
        """Take one E-step at the prior variances d; return the change of the coefficients."""
        raise NotImplementedError

    def level(self, coef: Matrix) -> Vector:
        """Return the intercepts that go with the coefficients of active columns."""
        raise NotImplementedError

    def result(self) -> _Mode:
        """Return the fit, what is negligible at exactly zero."""
        cutoff = 0.2 / np.sqrt(self.total)  # 1/(5 sqrt n)
        size = np.sqrt((self.mean**2).sum(axis=1) / self.sets.freedom)
        size = size if self.groups is None else self.groups.rms(size)
        coef = np.where(size[:, None] < cutoff, 0.0, self.mean)
        whole = np.zeros((self.mean.shape[1], self.active.size))
        whole[:, self.active] = coef.T
        return _Mode(whole, self.level(coef), self.sigma2, self.free, self.family)


class _Gaussian(_State):
    """Gaussian responses: rows are weighted and centred once."""

    def __init__(self, sets: Sets, t: int, start: Start, most: int, normals: list[Normal] | None) -> None:
        super().__init__(sets, t, start, most)
        y, q = self.y.reshape(-1, self.counts.size).T, self.mean.shape[1]
        self.tol = LOOSE_TOL if q == 1 else self.tol
        self.y_mean = self.counts @ y / self.total if sets.center else np.zeros(q)
        root, self.x_mean = np.sqrt(self.counts), np.zeros(len(self.mean))
        self.z = root[:, None] * (y - self.y_mean)
        self.square = np.einsum("ij,ij->j", self.z, self.z)
        self.known = normals is not None
        if normals is not None:
            self.x_mean = normals[0].x_mean[self.active]
            self.pull = np.column_stack([one.pull for one in normals])
            self._know(sets.columns, normals[0].gram, self.active)
            return
        columns = self.rows()
        if sets.center:
            self.x_mean = columns.rmatvec(self.counts) / self.total
        part = columns.reweighted(root, self.x_mean if sets.center else None)
        self.problem = LeastSquares(part, Targets(self.z[:, 0], self.total, careful=False))
        self.pull = np.zeros((len(self.mean), 0)) if q == 1 else np.asarray(part.rmatvec(self.z))

    def _know(self, columns: Any, gram: Matrix, keep: Mask) -> None:
        """Set the problem of some columns by its normal equations: the rows are not looked at."""
        targets = Targets(self.z[:, 0], self.total, careful=False)
        targets.__dict__["zz"], self.pull = float(self.square[0]), self.pull[keep]
        self.problem = LeastSquares(columns, targets)
        self.problem.__dict__.update(gram=gram[np.ix_(keep, keep)], xz=self.pull[:, 0])

    def take(self, keep: Mask) -> None:
        """Go on with some of the columns."""
        super().take(keep)
        self.x_mean = self.x_mean[keep]
        if self.known:
            self._know(self.problem.columns, self.problem.gram, keep)
        else:
            self.problem, self.pull = self.problem.take(keep), self.pull[keep]

    def step(self, d: Vector) -> float:
        """Take one E-step at the prior variances d; return the change of the coefficients."""
        before, given = self.mean, condition(self.problem, d)
        wide = not self.known and self.problem.n_columns > self.problem.n_rows
        if self.mean.shape[1] == 1:  # plain numbers: a small fit is as slow as its calls of NumPy
            mean, sigma2 = given.mean, float(self.sigma2[0])
            self.mean, self.second = mean[:, None], (mean**2 + given.variance() * sigma2)[:, None]
            expected = (given.rss + sigma2 * given.fit_trace) / self.total
            self.sigma2 = np.array([max(expected, SIGMA2_FLOOR)])
            return relative_change(mean, before[:, 0])
        self.mean = given.mean_of(self.z) if wide else given.solve_for(self.pull)
        self.second = self.mean**2 + given.variance()[:, None] * self.sigma2
        expected_rss = np.maximum(self._rss(wide), 0.0) + self.sigma2 * given.fit_trace
        self.sigma2 = np.maximum(expected_rss / self.total, SIGMA2_FLOOR)
        return relative_change(self.mean, before)

    def _rss(self, wide: bool) -> Vector:
        """Return |z - X b|^2 of every response; by the normal equations where these are smaller."""
        if wide:
            left = self.z - self.problem.columns.matvec(self.mean)
            return np.asarray(np.einsum("ij,ij->j", left, left))
        fit = self.problem.gram @ self.mean
        return np.asarray(self.square + np.einsum("ij,ij->j", self.mean, fit - 2.0 * self.pull))

    def level(self, coef: Matrix) -> Vector:
        """Return the intercepts that go with coefficients."""
        return np.asarray(self.y_mean - self.x_mean @ coef)


class _Moving(_State):
    """A family whose weights move: a least-squares problem near eta, and steps as far as they pay."""

    def __init__(self, sets: Sets, t: int, start: Start, most: int) -> None:
        super().__init__(sets, t, start, most)
        self.columns, self.intercept = self.rows(), float(start.intercept[t])
        self.eta = self.offset + self.intercept + sets.columns.matvec(start.coef[:, t])[self.inside]

    def take(self, keep: Mask) -> None:
        """Go on with some of the columns."""
        super().take(keep)
        self.columns = self.columns.take(keep)

    def _near(self, eta: Vector) -> LeastSquares:
        """Return the problem that stands for the likelihood near eta."""
        working = self.family.working(self.y, eta, float(self.sigma2[0]))
        targets, weights = working.targets - self.offset, self.counts * working.weights
        return LeastSquares(self.columns, Targets(targets, self.total, weights, center=self.sets.center))

    def _loss(self, eta: Vector, coef: Vector, d: Vector) -> float:
        """Return minus the penalised log-likelihood; infinite where a step leads out of range."""
        some, sigma2 = d > 0.0, float(self.sigma2[0])
        penalty = float((coef[some] ** 2 / d[some]).sum()) / sigma2
        loss = self.family.neg_log_likelihood(self.y, eta, sigma2)
        with np.errstate(over="ignore"):
            return float(self.counts @ loss) + 0.5 * penalty

    def step(self, d: Vector) -> float:
        """Take one E-step at the prior variances d; return the change of the coefficients."""
        before, problem, family = self.mean[:, 0], self._near(self.eta), self.family
        given = condition(problem, d)
        mean = self._move(problem, before, given.mean, d)
        sigma2 = float(self.sigma2[0])
        self.mean, self.second = mean[:, None], (mean**2 + sigma2 * given.variance())[:, None]
        family = self.family
        if family.has_dispersion:
            rss = given.rss if family.is_location else self._left(sigma2)
            expected_rss = rss / family.noise_share + sigma2 * given.fit_trace
            self.sigma2 = np.array([max(expected_rss / self.total, SIGMA2_FLOOR)])
        return relative_change(mean, before)

    def _left(self, sigma2: float) -> float:
        """Return the squares that are left at eta: see `em.weights.Moving`."""
        working = self.family.working(self.y, self.eta, sigma2)
        return float((self.counts * working.weights) @ (working.targets - self.eta) ** 2)

    def _move(self, problem: LeastSquares, before: Vector, wanted: Vector, d: Vector) -> Vector:
        """Move the linear predictor to the new mean, as far as the likelihood lets it; return the mean."""
        fit = self.columns.matvec(wanted)
        there = problem.targets.intercept(fit)
        far = fit + there + self.offset
        mean, level, eta = wanted, there, far
        if not self.family.never_overshoots:
            here = self.columns.matvec(before) + self.intercept + self.offset
            bound = self._loss(here, before, d) + 1e-9
            for share in longest_share(here, far) * HALVED:
                if share < 1.0:
                    mean = before + share * (wanted - before)
                    level = self.intercept + share * (there - self.intercept)
                    eta = here + share * (far - here)
                if self._loss(eta, mean, d) <= bound:
                    break
            else:  # there is no way on
                mean, level, eta = before, self.intercept, here
        self.intercept, self.eta = level, eta
        self.family = self.family.update(self.y, eta, float(self.sigma2[0]), self.counts)
        return mean

    def level(self, coef: Matrix) -> Vector:
        """Return the intercept that goes with a fit from which columns have gone."""
        fit, level = self.columns.matvec(coef[:, 0]), self.intercept
        for _ in range(LEVELS):
            problem = self._near(fit + level + self.offset)
            before, level = level, problem.targets.intercept(fit)
            if abs(level - before) <= TOL:  # where y has its zero must not matter
                break
        return np.array([level])


class _Softmax(_State):
    """Classes that are fitted together; a part of each step is taken."""

    def __init__(self, sets: Any, t: int, start: Start, most: int) -> None:
        super().__init__(sets, t, start, most)
        self.gone, self.tol = SHARED_GONE, sets.step_share * SHARED_TOL
        self.chosen, self.columns = sets.chosen[:, self.inside].T, self.rows()
        self.intercept = start.intercept[:, t]
        self.flat = None if sets.basis is None else sets.flat[self.inside]
        self.step(np.full(len(self.mean), 1.0 / (START * max(len(self.mean), 1))))

    def _explained(self, free: Matrix) -> Any:
        """Return what unpenalised columns explain."""
        return 0.0 if self.flat is None else self.flat[:, self.flat.shape[1] - free.shape[1] :] @ free.T

    def take(self, keep: Mask) -> None:
        """Go on with some of the columns."""
        super().take(keep)
        self.columns = self.columns.take(keep)

    def step(self, d: Vector) -> float:
        """Take a part of the E-step at the prior variances d; return the change of the coefficients."""
        before, center, known = self.mean, self.sets.center, self._explained(self.free)
        # 1. Weights and targets at eta.
        eta = self.columns.matvec(self.mean) + self.intercept + known
        share, weight = softmax_and_weight(eta.T)
        weights = self.counts * weight
        targets = center_over_classes(eta.T + (self.chosen.T - share) / weight).T
        held = targets - known
        # 2. The coefficients of all classes, by one factor.
        problem = LeastSquares(self.columns, Targets(held[:, 0], self.total, weights, center))
        given = condition(problem, d)
        middle = weights @ held / weights.sum() if center else np.zeros(held.shape[1])
        new = given.solve_for(np.asarray(self.columns.rmatvec(weights[:, None] * (held - middle))))
        # 3. Intercepts and unpenalised columns beside them.
        fit, free = self.columns.matvec(new), self.free
        level = middle - problem.x_mean @ new if center else middle
        if self.flat is not None:
            flat = least_squares(self.flat, (targets - fit).T, weights)
            level, free = flat[:, 0] if center else level, flat[:, int(center) :]
        # 4. A part of the way.
        part = min(self.sets.step_share, longest_share(eta, fit + level + self._explained(free)))
        self.mean = before + part * (new - before)
        self.intercept = self.intercept + part * (level - self.intercept)
        self.free = self.free + part * (free - self.free)
        spread = (held.shape[1] - 1.0) * given.variance()
        self.second = (np.einsum("jk,jk->j", self.mean, self.mean) + spread)[:, None]
        return relative_change(self.mean, before)

    def level(self, coef: Matrix) -> Vector:
        """Return the intercepts as they are."""
        return np.asarray(self.intercept)
