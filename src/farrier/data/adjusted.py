"""Columns that are not shrunk: projected out of the others with the weights of the moment, as an intercept.

What is left of the others is orthogonal to them (Frisch, Waugh and Lovell), so the loop never sees them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from farrier._lazy import lazy
from farrier._types import Mask, Matrix, Vector
from farrier.data.columns import Columns
from farrier.data.problem import CANCELS, LeastSquares, Targets
from farrier.linalg import both_triangles


class Free(NamedTuple):
    """What is not shrunk, as orthogonal vectors of rows of mean square 1 in the sample weights.

    Attributes
    ----------
    basis : array of shape (n, q)
        They: the columns that are always in are ``basis`` times the inverse of ``turn``.
    turn : array of shape (q, q)
        Takes coefficients of the basis to those of the columns.
    loads : array of shape (q, k)
        What the basis explains of the columns that are shrunk: these are the fitted ones plus basis @ loads.
    level : array of shape (q,)
        What it explains of a Gaussian response; zero for other families.
    total_weight : float
        The sum of the sample weights.
    """

    basis: Matrix
    turn: Matrix
    loads: Matrix
    level: Vector
    total_weight: float

    def take(self, keep: Mask) -> Free:
        """Return the same beside some of the columns."""
        return self._replace(loads=self.loads[:, keep])

    def rows(self, which: Any) -> Free:
        """Return the same for some of the rows; they are no longer quite orthogonal."""
        return self._replace(basis=self.basis[which])

    def with_ones(self, center: bool) -> Matrix:
        """Return the basis, with an intercept in front of it if there is one."""
        return np.column_stack([np.ones(len(self.basis)), self.basis]) if center else self.basis


class AdjustedTargets(Targets):
    """Targets less what the ``basis``, of shape (n, q), explains of them by weight; it has the intercept.

    The other parameters are those of `Targets`.

    Examples
    --------
    >>> x = np.arange(4.0)
    >>> targets = AdjustedTargets(2.0 * x + 1.0, 4.0, np.ones(4), np.column_stack([np.ones(4), x]))
    >>> targets.intercept(np.zeros(4)).round(9)
    array([1., 2.])
    """

    def __init__(
        self, values: Vector, total_weight: float, weights: Vector, basis: Matrix, careful: bool = True
    ) -> None:
        super().__init__(values, total_weight, weights, False, careful)
        self.each, self.basis, self.heavy = weights, basis, weights[:, None] * basis
        self.inner = basis.T @ self.heavy
        self._factor = cho_factor(self.inner, lower=True)
        self.free = self.explained(values)
        self.z = np.sqrt(weights) * (values - basis @ self.free)

    def explained(self, values: Any) -> Any:
        """Return the coefficients of the basis in a weighted fit to some rows."""
        return cho_solve(self._factor, self.heavy.T @ values)

    def average(self, fit: Any) -> Any:
        """Return what the basis explains of a linear predictor."""
        return self.basis @ self.explained(fit)

    def intercept(self, fit: Vector) -> Any:
        """Return the coefficients of the basis that go with a linear predictor without it."""
        return self.free - self.explained(fit)

    def centred(self, pull: Vector) -> Vector:
        """Return the rows that give, with X as it is, what ``pull`` gives with X projected by weight."""
        return np.asarray(pull - self.heavy @ cho_solve(self._factor, self.basis.T @ pull))

    def loads(self, columns: Columns) -> Matrix:
        """Return what the basis explains of the columns: of shape (q, k)."""
        return np.asarray(
            cho_solve(self._factor, np.asarray(columns.rmatvec(self.heavy), dtype=np.float64).T)
        )

    def covariance(self) -> Matrix:
        """Return the covariance of the coefficients of the basis, given all others, over sigma2."""
        return np.asarray(cho_solve(self._factor, np.eye(len(self.inner))))

    def draw(self, rng: np.random.Generator) -> Vector:
        """Draw from N(0, that covariance)."""
        noise = rng.standard_normal(len(self.inner))
        return np.asarray(solve_triangular(self._factor[0], noise, lower=True, trans=1))


class Adjusted(LeastSquares):
    """The columns against the targets, both less what the basis explains of them by weight.

    Examples
    --------
    >>> from farrier.data.dense import Dense
    >>> basis, x = np.ones((3, 1)), Dense(np.array([[0.0], [1.0], [5.0]]))
    >>> problem = Adjusted(x, AdjustedTargets(np.array([1.0, 2.0, 6.0]), 3.0, np.ones(3), basis))
    >>> problem.gram, problem.xz, problem.squares
    (array([[14.]]), array([14.]), array([14.]))
    """

    targets: AdjustedTargets

    @lazy
    def loads(self) -> Matrix:
        """What the basis explains of the columns."""
        return self.targets.loads(self.columns)

    @lazy
    def x_mean(self) -> Vector:
        """The weighted means of the columns."""
        return np.asarray(self.columns.rmatvec(self.targets.each) / self.targets.information)

    @lazy
    def weighted(self) -> Columns:
        """The columns, projected and weighted."""
        left = self.columns.less(self.targets.basis, self.loads.T)
        return left.reweighted(np.sqrt(self.targets.each))

    @property
    def _taken(self) -> Vector:
        """What the projection takes from each sum of squares."""
        return np.asarray(np.einsum("ij,ij->j", self.loads, self.targets.inner @ self.loads))

    @lazy
    def gram(self) -> Matrix:
        """X'X, both triangles."""
        gram = self.columns.gram(self.targets.weights)
        if np.any(self._taken > CANCELS * gram.diagonal()):
            return self.weighted.gram()
        gram -= self.loads.T @ (self.targets.inner @ self.loads)
        return gram

    @lazy
    def diagonal(self) -> Vector:
        """The diagonal of X'WX where what is not shrunk is part of X."""
        return self.squares + self._taken

    def take(self, keep: Mask) -> LeastSquares:
        """Return the problem with the columns in ``keep``; what was computed of them is kept."""
        part = super().take(keep)
        if "loads" in self.__dict__:
            part.__dict__["loads"] = self.loads[:, keep]
        return part

    def weigh(self, outer: Any) -> Any:
        """Return X D X' of the weighted, projected columns from that of the raw ones: lower triangles."""
        targets, dtype = self.targets, outer.dtype
        whole = both_triangles(np.array(outer, dtype=np.float64))
        pull = cho_solve(targets._factor, targets.heavy.T @ whole).T  # X D X' W B (B'WB)^-1
        pull -= 0.5 * targets.basis @ targets.explained(pull)
        whole -= pull @ targets.basis.T + targets.basis @ pull.T
        root = np.sqrt(targets.each)
        return np.asfortranarray(whole * root[:, None] * root, dtype=dtype)
