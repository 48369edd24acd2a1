"""What a checkpoint keeps of an average: components that are done, and modes of single training sets."""

from __future__ import annotations

from typing import Any

from horseshoe.average.sets import Fits
from horseshoe.families import Family
from horseshoe.store.checkpoint import CheckpointSection, changed_attributes, with_changes


def save_fits(checkpoint: CheckpointSection, fits: Fits, families: tuple[Family, ...]) -> None:
    """Keep the fits of a component; ``families`` are those of the training sets, which theirs differ from."""
    changes = tuple(changed_attributes(own, one) for own, one in zip(fits.families, families, strict=True))
    checkpoint.save((*fits[:4], changes, fits.free))


def load_fits(checkpoint: CheckpointSection, families: tuple[Family, ...]) -> Fits | None:
    """Return the fits of a component that was done before."""
    found: Any = checkpoint.load()
    if found is None:
        return None
    *values, changes, free = found
    own = tuple(with_changes(one, change) for one, change in zip(families, changes, strict=True))
    return Fits._make((*values, own, free))
