"""A run on disk: everything that is needed to take it up again, as plain arrays and JSON, never as code."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from horseshoe._version import __version__
from horseshoe.sampling.gibbs import State
from horseshoe.sampling.streams import Streams
from horseshoe.store.checkpoint_file import WRITE_SHARE, CheckpointFile

FORMAT = 3


class Checkpoint(CheckpointFile):
    """The file of a run.

    Parameters
    ----------
    path : str or path-like
        Where.
    settings : dict
        What a run must share with the one in the file to go on from it, as text by name.
    digest : str
        The data, in short.
    """

    def __init__(self, path: Any, settings: dict[str, str], digest: str) -> None:
        needs = ("settings", "data", "sweeps", "generators")
        super().__init__(path, __version__, FORMAT, "sampling", needs)
        self.settings, self.digest = settings, digest
        self._next = 0.0

    def load(self) -> tuple[State, dict[str, Any]] | None:
        """Return the state and the draws in the file, or None if there is no file."""
        found = self.read()
        if found is None:
            return None
        arrays, header = found
        try:
            before = {**header["settings"]}
        except TypeError as error:
            raise self.not_one(error) from error
        self.compare(before, self.settings, header["data"] == self.digest)
        try:
            return _state(arrays, header), _complete(_part(arrays, "draws"))
        except Exception as error:
            raise self.not_one(error) from error

    def save(self, state: State, draws: dict[str, Any], now: bool = False) -> None:
        """Write the file, unless the last time was too short a while ago."""
        start = time.perf_counter()
        if start < self._next and not now:
            return
        header = {
            "settings": self.settings,
            "data": self.digest,
            "sweeps": state.sweeps,
            "generators": [rng.bit_generator.state for rng in state.rng],
        }
        parts = {"state": state.arrays(), "pools": state.source.pools, "draws": draws}
        named = {f"{part} {name}": value for part, values in parts.items() for name, value in values.items()}
        self.write(named, header)
        done = time.perf_counter()
        self._next = done + max(1.0, (done - start) / WRITE_SHARE)


def _part(arrays: dict[str, Any], part: str) -> dict[str, Any]:
    return {name.split(" ", 1)[1]: value for name, value in arrays.items() if name.split(" ")[0] == part}


def _complete(draws: dict[str, Any]) -> dict[str, Any]:
    for name in ("coef", "intercept", "tau2", "sigma2", "nuisance"):
        draws[name]
    return draws


def _state(arrays: dict[str, Any], header: dict[str, Any]) -> State:
    generators = []
    for state in header["generators"]:
        bits = np.random.PCG64()
        bits.state = state
        generators.append(np.random.Generator(bits))
    source = Streams(generators, _part(arrays, "pools"))
    return State(**_part(arrays, "state"), source=source, sweeps=header["sweeps"])
