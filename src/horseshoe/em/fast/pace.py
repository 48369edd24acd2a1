"""What the fast path remembers from one iteration to the next."""

from __future__ import annotations

from typing import NamedTuple

from horseshoe.em.fast.fading import Fading
from horseshoe.em.fast.resting import RestingDual


class Pace(NamedTuple):
    """Part of the state of a fit.

    Attributes
    ----------
    sigma2 : float
        The noise variance of the last iteration.
    rate : float
        The factor by which the d_j of a null coefficient, E[b_j^2] / (2 A sigma2), changed in this one.
    fading : Fading or None
        What columns that were pruned still give.
    resting : RestingDual or None
        The engine that lets columns rest, if it is in use.
    last_prune : int
        When columns last left, in E-steps.
    patience, next_polish : int
        How long to wait after a jump that was not safe, and when to try the next.
    """

    sigma2: float
    rate: float = 1.0
    fading: Fading | None = None
    resting: RestingDual | None = None
    last_prune: int = 0
    patience: int = 2
    next_polish: int = 0

    @property
    def level(self) -> float:
        """How much fades: the mean eigenvalue of K."""
        return 0.0 if self.fading is None else self.fading.level
