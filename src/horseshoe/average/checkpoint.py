"""What a checkpoint keeps of an average: components that are done, and modes of single training sets."""

from __future__ import annotations

from typing import Any

from horseshoe.average.sets import Fits
from horseshoe.families import Family
from horseshoe.keeping import Keeper, changed, with_changes


def keep(keeper: Keeper, fits: Fits, families: tuple[Family, ...]) -> None:
    """Keep the fits of a component; ``families`` are those of the training sets, which theirs differ from."""
    changes = tuple(changed(own, one) for own, one in zip(fits.families, families, strict=True))
    keeper.offer((*fits[:4], changes))


def recalled(keeper: Keeper, families: tuple[Family, ...]) -> Fits | None:
    """Return the fits of a component that was done before."""
    found: Any = keeper.load()
    if found is None:
        return None
    coef, intercept, sigma2, inclusion, changes = found
    own = tuple(with_changes(one, change) for one, change in zip(families, changes, strict=True))
    return Fits(coef, intercept, sigma2, inclusion, own)
