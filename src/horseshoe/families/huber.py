"""Noise that is normal in the middle and Laplace in the tails."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from horseshoe._checks import check_number
from horseshoe._types import Vector
from horseshoe.families.base import Working
from horseshoe.families.location import Location, with_noise

ROOT_2PI = math.sqrt(2.0 * math.pi)


@dataclass(frozen=True)
class Huber(Location):
    """y = eta + noise of Huber's density: residuals beyond ``threshold`` sigma count by their size alone.

    The density is exp(-rho(r/sigma)), rho(u) = u^2/2 up to the threshold c and c |u| - c^2/2 beyond, over
    sigma and a constant; sigma is estimated with the coefficients. It is no mixture of normals (its logarithm
    would have to be smooth in u^2), so that the sampler makes proposals.

    Parameters
    ----------
    threshold : float, default=1.345
        In units of sigma: there least squares end. 1.345 is as good as least squares to 95 % where the noise
        is normal.

    Examples
    --------
    >>> Huber(threshold=2.0).working(np.array([1.0, 8.0]), np.zeros(2), 1.0).weights
    array([1.  , 0.25])
    """

    rowwise = True
    threshold: float = 1.345

    def __post_init__(self) -> None:
        check_number("threshold", self.threshold)

    @property
    def _middle(self) -> float:
        """The integral of exp(-rho) within the threshold."""
        return ROOT_2PI * float(special.erf(self.threshold / math.sqrt(2.0)))

    @property
    def _tail(self) -> float:
        """The integral of exp(-rho) beyond the threshold, on one side."""
        return math.exp(-0.5 * self.threshold**2) / self.threshold

    @property
    def _total(self) -> float:
        return self._middle + 2.0 * self._tail

    def working(self, y: Vector, eta: Vector, sigma2: float) -> Working:
        """Return 1, or threshold sigma / |r| where that is less, and y."""
        edge = self.threshold * math.sqrt(sigma2)
        return Working(edge / np.maximum(np.abs(y - eta), edge), y)

    def neg_log_likelihood(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return rho(r / sigma) + log sigma and the constant."""
        sigma = math.sqrt(with_noise(sigma2))
        u = np.abs(y - eta) / sigma
        within = np.minimum(u, self.threshold)
        return np.asarray(within * (u - 0.5 * within) + math.log(sigma * self._total))

    def variance(self, eta: Vector, sigma2: float) -> Vector:
        """Return sigma2 times the second moment of the density."""
        c = self.threshold
        middle = self._middle - 2.0 * c * math.exp(-0.5 * c * c)
        tails = 2.0 * self._tail * (c * c + 2.0 + 2.0 / (c * c))
        return np.full(eta.shape, sigma2 * (middle + tails) / self._total)

    def cdf(self, y: Vector, eta: Vector, sigma2: float) -> Vector:
        """Return that of the density."""
        u, c = (y - eta) / math.sqrt(sigma2), self.threshold
        beyond = self._tail * np.exp(-c * (np.maximum(np.abs(u), c) - c))
        middle = 0.5 * self._total + 0.5 * ROOT_2PI * special.erf(np.clip(u, -c, c) / math.sqrt(2.0))
        return np.where(u < -c, beyond, np.where(u > c, self._total - beyond, middle)) / self._total

    def simulate(self, eta: Vector, sigma2: Any, rng: np.random.Generator) -> Vector:
        """Draw y given eta: from the middle or from a tail."""
        c, share = self.threshold, rng.random(eta.shape)
        side = np.where(rng.random(eta.shape) < 0.5, -1.0, 1.0)
        edge = 0.5 * special.erf(c / math.sqrt(2.0))
        middle = special.ndtri(0.5 + edge * rng.random(eta.shape))
        tail = c + rng.standard_exponential(eta.shape) / c
        size = np.where(share < self._middle / self._total, middle, tail)
        return np.asarray(eta + np.sqrt(sigma2) * side * size)

    def information(self) -> float:
        """Return the probability of the middle: the expected slope of the slope of rho."""
        return self._middle / self._total
