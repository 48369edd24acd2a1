"""What the fast path remembers from one iteration to the next."""

from __future__ import annotations

from typing import NamedTuple

from horseshoe.em.fast.fading import Fading
from horseshoe.em.fast.resting import RestingDual


class FastState(NamedTuple):
    """Part of the state of a fit.

    Attributes
    ----------
    sigma2 : float or array of shape (q,)
        The noise variance of the last iteration.
    rate : float
        The factor by which the d_j of a null coefficient, E[b_j^2] / (2 A sigma2), changed in this one.
    pruned : Fading or None
        The covariance of z that columns which were pruned still contribute.
    resting : RestingDual or None
        The engine that freezes columns, if it is in use.
    last_prune : int
        The E-step after which columns last left.
    patience, next_newton : int
        How long to wait after a Newton run that was not safe, and when to try the next.
    """

    sigma2: float
    rate: float = 1.0
    pruned: Fading | None = None
    resting: RestingDual | None = None
    last_prune: int = 0
    patience: int = 2
    next_newton: int = 0

    @property
    def pruned_variance(self) -> float:
        """The mean eigenvalue of that covariance."""
        return 0.0 if self.pruned is None else self.pruned.level
