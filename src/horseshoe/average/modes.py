"""Horseshoe modes of the training sets, found quickly: EM that goes on with the select_active columns only.

The E-step and the M-step are those of the paper. The fit starts at a ridge regression, where all columns
share what there is to explain, and from the third iteration on only the strongest of them, by their prior
variance, go on: three in ten leave each time until half as many are left as there are rows. A mode that is
found so need not be that of `HorseshoeRegressor`, which takes pains to follow plain EM; it is about as good,
and much cheaper.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from horseshoe._lazy import lazy
from horseshoe._types import Mask, Matrix, Vector
from horseshoe.average.ridge_path import Normal
from horseshoe.average.sets import HALVED, Fits, Sets
from horseshoe.conditional.base import condition
from horseshoe.data.columns import Columns
from horseshoe.data.problem import LeastSquares, Targets
from horseshoe.data.standardise import SIGMA2_FLOOR
from horseshoe.em.m_step import Hyper
from horseshoe.em.state import relative_change
from horseshoe.em.working import longest_share
from horseshoe.families import Family
from horseshoe.linalg import scatter
from horseshoe.store.checkpoint import CheckpointSection, changed, with_changes

STAY, FEWEST, MOSTLY, WIDE = 0.7, 0.5, 0.75, 2
"""The share of the columns that goes on after an iteration; how many always may, per row or as a share of all
of them, whichever is less; and how many iterations have all."""
WORK = 1e7
"""No iteration has more columns than this over the square of the rows, or `FEWEST`: that would be slow."""
GONE = 1e-3
"""A column whose prior variance is below this share of the variance that one row gives is gone."""
TOL, LOOSE_TOL, MOST = 1e-3, 1e-2, 200
"""The change of the coefficients at which EM ends, and the most iterations. A Gaussian response has the
looser one: the mixture goes on from there. Where weights move, steps are shorter: it would end too soon."""
AT_LEAST = 4
"""Iterations before it may end."""
LEVELS = 10
"""The most steps of the intercept alone, at the end."""


class Start(NamedTuple):
    """Where the EM of all sets starts: coefficients, their E[b^2], intercepts, noise, families."""

    coef: Matrix
    second_moment: Matrix
    intercept: Vector
    sigma2: Vector
    families: tuple[Family, ...]


def find_modes(
    sets: Sets,
    start: Start,
    hyper: Hyper,
    n_jobs: int | None = None,
    normals: tuple[Normal, ...] | None = None,
    checkpoint: CheckpointSection | None = None,
) -> Fits:
    """Return a mode of every training set; ``n_jobs`` threads share the sets.

    ``normals`` are the normal equations of each, if they are known: then no row is looked at again.
    ``checkpoint`` keeps each mode that is found.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.families import Gaussian
    >>> from horseshoe.priors import FixedScale, Horseshoe
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 8))
    >>> X -= X.mean(axis=0)
    >>> y = X[:, 0] + 0.1 * rng.standard_normal(50)
    >>> folds = tuple((np.flatnonzero(np.arange(50) % 2 != f), np.arange(f, 50, 2)) for f in range(2))
    >>> sets = Sets(Dense(X), y, np.zeros(50), np.ones(50), folds, Gaussian())
    >>> b = np.full((8, 3), 0.3)
    >>> start = Start(b, b * b, np.zeros(3), np.ones(3), (Gaussian(),) * 3)
    >>> find_modes(sets, start, Hyper(Horseshoe(), 1.5, FixedScale(1.0))).coef[:2].round(1)
    array([[1., 1., 1.],
           [0., 0., 0.]])
    """
    if n_jobs is None or n_jobs == 1:
        found = [_kept(checkpoint, sets, t, start, hyper, normals) for t in range(sets.n_sets)]
    else:
        from joblib import Parallel, delayed  # imported here: one thread does without

        threads = Parallel(n_jobs=n_jobs, prefer="threads")
        work = ((checkpoint, sets, t, start, hyper, normals) for t in range(sets.n_sets))
        found = threads(delayed(_kept)(*one) for one in work)
    coef = np.column_stack([one.coef for one in found])
    intercept, sigma2 = (np.array([one[k] for one in found]) for k in (1, 2))
    families = tuple(one.family for one in found)
    return Fits(coef, intercept, sigma2, (coef != 0.0).astype(float), families)


class _Mode(NamedTuple):
    coef: Vector
    intercept: float
    sigma2: float
    family: Family


class _Rows:
    """One training set: the least-squares problem near eta, and how far a step may go."""

    def __init__(self, sets: Sets, t: int, family: Family, among: Mask, normal: Normal | None) -> None:
        self.sets, self.family, self.center, self.among, self.normal = (
            sets,
            family,
            sets.center,
            among,
            normal,
        )
        self.inside, self.y, self.offset, self.counts, self.total = sets.part(t)

    @lazy
    def columns(self) -> Columns:
        """Those among which the fit looks, in these rows."""
        columns = self.sets.columns
        return (columns if self.among.all() else columns.take(self.among)).rows(self.inside)

    def constant(self) -> LeastSquares:
        """Return the problem of a Gaussian response: rows weighted and centred once."""
        if self.normal is not None:
            targets = Targets(self.y, self.total, careful=False)
            targets.__dict__["zz"] = self.normal.square
            return self.known(targets, self.normal.gram, self.normal.pull, self.among)
        root, mean, x_mean = np.sqrt(self.counts), 0.0, None
        if self.center:
            mean = float(self.counts @ self.y) / self.total
            x_mean = self.columns.rmatvec(self.counts) / self.total
        return LeastSquares(
            self.columns.reweighted(root, x_mean), Targets(root * (self.y - mean), self.total, careful=False)
        )

    def known(self, targets: Targets, gram: Matrix, xz: Vector, keep: Mask) -> LeastSquares:
        """Return the problem of some columns from its normal equations: the rows are not looked at."""
        problem = LeastSquares(self.sets.columns, targets)
        problem.__dict__.update(gram=gram[np.ix_(keep, keep)], xz=xz[keep])
        return problem

    def level(self, coef: Vector) -> float:
        """Return the intercept of a Gaussian response."""
        if not self.center:
            return 0.0
        if self.normal is not None:
            return self.normal.z_mean - float(self.normal.x_mean[self.among] @ coef)
        return float(self.counts @ (self.y - self.columns.matvec(coef))) / self.total

    def near(self, columns: Columns, eta: Vector, sigma2: float) -> LeastSquares:
        """Return the problem that stands for the likelihood near eta."""
        working = self.family.working(self.y, eta, sigma2)
        weights = self.counts * working.weights
        return LeastSquares(
            columns, Targets(working.targets - self.offset, self.total, weights, center=self.center)
        )

    def left(self, eta: Vector, sigma2: float) -> float:
        """Return the squares that are left at eta: see `em.weights.Moving`."""
        working = self.family.working(self.y, eta, sigma2)
        return float((self.counts * working.weights) @ (working.targets - eta) ** 2)

    def loss(self, eta: Vector, sigma2: float, coef: Vector, d: Vector) -> float:
        """Return minus the penalised log-likelihood; infinite where a step leads out of range."""
        some = d > 0.0
        penalty = float((coef[some] ** 2 / d[some]).sum()) / sigma2
        loss = self.family.neg_log_likelihood(self.y, eta, sigma2)
        with np.errstate(over="ignore"):
            return float(self.counts @ loss) + 0.5 * penalty


def _kept(
    checkpoint: CheckpointSection | None,
    sets: Sets,
    t: int,
    start: Start,
    hyper: Hyper,
    normals: tuple[Normal, ...] | None,
) -> _Mode:
    """Return the mode of one training set, from the checkpoint if it is there."""
    if checkpoint is None:
        return _mode(sets, t, start, hyper, normals)
    part, family = checkpoint.section(f"mode of set {t}"), start.families[t]
    kept = part.load()
    if kept is not None:
        coef, intercept, sigma2, changes = kept
        return _Mode(coef, intercept, sigma2, with_changes(family, changes))
    found = _mode(sets, t, start, hyper, normals)
    part.save((*found[:3], changed(found.family, family)))
    return found


def _mode(sets: Sets, t: int, start: Start, hyper: Hyper, normals: tuple[Normal, ...] | None) -> _Mode:
    """Find a mode of one training set."""
    n, allowed = float(sets.total[t]), float(start.coef.shape[0])
    fewest = min(FEWEST * n, MOSTLY * allowed)
    allowed = min(allowed, max(WORK / n**2, fewest))
    state = _begin(sets, t, start, int(allowed), None if normals is None else normals[t])
    rows, tau2 = state.rows, hyper.tau.bounds[1]
    tol = LOOSE_TOL if rows.family.constant_weights else TOL
    for iteration in range(1, MOST + 1):
        d = tau2 * hyper.mode(state.second / (2.0 * state.sigma2 * tau2), state.groups)
        if iteration > WIDE:
            allowed = max(STAY * allowed, fewest)
        keep = select_active(d, int(allowed), GONE / rows.total)
        if keep is not None:
            state.take(keep)
            d = d[keep]
        if not d.size:
            break
        if state.step(d) < tol and iteration >= AT_LEAST:
            break
    return state.result()


def _begin(sets: Sets, t: int, start: Start, most: int, normal: Normal | None) -> _State:
    """Return where the EM of one training set starts, with no more columns than it may ever have."""
    second = start.second_moment[:, t]
    among = np.ones(second.size, dtype=np.bool_)
    if second.size > most:
        size = second if sets.groups is None else sets.groups.rms(second)
        among = size >= np.partition(size, -most)[-most]
    rows = _Rows(sets, t, start.families[t], among, normal)
    eta = rows.offset + start.intercept[t]
    if not rows.family.constant_weights:
        eta = eta + sets.columns.matvec(start.coef[:, t])[rows.inside]
    return _State(rows, start.coef[among, t], second[among], eta, start.intercept[t], start.sigma2[t])


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
    """What an iteration changes."""

    def __init__(
        self, rows: _Rows, mean: Vector, second: Vector, eta: Vector, intercept: Any, sigma2: Any
    ) -> None:
        self.rows = rows
        self.active = np.ones(mean.size, dtype=np.bool_)
        self.mean, self.second = mean, second
        self.intercept, self.sigma2 = float(intercept), max(float(sigma2), SIGMA2_FLOOR)
        self.constant = rows.family.constant_weights
        self.problem: LeastSquares | None = rows.constant() if self.constant else None
        self.columns = rows.columns if self.problem is None else self.problem.columns
        self.eta = eta
        groups = rows.sets.groups
        self.groups = None if groups is None else groups.take(rows.among)

    def take(self, keep: Mask) -> None:
        """Go on with some of the columns."""
        self.active[self.active] = keep
        self.groups = None if self.groups is None else self.groups.take(keep)
        self.mean, self.second = self.mean[keep], self.second[keep]
        problem, rows = self.problem, self.rows
        if problem is None:
            self.columns = self.columns.take(keep)
        elif rows.normal is None:
            self.problem = problem.take(keep)
        else:
            self.problem = rows.known(problem.targets, problem.gram, problem.xz, keep)

    def step(self, d: Vector) -> float:
        """Take one E-step at the prior variances d; return the change of the coefficients."""
        before, rows = self.mean, self.rows
        problem = self.problem or rows.near(self.columns, self.eta, self.sigma2)
        given = condition(problem, d)
        self.mean = given.mean
        if not self.constant:
            self._move(problem, before, d)
        self.second = self.mean**2 + self.sigma2 * given.variance()
        if rows.family.has_dispersion:
            rss = given.rss if rows.family.is_location else rows.left(self.eta, self.sigma2)
            expected_rss = rss / rows.family.noise_share + self.sigma2 * given.fit_trace
            self.sigma2 = max(expected_rss / rows.total, SIGMA2_FLOOR)
        return relative_change(self.mean, before)

    def _move(self, problem: LeastSquares, before: Vector, d: Vector) -> None:
        """Move the linear predictor to the new mean, as far as the likelihood lets it."""
        rows = self.rows
        fit = self.columns.matvec(self.mean)
        level = problem.targets.intercept(fit)
        eta = fit + level + rows.offset
        if not rows.family.never_overshoots:
            here = self.columns.matvec(before) + self.intercept + rows.offset
            bound = rows.loss(here, self.sigma2, before, d) + 1e-9
            wanted, there, far = self.mean, level, eta
            for share in longest_share(here, eta) * HALVED:
                if share < 1.0:
                    self.mean = before + share * (wanted - before)
                    level = self.intercept + share * (there - self.intercept)
                    eta = here + share * (far - here)
                if rows.loss(eta, self.sigma2, self.mean, d) <= bound:
                    break
            else:  # there is no way on
                self.mean, level, eta = before, self.intercept, here
        self.intercept, self.eta = level, eta
        rows.family = rows.family.update(rows.y, eta, self.sigma2, rows.counts)

    def result(self) -> _Mode:
        """Return the fit, what is negligible at exactly zero."""
        rows, cutoff = self.rows, 0.2 / np.sqrt(self.rows.total)  # 1/(5 sqrt n)
        size = np.abs(self.mean) if self.groups is None else self.groups.rms(self.mean)
        coef = scatter(self.active, np.where(size < cutoff, 0.0, self.mean))
        level = rows.level(coef) if self.constant else self._level(rows.columns.matvec(coef))
        return _Mode(scatter(rows.among, coef), level, self.sigma2, rows.family)

    def _level(self, fit: Vector) -> float:
        """Return the intercept that goes with a fit from which columns have gone."""
        rows, level = self.rows, self.intercept
        for _ in range(LEVELS):
            problem = rows.near(rows.columns, fit + level + rows.offset, self.sigma2)
            before, level = level, problem.targets.intercept(fit)
            if abs(level - before) <= TOL:  # where y has its zero must not matter
                break
        return level
