"""Columns that are not shrunk: projected out of the others with the weights of the moment, as an intercept.

What is left of the others is orthogonal to them (Frisch, Waugh and Lovell), so the loop never sees them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from horseshoe._lazy import lazy
from horseshoe._types import Mask, Matrix, Vector
from horseshoe.data.problem import CANCELS, LeastSquares, Targets
from horseshoe.data.view import View
from horseshoe.linalg import both_triangles

# What a row is taken to tell at least: of a coefficient that is as good as infinite, rows tell nothing, and
# steps towards that end where rounding would.
MIN_INFORMATION = 1e-13


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
    back : array of shape (q,)
        What an intercept gives up, for each of its coefficients, to columns that are not centred.
    """

    basis: Matrix
    turn: Matrix
    loads: Matrix
    level: Vector
    total_weight: float
    back: Vector

    def take(self, keep: Mask) -> Free:
        """Return the same beside some of the columns."""
        return self._replace(loads=self.loads[:, keep])

    def rows(self, which: Any) -> Free:
        """Return the same for some of the rows; they are no longer quite orthogonal."""
        return self._replace(basis=self.basis[which])

    def with_ones(self, center: bool) -> Matrix:
        """Return the basis, with an intercept in front of it if there is one."""
        return np.column_stack([np.ones(len(self.basis)), self.basis]) if center else self.basis


class ProjectedTargets(Targets):
    """Other targets less what the ``basis``, of shape (n, q), explains of them.

    With a precision H over the rows, diagonal or not, whatever intercept or thresholds it knows nothing of,

        P = H - H B (B'HB)^-1 B'H

    is what is left to tell of the columns when the coefficients of the basis B are not known either.

    Examples
    --------
    >>> x = np.arange(4.0)
    >>> level = Targets(2.0 * x + 1.0, 4.0, np.ones(4), center=True)
    >>> ProjectedTargets(level, x[:, None]).intercept(np.zeros(4)).round(9)
    array([1., 2.])
    """

    def __init__(self, base: Targets, basis: Matrix) -> None:
        self.base, self.basis, self.heavy = base, basis, base.curved(basis)
        self.values, self.total_weight, self.weights = base.values, base.total_weight, base.weights
        self.center, self.careful, self.mean = base.center, base.careful, base.mean
        self.inner = basis.T @ self.heavy
        self.inner[np.diag_indices(len(self.inner))] += MIN_INFORMATION * base.total_weight
        self._factor = cho_factor(self.inner, lower=True)
        self.free = cho_solve(self._factor, basis.T @ base.pull)

    @property
    def information(self) -> float:  # type: ignore[override]
        """What all rows tell of the level."""
        return self.base.information

    @property
    def root(self) -> Any:  # type: ignore[override]
        """That of H, if there is one."""
        return self.base.root

    @property
    def middle(self) -> Vector:
        """The weighted means of the basis, where there is an intercept that goes with them."""
        if self.weights is None or not self.center:
            return np.zeros(self.basis.shape[1])
        return np.asarray(self.weights @ self.basis / self.information)

    @lazy
    def rooted_basis(self) -> Matrix:
        """The basis as the weighted columns are."""
        return np.asarray(self.base.rooted(self.basis))

    @lazy
    def z(self) -> Vector:
        """What the basis leaves of the targets."""
        return np.asarray(self.base.z - self.rooted_basis @ self.free)

    @lazy
    def zz(self) -> float:
        """Z'z."""
        if self.careful:
            return float(self.z @ self.z)
        return max(float(self.base.zz - self.free @ self.inner @ self.free), 0.0)

    @lazy
    def pull(self) -> Vector:
        """The rows that give X'z with X as it is."""
        return self.centred(self.base.pull)

    def explained(self, fit: Any) -> Any:
        """Return the coefficients of the basis in a linear predictor."""
        return cho_solve(self._factor, self.heavy.T @ fit)

    def rooted(self, rows: Any) -> Any:
        """Return a linear predictor less what the basis explains of it, weighted."""
        return self.base.rooted(rows - self.basis @ self.explained(rows))

    def intercept(self, fit: Vector) -> Any:
        """Return the intercept, if there is one, and the coefficients of the basis beside a predictor."""
        found = self.free - self.explained(fit)
        return np.append(self.base.intercept(fit + self.basis @ found), found) if self.center else found

    def centred(self, pull: Vector) -> Vector:
        """Return the rows that give, with X as it is, what ``pull`` gives with X projected."""
        return np.asarray(pull - self.heavy @ cho_solve(self._factor, self.basis.T @ pull))

    def misfit(self, fit: Vector) -> float:
        """Return the weighted sum of squares of the targets around a linear predictor."""
        return self.base.misfit(fit)

    def loads(self, columns: View) -> Matrix:
        """Return what the basis explains of the columns: of shape (q, k)."""
        return np.asarray(
            cho_solve(self._factor, np.asarray(columns.rmatvec(self.heavy), dtype=np.float64).T)
        )

    def covariance(self) -> Matrix:
        """Return the covariance of the coefficients of the basis, given all others, over sigma2."""
        return np.asarray(cho_solve(self._factor, np.eye(len(self.inner))))

    def draw(self, rng: np.random.Generator) -> Vector:
        """Draw the intercept, if there is one, and the coefficients of the basis around their mean."""
        q = len(self.inner)
        noise = rng.standard_normal(self.center + q)
        own = np.asarray(solve_triangular(self._factor[0], noise[-q:], lower=True, trans=1))
        if not self.center:
            return own
        return np.append(noise[0] / np.sqrt(self.information) - self.base.average(self.basis @ own), own)

    def problem(self, columns: View) -> Adjusted:
        """Return the problem of explaining these targets by columns."""
        return Adjusted(columns, self)


