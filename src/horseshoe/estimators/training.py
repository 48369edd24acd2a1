"""What modes were fitted to, for those who ask for the whole posterior: rows, model, and the draws so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from horseshoe.data.fitted import Fitted
from horseshoe.data.rows import Rows
from horseshoe.families.deviance import Deviance
from horseshoe.model.spec import ModelSpec


@dataclass(eq=False)
class FittedModes:
    """One regression, or several that share their scales, with their data; and the draws made of them.

    ``labels`` are the names of the responses, or the classes; a single regression has none. ``names`` are
    those of the columns.
    """

    rows: tuple[Rows, ...]
    spec: ModelSpec
    fitted: tuple[Fitted, ...]
    names: Any = None
    labels: tuple[Any, ...] = ()
    _drawn: tuple[dict[str, Any], Any] | None = field(default=None, repr=False)

    def draw(self, options: dict[str, Any]) -> Any:
        """Return draws from the posterior; the same as the last if the options are."""
        from horseshoe.estimators.sample import sample_modes  # imported here: most fits are never sampled

        if self._drawn is None or self._drawn[0] != options:
            self._drawn = (options, sample_modes(self, options))
        return self._drawn[1]


@dataclass(frozen=True, eq=False)
class Training:
    """The training rows of one regression; of a mode also the model, and which of ``modes`` it is."""

    rows: Rows
    modes: FittedModes | None = None
    place: int = 0

    @property
    def spec(self) -> ModelSpec:
        """What was fitted to the rows."""
        assert self.modes is not None
        return self.modes.spec

    @property
    def is_joint(self) -> bool:
        """Whether the regression was fitted together with others."""
        return self.modes is not None and len(self.modes.labels) > 0


class Kept(NamedTuple):
    """What copies keep of the training data: how many rows count, and what the fit leaves of them."""

    n: int
    deviance: Deviance
