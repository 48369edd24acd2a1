"""The M-step: local scales in closed form, the global scale in one dimension, the noise variance."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Scales, Vector
from horseshoe.data.standardise import SIGMA2_FLOOR
from horseshoe.priors import GlobalPrior, Groups, LocalPrior, is_known, is_sparse

# How far log tau2 is looked for around its last value, before it is looked for everywhere.
NEAR = 1e-2


class Hyper(NamedTuple):
    """The prior of the scales: local, in its lambda power, and global; and the square of the slab.

    ``size`` is the number of coefficients that share a local scale: those of a column in several regressions.
    """

    local: LocalPrior
    lambda_power: float
    tau: GlobalPrior
    slab2: float = math.inf
    size: float = 1.0

    def mode(self, w: Vector, groups: Groups | None = None) -> Vector:
        """Return the local scales given W, Eq. (16); of a shared one W is the sum.

        ``size`` coefficients of one scale add (size/2) log v + W/v to (c/2) log v, where one adds
        (1/2) log v + W/v: the same as one in lambda power c + size - 1, whatever the prior.
        """
        if groups is not None:
            return groups.mode(self.local, w, self.lambda_power, self.size)
        return self.local.mode(w, self.lambda_power + (self.size - 1.0))

    def slowest(self, groups: Groups | None) -> float:
        """Return size / 2A, the factor by which the lambda2 of null coefficients changes at most."""
        if groups is not None:
            return groups.slowest(self.local, self.lambda_power, self.size)
        return self.size / (2.0 * self.local.null_rate(self.lambda_power + (self.size - 1.0)))

    @property
    def known(self) -> bool:
        """Whether all scales are known beforehand: the noise variance is all that EM can move."""
        return is_known(self.local) and self.tau.bounds[0] == self.tau.bounds[1]

    @property
    def sparse(self) -> bool:
        """Whether null coefficients go to exactly zero."""
        return is_sparse(self.local, self.lambda_power)


def m_step(
    hyper: Hyper,
    second_moment: Any,
    sigma2: Any,
    groups: Groups | None = None,
    last: float | None = None,
) -> Scales:
    """Return the scales that minimise Q given E[b^2] and the noise variance, Eqs. (16)-(18).

    tau2 and lambda2 are minimised jointly: with lambda2 at its minimum for each tau2, the derivative of Q
    in log tau2 is ``size k/2 - sum_j W_j / lambda2_j + slope(tau2)``, which never falls as tau2 grows. So the
    minimum is at the upper bound where the derivative is not positive there, at the lower bound where it is
    not negative there, and at its one zero otherwise, which is rarely far from ``last``. Columns of a group
    have one lambda2. With several responses W_j is a sum over them, each with its own noise variance.

    Examples
    --------
    >>> from horseshoe.priors import HalfCauchy, Horseshoe
    >>> m_step(Hyper(Horseshoe(), 2.0, HalfCauchy()), np.array([0.5, 0.0, 0.0]), sigma2=0.25)
    Scales(lambda2=array([0.70710678, 0.        , 0.        ]), tau2=1.0, sigma2=0.25, slab2=inf)
    """
    half_w = sum_of_responses(second_moment, 2.0 * sigma2)  # W_j tau2, Eq. (16)
    low, high = hyper.tau.bounds

    def slope(tau2: float) -> tuple[float, Vector]:
        """Return the derivative in log tau2, and the lambda2 that go with it."""
        w = half_w / tau2
        lambda2 = hyper.mode(w, groups)
        if not np.logical_and.reduce(lambda2):  # W = 0 contributes nothing
            w, positive = w[lambda2 > 0.0], lambda2[lambda2 > 0.0]
        else:
            positive = lambda2
        return 0.5 * hyper.size * w.size - float(np.add.reduce(w / positive)) + hyper.tau.slope(tau2), lambda2

    # 1. tau2 is known: Eq. (16) alone
    if low == high:
        return Scales(hyper.mode(half_w / high, groups), high, sigma2, hyper.slab2)

    def derivative(t: float) -> float:
        return slope(math.exp(t))[0]

    # 2. Eq. (17): near the last value, at a bound, or where the derivative is zero
    ends = None
    if last is not None and low * (1.0 + 2.0 * NEAR) < last < high / (1.0 + 2.0 * NEAR):
        ends = _around(derivative, last)
    if ends is None:
        at_high, lambda2 = slope(high)
        if at_high <= 0.0:
            return Scales(lambda2, high, sigma2, hyper.slab2)
        at_low, lambda2 = slope(low)
        if at_low >= 0.0:
            return Scales(lambda2, low, sigma2, hyper.slab2)
        ends = Ends(math.log(low), math.log(high), at_low, at_high)
    tau2 = min(max(math.exp(_zero(derivative, ends)), low), high)
    return Scales(hyper.mode(half_w / tau2, groups), tau2, sigma2, hyper.slab2)


def largest(values: Any) -> float:
    """Return the largest of the values of several responses, or that of one.

    Examples
    --------
    >>> largest(2.0), largest(np.array([1.0, 3.0]))
    (2.0, 3.0)
    """
    return float(values.max()) if isinstance(values, np.ndarray) else values


def sum_of_responses(values: Any, sigma2: Any) -> Any:
    """Return values / sigma2, summed over the responses if there are several.

    Examples
    --------
    >>> sum_of_responses(np.array([[1.0, 2.0]]), np.array([0.5, 1.0]))
    array([4.])
    """
    return values / sigma2 if values.ndim == 1 else np.add.reduce(values / sigma2, axis=1)


class Ends(NamedTuple):
    """Where a derivative is below zero, where it is above, and what it is there."""

    bottom: float
    top: float
    at_bottom: float
    at_top: float


def _around(derivative: Callable[[float], float], last: float) -> Ends | None:
    """Return the ends of the neighbourhood of ``last``, if the zero is between them."""
    bottom, top = math.log(last) - NEAR, math.log(last) + NEAR
    ends = Ends(bottom, top, derivative(bottom), derivative(top))
    return ends if ends.at_bottom < 0.0 < ends.at_top else None


def _zero(derivative: Callable[[float], float], ends: Ends) -> float:
    from scipy.optimize import brentq  # imported here: the horseshoe of the paper never needs it

    known = {ends.bottom: ends.at_bottom, ends.top: ends.at_top}  # at the bounds exp(log x) is not quite x

    def value(t: float) -> float:
        found = known.get(t)
        return derivative(t) if found is None else found

    return float(brentq(value, ends.bottom, ends.top, xtol=1e-15, rtol=8.9e-16))


def noise_variance(expected_rss: Any, total_weight: float) -> Any:
    """Return E[RSS]/n, Eq. (18), for each response.

    Examples
    --------
    >>> noise_variance(50.0, 100.0)
    0.5
    """
    if isinstance(expected_rss, np.ndarray):
        return np.maximum(expected_rss / total_weight, SIGMA2_FLOOR)
    return max(float(expected_rss) / total_weight, SIGMA2_FLOOR)


def exact_noise_variance(
    expected_rss: Any, total_weight: float, second_moment: Any, prior_variance: Vector
) -> Any:
    """Return the minimiser of Q in sigma2 for the given scales: (E[RSS] + sum E[b^2]/d) / (n + k).

    The paper calls E[RSS]/n an approximation of it within O(1/n). It is not: in lambda power 2 each null
    coefficient adds 2 sigma2 to the sum where an approximation would need sigma2, so this update inflates
    the noise and ends with few variables or none.

    Examples
    --------
    >>> exact_noise_variance(50.0, 98.0, np.array([0.5, 1e-9]), np.array([0.5, 5e-10]))
    0.53
    """
    some = prior_variance > 0.0
    penalty = (second_moment[some].T / prior_variance[some]).sum(axis=-1)
    return noise_variance(expected_rss + penalty, total_weight + len(second_moment))
