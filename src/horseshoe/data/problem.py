"""A weighted least-squares problem: what the E-step, the start and the sampler see of the data."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.linalg import blas

from horseshoe._lazy import lazy
from horseshoe._types import Mask, Matrix, Vector
from horseshoe.data.compressed import LEAST_LEFT, MANY_ROWS, PER_COLUMN, square_rows
from horseshoe.data.dense import Dense
from horseshoe.data.products import CrossProducts
from horseshoe.data.thresholds import ThresholdProfile
from horseshoe.data.view import View
from horseshoe.linalg import is_single, mirrored

# A column whose weighted mean makes up more than this share of its sum of squares is centred beforehand.
CANCELS = 0.9
# Of more columns, their cross-products may not fit in memory where nobody asked for them.
MOST_SUMMED = 10_000


class Targets:
    """What is explained: one target and one weight a row, centred where there is an intercept.

    Parameters
    ----------
    values : array of shape (n,)
        The targets.
    total_weight : float
        The n of the paper: the sum of the sample weights.
    weights : array of shape (n,), optional
        How much each row counts; None stands for 1, with nothing left to centre.
    center : bool
        Whether there is an intercept.
    careful : bool
        Whether the residual sum of squares matters: then it is added up row by row, and not taken from the
        Gram matrix, where it is what is left of larger numbers.
    beside : ThresholdProfile, optional
        What more than an intercept is estimated beside the coefficients.
    """

    def __init__(
        self,
        values: Vector,
        total_weight: float,
        weights: Vector | None = None,
        center: bool = False,
        careful: bool = True,
        beside: ThresholdProfile | None = None,
    ) -> None:
        self.values, self.total_weight, self.weights = values, total_weight, weights
        self.center, self.careful, self.beside = center, careful, beside
        self.information = total_weight if weights is None else float(weights.sum())
        self.root = None if weights is None else np.sqrt(weights)
        self.mean = 0.0 if weights is None or not center else float(weights @ values) / self.information

    @lazy
    def z(self) -> Vector:
        """The targets, centred and weighted."""
        if self.root is None:
            return self.values
        centred = self.root * (self.values - self.mean)
        return centred if self.beside is None else np.asarray(self.beside.turned(centred))

    def average(self, fit: Any) -> float:
        """Return the weighted mean of a linear predictor; zero where there is nothing left to centre."""
        if self.weights is None or not self.center:
            return 0.0
        return float(self.weights @ fit) / self.information

    def intercept(self, fit: Vector) -> float:
        """Return the intercept that goes with a linear predictor without one."""
        return self.mean - self.average(fit)

    def centred(self, pull: Vector) -> Vector:
        """Return the rows that give, with X as it is, what ``pull`` gives with X centred by weight."""
        if self.weights is None or not self.center:
            return pull
        return np.asarray(pull - self.weights * (float(pull.sum()) / self.information))

    @lazy
    def zz(self) -> float:
        """Z'z."""
        if self.beside is not None:
            return float(self.values @ self.beside.known(self.values))
        return float(self.z @ self.z)

    @property
    def pull(self) -> Vector:
        """The rows that give X'z with X as it is."""
        return np.asarray(self.curved(self.values))

    def curved(self, rows: Any) -> Any:
        """Return H times linear predictors, X'HX the Gram matrix of the weighted, centred columns."""
        if self.beside is not None:
            return self.beside.known(rows)
        heavy = rows if self.weights is None else (self.weights * rows.T).T
        if self.weights is None or not self.center:
            return heavy
        return heavy - (np.multiply.outer(heavy.sum(axis=0), self.weights) / self.information).T

    def rooted(self, rows: Any) -> Any:
        """Return linear predictors as the weighted, centred columns are: R rows, H = R'R."""
        if self.root is None or self.weights is None:
            return rows
        if self.beside is not None:
            return self.beside.turned((self.root * rows.T).T)
        return (self.root * (rows - self.weights @ rows / self.information if self.center else rows).T).T

    def problem(self, columns: View) -> LeastSquares:
        """Return the problem of explaining these targets by columns."""
        return LeastSquares(columns, self)

    def misfit(self, fit: Vector) -> float:
        """Return the weighted sum of squares of the targets around a linear predictor."""
        gap = self.values - fit
        return float((gap if self.weights is None else self.weights * gap) @ gap)


