"""How to run the loop."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Callback, Vector
from horseshoe.store.checkpoint import CheckpointSection


class Options(NamedTuple):
    """How to run the loop; `HorseshoeRegressor` says what each does to the answer.

    ``fast`` only makes the same answer cheaper; without it this is plain EM. ``checkpoint`` is where
    the loop saves its state, to resume from there.
    """

    sigma2: float | Vector | str = "estimate"
    expectation: str = "exact"
    tol: float = 1e-5
    max_iter: int = 10_000
    zero_threshold: float | None = None
    fast: bool = True
    callback: Callback | None = None
    random_state: int | np.random.Generator | None = None
    checkpoint: CheckpointSection | None = None

    def section(self, name: str) -> Options:
        """Return the options with the section of this name of the checkpoint."""
        return self if self.checkpoint is None else self._replace(checkpoint=self.checkpoint.section(name))

    @property
    def known_sigma2(self) -> Any:
        """The noise variance, or that of each response, if it is known; otherwise None."""
        return None if isinstance(self.sigma2, str) else self.sigma2
