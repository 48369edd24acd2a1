"""Anderson's mixing, for fixed points that are approached slowly."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._types import Vector

# Images, residuals and linear images of the last steps.
Memory = tuple[tuple[Any, ...], ...]


class Anderson:
    """Anderson's mixing: the combination of the last steps with the least residual.

    Examples
    --------
    >>> mixer, x = Anderson(), np.array([0.0])
    >>> for _ in range(3):
    ...     image = 0.9 * x + 1.0
    ...     x, _ = mixer.mixed(x, image, image)
    >>> x.round(6)
    array([10.])
    """

    def __init__(self, depth: int = 4) -> None:
        self._depth = depth
        self.memory: Memory = ((), (), ())

    def peek(self, point: Vector, image: Vector) -> Vector:
        """Return where `mixed` would go, and remember nothing of it."""
        twin = Anderson(self._depth)
        twin.memory = self.memory[0], self.memory[1], self.memory[0]
        return twin.mixed(point, image, image)[0]

    def mixed(self, point: Vector, image: Vector, linear: Any) -> tuple[Vector, Any]:
        """Return where to try next, given that the iteration takes ``point`` to ``image``.

        ``linear`` is linear in the image, such as its linear predictor; the same combination is returned.
        """
        residual = image - point
        before = self.memory[1]
        if before and np.linalg.norm(residual) > np.linalg.norm(before[-1]):
            self.memory = (), (), ()  # it does not converge: start afresh
        new = (image, residual, linear)
        self.memory = tuple(
            (*steps, one)[-self._depth :] for steps, one in zip(self.memory, new, strict=True)
        )
        images, residuals, linears = self.memory
        if len(residuals) < 2:
            return image, linear
        share = np.linalg.lstsq(np.diff(residuals, axis=0).T, residual, rcond=1e-10)[0]
        return _extrapolated(images, share), _extrapolated(linears, share)


def _extrapolated(values: tuple[Any, ...], share: Vector) -> Any:
    """Return the last value less these shares of the steps that led to it."""
    steps = np.diff(values, axis=0)
    back = np.dot(share[None], steps.reshape(len(share), -1))
    return values[-1] - back.reshape(steps.shape[1:])
