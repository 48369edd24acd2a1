"""The coefficients given the data and the local scales: what is drawn, and what is left of tau2.

With S = X diag(lambda) the coefficients are N(m, sigma2 tau2 diag(lambda) B^-1 diag(lambda)),
B = I + tau2 S'S (Rue's form, for k <= n), and with M = I + tau2 S S' (Bhattacharya's, for k > n) the targets
are N(0, sigma2 M) once the coefficients are integrated out. Both forms factorise the smaller of the two
matrices, once for each value of tau2; S'S or S S' is formed once for all.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from scipy.linalg import blas, lapack

from farrier._types import Matrix, Vector
from farrier.data.design import System


class Factor(Protocol):
    """The conditional distribution at one value of tau2."""

    quadratic: float
    """z' M^-1 z, where Cov[z] = sigma2 M."""

    @property
    def mean(self) -> Vector:
        """The mean of the coefficients."""
        ...

    @property
    def log_det(self) -> float:
        """Return log det M."""
        ...

    def draw(self, sigma: float, rng: np.random.Generator, n_draws: int | None = None) -> Any:
        """Draw the coefficients: a vector, or a matrix with one draw a column."""
        ...


class Conditional:
    """The coefficients given everything but tau2 and sigma2.

    Parameters
    ----------
    system : System
        The least-squares problem.
    lambda2 : array of shape (k,)
        The local scales.

    Examples
    --------
    >>> system = System(np.eye(2, order="F"), np.array([4.0, 0.0]), size=2.0)
    >>> factor = Conditional(system, np.ones(2)).at(tau2=1.0)
    >>> factor.mean, round(factor.quadratic, 6), round(factor.log_det, 4)
    (array([2., 0.]), 8.0, 1.3863)
    """

    def __init__(self, system: System, lambda2: Vector) -> None:
        self.system = system
        self.root = np.sqrt(lambda2)
        self.primal = system.n_columns <= system.n_rows
        if self.primal:
            self.kernel = system.gram * self.root
            self.kernel *= self.root[:, None]
        else:
            self.scaled = np.asfortranarray(system.x * self.root)
            self.kernel = blas.dsyrk(1.0, self.scaled, lower=1)

    def at(self, tau2: float) -> Factor:
        """Factorise for one value of tau2."""
        return Rue(self, tau2) if self.primal else Bhattacharya(self, tau2)

    def factorise(self, tau2: float) -> Matrix:
        """Return the lower Cholesky factor of I + tau2 kernel."""
        matrix = self.kernel * tau2
        matrix.ravel(order="K")[:: matrix.shape[0] + 1] += 1.0
        return factorise(matrix)


def factorise(matrix: Matrix) -> Matrix:
    """Return the lower Cholesky factor of a symmetric matrix I + K.

    Where rounding swallows the identity, as little more of it as is needed is added, to ``matrix`` itself.

    Examples
    --------
    >>> factorise(np.array([[4.0, 0.0], [0.0, 9.0]]))
    array([[2., 0.],
           [0., 3.]])
    """
    lower = matrix if matrix.flags.f_contiguous else matrix.T
    factor, info = lapack.dpotrf(lower, lower=1)
    jitter = np.finfo(np.float64).eps * float(matrix.diagonal().max())
    while info != 0:
        matrix.ravel(order="K")[:: matrix.shape[0] + 1] += jitter
        factor, info = lapack.dpotrf(lower, lower=1)
        jitter *= 4.0
    return np.asarray(factor)


class Rue:
    """mean = D^1/2 B^-1 D^1/2 X'z and draws mean + sigma D^1/2 L^-T e, for k <= n; D = tau2 diag(lambda2)."""

    def __init__(self, given: Conditional, tau2: float) -> None:
        self.root = np.sqrt(tau2) * given.root
        self.factor = given.factorise(tau2)
        shrunk = lapack.dpotrs(self.factor, self.root * given.system.xz, lower=1)[0]
        self._mean: Vector = self.root * shrunk
        self.quadratic = given.system.rss(self._mean) + float(shrunk @ shrunk)  # no cancellation this way

    @property
    def mean(self) -> Vector:
        """The mean of the coefficients."""
        return self._mean

    @property
    def log_det(self) -> float:
        """Return log det M = log det B."""
        return 2.0 * float(np.log(self.factor.diagonal()).sum())

    def draw(self, sigma: float, rng: np.random.Generator, n_draws: int | None = None) -> Any:
        """Draw the coefficients."""
        if n_draws is None:
            noise = rng.standard_normal(self.root.size)
            return self._mean + (sigma * self.root) * lapack.dtrtrs(self.factor, noise, lower=1, trans=1)[0]
        noise = rng.standard_normal((self.root.size, n_draws))
        spread = lapack.dtrtrs(self.factor, noise, lower=1, trans=1)[0]
        return self._mean[:, None] + (sigma * self.root)[:, None] * spread


class Bhattacharya:
    """Draws u + D X' M^-1 (z - X u - e), u from the prior and e from the noise, for k > n."""

    def __init__(self, given: Conditional, tau2: float) -> None:
        self.given, self.tau = given, float(np.sqrt(tau2))
        self.factor = given.factorise(tau2)
        self.gap = lapack.dpotrs(self.factor, given.system.z, lower=1)[0]
        self.quadratic = float(given.system.z @ self.gap)

    @property
    def mean(self) -> Vector:
        """The mean of the coefficients."""
        mean: Vector = self.tau**2 * self.given.root * (self.given.scaled.T @ self.gap)
        return mean

    @property
    def log_det(self) -> float:
        """Return log det M."""
        return 2.0 * float(np.log(self.factor.diagonal()).sum())

    def draw(self, sigma: float, rng: np.random.Generator, n_draws: int | None = None) -> Any:
        """Draw the coefficients."""
        scaled, root = self.given.scaled, self.tau * self.given.root
        n, k = scaled.shape
        size = () if n_draws is None else (n_draws,)
        prior = rng.standard_normal((k, *size))
        noise = self.tau * (scaled @ prior) + rng.standard_normal((n, *size))
        gap = self.gap if n_draws is None else self.gap[:, None]
        gap = gap - sigma * lapack.dpotrs(self.factor, noise, lower=1)[0]
        step = sigma * prior + self.tau * (scaled.T @ gap)
        return root * step if n_draws is None else root[:, None] * step


def draw_coefficients(
    system: System, prior_variance: Vector, sigma2: float, rng: np.random.Generator, n_draws: int
) -> Matrix:
    """Draw b from its conditional posterior: Rue's sampler for k <= n, Bhattacharya's for k > n.

    Examples
    --------
    >>> system = System(np.eye(2, order="F"), np.array([4.0, 0.0]), size=2.0)
    >>> draws = draw_coefficients(system, np.ones(2), 1e-6, np.random.default_rng(0), n_draws=3)
    >>> abs(draws - [[2.0], [0.0]]).max() < 0.01
    np.True_
    """
    factor = Conditional(system, prior_variance).at(1.0)
    return np.asarray(factor.draw(float(np.sqrt(sigma2)), rng, n_draws))
