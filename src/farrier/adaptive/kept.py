"""What a checkpoint keeps of an average: the members that are done, and the modes of single training sets."""

from __future__ import annotations

from typing import Any

from farrier.adaptive.sets import Fits
from farrier.families import Family
from farrier.keeping import Keeper, changed, with_changes


def keep(keeper: Keeper, fits: Fits, family: Family) -> None:
    """Keep the fits of a member; ``family`` is that of the training sets, which theirs differ from."""
    keeper.offer((*fits[:4], tuple(changed(one, family) for one in fits.families)))


def recalled(keeper: Keeper, family: Family) -> Fits | None:
    """Return the fits of a member that was done before."""
    found: Any = keeper.load()
    if found is None:
        return None
    coef, intercept, sigma2, inclusion, families = found
    return Fits(coef, intercept, sigma2, inclusion, tuple(with_changes(family, one) for one in families))
