"""A model file that was changed is refused with its name and a reason, and does no harm."""

from __future__ import annotations

import copy
import json
import tracemalloc
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from horseshoe import load_model
from mutations.files import ANY_FILE, opened
from mutations.models import MODELS, huge_array, mutated_model, signed
from saved_models import CASES

KINDS = ("ties", "classes words", "cv poisson", "cv classes")


@pytest.mark.parametrize(
    ("count", "seed"), [(250, 1), *(pytest.param(1000, seed, marks=pytest.mark.slow) for seed in (2, 3, 4))]
)
def test_a_changed_model_is_refused(count: int, seed: int, tmp_path: Path) -> None:
    path, harm, rng = tmp_path / "model.json", tmp_path / "harm", np.random.default_rng(seed)
    contents: list[bytes] = []
    for kind in KINDS:
        CASES[kind]()[0].save(path)
        contents.append(path.read_bytes())
    refused: Counter[str] = Counter()
    reasons: set[str] = set()
    for number in range(count):
        content = contents[number % len(contents)]
        change, changed = mutated_model(content, rng, harm)
        path.write_bytes(changed)
        found, why = opened(lambda: load_model(path))
        assert not harm.exists(), change
        if changed == content:
            assert found is not None
            continue
        assert why is not None, (change, number)
        assert why.startswith(f"the model file {str(path)!r} cannot be loaded: "), change
        assert len(why) < 600, change
        refused[change] += 1
        reasons.add(why.partition("loaded: ")[2])
    assert len(refused) == len(MODELS) + len(ANY_FILE) + 4
    assert refused.total() > 0.99 * count
    assert len(reasons) > 0.2 * count


def test_a_short_file_cannot_ask_for_all_memory(tmp_path: Path) -> None:
    path, rng = tmp_path / "model.json", np.random.default_rng(0)
    CASES["gaussian"]()[0].save(path)
    content = json.loads(path.read_text("utf-8"))
    tracemalloc.start()
    for _ in range(20):
        changed = copy.deepcopy(content)
        huge_array(changed, rng)
        path.write_bytes(signed(changed))
        with pytest.raises(ValueError, match=r"entries, but 0 are there|whole numbers|has too many digits"):
            load_model(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 20e6


def test_what_is_said(tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    CASES["gaussian"]()[0].save(path)
    content = path.read_bytes()

    def why(changed: bytes) -> str:
        path.write_bytes(changed)
        with pytest.raises(ValueError) as caught:
            load_model(path)
        return str(caught.value).partition("cannot be loaded: ")[2]

    changed_after = (
        "the file was changed or damaged after it was written: its content does not fit its digest"
    )
    assert why(content.replace(b'"intercept": ', b'"intercept": 1e-3, "old": ', 1)) == changed_after
    damaged = why(content.replace(b'"intercept": ', b'"intercept": 1, ', 1))
    assert damaged.startswith("the file was changed or damaged: it is not JSON (Expecting property name")
    assert why(content.replace(b"\n", b"\r\n")) == changed_after
    assert why(content[:-40]) == "it ends in the middle: the file was cut off"
    assert why(content[: len(content) // 2]) == "it ends in the middle: the file was cut off"
    assert why(content[:-2]) == "it ends in the middle: the file was cut off"
    newer = why(content.replace(b'"schema": 1', b'"schema": 2'))
    assert newer.startswith("it was written by horseshoe ")
    assert "with schema 2" in newer
    assert newer.endswith("reads up to 1: update horseshoe")
    assert why(b"\x80\x04\x95") == "it looks like a pickle; horseshoe reads JSON and never unpickles"
    assert why(b"PK\x03\x04").startswith("it looks like a zip archive")
    assert why(b"") == "it is empty"
    assert why(b"[1]") == "it is JSON, but not a model of horseshoe: its format is not 'horseshoe-model'"
    assert why(b"y,x\n1,2\n") == "it is not JSON"
    assert why(b'{"a": NaN}') == "NaN is no number of JSON"
    assert why(b"[" * 10**6) == "lists and objects are nested more than 40 levels deep"
    assert why(b'{"format": 1, "format": 2}') == "the name 'format' stands twice in one object"


def test_what_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"there is no model file '.*none.json'"):
        load_model(tmp_path / "none.json")
    with pytest.raises(IsADirectoryError, match="is a folder: give the name of the model file in it"):
        load_model(tmp_path)
    with pytest.raises(OSError, match="is a device or a pipe"):
        load_model("/dev/zero")


def test_what_cannot_be_written(tmp_path: Path) -> None:
    model: Any = CASES["gaussian"]()[0]
    with pytest.raises(FileNotFoundError, match=r"there is no folder '.*nowhere'"):
        model.save(tmp_path / "nowhere" / "model.json")
    with pytest.raises(IsADirectoryError, match="is a folder"):
        model.save(tmp_path)
    assert list(tmp_path.iterdir()) == []
