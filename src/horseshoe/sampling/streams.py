"""One source of random numbers for several chains at once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from horseshoe._types import Matrix

# Numbers drawn ahead for each chain.
POOL = 2048


class Streams:
    """One generator for each chain; the first axis of what is drawn is the chain.

    Numbers are drawn ahead into pools, one for each distribution: for a few columns the calls would take far
    longer than the numbers. What a chain gets depends on its own generator and on what was asked for before.

    Parameters
    ----------
    generators : list of numpy.random.Generator
        One for each chain.
    pools : dict, optional
        What is left of the numbers drawn ahead, by distribution; the chain is the first axis.

    Examples
    --------
    >>> both = Streams([np.random.default_rng(seed) for seed in (1, 2)])
    >>> alone = Streams([np.random.default_rng(2)])
    >>> bool((both.random((2, 3))[1] == alone.random((1, 3))[0]).all())
    True
    """

    def __init__(self, generators: list[np.random.Generator], pools: dict[str, Matrix] | None = None) -> None:
        self.generators = generators
        self._pools = {} if pools is None else dict(pools)
        self._used = dict.fromkeys(self._pools, 0)

    @property
    def pools(self) -> dict[str, Matrix]:
        """What is left of the numbers drawn ahead."""
        return {name: pool[:, self._used[name] :] for name, pool in self._pools.items()}

    def standard_normal(self, size: tuple[int, ...]) -> Any:
        """Return standard normal variates."""
        return self._take("standard_normal", (), size)

    def standard_exponential(self, size: tuple[int, ...]) -> Any:
        """Return exponential variates of mean 1."""
        return self._take("standard_exponential", (), size)

    def standard_gamma(self, shape: float, size: tuple[int, ...]) -> Any:
        """Return gamma variates of scale 1; those of shape 1 are exponential."""
        if shape == 1.0:
            return self._take("standard_exponential", (), size)
        return self._take("standard_gamma", (shape,), size)

    def random(self, size: tuple[int, ...]) -> Any:
        """Return uniform variates."""
        return self._take("random", (), size)

    def _take(self, kind: str, parameters: tuple[float, ...], size: tuple[int, ...]) -> Any:
        """Return the next numbers of a pool, filled anew when there are too few."""
        count = math.prod(size[1:])
        name = f"{kind} {parameters[0]!r}" if parameters else kind
        pool, used = self._pools.get(name), self._used.get(name, 0)
        if pool is None or used + count > pool.shape[1]:
            ahead = max(count, POOL // max(count, 1) * count)
            fresh = [getattr(rng, kind)(*parameters, ahead) for rng in self.generators]
            pool, used = np.array(fresh), 0
            self._pools[name] = pool
        self._used[name] = used + count
        return pool[:, used : used + count].reshape(size)
