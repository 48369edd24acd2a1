"""A checkpoint of other data or of another run, and a file that is none, are refused and left alone."""

from __future__ import annotations

import gc
import io
import pickle
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from horseshoe.sampling import chains
from horseshoe.store import checkpoint
from mutations.files import Harmful
from posterior_runs import CASES, OFFSET, SHARES, TALL, as_bytes, files_in, never, run


@pytest.fixture(scope="module", autouse=True)
def _new_objects_alone() -> Iterator[None]:
    """Let the search for files that were left open pass over all that was there before."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def assert_left_alone(path: Path, *says: str, given: Any = "gaussian", **options: Any) -> None:
    """Assert that a run refuses the file at ``path``, says why, and touches neither it nor the folder."""
    before, names = path.read_bytes(), files_in(path.parent)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chains, "advance", never)
        with pytest.raises(ValueError) as caught:
            run(given, checkpoint=path, **options)
    message = str(caught.value)
    del caught
    gc.collect()  # a file that was left open would now be warned of
    for part in (str(path), *says, "left as it is", "choose another path", "remove the file"):
        assert re.search(re.escape(part), message), (part, message)
    assert path.read_bytes() == before
    assert files_in(path.parent) == names


OTHER_DATA: dict[str, dict[str, Any]] = {
    "X": {"X": TALL + np.eye(24, 5) * 1e-9},
    "y": {"y": CASES["gaussian"]["y"] + np.eye(24)[3] * 1e-9},
    "fewer rows": {"X": TALL[1:], "y": CASES["gaussian"]["y"][1:]},
    "fewer columns": {"X": TALL[:, 1:]},
    "sample_weight": {"sample_weight": SHARES},
    "offset": {"offset": OFFSET},
}


@pytest.mark.parametrize("which", OTHER_DATA)
def test_a_checkpoint_of_other_data(which: str, good: Path) -> None:
    assert_left_alone(good, "other data", "X, y, sample_weight or offset", **OTHER_DATA[which])


OTHER_RUNS: dict[str, tuple[str, Any, str, str]] = {
    "family": ("family", "laplace", "Gaussian()", "Laplace()"),
    "prior": ("prior", "lasso", "Horseshoe(a=0.5, b=0.5)", "Lasso(shape=1.0, rate=0.5)"),
    "tau": ("tau", 0.5, "HalfCauchy(tau_max=inf", "FixedScale(tau2=0.25)"),
    "tau_max": ("tau_max", 1.0, "HalfCauchy(tau_max=inf", "HalfCauchy(tau_max=1.0"),
    "sigma2": ("sigma2", 2.0, "'estimate'", "2.0"),
    "fit_intercept": ("fit_intercept", False, "True", "False"),
    "standardize": ("standardize", False, "True", "False"),
    "n_chains": ("n_chains", 3, "4", "3"),
    "n_warmup": ("n_warmup", 13, "12", "13"),
    "thin": ("thin", 2, "1", "2"),
    "store_lambda2": ("store_lambda2", True, "False", "True"),
    "random_state": ("random_state", 4, "3", "4"),
}


@pytest.mark.parametrize("which", OTHER_RUNS)
def test_a_checkpoint_of_another_run_says_what_is_different(which: str, good: Path) -> None:
    name, value, there, here = OTHER_RUNS[which]
    shown = "tau" if name == "tau_max" else name
    assert_left_alone(good, "another run", f"{shown} is {there}", here, **{name: value})


def test_two_settings_are_both_named(good: Path) -> None:
    assert_left_alone(good, "n_warmup is 12 there, 13 here", "thin is 1 there, 5 here", n_warmup=13, thin=5)


def test_a_checkpoint_of_another_version(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = checkpoint.__version__
    monkeypatch.setattr(checkpoint, "__version__", "97.1")
    assert_left_alone(good, f"written by horseshoe {there}", "this is 97.1")


def test_a_checkpoint_of_another_format(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "FORMAT", 98)
    assert_left_alone(good, "format", "98")


def arrays_of(path: Path) -> dict[str, Any]:
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def packed_otherwise(content: bytes) -> bytes:
    """Return an archive that says it is compressed in a way that nobody knows."""
    at_end = content.index(b"PK\x01\x02")
    return content[: at_end + 10] + b"\x63\x00" + content[at_end + 12 :]


def broken_header(content: bytes) -> bytes:
    """Return an archive in which the shape of an array is not closed, with the checksum to go with it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(buffer, "w") as new:
        for name in old.namelist():
            part = old.read(name)
            new.writestr(name, part.replace(b"), }", b", , }", 1) if name == "state/state/coef.npy" else part)
    return buffer.getvalue()


