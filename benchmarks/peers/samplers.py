"""What a sampler of a posterior is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from benchmarks.arrays import Array


class Drawn(NamedTuple):
    """Coefficients on the raw scale, of shape (chains, draws, columns), and whatever the sampler counts."""

    coef: Array
    counts: dict[str, int]


Sample = Callable[[int], Drawn]
"""A run, or one chain of it, from a seed."""


@dataclass(frozen=True)
class Sampler:
    """One way to draw; without an environment it is ours.

    ``prepare`` does what is not counted and returns what a turn does: a whole run, or if ``by_chain`` one
    chain of the run that all turns make together.
    """

    name: str
    label: str
    environment: str | None
    modules: tuple[str, ...]
    chains: int
    warmup: int
    draws: int
    by_chain: bool
    prepare: Callable[[Array, Array], Sample]

    @property
    def size(self) -> str:
        """Chains and iterations of a run."""
        return f"{self.chains} x ({self.warmup} + {self.draws})"
