"""The data as the E-step sees them: centred, scaled, weighted. The one place that knows where they live."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import blas

from farrier._types import Mask, Matrix, Vector


def columns(x: Matrix, keep: Mask) -> Matrix:
    """Return the columns of a Fortran-ordered array, Fortran-ordered: contiguous to read and to write.

    Examples
    --------
    >>> columns(np.asfortranarray([[1.0, 2.0], [3.0, 4.0]]), np.array([False, True]))
    array([[2.],
           [4.]])
    """
    return x.T[keep].T


def spread(columns: Mask, values: Vector) -> Any:
    """Return zeros, with ``values`` where ``columns`` is true.

    Examples
    --------
    >>> spread(np.array([True, False]), np.array([2.0]))
    array([2., 0.])
    """
    out = np.zeros(columns.size, dtype=values.dtype)
    out[columns] = values
    return out


class System:
    """A least-squares problem: the columns ``x`` and the targets ``z``, centred, rows times sqrt(weight).

    Parameters
    ----------
    x : Fortran-ordered array of shape (n, k)
        Never modified.
    z : array of shape (n,)
        The targets.
    size : float
        The sum of the weights: the n of the paper.

    Examples
    --------
    >>> system = System(np.asfortranarray([[1.0, 0.0], [0.0, 2.0]]), np.array([3.0, 4.0]), size=2.0)
    >>> system.take(np.array([False, True])).xz
    array([8.])
    """

    def __init__(self, x: Matrix, z: Vector, size: float) -> None:
        self.x = x
        self.z = z
        self.size = size

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.x.shape[0])

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.x.shape[1])

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n_rows, self.n_columns

    @cached_property
    def gram(self) -> Matrix:
        """X'X, both triangles."""
        lower = blas.dsyrk(1.0, self.x, trans=1, lower=1)
        lower += np.tril(lower, -1).T
        return np.asarray(lower)

    @cached_property
    def xz(self) -> Vector:
        """X'z."""
        return self.x.T @ self.z

    @cached_property
    def zz(self) -> float:
        """Z'z."""
        return float(self.z @ self.z)

    @cached_property
    def column_ss(self) -> Vector:
        """||x_j||^2."""
        return np.asarray(np.einsum("ij,ij->j", self.x, self.x))

    @property
    def diagonal(self) -> Vector:
        """The diagonal that approximate variances are taken from."""
        return self.column_ss

    @property
    def column_scale(self) -> Vector:
        """What one unit of a column is on the standardised scale: its root mean square."""
        return np.asarray(np.sqrt(self.column_ss / self.size))

    def residual(self, coef: Vector) -> Vector:
        """Return z - X coef."""
        return self.z - self.x @ coef

    def rss(self, coef: Vector) -> float:
        """Return ||z - X coef||^2."""
        residual = self.residual(coef)
        return float(residual @ residual)

    def take(self, keep: Mask) -> System:
        """Return the problem with the columns in ``keep``; what was computed of them is kept."""
        part = System(columns(self.x, keep), self.z, self.size)
        for name in ("xz", "column_ss"):
            if name in self.__dict__:
                part.__dict__[name] = self.__dict__[name][keep]
        if "gram" in self.__dict__:
            part.__dict__["gram"] = self.gram[np.ix_(keep, keep)]
        return part


class Identity(System):
    """The normal means problem: X is the identity and is never formed."""

    def __init__(self, z: Vector) -> None:
        super().__init__(np.empty((z.size, 0), order="F"), z, float(z.size))

    @property
    def n_columns(self) -> int:
        """One column for each observation."""
        return self.z.size

    @cached_property
    def xz(self) -> Vector:
        """X'z = z."""
        return self.z

    @cached_property
    def column_ss(self) -> Vector:
        """||x_j||^2 = 1."""
        return np.ones(self.z.size)

    @property
    def column_scale(self) -> Vector:
        """Means are in the units of z as they are."""
        return self.column_ss

    def residual(self, coef: Vector) -> Vector:
        """Return z - coef."""
        return self.z - coef


class Standardised(NamedTuple):
    """The columns that vary, on the scale on which the prior acts, and the way back.

    ``x`` has column means 0 (if centred) and column mean squares 1 (if scaled), both by the weights;
    ``spread`` are the root mean squares of the centred columns, ``scale`` what they were divided by.
    """

    x: Matrix
    columns: Mask
    mean: Vector
    scale: Vector
    spread: Vector
    weights: Vector | None

    @property
    def size(self) -> float:
        """The sum of the weights."""
        return float(self.x.shape[0]) if self.weights is None else float(self.weights.sum())

    def system(self, targets: Vector) -> System:
        """Return the least-squares problem of explaining ``targets``."""
        if self.weights is None:
            return System(self.x, targets, self.size)
        root = np.sqrt(self.weights)
        return System(np.asfortranarray(self.x * root[:, None]), targets * root, self.size)


def standardise(x: Matrix, weights: Vector | None, *, center: bool, scale: bool) -> Standardised:
    """Centre and scale the columns of ``x`` and leave out those that do not vary.

    A column is constant when its spread is within the rounding error of its mean; without centring, when
    it is zero. The input is not modified.

    Examples
    --------
    >>> design = standardise(np.array([[1.0, 5.0], [3.0, 5.0]]), None, center=True, scale=True)
    >>> design.x, design.columns, design.mean, design.scale
    (array([[-1.],
           [ 1.]]), array([ True, False]), array([2.]), array([1.]))
    """
    x = np.array(x, dtype=np.float64, order="F")  # the one copy
    mean = np.zeros(x.shape[1])
    if center:
        mean = weighted_mean(x, weights)
        x -= mean
    spread = np.sqrt(mean_square(x, weights))
    varies = spread > 10.0 * np.sqrt(x.shape[0]) * np.finfo(np.float64).eps * np.abs(mean)
    if not varies.all():
        x, mean, spread = columns(x, varies), mean[varies], spread[varies]
    if scale:
        x *= 1.0 / spread
    return Standardised(x, varies, mean, spread if scale else np.ones_like(spread), spread, weights)


def weighted_mean(x: Matrix | Vector, weights: Vector | None) -> Vector:
    """Return the column means of ``x``.

    Examples
    --------
    >>> weighted_mean(np.array([1.0, 4.0]), np.array([2.0, 1.0]))
    np.float64(2.0)
    """
    if weights is None:
        return np.asarray(x.mean(axis=0))[()]
    return np.asarray(weights @ x / weights.sum())[()]


def mean_square(x: Matrix, weights: Vector | None) -> Vector:
    """Return the mean squares of the columns of ``x``.

    Examples
    --------
    >>> mean_square(np.array([[1.0], [2.0]]), np.array([3.0, 1.0]))
    array([1.75])
    """
    if weights is None:
        return np.asarray(np.einsum("ij,ij->j", x, x) / x.shape[0])
    return np.asarray(np.einsum("ij,ij,i->j", x, x, weights) / weights.sum())