def not_a_checkpoint(which: str, path: Path, harm: Path) -> bytes:
    content, arrays = path.read_bytes(), arrays_of(path)
    objects = np.array([Harmful(harm)], dtype=object)
    return {
        "empty": b"",
        "noise": np.random.default_rng(0).bytes(5000),
        "text": b"beta = 1.5\n",
        "cut in the middle": content[: len(content) // 2],
        "cut at the end": content[:-1],
        "cut at the start": content[1:],
        "a changed byte": content[:20_000] + bytes([content[20_000] ^ 1]) + content[20_001:],
        "an unknown compression": packed_otherwise(content),
        "a broken array": broken_header(content),
        "a pickle": pickle.dumps(Harmful(harm)),
        "compressed": as_bytes(np.savez_compressed, **arrays),
        "an array": as_bytes(np.save, np.ones(3)),
        "an array of objects": as_bytes(np.save, objects, allow_pickle=True),
        "arrays of objects": as_bytes(np.savez, **{**arrays, "header": objects}),
        "an object among the draws": as_bytes(np.savez, **{**arrays, "state/draws/coef": objects}),
        "arrays": as_bytes(np.savez, x=np.ones(3)),
        "another header": as_bytes(np.savez, header=np.array('{"generators": []}')),
        "a header that is a list": as_bytes(np.savez, header=np.array("[1, 2]")),
        "a header that is no JSON": as_bytes(np.savez, header=np.array("{")),
    }[which]


NOT_CHECKPOINTS = (
    "empty",
    "noise",
    "text",
    "cut in the middle",
    "cut at the end",
    "cut at the start",
    "a changed byte",
    "an unknown compression",
    "a broken array",
    "a pickle",
    "compressed",
    "an array",
    "an array of objects",
    "arrays of objects",
    "an object among the draws",
    "arrays",
    "another header",
    "a header that is a list",
    "a header that is no JSON",
)


@pytest.mark.parametrize("which", NOT_CHECKPOINTS)
def test_a_file_that_is_no_checkpoint(which: str, good: Path, tmp_path: Path) -> None:
    harm = tmp_path / "harm"
    good.write_bytes(not_a_checkpoint(which, good, harm))
    assert_left_alone(good, "is not a checkpoint of horseshoe")
    assert not harm.exists()


@pytest.mark.parametrize("part", ["state", "pools", "draws"])
def test_a_checkpoint_without_a_part_of_it(part: str, good: Path) -> None:
    arrays = {name: value for name, value in arrays_of(good).items() if f"/{part}/" not in name}
    good.write_bytes(as_bytes(np.savez, **arrays))
    assert_left_alone(good, "was changed after it was written", "does not fit its digest")


def test_a_checkpoint_from_before_there_were_digests(good: Path) -> None:
    arrays = arrays_of(good)
    del arrays["digest"]
    good.write_bytes(as_bytes(np.savez, **arrays))
    wrote = f"horseshoe {checkpoint.__version__}, format {checkpoint.FORMAT}"
    assert_left_alone(good, "has no digest of its content", wrote, "nobody can tell whether it was changed")


def test_a_checkpoint_holds_no_objects(good: Path) -> None:
    assert {value.dtype.kind for value in arrays_of(good).values()} <= {"f", "U"}


def test_a_folder_in_the_place_of_a_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="is a folder: give a file in it"):
        run("gaussian", checkpoint=tmp_path)


def test_a_folder_that_does_not_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chains, "advance", never)
    with pytest.raises(FileNotFoundError, match=r"checkpoint=.*nowhere.*no such folder"):
        run("gaussian", checkpoint=tmp_path / "nowhere" / "run")
    assert files_in(tmp_path) == []
