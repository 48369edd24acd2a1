"""Least squares whose rows hold each other, as those of Cox's model do through their risk sets.

The log-likelihood near eta is that of a Gaussian with a precision matrix H over the rows, in the place of one
weight a row: H = diag(h) - F'F, of which sums over risk sets say all. For k <= n the columns are summed over
risk sets, and X'HX follows; for k > n the rows are mixed by a root of H: n x n matrices are at hand anyway.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg import lapack

from horseshoe._lazy import lazy
from horseshoe._types import Matrix, Vector
from horseshoe.data.dense import Dense
from horseshoe.data.problem import LeastSquares, Targets
from horseshoe.data.view import BLOCK_BYTES, View
from horseshoe.linalg import both_triangles


class CoupledTargets(Targets):
    """What is explained: the linear predictor ``fit`` at which slope and curvature were taken, and a step.

    Parameters
    ----------
    coupling : Coupling
        The slope g and the curvature H = diag(h) - F'F: ``slope``, ``diagonal``, ``pooled`` (F x), ``times``
        (H x), ``factor`` (a root of H), ``information`` (its trace), ``most`` (a bound of g'H^-1 g).
    fit : array of shape (n,)
        The linear predictor there, less what is known of it.
    total_weight : float
        The n of the paper.
    """

    def __init__(self, coupling: Any, fit: Vector, total_weight: float) -> None:
        self.coupling, self.values, self.total_weight = coupling, fit, total_weight
        self.weights, self.center, self.careful, self.mean = None, False, False, 0.0

    @lazy
    def information(self) -> float:
        """The trace of H."""
        return float(self.coupling.information)

    @lazy
    def pull(self) -> Vector:
        """H fit + g: X' times it is X'z."""
        return np.asarray(self.coupling.times(self.values) + self.coupling.slope)

    @property
    def root(self) -> Matrix:  # type: ignore[override]
        """R, H = R'R."""
        return np.asarray(self.coupling.factor[0])

    def curved(self, rows: Any) -> Any:
        """Return H times linear predictors."""
        return np.apply_along_axis(self.coupling.times, 0, rows)

    def rooted(self, rows: Any) -> Any:
        """Return R times linear predictors."""
        return self.root @ rows

    def problem(self, columns: View) -> Coupled:
        """Return the problem of explaining these targets by columns."""
        return Coupled(columns, self)

    @lazy
    def z(self) -> Vector:
        """R times the targets: R'z is the pull."""
        root, order, rank = self.coupling.factor
        out = np.zeros(self.values.size)
        seen = order[:rank]
        if rank == 0:  # nobody is at risk beside those who have their event
            return out
        out[:rank] = lapack.dtrtrs(root[:rank, seen], self.pull[seen], trans=1)[0]
        return out

    @lazy
    def zz(self) -> float:
        """Z'z or more: no noise variance hangs on it, and the root that it would take is dear."""
        fit, slope = self.values, self.coupling.slope
        return float(fit @ (self.pull + slope) + self.coupling.most)

    def misfit(self, fit: Vector) -> float:
        """Return the weighted sum of squares at a linear predictor, up to a constant."""
        step = fit - self.values
        return float(step @ (self.coupling.times(step) - 2.0 * self.coupling.slope))


class Coupled(LeastSquares):
    """The columns against targets whose rows hold each other.

    Examples
    --------
    >>> from horseshoe.families.cox import Cox
    >>> from horseshoe.families.risk import Lifetimes
    >>> one, time = np.ones(3), np.array([1.0, 2.0, 3.0])
    >>> family = Cox(seen=Lifetimes(time, one > 0, 0 * one, np.zeros(3, int), one))
    >>> here = family.coupling(family.encode(time).values, np.zeros(3))
    >>> problem = Coupled(Dense(np.array([[0.0], [1.0], [0.0]])), CoupledTargets(here, np.zeros(3), 3.0))
    >>> problem.gram.round(4), problem.xz.round(4)
    (array([[0.4722]]), array([0.1667]))
    """

    targets: CoupledTargets

    @lazy
    def weighted(self) -> View:
        """R X."""
        x = self.columns.dense()
        return Dense(np.asfortranarray(self.targets.root.astype(x.dtype, copy=False) @ x))

    @lazy
    def gram(self) -> Matrix:
        """X'HX."""
        pooled = np.concatenate([part for _, part in self._pooled()] or [np.empty((0, 0))], axis=1)
        return np.asarray(self.columns.gram(self.targets.coupling.diagonal) - pooled.T @ pooled)

    @lazy
    def xz(self) -> Vector:
        """X'z."""
        return np.asarray(self.columns.rmatvec(self.targets.pull))

    @lazy
    def squares(self) -> Vector:
        """x_j'H x_j."""
        if "gram" in self.__dict__:
            return self.gram.diagonal().copy()
        out = np.asarray(self.columns.squares(self.targets.coupling.diagonal))
        for chosen, part in self._pooled():
            out[chosen] -= np.einsum("ij,ij->j", part, part)
        return np.asarray(np.maximum(out, 0.0))

    def matvec(self, coef: Vector) -> Vector:
        """Return R X b."""
        return np.asarray(self.targets.root @ self.columns.matvec(coef))

    def pull(self, rows: Vector) -> Vector:
        """Return R' r."""
        return np.asarray(self.targets.root.T @ rows)

    def weigh(self, outer: Any) -> Any:
        """Return R (X D X') R' from the lower triangle of X D X'."""
        root = self.targets.root.astype(outer.dtype, copy=False)
        return np.asfortranarray(root @ both_triangles(outer.copy()) @ root.T)

    def _pooled(self) -> Iterator[tuple[Any, Matrix]]:
        """Yield F X, some columns at a time."""
        n, k = self.shape
        step = max(1, BLOCK_BYTES // (8 * max(1, n)))
        for start in range(0, k, step):
            chosen = np.zeros(k, dtype=np.bool_)
            chosen[start : start + step] = True
            part = self.columns if k <= step else self.columns.take(chosen)
            yield chosen, self.targets.coupling.pooled(part.dense().astype(np.float64, copy=False))


def coupled(family: Any, y: Vector, eta: Vector, offset: Vector, total: float) -> CoupledTargets | None:
    """Return the targets that stand for a likelihood near eta, if its rows hold each other.

    Examples
    --------
    >>> from horseshoe.families import Poisson
    >>> one = np.ones(2)
    >>> coupled(Poisson(), one, one, 0 * one, 2.0) is None
    True
    """
    coupling = family.coupling(y, eta)
    return None if coupling is None else CoupledTargets(coupling, eta - offset, total)