class Adjusted(LeastSquares):
    """The columns against the targets, both less what the basis explains of them by weight.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> x, basis = Dense(np.array([[0.0], [1.0], [5.0]])), np.array([[1.0], [-1.0], [0.0]])
    >>> targets = Targets(np.array([1.0, 2.0, 6.0]), 3.0, np.ones(3), center=True)
    >>> problem = ProjectedTargets(targets, basis).problem(x)
    >>> problem.gram, problem.xz.round(12), problem.squares
    (array([[13.5]]), array([13.5]), array([13.5]))
    """

    targets: ProjectedTargets

    @property
    def base(self) -> LeastSquares:
        """The columns against the targets as they are without the basis."""
        return self.targets.base.problem(self.columns)

    @lazy
    def left(self) -> LeastSquares:
        """What the basis leaves of the columns, against the same."""
        return self.targets.base.problem(self.columns.less(self.targets.basis, self.loads.T))

    @lazy
    def loads(self) -> Matrix:
        """What the basis explains of the columns."""
        return self.targets.loads(self.columns)

    @lazy
    def x_mean(self) -> Vector:
        """The weighted means of the columns."""
        return self.base.x_mean

    @property
    def weighted(self) -> View:
        """The columns, projected and weighted."""
        return self.left.weighted

    @property
    def _taken(self) -> Vector:
        """What the projection takes from each sum of squares."""
        return np.asarray(np.einsum("ij,ij->j", self.loads, self.targets.inner @ self.loads))

    @lazy
    def gram(self) -> Matrix:
        """X'X, both triangles."""
        gram = self.base.gram
        if np.any(self._taken > CANCELS * gram.diagonal()):
            return self.left.gram
        gram -= self.loads.T @ (self.targets.inner @ self.loads)
        return gram

    @lazy
    def xz(self) -> Vector:
        """X'z."""
        return np.asarray(self.columns.rmatvec(self.targets.pull))

    @lazy
    def squares(self) -> Vector:
        """||x_j||^2."""
        return self.gram.diagonal().copy() if "gram" in self.__dict__ else self.left.squares

    @lazy
    def diagonal(self) -> Vector:
        """The diagonal of X'WX where what is not shrunk is part of X."""
        return self.squares + self._taken + self.targets.information * self.x_mean**2

    def matvec(self, coef: Vector) -> Vector:
        """Return X b of the weighted, projected columns; these are not formed."""
        return np.asarray(self.targets.rooted(self.columns.matvec(coef)))

    def pull(self, rows: Vector) -> Vector:
        """Return the rows that give with the raw columns what ``rows`` give with the weighted ones."""
        return self.targets.centred(self.base.pull(rows))

    def take(self, keep: Mask) -> LeastSquares:
        """Return the problem with the columns in ``keep``; what was computed of them is kept."""
        part = super().take(keep)
        if "loads" in self.__dict__:
            part.__dict__["loads"] = self.loads[:, keep]
        return part

    def weigh(self, outer: Any) -> Any:
        """Return X D X' of the weighted, projected columns from that of the raw ones: lower triangles."""
        targets = self.targets
        whole = both_triangles(np.array(self.base.weigh(outer), dtype=np.float64))
        basis, solved = targets.rooted_basis, cho_solve(targets._factor, targets.rooted_basis.T)
        pull = whole @ solved.T
        pull -= 0.5 * basis @ (solved @ pull)
        whole -= pull @ basis.T + basis @ pull.T
        return np.asfortranarray(whole, dtype=outer.dtype)


def adjusted(targets: Targets, free: Free | None) -> Targets:
    """Return targets less what is not shrunk, if there is any.

    Examples
    --------
    >>> targets = Targets(np.ones(2), 2.0, np.ones(2))
    >>> adjusted(targets, None) is targets
    True
    """
    return targets if free is None else ProjectedTargets(targets, free.basis)
