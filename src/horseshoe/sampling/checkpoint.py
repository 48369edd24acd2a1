"""A run of the sampler in a checkpoint: its state, its random numbers and its draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe.sampling.gibbs import State
from horseshoe.sampling.streams import Streams
from horseshoe.store.checkpoint import CheckpointSection


def save_run(section: CheckpointSection, state: State, draws: dict[str, Any]) -> None:
    """Save all that the next sweep depends on, and the draws before it."""
    generators = tuple(rng.bit_generator.state for rng in state.source.generators)
    streams = {"generators": generators, "pools": state.source.pools}
    section.save({"sweeps": state.sweeps, "state": state.arrays(), "streams": streams, "draws": draws})


def load_run(section: CheckpointSection) -> tuple[State, dict[str, Any]] | None:
    """Return the state and the draws of an interrupted run; None if there is none."""
    found = section.load()
    if found is None:
        return None
    generators = [np.random.Generator(np.random.PCG64()) for _ in found["streams"]["generators"]]
    for rng, state in zip(generators, found["streams"]["generators"], strict=True):
        rng.bit_generator.state = state
    source = Streams(generators, found["streams"]["pools"])
    return State(**found["state"], source=source, sweeps=found["sweeps"]), found["draws"]
