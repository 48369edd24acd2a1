"""Anderson's mixing, for fixed points that are approached slowly."""

from __future__ import annotations

import numpy as np

from farrier._types import Vector


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
        self._points: list[Vector] = []
        self._gaps: list[Vector] = []

    def next(self, point: Vector, image: Vector) -> Vector:
        """Return where to try next, given that the iteration takes ``point`` to ``image``."""
        gap = image - point
        if self._gaps and np.linalg.norm(gap) > np.linalg.norm(self._gaps[-1]):
            self._points, self._gaps = [], []  # it leads nowhere: start afresh
        self._points, self._gaps = [*self._points, image][-self._depth :], [*self._gaps, gap][-self._depth :]
        if len(self._gaps) < 2:
            return image
        gaps, points = np.diff(self._gaps, axis=0), np.diff(self._points, axis=0)
        share = np.linalg.lstsq(gaps.T, gap, rcond=1e-10)[0]
        return np.asarray(image - share @ points)
