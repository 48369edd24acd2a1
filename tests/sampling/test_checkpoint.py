"""A run that was broken off goes on; a disk that is full does not stop one."""

from __future__ import annotations

import errno
import os
import resource
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from horseshoe.sampling import chains
from posterior_runs import (
    FAMILIES,
    StoppedError,
    as_bytes,
    assert_same_draws,
    at,
    files_in,
    heard,
    never,
    run,
)

pytestmark = pytest.mark.usefixtures("no_processes_stay")

# --- checkpoints ----------------------------------------------------------------------------------

RESUMED = [
    *FAMILIES,
    "gaussian, p > n",
    "poisson, p > n",
    "weights",
    "whole weights, student_t",
    "prior lasso",
    "prior normal_gamma, p > n",
    "tau_max",
    "tau, p > n",
    "constant column",
]


@pytest.mark.usefixtures("in_steps")
@pytest.mark.parametrize("which", RESUMED)
def test_a_run_that_was_broken_off_goes_on(which: str, tmp_path: Path) -> None:
    whole, path = run(which), tmp_path / "run"
    for sweeps in (10, 20):  # in the warm-up of 12, and in the draws
        with pytest.raises(StoppedError):
            run(which, checkpoint=path, progress=at(sweeps))
        assert files_in(tmp_path) == ["run"]
    assert_same_draws(run(which, checkpoint=path), whole)
    assert_same_draws(run(which, checkpoint=str(path)), whole)
    assert files_in(tmp_path) == ["run"]


def test_a_checkpoint_changes_nothing(tmp_path: Path) -> None:
    assert_same_draws(run("poisson", checkpoint=tmp_path / "run.npz"), run("poisson"))
    assert files_in(tmp_path) == ["run.npz"]


@pytest.mark.usefixtures("in_steps")
@pytest.mark.parametrize("seed", [None, 5, "a generator"])
def test_a_run_goes_on_whatever_its_seed_was(seed: Any, tmp_path: Path) -> None:
    path, copy = tmp_path / "run", tmp_path / "copy"

    def start() -> Any:
        return np.random.default_rng() if seed == "a generator" else seed

    with pytest.raises(StoppedError):
        run("student_t", checkpoint=path, progress=at(16), random_state=start())
    with np.load(path) as file:
        there = file["state/draws/intercept"]
    assert there.shape == (4, 4)
    shutil.copy(path, copy)
    one = run("student_t", checkpoint=path, random_state=start())
    assert_same_draws(run("student_t", checkpoint=copy, random_state=start()), one)
    np.testing.assert_array_equal(one.intercept[:, :4], there)


@pytest.mark.parametrize("which", ["gaussian", "poisson", "gaussian, p > n", "constant column"])
def test_more_draws_are_added_to_those_that_are_there(which: str, tmp_path: Path) -> None:
    path = tmp_path / "run"
    few = run(which, checkpoint=path)
    many = run(which, checkpoint=path, n_draws=25)
    assert_same_draws(many, few, first=9)
    assert_same_draws(many, run(which, n_draws=25))
    assert_same_draws(run(which, checkpoint=path, n_draws=25, n_jobs=2), many)


def test_fewer_draws_than_there_are_leave_the_checkpoint_whole(tmp_path: Path) -> None:
    path = tmp_path / "run"
    all_of_them = run("gaussian", checkpoint=path, n_draws=20)
    few = run("gaussian", checkpoint=path, n_draws=5)
    assert few.coef.shape == (4, 5, 5)
    assert_same_draws(few, all_of_them, first=5)
    assert_same_draws(run("gaussian", checkpoint=path, n_draws=20), all_of_them)
    assert_same_draws(run("gaussian", checkpoint=path, n_draws=30), run("gaussian", n_draws=30))


def test_a_complete_checkpoint_is_returned_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "run"
    done = run("negative_binomial", checkpoint=path)
    monkeypatch.setattr(chains, "advance", never)
    assert_same_draws(run("negative_binomial", checkpoint=path, n_jobs=3), done)


# --- a full disk ----------------------------------------------------------------------------------


@pytest.mark.usefixtures("in_steps")
def test_a_full_disk(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole, before, write = run("gaussian", n_draws=25), good.read_bytes(), np.savez
    tries = []

    def fill_up(file: Any, **arrays: Any) -> None:
        tries.append(file.name)
        file.write(as_bytes(write, **arrays)[:1000])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(np, "savez", fill_up)
    found, said = heard(lambda: run("gaussian", n_draws=25, checkpoint=good))
    assert_same_draws(found, whole)
    assert len(tries) > 3
    assert len(said) == 1
    for part in ("could not be written", str(good), "No space left on device", "goes on", "still there"):
        assert part in said[0], said
    assert good.read_bytes() == before
    assert files_in(good.parent) == ["run"]
    monkeypatch.setattr(np, "savez", write)
    assert_same_draws(run("gaussian", n_draws=25, checkpoint=good), whole)


@pytest.mark.usefixtures("in_steps")
@pytest.mark.parametrize("share", [0.001, 0.3, 0.6])
def test_a_file_that_may_not_grow(share: float, good: Path) -> None:
    """A limit of the operating system: the write that goes beyond it fails, wherever that is."""
    whole, before = run("gaussian", n_draws=25), good.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(share * len(before)), limits[1]))
    try:
        found, said = heard(lambda: run("gaussian", n_draws=25, checkpoint=good))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert_same_draws(found, whole)
    assert len(said) == 1
    assert "File too large" in said[0]
    assert good.read_bytes() == before
    assert files_in(good.parent) == ["run"]


@pytest.mark.usefixtures("in_steps")
def test_a_folder_that_goes_away(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    found, said = heard(
        lambda: run("gaussian", checkpoint=folder / "run", progress=lambda news: shutil.rmtree(folder, True))
    )
    assert_same_draws(found, run("gaussian"))
    assert len(said) == 1
    assert "could not be written" in said[0]
