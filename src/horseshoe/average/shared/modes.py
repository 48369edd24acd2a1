"""Horseshoe modes of regressions that share their local scales, in all training sets: `modes` for several.

One factor serves all responses of a set, as in `horseshoe.em.several`, and columns leave as they do for one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from horseshoe._types import Mask, Matrix, Vector
from horseshoe.average.modes import AT_LEAST, FEWEST, MOST, MOSTLY, STAY, WIDE, WORK, Start, select_active
from horseshoe.average.ridge_path import Normal
from horseshoe.average.sets import Fits, Sets
from horseshoe.conditional.base import condition
from horseshoe.data.problem import LeastSquares, Targets
from horseshoe.data.standardise import SIGMA2_FLOOR
from horseshoe.em.m_step import Hyper
from horseshoe.em.state import relative_change

GONE, TOL = 5e-2, 2e-3
"""As in `modes`, but larger: scales that are shared fade slowly, and what is gained by waiting is nothing to
the mixture that starts here. With values around these its error moved by less than 1.2 % on four data sets of
each of five truths."""

Normals = tuple[tuple[Normal, ...], ...] | None
"""Of each response, those of each set."""


def find_shared_modes(
    each: tuple[Sets, ...],
    starts: tuple[Start, ...],
    hyper: Hyper,
    n_jobs: int | None = None,
    normals: Normals = None,
) -> tuple[Fits, ...]:
    """Return a mode of every training set, for each response; ``hyper.size`` is how many there are.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.families import Gaussian
    >>> from horseshoe.priors import FixedScale, Horseshoe
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((50, 8))
    >>> X -= X.mean(axis=0)
    >>> folds = tuple((np.flatnonzero(np.arange(50) % 2 != f), np.arange(f, 50, 2)) for f in range(2))
    >>> Y = np.outer(X[:, 0], [1.0, -1.0]) + 0.1 * rng.standard_normal((50, 2))
    >>> each = tuple(Sets(Dense(X), y, np.zeros(50), np.ones(50), folds, Gaussian()) for y in Y.T)
    >>> b = np.full((8, 3), 0.3)
    >>> start = Start(b, b * b, np.zeros(3), np.ones(3), (Gaussian(),) * 3)
    >>> hyper = Hyper(Horseshoe(), 1.5, FixedScale(1.0), size=2)
    >>> [fits.coef[:2, 2].round(1).tolist() for fits in find_shared_modes(each, (start, start), hyper)]
    [[1.0, 0.0], [-1.0, 0.0]]
    """
    found = of_each_set(lambda t: _mode(each, t, starts, hyper, normals), each[0].n_sets, n_jobs)
    coef, intercept, sigma2 = (np.stack([one[k] for one in found], axis=-2) for k in range(3))
    inside = coef.any(axis=2).astype(float)
    families = starts[0].families
    return tuple(
        Fits(coef[..., k], intercept[:, k], sigma2[:, k], inside, families) for k in range(len(each))
    )


def of_each_set(fit: Callable[[int], Any], n_sets: int, n_jobs: int | None) -> list[Any]:
    """Return the fit to each set; ``n_jobs`` threads share them."""
    if n_jobs is None or n_jobs == 1:
        return [fit(t) for t in range(n_sets)]
    from joblib import Parallel, delayed  # imported here: one thread does without

    return list(Parallel(n_jobs=n_jobs, prefer="threads")(delayed(fit)(t) for t in range(n_sets)))


def _mode(
    each: tuple[Sets, ...], t: int, starts: tuple[Start, ...], hyper: Hyper, normals: Normals
) -> tuple[Matrix, Vector, Vector]:
    """Find a mode of one training set: coefficients, intercepts and noise variances."""
    sets, tau2 = each[0], hyper.tau.bounds[1]
    n, allowed = float(sets.total[t]), float(starts[0].coef.shape[0])
    fewest = min(FEWEST * n, MOSTLY * allowed)
    allowed = min(allowed, max(WORK / n**2, fewest))
    state = _State(each, t, starts, int(allowed), None if normals is None else [one[t] for one in normals])
    for iteration in range(1, MOST + 1):
        d = tau2 * hyper.mode((state.second / (2.0 * state.sigma2 * tau2)).sum(axis=1), state.groups)
        if iteration > WIDE:
            allowed = max(STAY * allowed, fewest)
        keep = select_active(d, int(allowed), GONE / n)
        if keep is not None:
            state.take(keep)
            d = d[keep]
        if not d.size:
            break
        if state.step(d) < TOL and iteration >= AT_LEAST:
            break
    return state.result()


class _State:
    """One training set, and what an iteration changes; matrices have a column for each response."""

    def __init__(
        self,
        each: tuple[Sets, ...],
        t: int,
        starts: tuple[Start, ...],
        most: int,
        normal: list[Normal] | None,
    ) -> None:
        sets = each[0]
        second = np.column_stack([start.second_moment[:, t] for start in starts])
        self.sigma2 = np.maximum([start.sigma2[t] for start in starts], SIGMA2_FLOOR)
        self.active = np.ones(len(second), dtype=np.bool_)
        self.groups = sets.groups
        size = (second / self.sigma2).sum(axis=1)
        size = size if sets.groups is None else sets.groups.rms(size)
        if size.size > most:
            self.active = size >= np.partition(size, -most)[-most]
            self.groups = None if self.groups is None else self.groups.take(self.active)
        self.second = second[self.active]
        self.mean = np.column_stack([start.coef[self.active, t] for start in starts])
        self.total = float(sets.total[t])
        inside = sets.weights[:, t] > 0.0
        y = np.column_stack([one.y[inside] for one in each])
        counts = sets.weights[inside, t]
        self.y_mean = counts @ y / self.total if sets.center else np.zeros(len(each))
        self._begin(sets, inside, counts, y, normal)

    def _begin(
        self, sets: Sets, inside: Mask, counts: Vector, y: Matrix, normal: list[Normal] | None
    ) -> None:
        """Set the least-squares problem: from its normal equations if they are known, else from the rows."""
        root, self.x_mean = np.sqrt(counts), np.zeros(self.second.shape[0])
        self.z = root[:, None] * (y - self.y_mean)
        self.square = np.einsum("ij,ij->j", self.z, self.z)
        if normal is not None:
            pull = np.column_stack([one.pull for one in normal])
            self.x_mean = normal[0].x_mean[self.active]
            self._know(sets.columns, normal[0].gram, pull, self.active)
            return
        columns = (sets.columns if self.active.all() else sets.columns.take(self.active)).rows(inside)
        if sets.center:
            self.x_mean = columns.rmatvec(counts) / self.total
        part = columns.reweighted(root, self.x_mean if sets.center else None)
        self.known = False
        self.problem = LeastSquares(part, Targets(self.z[:, 0], self.total, careful=False))
        self.pull: Any = np.asarray(part.rmatvec(self.z))

    def _know(self, columns: Any, gram: Matrix, pull: Matrix, keep: Mask) -> None:
        """Set the problem of some columns by its normal equations; the rows are not looked at."""
        self.known, self.pull = True, pull[keep]
        self.problem = LeastSquares(columns, Targets(self.z[:, 0], self.total, careful=False))
        self.problem.__dict__.update(gram=gram[np.ix_(keep, keep)], xz=self.pull[:, 0])

    def take(self, keep: Mask) -> None:
        """Go on with some of the columns."""
        self.active[self.active] = keep
        self.groups = None if self.groups is None else self.groups.take(keep)
        self.mean, self.second, self.x_mean = self.mean[keep], self.second[keep], self.x_mean[keep]
        if self.known:
            self._know(self.problem.columns, self.problem.gram, self.pull, keep)
        else:
            self.problem, self.pull = self.problem.take(keep), self.pull[keep]

    def step(self, d: Vector) -> float:
        """Take one E-step at the prior variances d; return the largest change of the coefficients."""
        before, given = self.mean, condition(self.problem, d)
        wide = not self.known and self.problem.n_columns > self.problem.n_rows
        self.mean = given.mean_of(self.z) if wide else given.solve_for(self.pull)
        spread = given.variance()
        self.second = self.mean**2 + spread[:, None] * self.sigma2
        rss = np.maximum(self._rss(wide), 0.0) + self.sigma2 * given.fit_trace
        self.sigma2 = np.maximum(rss / self.total, SIGMA2_FLOOR)
        return relative_change(self.mean, before)

    def _rss(self, wide: bool) -> Vector:
        """Return |z - X b|^2 of every response; by the normal equations where these are smaller."""
        if wide:
            left = self.z - self.problem.columns.matvec(self.mean)
            return np.asarray(np.einsum("ij,ij->j", left, left))
        seen = self.problem.gram @ self.mean
        return np.asarray(self.square + np.einsum("ij,ij->j", self.mean, seen - 2.0 * self.pull))

    def result(self) -> tuple[Matrix, Vector, Vector]:
        """Return the fit, what is negligible at exactly zero."""
        cutoff = 0.2 / np.sqrt(self.total)  # 1/(5 sqrt n)
        size = np.sqrt((self.mean**2).mean(axis=1))
        size = size if self.groups is None else self.groups.rms(size)
        coef = np.where(size[:, None] < cutoff, 0.0, self.mean)
        whole = np.zeros((self.active.size, coef.shape[1]))
        whole[self.active] = coef
        return whole, self.y_mean - self.x_mean @ coef, self.sigma2