class LeastSquares:
    """The columns against the targets, both times sqrt(weight) and centred by weight; weights are 1 if None.

    Parameters
    ----------
    columns : View
        Not weighted.
    targets : Targets
        What is explained, and how much each row counts.
    x_mean : array of shape (k,), optional
        The weighted means of the columns, if they are known.

    Examples
    --------
    >>> x = Dense(np.asfortranarray([[0.0], [1.0], [2.0]]))
    >>> targets = Targets(np.array([1.0, 3.0, 5.0]), 3.0, np.array([1.0, 2.0, 1.0]), center=True)
    >>> problem = LeastSquares(x, targets)
    >>> float(problem.xz[0] / problem.gram[0, 0]), problem.intercept(np.array([2.0]))
    (2.0, 1.0)
    """

    def __init__(self, columns: View, targets: Targets, x_mean: Vector | None = None) -> None:
        self.columns, self.targets = columns, targets
        self.shape = columns.shape
        if x_mean is not None:
            self.__dict__["x_mean"] = x_mean

    @lazy
    def x_mean(self) -> Vector:
        """The weighted means of the columns; zero where there is nothing left to centre."""
        targets = self.targets
        if targets.weights is None or not targets.center:
            return np.zeros(self.shape[1])
        if self._sums is not None:
            return self._sums.mean[:-1]
        return np.asarray(self.columns.rmatvec(targets.weights) / targets.information)

    @lazy
    def _sums(self) -> CrossProducts | None:
        """All that is added up over rows, in one pass; None where nothing is gained by that."""
        return self._added_up() if self.columns.remote else None

    @property
    def is_summed(self) -> bool:
        """Whether the sums of columns and targets are all that is asked of the rows, and short enough."""
        plain = type(self) is LeastSquares and self.targets.beside is None and self.columns.by_rows
        return plain and self.n_columns <= min(self.n_rows, MOST_SUMMED)

    def _added_up(self) -> CrossProducts | None:
        if not self.is_summed:
            return None
        found = self.columns.cross_products(self.targets.values, self.targets.weights)
        return found if self.targets.center else found.around_zero()

    def known(self, sums: CrossProducts) -> LeastSquares:
        """Return the problem with the sums of columns and targets, which then need no pass."""
        out = LeastSquares(self.columns, self.targets)
        out.__dict__["_sums"] = sums if self.targets.center else sums.around_zero()
        return out

    @property
    def is_long(self) -> bool:
        """Whether there are so many rows that a Gram matrix costs less than a copy of the columns."""
        return self.n_rows >= max(MANY_ROWS, PER_COLUMN * self.n_columns)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.shape[0]

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return self.shape[1]

    @property
    def total_weight(self) -> float:
        """The n of the paper."""
        return self.targets.total_weight

    @property
    def z(self) -> Vector:
        """The targets, centred and weighted."""
        return self.targets.z

    @lazy
    def weighted(self) -> View:
        """The columns, centred and weighted: only the dual form needs them."""
        root, beside = self.targets.root, self.targets.beside
        if beside is not None:
            return beside.weighted(self.columns)
        return self.columns if root is None else self.columns.reweighted(root, self.x_mean)

    @lazy
    def gram(self) -> Matrix:
        """X'X, both triangles."""
        weights, total = self.targets.weights, self.targets.information
        if self.targets.beside is not None:
            return self.targets.beside.gram(self.columns)
        if self._sums is not None:
            return mirrored(self._sums.products[:-1, :-1])
        gram = self.columns.gram(weights)
        if weights is None or not self.targets.center:
            return gram
        if np.any(total * self.x_mean**2 > CANCELS * gram.diagonal()):
            return self.columns.gram(weights, self.x_mean)
        gram -= np.outer(total * self.x_mean, self.x_mean)
        return gram

    @lazy
    def triangle(self) -> tuple[Matrix, Vector]:
        """R and Q'z, X = QR: at most k rows that have the digits which X'X has lost."""
        return self.weighted.compressed(self.z)[:2]

    @lazy
    def xz(self) -> Vector:
        """X'z."""
        if self.targets.beside is not None:
            return np.asarray(self.columns.rmatvec(self.targets.beside.known(self.targets.values)))
        if self._sums is not None:
            return self._sums.products[-1, :-1].copy()
        return self.rmatvec(self.z)

    @lazy
    def squares(self) -> Vector:
        """||x_j||^2."""
        if (
            "gram" in self.__dict__
            or self._sums is not None
            or (self.is_long and self.targets.root is not None)
        ):
            return self.gram.diagonal().copy()
        return np.asarray(self.weighted.squares())

    @lazy
    def diagonal(self) -> Vector:
        """The diagonal of X'WX where the intercept is a column of X: not centred by these weights."""
        return self.squares + self.targets.information * self.x_mean**2

    @property
    def column_scale(self) -> Vector:
        """One unit of a column on the standardised scale: its root mean square; 1 for normal means."""
        if self.columns.orthogonal:
            return self.squares
        return np.asarray(np.sqrt(self.squares / self.total_weight))

    def matvec(self, coef: Vector) -> Vector:
        """Return X b of the weighted, centred columns; these are not formed."""
        root, fit = self.targets.root, self.columns.matvec(coef)
        if root is not None and self.targets.beside is not None:
            return np.asarray(self.targets.beside.turned(root * fit))
        return np.asarray(fit if root is None else root * (fit - self.targets.average(fit)))

    def rmatvec(self, rows: Vector) -> Vector:
        """Return X' r of the weighted, centred columns; these are not formed."""
        return np.asarray(self.columns.rmatvec(self.pull(rows)))

    def pull(self, rows: Vector) -> Vector:
        """Return the rows that give with the raw columns what ``rows`` give with the weighted ones."""
        root, beside = self.targets.root, self.targets.beside
        if root is not None and beside is not None:
            return np.asarray(root * beside.turned(rows))
        return rows if root is None else self.targets.centred(root * rows)

    def residual(self, coef: Vector) -> Vector:
        """Return z - X coef."""
        return self.z - self.matvec(coef)

    def rss(self, coef: Vector) -> float:
        """Return ||z - X coef||^2."""
        careful = self.targets.careful and not self.columns.remote
        if not careful and "gram" in self.__dict__:
            found = max(self.targets.zz + float(coef @ (self.gram @ coef - 2.0 * self.xz)), 0.0)
            if not self.targets.careful or found > LEAST_LEFT * self.targets.zz:
                return found
        residual = self.residual(coef)
        return float(residual @ residual)

    def left_pull(self, coef: Vector) -> Vector:
        """Return X'(z - X coef)."""
        if self._sums is not None:
            return np.asarray(self.xz - self.gram @ coef)
        return self.rmatvec(self.residual(coef))

    def alone(self) -> LeastSquares:
        """Return the problem as one whose rows are weighted already: few, where many are far away or many."""
        sums = self._added_up() if self.is_long and not self.columns.remote else self._sums
        if sums is None or not sums.is_usable:
            return LeastSquares(self.weighted, Targets(self.z, self.total_weight))
        x, z = square_rows(sums)
        return LeastSquares(Dense(x), Targets(z, self.total_weight))

    def intercept(self, coef: Vector) -> float:
        """Return the intercept that goes with ``coef``; from the means of columns that are far away."""
        if self._sums is not None:
            return self.targets.mean - float(self.x_mean @ coef)
        return self.targets.intercept(self.columns.matvec(coef))

    def take(self, keep: Mask) -> LeastSquares:
        """Return the problem with the columns in ``keep``; what was computed of them is kept."""
        part, known = self.on(self.columns.take(keep)), self.__dict__
        names = ("x_mean", "xz", "squares", "diagonal")
        part.__dict__.update({name: known[name][keep] for name in names if name in known})
        if "gram" in known:
            part.__dict__["gram"] = self.gram[np.ix_(keep, keep)]
        return part

    def on(self, columns: View) -> LeastSquares:
        """Return the problem of explaining the same targets by other columns."""
        return type(self)(columns, self.targets)

    def weigh(self, outer: Any) -> Any:
        """Return X D X' of the weighted, centred columns from that of the raw ones: lower triangles both.

        An n x n matrix goes through this where the weights move and D does not: no column is touched.
        """
        root, weights, total = self.targets.root, self.targets.weights, self.targets.information
        if root is None or weights is None:
            return outer
        if self.targets.beside is not None:
            whole = np.tril(outer) + np.tril(outer, -1).T
            whole *= root.astype(outer.dtype)[:, None] * root.astype(outer.dtype)
            half = self.targets.beside.turned(whole)
            return np.asfortranarray(self.targets.beside.turned(half.T))
        if self.targets.center:
            symv = blas.ssymv if is_single(outer) else blas.dsymv
            pull = symv(1.0, outer, weights / total, lower=1)
            inner = float(pull @ weights) / total
            outer = outer - pull[:, None] - (pull - np.asarray(inner, outer.dtype))
        root = root.astype(outer.dtype)
        return np.asfortranarray(outer * root[:, None] * root)

    def compressed(self) -> tuple[LeastSquares, float]:
        """Return a problem with at most k rows that says the same, and the rest of the sum of squares."""
        if self.n_columns > self.n_rows:
            return LeastSquares(self.weighted, Targets(self.z, self.total_weight)), 0.0
        x, z, left_over = self.weighted.compressed(self.z)
        targets = Targets(np.ascontiguousarray(z), self.total_weight)
        return LeastSquares(Dense(np.asfortranarray(x)), targets), left_over


def plain(x: Any, z: Any, total_weight: float | None = None) -> LeastSquares:
    """Return the unweighted problem of explaining ``z`` by the columns of an array, as they are.

    Examples
    --------
    >>> plain(np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([3.0, 4.0])).take(np.array([False, True])).xz
    array([8.])
    """
    size = float(len(z)) if total_weight is None else total_weight
    return LeastSquares(Dense(np.asfortranarray(x)), Targets(np.asarray(z), size))
