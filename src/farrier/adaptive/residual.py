"""The data as sweeps over columns see them: the residual r of the present coefficients, kept up to date."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from farrier._types import Matrix, Vector

Index = NDArray[np.intp]


class Local(NamedTuple):
    """Some columns, to be visited one at a time.

    A change of column i takes change * ``vectors[i]`` from what ``work`` is. With ``products`` these are x_i
    and r, and x_i'r is their product; without, rows of X'X and X'r, which are shorter for few columns.
    """

    vectors: Matrix
    work: Vector
    products: bool


class Residual(Protocol):
    """What sweeps need of X and y. ``n`` counts observations, ``squares`` is diag(X'X), ``total`` is y'y."""

    n: float
    squares: Vector
    total: float

    def begin(self, coef: Vector) -> None:
        """Set the residual to that of ``coef``."""

    def pull(self) -> Vector:
        """Return X'r."""

    def rss(self) -> float:
        """Return r'r."""

    def shift(self, change: Vector) -> tuple[Vector, float]:
        """Return what a change of all coefficients would do to the residual, and |X change|^2."""

    def move(self, shift: Vector, change: Vector) -> None:
        """Carry out what `shift` foretold."""

    def local(self, where: Index) -> Local:
        """Return the columns ``where`` for visits."""

    def settle(self, where: Index, change: Vector, products: bool) -> None:
        """Take over the changes of visited columns; with ``products`` the visits moved r."""


class Rows:
    """X and y themselves; X is copied unless it is Fortran-ordered.

    Rows of weight w are to be multiplied by sqrt(w) before; ``n`` is how many observations they stand for.

    Examples
    --------
    >>> Rows(np.array([[1.0], [-1.0]]), np.array([2.0, -2.0])).squares
    array([2.])
    """

    def __init__(self, X: Matrix, y: Vector, n: float | None = None) -> None:
        self._X, self._y = np.asfortranarray(X, dtype=float), np.asarray(y, dtype=float)
        if self._X.ndim != 2 or self._y.shape != self._X.shape[:1]:
            shapes = f"X has shape {self._X.shape} and y {self._y.shape}"
            raise ValueError(f"{shapes}: give a matrix and a value for each of its rows")
        self.n = float(self._y.size if n is None else n)
        self.squares: Vector = np.einsum("ij,ij->j", self._X, self._X)
        self.total = float(self._y @ self._y)
        self._where: Index | None = None

    def begin(self, coef: Vector) -> None:
        """Set r = y - X coef."""
        self._r = self._y - self._X @ coef

    def pull(self) -> Vector:
        """Return X'r."""
        return np.asarray(self._r @ self._X)

    def rss(self) -> float:
        """Return r'r."""
        return float(self._r @ self._r)

    def shift(self, change: Vector) -> tuple[Vector, float]:
        """Return X change and its square."""
        shift = self._X @ change
        return shift, float(shift @ shift)

    def move(self, shift: Vector, change: Vector) -> None:
        """Take the shift from r."""
        self._r -= shift

    def local(self, where: Index) -> Local:
        """Return columns and r if there are more columns than rows, else their X'X and X'r."""
        if where.size > self._r.size:
            return Local(self._X.T if where.size == self.squares.size else self._X.T[where], self._r, True)
        if self._where is None or not np.array_equal(where, self._where):
            self._where, self._block = where, self._X.T[where]
            self._gram = self._block @ self._block.T
        return Local(self._gram, self._block @ self._r, False)

    def settle(self, where: Index, change: Vector, products: bool) -> None:
        """Bring r up to date, unless the visits did."""
        if not products:
            self._r -= change @ self._block


class Gram:
    """X'X, X'y and y'y in the place of X and y, for n >= p.

    Examples
    --------
    >>> Gram(np.array([[2.0]]), np.array([4.0]), 8.0, 2).squares
    array([2.])
    """

    def __init__(self, gram: Matrix, correlation: Vector, total: float, n: float) -> None:
        self._gram, self._correlation = np.asarray(gram, dtype=float), np.asarray(correlation, dtype=float)
        if self._gram.shape != self._correlation.shape * 2:
            shapes = f"{self._gram.shape} and the correlation {self._correlation.shape}"
            raise ValueError(f"the Gram matrix has shape {shapes}: give X'X and X'y of the same columns")
        self.total, self.n = float(total), float(n)
        self.squares: Vector = self._gram.diagonal().copy()

    def begin(self, coef: Vector) -> None:
        """Set X'r = X'y - X'X coef."""
        self._coef = coef.copy()
        self._pull = self._correlation - self._gram @ coef

    def pull(self) -> Vector:
        """Return X'r."""
        return self._pull

    def rss(self) -> float:
        """Return r'r = y'y - b'(X'y + X'r)."""
        return max(self.total - float(self._coef @ (self._correlation + self._pull)), 0.0)

    def shift(self, change: Vector) -> tuple[Vector, float]:
        """Return X'X change, and |X change|^2."""
        shift = self._gram @ change
        return shift, float(shift @ change)

    def move(self, shift: Vector, change: Vector) -> None:
        """Take the shift from X'r."""
        self._pull = self._pull - shift
        self._coef += change

    def local(self, where: Index) -> Local:
        """Return the columns' X'X and X'r."""
        return Local(self._gram[np.ix_(where, where)], self._pull[where], False)

    def settle(self, where: Index, change: Vector, products: bool) -> None:
        """Bring X'r up to date."""
        self._coef[where] += change
        self._pull = self._pull - change @ self._gram[where]
