"""A local prior whose coefficients have the variance of a slab at most."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from horseshoe._types import Vector
from horseshoe.priors.base import LocalPrior, estimated, require_positive, settled
from horseshoe.priors.local import Horseshoe
from horseshoe.variates import Source


@dataclass(frozen=True)
class Slab:
    """A prior of the local scales, with a precision of 1 / width^2 added to that of every coefficient.

    The same as ``slab=`` of the estimators, for those who hand a prior around.

    Parameters
    ----------
    width : float
        The standard deviation of a coefficient that nothing else holds, on the scale on which the prior acts
        and in units of the noise.
    prior : LocalPrior
        The prior of the local scales, which stays as it is.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0.1, 9.9, 20.1, 29.9]
    >>> free, held = (HorseshoeRegressor(prior=p, sigma2=1.0).fit(X, y) for p in ("horseshoe", Slab(1.0)))
    >>> bool(held.coef_[0] < free.coef_[0])
    True
    """

    width: float
    prior: LocalPrior = field(default_factory=Horseshoe)

    def __post_init__(self) -> None:
        require_positive(self, width=self.width)
        if not isinstance(self.prior, LocalPrior):
            raise TypeError(f"Slab: prior={self.prior!r} must be an object of horseshoe.priors")

    @property
    def slab(self) -> float:
        """The width."""
        return self.width

    @property
    def estimated(self) -> tuple[str, ...]:
        """The names of what the prior leaves to be estimated."""
        return estimated(self.prior)

    def settled(self) -> Slab:
        """Return the slab with the settled prior."""
        return replace(self, prior=settled(self.prior)) if self.estimated else self

    def shapes(self) -> Any:
        """Return what moves the shapes of the prior."""
        return self.prior.shapes()  # type: ignore[attr-defined]

    @property
    def dense(self) -> bool:
        """Whether small coefficients are meant to stay."""
        return getattr(self.prior, "dense", False)

    def null_rate(self, lambda_power: float) -> float:
        """Return that of the prior."""
        return self.prior.null_rate(lambda_power)

    def mode(self, w: Vector, lambda_power: float) -> Vector:
        """Return that of the prior: the mode of lambda does not depend on the slab."""
        return self.prior.mode(w, lambda_power)

    def neg_log_density(self, lambda2: Vector, lambda_power: float) -> Vector:
        """Return that of the prior."""
        return self.prior.neg_log_density(lambda2, lambda_power)

    def draw(self, w: Vector, lambda2: Vector, rng: Source, size: float = 1.0) -> Any:
        """Draw as the prior does."""
        more = {} if size == 1.0 else {"size": size}  # a prior of a user's own may know of one only
        return self.prior.draw(w, lambda2, rng, **more)  # type: ignore[attr-defined]
