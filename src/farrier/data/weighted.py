"""A least-squares problem with weights and an intercept, as every family but the Gaussian has it."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from scipy.linalg import blas

from farrier._types import Mask, Matrix, Vector
from farrier.data.design import System, columns

BLOCK_ROWS = 4096
"""Rows that are weighted at a time: few enough to stay in the cache."""
CANCELS = 0.9
"""A column whose weighted mean makes up more than this share of its sum of squares is centred beforehand."""


class WeightedSystem(System):
    """A weighted least-squares problem with an unpenalised intercept, by weighted centring.

    The weighted columns are formed only where an engine asks for them; in the primal form the Gram matrix
    is added up from blocks of rows.

    Parameters
    ----------
    columns : Fortran-ordered array of shape (n, k)
        Not weighted; never modified.
    targets, weights : arrays of shape (n,)
        What is explained, and how much each row counts.
    size : float
        The n of the paper.
    center : bool
        Whether there is an intercept.
    careful : bool
        Whether the residual sum of squares matters: then it is added up row by row, and not taken from the
        Gram matrix, where it is what is left of larger numbers.

    Examples
    --------
    >>> x = np.asfortranarray([[0.0], [1.0], [2.0]])
    >>> system = WeightedSystem(x, np.array([1.0, 3.0, 5.0]), np.array([1.0, 2.0, 1.0]), 3.0, center=True)
    >>> float(system.xz[0] / system.gram[0, 0]), system.intercept(np.array([2.0]))
    (2.0, 1.0)
    """

    def __init__(
        self, x: Matrix, targets: Vector, weights: Vector, size: float, center: bool, careful: bool = True
    ) -> None:
        self.raw, self.targets, self.weights, self.size, self.center = x, targets, weights, size, center
        self._careful = careful
        self.total = float(weights.sum())
        self.root = np.sqrt(weights)
        self.x_mean = x.T @ weights / self.total if center else np.zeros(x.shape[1])
        self.z_mean = float(weights @ targets) / self.total if center else 0.0
        self.z = self.root * (targets - self.z_mean)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.raw.shape[0])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.raw.shape[1])

    @cached_property
    def x(self) -> Matrix:  # type: ignore[override]
        """The columns, centred and weighted."""
        out = self.raw - self.x_mean
        out *= self.root[:, None]
        return np.asfortranarray(out)

    @cached_property
    def gram(self) -> Matrix:
        """X'X, both triangles."""
        lower = self._add_up(None)
        share = self.total * self.x_mean**2
        if np.any(share > CANCELS * lower.diagonal()):
            lower = self._add_up(self.x_mean)
        elif self.center:
            lower -= np.outer(self.total * self.x_mean, self.x_mean)
        lower += np.tril(lower, -1).T - np.triu(lower, 1)
        return lower

    @cached_property
    def xz(self) -> Vector:
        """X'z."""
        pull = self.root * self.z
        return np.asarray(self.raw.T @ pull - self.x_mean * pull.sum())

    @cached_property
    def column_ss(self) -> Vector:
        """||x_j||^2."""
        if "gram" in self.__dict__:
            return self.gram.diagonal().copy()
        return np.asarray(np.einsum("ij,ij->j", self.x, self.x))

    @cached_property
    def diagonal(self) -> Vector:
        """sum_i w_i x_ij^2, not centred: the diagonal of X'WX where the intercept is a column of X."""
        return self.column_ss + self.total * self.x_mean**2

    def residual(self, coef: Vector) -> Vector:
        """Return z - X coef."""
        fit = self.raw @ coef - float(self.x_mean @ coef)
        return np.asarray(self.z - self.root * fit)

    def rss(self, coef: Vector) -> float:
        """Return ||z - X coef||^2."""
        if self._careful or "gram" not in self.__dict__:
            return super().rss(coef)
        return max(self.zz + float(coef @ (self.gram @ coef - 2.0 * self.xz)), 0.0)

    def intercept(self, coef: Vector) -> float:
        """Return the intercept that goes with ``coef``."""
        return self.z_mean - float(self.x_mean @ coef)

    def take(self, keep: Mask) -> WeightedSystem:
        """Return the problem with the columns in ``keep``; what was computed of them is kept."""
        part: WeightedSystem = object.__new__(WeightedSystem)
        part.__dict__.update(self.__dict__)
        part.raw, part.x_mean = columns(self.raw, keep), self.x_mean[keep]
        for name in ("xz", "column_ss", "diagonal"):
            if name in self.__dict__:
                part.__dict__[name] = self.__dict__[name][keep]
        if "gram" in self.__dict__:
            part.__dict__["gram"] = self.gram[np.ix_(keep, keep)]
        part.__dict__.pop("x", None)
        return part

    def _add_up(self, center: Vector | None) -> Matrix:
        """Return the lower triangle of sum_i w_i (x_i - center)(x_i - center)'."""
        lower = np.zeros((self.n_columns, self.n_columns), order="F")
        for start in range(0, self.n_rows, BLOCK_ROWS):
            rows = slice(start, start + BLOCK_ROWS)
            block = self.raw[rows] if center is None else self.raw[rows] - center
            block = np.asfortranarray(block * self.root[rows, None])
            lower = blas.dsyrk(1.0, block, trans=1, lower=1, beta=1.0, c=lower, overwrite_c=1)
        return np.asarray(lower)
