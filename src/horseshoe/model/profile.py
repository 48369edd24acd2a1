"""The shrinkage profile: the mode of a single orthogonal coefficient, by its least-squares estimate."""

from __future__ import annotations

import numpy as np

from horseshoe._types import Vector, within_slab
from horseshoe.em.m_step import Hyper
from horseshoe.priors import is_dense

# Estimates below 1/(5 sqrt n) are set to zero: so many standard errors, where noise is all there is.
STEPS, TOL = 5000, 1e-10
NEGLIGIBLE = 0.2


def shrinkage_profile(hyper: Hyper, size: float, z: Vector) -> Vector:
    """Return where EM ends that starts at the estimates ``z``, in their standard errors; ``size`` is n tau2.

    With s = n tau2 lambda2 the E-step is E[b^2] = (z s / (1 + s))^2 + s / (1 + s) in units of sigma2 / n.

    Examples
    --------
    >>> from horseshoe.priors import HalfCauchy, Horseshoe
    >>> shrinkage_profile(Hyper(Horseshoe(), 2.0, HalfCauchy()), 1.0, np.array([1.0, 2.9, 3.1, 9.0])).round(2)
    array([0.  , 0.  , 1.44, 8.55])
    """
    kept = np.ones_like(z)  # s / (1 + s)
    for _ in range(STEPS):
        w = ((z * kept) ** 2 + kept) / (2.0 * size)
        s = size * hyper.mode(w)
        s = within_slab(s, hyper.slab2 * size)
        before, kept = kept, s / (1.0 + s)
        if float(np.abs(kept - before).max()) < TOL:
            break
    estimate = z * kept
    if is_dense(hyper.local):
        return np.asarray(estimate)
    return np.where(np.abs(estimate) < NEGLIGIBLE, 0.0, estimate)
