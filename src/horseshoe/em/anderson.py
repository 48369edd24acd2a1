"""Anderson's mixing, for fixed points that are approached slowly."""

from __future__ import annotations

import numpy as np

from horseshoe._types import Vector


class Anderson:
    """Anderson's mixing: the point that a few steps of a slow fixed-point iteration lead to together.

    Examples
    --------
    >>> mixer, x = Anderson(), np.array([0.0])
    >>> for _ in range(3):
    ...     x = mixer.next(x, 0.9 * x + 1.0)
    >>> x.round(6)
    array([10.])
    """

    def __init__(self, depth: int = 4) -> None:
        self._depth = depth
        self._images: list[Vector] = []
        self._gaps: list[Vector] = []
        self._seen: list[Vector] = []

    def state_dict(self) -> tuple[tuple[Vector, ...], ...]:
        """Return the last steps."""
        return tuple(self._images), tuple(self._gaps), tuple(self._seen)

    def load_state_dict(self, state: tuple[tuple[Vector, ...], ...]) -> None:
        """Restore what `state_dict` returned."""
        self._images, self._gaps, self._seen = (list(steps) for steps in state)

    def next(self, point: Vector, image: Vector) -> Vector:
        """Return where to try next, given that the iteration takes ``point`` to ``image``."""
        return self.mixed(point, image, image)[0]

    def ahead(self, point: Vector, image: Vector) -> Vector:
        """Return the same, and remember nothing of it."""
        twin = Anderson(self._depth)
        twin._images, twin._gaps, twin._seen = list(self._images), list(self._gaps), list(self._images)
        return twin.next(point, image)

    def mixed(self, point: Vector, image: Vector, seen: Vector) -> tuple[Vector, Vector]:
        """Return that, and what is seen there: ``seen`` is linear in the image, such as its predictor."""
        gap = image - point
        if self._gaps and np.linalg.norm(gap) > np.linalg.norm(self._gaps[-1]):
            self._images, self._gaps, self._seen = [], [], []  # it leads nowhere: start afresh
        for kept, new in ((self._images, image), (self._gaps, gap), (self._seen, seen)):
            kept.append(new)
            del kept[: -self._depth]
        if len(self._gaps) < 2:
            return image, seen
        share = np.linalg.lstsq(np.diff(self._gaps, axis=0).T, gap, rcond=1e-10)[0]
        ahead, there = (values[-1] - share @ np.diff(values, axis=0) for values in (self._images, self._seen))
        return np.asarray(ahead), np.asarray(there)
