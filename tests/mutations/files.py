"""Changes to the bytes of any file, and what may come of opening it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Rng = np.random.Generator


class Harmful:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (Path.touch, (self.path,))


def opened(action: Callable[[], Any]) -> tuple[Any, str | None]:
    """Return what a file holds and None, or None and why it is refused; any other error is raised."""
    try:
        return action(), None
    except ValueError as error:
        return None, str(error)


def flip_bytes(content: bytes, rng: Rng) -> bytes:
    changed = bytearray(content)
    for place in rng.integers(len(content), size=int(rng.integers(1, 9))):
        changed[place] ^= int(rng.integers(1, 256))
    return bytes(changed)


def flip_one_bit(content: bytes, rng: Rng) -> bytes:
    changed = bytearray(content)
    changed[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def cut_end(content: bytes, rng: Rng) -> bytes:
    return content[: int(rng.integers(len(content)))]


def cut_start(content: bytes, rng: Rng) -> bytes:
    return content[int(rng.integers(1, len(content))) :]


def cut_out(content: bytes, rng: Rng) -> bytes:
    low, high = sorted(rng.integers(len(content), size=2))
    return content[:low] + content[high:]


def put_in(content: bytes, rng: Rng) -> bytes:
    place = int(rng.integers(len(content) + 1))
    return content[:place] + rng.bytes(int(rng.integers(1, 40))) + content[place:]


def zeros_at_the_end(content: bytes, rng: Rng) -> bytes:
    """Return what a file system may leave that grew the file before it wrote."""
    keep = int(rng.integers(len(content)))
    return content[:keep] + bytes(len(content) - keep)


def noise(content: bytes, rng: Rng) -> bytes:
    return rng.bytes(int(rng.integers(0, 3000)))


ANY_FILE = (flip_bytes, flip_one_bit, cut_end, cut_start, cut_out, put_in, zeros_at_the_end, noise)
