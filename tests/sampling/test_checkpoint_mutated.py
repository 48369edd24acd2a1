"""A checkpoint that was changed does no harm: it is refused by name, or holds what was written."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from horseshoe.sampling.checkpoint import load_run
from horseshoe.store.checkpoint import CheckpointFile
from mutations.checkpoints import mutated_checkpoint
from mutations.files import opened
from posterior_runs import assert_same_arrays, assert_same_state


def read(path: Path) -> Any:
    return load_run(CheckpointFile(path, "sampling").section(""))


@pytest.mark.parametrize(
    ("count", "seed"),
    [(300, 1), pytest.param(1000, 2, marks=pytest.mark.slow), pytest.param(1000, 3, marks=pytest.mark.slow)],
)
def test_a_changed_checkpoint_is_refused_or_is_what_was_written(count: int, seed: int, good: Path) -> None:
    content, harm, rng = good.read_bytes(), good.parent / "harm", np.random.default_rng(seed)
    written = read(good)
    assert written is not None
    refused: Counter[str] = Counter()
    for _ in range(count):
        change, changed = mutated_checkpoint(content, rng, harm)
        good.write_bytes(changed)
        found, why = opened(lambda: read(good))
        if why is not None:
            assert str(good) in why, change
            assert "remove the file to start anew" in why, change
            refused[change] += 1
        else:
            assert found is not None, change
            assert_same_state(found[0], written[0])
            assert_same_arrays(found[1], written[1])
        assert good.read_bytes() == changed, change
        assert not harm.exists(), change
    assert len(refused) > 15
    assert refused.total() > 0.9 * count  # the others changed a date in the archive, or nothing
