"""A run of the sampler: one seed, one answer, whatever happens on the way; and what the draws say."""

from __future__ import annotations

import errno
import gc
import io
import json
import os
import pickle
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import warnings
import zipfile
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from threadpoolctl import threadpool_limits

from farrier import HorseshoeRegressor, sample_posterior
from farrier.families import Laplace, NegativeBinomial, StudentT
from farrier.linalg import _blas_pools
from farrier.posterior import draws as posterior_module
from farrier.posterior.draws import QUANTITIES, Posterior
from farrier.priors import InverseGammaGlobal
from farrier.sampling import chains, checkpoint, diagnostics, gibbs, streams
from farrier.sampling.chains import Plan, Progress, advance
from farrier.sampling.gibbs import Model, State, join
from simulate import DRAWS

# --- the runs -------------------------------------------------------------------------------------

RNG = np.random.default_rng(11)
TALL, WIDE = RNG.standard_normal((24, 5)), RNG.standard_normal((10, 16))
FLAT = np.insert(TALL, 2, 1.5, axis=1)
LARGE = RNG.standard_normal((150, 900))
"""More than a megabyte: joblib hands it to the processes as a read-only map of a file."""
SHARES = RNG.uniform(0.3, 2.5, len(TALL))
WHOLE = np.arange(len(TALL)) % 4.0
OFFSET = RNG.normal(0.0, 0.3, len(TALL))
FAMILIES = ("gaussian", "student_t", "laplace", "binomial", "negative_binomial", "poisson")
PRIORS = ("lasso", "normal_gamma", "student_t", "ridge", "strawderman_berger", "horseshoe_like")
SHORT = {"n_draws": 9, "n_warmup": 12, "n_chains": 4, "random_state": 3}


def case(family: str = "gaussian", x: Any = TALL, **options: Any) -> dict[str, Any]:
    y = DRAWS[family](np.random.default_rng(7), x[:, 0] - x[:, 1])
    return {"X": x, "y": y, "family": family, **options}


CASES = {
    **{family: case(family) for family in FAMILIES},
    **{f"{family}, p > n": case(family, WIDE) for family in FAMILIES},
    **{f"prior {prior}": case(prior=prior) for prior in PRIORS},
    **{f"prior {prior}, p > n": case(x=WIDE, prior=prior) for prior in PRIORS},
    "lasso, poisson": case("poisson", prior="lasso"),
    "ridge, binomial": case("binomial", prior="ridge"),
    "weights": case(sample_weight=SHARES, offset=OFFSET),
    "whole weights, student_t": case("student_t", sample_weight=WHOLE, offset=OFFSET),
    "whole weights, laplace": case("laplace", sample_weight=WHOLE),
    "trials": case("binomial", sample_weight=WHOLE),
    "weights, poisson": case("poisson", sample_weight=SHARES, offset=OFFSET),
    "weights, negative_binomial": case("negative_binomial", sample_weight=SHARES, offset=OFFSET),
    "tau_max": case(tau_max=1.0),
    "tau_max, p > n": case(x=WIDE, tau_max=1.0),
    "tau_max, poisson": case("poisson", tau_max=1.0),
    "tau": case(tau=0.3),
    "tau, p > n": case(x=WIDE, tau=0.3),
    "tau, poisson": case("poisson", tau=0.3),
    "inverse gamma tau": case(tau=InverseGammaGlobal()),
    "known sigma2": case(sigma2=1.0, fit_intercept=False, standardize=False),
    "known sigma2, p > n": case(x=WIDE, sigma2=1.0, fit_intercept=False),
    "known sigma2, laplace": case("laplace", sigma2=1.0),
    "no intercept, poisson": case("poisson", fit_intercept=False),
    "known df": {**case("student_t"), "family": StudentT(df=4.0)},
    "known size": {**case("negative_binomial"), "family": NegativeBinomial(size=2.0)},
    "constant column": case(x=FLAT, store_lambda2=True),
}
each_case = pytest.mark.parametrize("which", CASES)


def run(given: dict[str, Any] | str, **options: Any) -> Posterior:
    """Sample; that a short run is too short is no news."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="R-hat")
        return sample_posterior(**{**SHORT, **(CASES[given] if isinstance(given, str) else given), **options})


def assert_same_draws(one: Posterior, other: Posterior, first: int | None = None) -> None:
    """Assert that two runs are the same bit for bit, up to a draw."""
    for name in QUANTITIES:
        a, b = getattr(one, name), getattr(other, name)
        assert (a is None) == (b is None), name
        if a is not None:
            np.testing.assert_array_equal(a[:, :first], b[:, :first], err_msg=name)
    if first is None:
        np.testing.assert_array_equal(one.shrinkage, other.shrinkage)
        np.testing.assert_array_equal(one.acceptance, other.acceptance)


def assert_different(one: Posterior, other: Posterior) -> None:
    assert not np.isclose(one.coef[:, 0], other.coef[:, 0], rtol=1e-9).all()


class Begun(NamedTuple):
    """A run before its first sweep."""

    model: Model
    plan: Plan
    state: State


def begin(given: dict[str, Any], **options: Any) -> Begun:
    """Return what a run is made of."""
    found = []

    def stop(self: Any, state: State, draws: Any = None) -> Any:
        found.append(Begun(self.model, self.plan, state))
        raise InterruptedError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chains.Run, "go", stop)
        with pytest.raises(InterruptedError):
            run(given, **options)
    return found[0]


def assert_same_state(one: State, other: State) -> None:
    for name, value in one.arrays().items():
        np.testing.assert_array_equal(value, getattr(other, name), err_msg=name)
    assert one.sweeps == other.sweeps
    assert one.source.pools.keys() == other.source.pools.keys()
    for name, pool in one.source.pools.items():
        np.testing.assert_array_equal(pool, other.source.pools[name], err_msg=name)
    assert [rng.bit_generator.state for rng in one.rng] == [rng.bit_generator.state for rng in other.rng]


def assert_same_arrays(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert one.keys() == other.keys()
    for name, value in one.items():
        np.testing.assert_array_equal(value, other[name], err_msg=name)


@pytest.fixture
def in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten sweeps, then one at a time; every piece is told of and written."""
    monkeypatch.setattr(chains, "PIECE_SECONDS", 1e-9)
    monkeypatch.setattr(chains, "LOOK_SHARE", 1e9)
    save = checkpoint.Checkpoint.save
    monkeypatch.setattr(checkpoint.Checkpoint, "save", lambda self, s, d, now=False: save(self, s, d, True))


class StoppedError(Exception):
    """What a run is broken off with."""


def at(sweeps: int, error: type[BaseException] = StoppedError) -> Any:
    """Return a progress function that breaks a run off."""

    def tell(news: Progress) -> None:
        if news.sweeps >= sweeps:
            raise error

    return tell


def never(*arguments: Any, **options: Any) -> Any:
    raise AssertionError("this should not have been called")


# --- one seed, one answer -------------------------------------------------------------------------


@each_case
def test_a_chain_is_the_same_alone_and_in_any_pieces(which: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "POOL", 64)  # numbers drawn ahead run out often
    model, plan, start = begin(CASES[which], n_chains=3, n_draws=4, thin=2, store_lambda2=True)
    untouched = start.take(slice(0, 3))
    state, draws = advance(model, plan, start, plan.sweeps)
    assert_same_state(start, untouched)
    assert draws["coef"].shape[:2] == (3, 4)
    assert state.sweeps == plan.sweeps
    assert np.isfinite(draws["coef"]).all()
    assert len({row.tobytes() for row in draws["coef"][:, -1]}) == 3
    for sizes in ([1] * plan.sweeps, [plan.n_warmup - 1, 2, plan.sweeps - plan.n_warmup - 1]):
        piecewise, pieces = start, []
        for size in sizes:
            piecewise, piece = advance(model, plan, piecewise, size)
            pieces.append(piece)
        assert_same_state(piecewise, state)
        assert_same_arrays({n: np.concatenate([p[n] for p in pieces], axis=1) for n in draws}, draws)
    for ends in ([0, 1, 2, 3], [0, 2, 3]):
        parts = [advance(model, plan, start.take(slice(*pair)), plan.sweeps) for pair in pairwise(ends)]
        assert_same_state(join([part for part, _ in parts]), state)
        assert_same_arrays({n: np.concatenate([d[n] for _, d in parts]) for n in draws}, draws)


def test_how_many_chains_are_factorised_together_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    together = run("gaussian")
    monkeypatch.setattr(gibbs, "STACK", 1)
    assert_same_draws(run("gaussian"), together)


@pytest.mark.parametrize("which", ["gaussian", "gaussian, p > n", "poisson", "negative_binomial"])
def test_how_long_a_piece_takes_does_not_matter(which: str, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = run(which)
    for seconds in (1e-9, 1e9):
        monkeypatch.setattr(chains, "PIECE_SECONDS", seconds)
        assert_same_draws(run(which), usual)


@pytest.fixture(scope="module", autouse=True)
def _no_processes_stay() -> Any:
    yield
    from joblib.externals.loky import get_reusable_executor

    get_reusable_executor().shutdown(wait=True, kill_workers=True)


PARALLEL = {
    **{name: CASES[name] for name in ("gaussian", "gaussian, p > n", "poisson", "negative_binomial")},
    "large": case(x=LARGE, n_draws=2, n_warmup=4),
}


def test_the_number_of_processes_does_not_matter() -> None:
    given = {(name, n): PARALLEL[name] for name in PARALLEL for n in (4, 5)}
    here = {key: run(given[key], n_chains=key[1], n_jobs=1) for key in given}
    for jobs in (3, 2):
        for key in given:
            assert_same_draws(run(given[key], n_chains=key[1], n_jobs=jobs), here[key])


@pytest.mark.parametrize("which", ["gaussian", "poisson"])
def test_the_number_of_threads_does_not_matter(which: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a process of its own a chain may find several threads, which add up in another order."""
    model, plan, start = begin(CASES[which])
    seen, there = [], chains.sampler

    def look(*arguments: Any) -> Any:
        seen.append([pool.num_threads for pool in _blas_pools()])
        return there(*arguments)

    monkeypatch.setattr(chains, "sampler", look)
    with threadpool_limits(limits=2, user_api="blas"):
        several = [pool.num_threads for pool in _blas_pools()]
        advance(model, plan, start, 1)
        assert [pool.num_threads for pool in _blas_pools()] == several
    assert seen == [[1] * len(several)]


OTHER_SETTINGS: dict[str, dict[str, Any]] = {
    "prior": {"prior": "lasso"},
    "a number of the prior": {"prior": "student_t"},
    "tau": {"tau": 0.01},
    "tau_max": {"tau_max": 1e-3},
    "sigma2": {"sigma2": 50.0},
    "fit_intercept": {"fit_intercept": False},
    "standardize": {"standardize": False},
    "family": {"family": "laplace"},
    "n_warmup": {"n_warmup": 0},
}


@pytest.mark.parametrize("which", OTHER_SETTINGS)
def test_the_run_before_does_not_matter(which: str) -> None:
    mine, other_data = OTHER_SETTINGS[which], case(x=TALL[1:])
    plain = case(x=TALL * [1.0, 2.0, 3.0, 4.0, 5.0] + 1.0)
    run(other_data)
    alone = run(plain, **mine)
    run(other_data)
    before = run(plain)
    assert_same_draws(run(plain, **mine), alone)
    assert_different(before, alone)
    assert_same_draws(run(plain), before)


def test_the_run_before_does_not_matter_to_processes() -> None:
    plain = case(x=TALL[2:])
    ridge = run(plain, prior="ridge", n_jobs=2)
    assert_different(run(plain, n_jobs=2), ridge)
    assert_same_draws(run(plain, prior="ridge", n_jobs=2), ridge)
    run(case(x=TALL[1:]))
    assert_same_draws(run(plain, prior="ridge"), ridge)


@pytest.mark.parametrize("n_warmup", range(13))
def test_any_number_of_warm_up_sweeps(n_warmup: int) -> None:
    for family in ("poisson", "gaussian"):
        found = run(family, n_warmup=n_warmup)
        assert np.isfinite(found.coef).all()
        assert found.coef.shape == (4, 9, 5)


def test_seeds() -> None:
    seven = run("gaussian", random_state=7)
    assert_same_draws(run("gaussian", random_state=np.int64(7)), seven)
    assert_different(run("gaussian", random_state=8), seven)
    assert_different(run("gaussian", random_state=None), run("gaussian", random_state=None))
    one, other = np.random.default_rng(5), np.random.default_rng(5)
    first = run("gaussian", random_state=one)
    assert_same_draws(run("gaussian", random_state=other), first)
    assert_different(run("gaussian", random_state=one), first)


def test_more_chains_leave_the_first_ones_as_they_are() -> None:
    two, five = run("poisson", n_chains=2), run("poisson", n_chains=5)
    np.testing.assert_array_equal(five.coef[:2], two.coef)


def test_thinning_keeps_every_so_manieth_sweep() -> None:
    every, third = run("gaussian", n_draws=30), run("gaussian", n_draws=10, thin=3)
    np.testing.assert_array_equal(third.coef, every.coef[:, 2::3])
    np.testing.assert_array_equal(third.tau2, every.tau2[:, 2::3])


@pytest.mark.parametrize("which", ["gaussian", "gaussian, p > n", "poisson"])
def test_keeping_the_local_scales_changes_nothing_else(which: str) -> None:
    without, kept = run(which), run(which, store_lambda2=True)
    assert without.lambda2 is None
    assert kept.lambda2.shape == kept.coef.shape
    assert (kept.lambda2 > 0.0).all()
    np.testing.assert_array_equal(kept.coef, without.coef)
    with pytest.raises(ValueError, match=r"no draws of lambda2.*store_lambda2=True"):
        without.draws("lambda2")


@pytest.mark.parametrize("n_warmup", [1000, 1001])
@pytest.mark.parametrize("n_draws", [1, 3, 9])
def test_shrinkage_factors_of_a_short_run(n_warmup: int, n_draws: int) -> None:
    found = run("gaussian", n_warmup=n_warmup, n_draws=n_draws).shrinkage
    assert ((found > 0.0) & (found < 1.0)).all(), found


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


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


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
        there = file["draws intercept"]
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


# --- checkpoints that belong to something else ----------------------------------------------------


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


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a good checkpoint."""
    path = tmp_path_factory.mktemp("written") / "run"
    run("gaussian", checkpoint=path)
    return path


@pytest.fixture
def good(written: Path, tmp_path: Path) -> Path:
    """Return a copy of a good checkpoint."""
    shutil.copy(written, tmp_path / "run")
    return tmp_path / "run"


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
    assert_left_alone(good, f"written by farrier {there}", "this is 97.1")


def test_a_checkpoint_of_another_format(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "FORMAT", 98)
    assert_left_alone(good, "format", "98")


class Harmful:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (Path.touch, (self.path,))


def arrays_of(path: Path) -> dict[str, Any]:
    with np.load(path) as file:
        return {name: file[name] for name in file.files}


def as_bytes(save: Any, *arrays: Any, **named: Any) -> bytes:
    buffer = io.BytesIO()
    save(buffer, *arrays, **named)
    return buffer.getvalue()


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
            new.writestr(name, part.replace(b"), }", b", , }", 1) if name == "state coef.npy" else part)
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
        "an array": as_bytes(np.save, np.ones(3)),
        "an array of objects": as_bytes(np.save, objects, allow_pickle=True),
        "arrays of objects": as_bytes(np.savez, **{**arrays, "header": objects}),
        "an object among the draws": as_bytes(np.savez, **{**arrays, "draws coef": objects}),
        "arrays": as_bytes(np.savez, x=np.ones(3)),
        "another header": as_bytes(np.savez, header=np.array('{"generators": []}')),
        "a header that is a list": as_bytes(np.savez, header=np.array("[1, 2]")),
        "a header that is no JSON": as_bytes(np.savez, header=np.array("{")),
        "no state": as_bytes(np.savez, **{n: v for n, v in arrays.items() if not n.startswith("state")}),
        "no draws": as_bytes(np.savez, **{n: v for n, v in arrays.items() if not n.startswith("draws")}),
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
    "an array",
    "an array of objects",
    "arrays of objects",
    "an object among the draws",
    "arrays",
    "another header",
    "a header that is a list",
    "a header that is no JSON",
    "no state",
    "no draws",
)


@pytest.mark.parametrize("which", NOT_CHECKPOINTS)
def test_a_file_that_is_no_checkpoint(which: str, good: Path, tmp_path: Path) -> None:
    harm = tmp_path / "harm"
    good.write_bytes(not_a_checkpoint(which, good, harm))
    assert_left_alone(good, "is not a checkpoint of farrier")
    assert not harm.exists()


def test_a_checkpoint_holds_no_objects(good: Path) -> None:
    assert {value.dtype.kind for value in arrays_of(good).values()} <= {"f", "U"}


def test_a_folder_in_the_place_of_a_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"not a checkpoint.*choose another path"):
        run("gaussian", checkpoint=tmp_path)


def test_a_folder_that_does_not_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chains, "advance", never)
    with pytest.raises(FileNotFoundError, match=r"checkpoint=.*nowhere.*no such folder"):
        run("gaussian", checkpoint=tmp_path / "nowhere" / "run")
    assert files_in(tmp_path) == []


# --- a full disk ----------------------------------------------------------------------------------


def heard(action: Any) -> tuple[Any, list[str]]:
    """Return what ``action`` returns, and the warnings but those of R-hat."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer = action()
    return answer, [str(w.message) for w in caught if not str(w.message).startswith("R-hat")]


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


# --- Ctrl-C ---------------------------------------------------------------------------------------


@pytest.mark.usefixtures("in_steps")
@pytest.mark.parametrize("which", ["gaussian", "gaussian, p > n", "poisson"])
def test_ctrl_c_returns_the_draws_that_there_are(which: str, tmp_path: Path) -> None:
    path, whole = tmp_path / "run", run(which)
    found, said = heard(lambda: run(which, checkpoint=path, progress=at(17, KeyboardInterrupt)))
    assert said == ["interrupted: 5 of 9 draws of each chain are returned"]
    assert found.coef.shape[:2] == (4, 5)
    assert_same_draws(found, whole, first=5)
    assert_same_draws(found, run(which, n_draws=5))
    assert files_in(tmp_path) == ["run"]
    assert_same_draws(run(which, checkpoint=path), whole)


@pytest.mark.usefixtures("in_steps")
def test_ctrl_c_during_the_warm_up_is_raised(tmp_path: Path) -> None:
    path = tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        run("gaussian", progress=at(10, KeyboardInterrupt), checkpoint=path)
    assert files_in(tmp_path) == ["run"]
    assert_same_draws(run("gaussian", checkpoint=path), run("gaussian"))


@pytest.mark.usefixtures("in_steps")
@pytest.mark.parametrize(
    ("owner", "name"), [(chains, "advance"), (chains.Run, "_store"), (np, "savez"), (os, "replace")]
)
@pytest.mark.parametrize("call", [5, 8])
def test_ctrl_c_at_any_moment(
    owner: Any, name: str, call: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While sweeping, while draws are stored, while they are written: nothing that is no draw is returned."""
    path, whole = tmp_path / "run", run("gaussian")
    there, calls = getattr(owner, name), []

    def interrupt(*arguments: Any, **options: Any) -> Any:
        calls.append(name)
        if len(calls) == call:
            raise KeyboardInterrupt
        return there(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(owner, name, interrupt)
        found, said = heard(lambda: run("gaussian", checkpoint=path))
    kept = found.coef.shape[1]
    assert said == [f"interrupted: {kept} of 9 draws of each chain are returned"]
    written = name in ("savez", "replace")
    assert kept == call - 4 + written  # ten sweeps in the first piece, one in each other
    assert_same_draws(found, whole, first=kept)
    assert files_in(tmp_path) == ["run"]
    assert_same_draws(run("gaussian", checkpoint=path), whole)


# --- processes that are killed --------------------------------------------------------------------

SCRIPT = """
import os, sys, time
import numpy as np
from farrier import sample_posterior
from farrier.sampling import chains, checkpoint

chains.PIECE_SECONDS, chains.LOOK_SHARE = {piece}, 1e9
folder = sys.argv[1]
with np.load(os.path.join(folder, "data.npz")) as data:
    X, y = data["X"], data["y"]

def tell(news):
    print(news.sweeps, news.n_draws, flush=True)
    {then}

found = sample_posterior(X, y, progress=tell, **{options})
np.save(os.path.join(folder, "coef.npy"), found.coef)
"""


class Child:
    """A run in a process of its own, in a group of its own."""

    def __init__(self, folder: Path, given: dict[str, Any], piece: float, then: str, **options: Any) -> None:
        np.savez(folder / "data.npz", X=given["X"], y=given["y"])
        options = {"family": given["family"], "n_jobs": 1, **SHORT, **options}
        code = SCRIPT.format(piece=piece, then=then, options=options)
        source = str(Path(chains.__file__).parents[1])
        environment = {**os.environ, "PYTHONPATH": source, "PYTHONWARNINGS": "ignore"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, str(folder)],
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env=environment,
        )

    def __enter__(self) -> Child:
        return self

    def __exit__(self, *error: Any) -> None:
        self.signal(signal.SIGKILL)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def signal(self, number: int) -> None:
        """Send a signal to the process and to those that it started, as a terminal does."""
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            return

    def wait_for(self, sweeps: int, n_draws: int = 0) -> None:
        """Read what it tells until it has come so far."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            told = line.split()
            if int(told[0]) >= sweeps and int(told[1]) >= n_draws:
                return
        raise AssertionError(f"ended with {self.process.wait()}")

    def descendants(self) -> list[int]:
        """Return the processes that it started, and those that they did."""
        parent = {int(p.name): _parent(p) for p in Path("/proc").iterdir() if p.name.isdigit()}
        found, level = [], [self.process.pid]
        while level:
            level = [pid for pid, above in parent.items() if above in level]
            found += level
        return found


def _parent(process: Path) -> int:
    try:
        return int((process / "stat").read_text().rsplit(")", 1)[1].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return -1


def is_running(pid: int) -> bool:
    try:
        return (Path("/proc") / str(pid) / "stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def until(condition: Any, seconds: float = 60.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def sweeps_in(path: Path) -> int:
    """Return how far the run in a checkpoint is."""
    if not path.exists():
        return 0
    with np.load(path) as file:
        return int(json.loads(str(file["header"]))["sweeps"])


on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")


def test_a_run_that_is_killed_goes_on(tmp_path: Path) -> None:
    given, path = CASES["gaussian"], tmp_path / "run"
    options = {"n_warmup": 250, "n_draws": 2000}
    slowly = {"piece": 1e-9, "then": "time.sleep(0.002)", **options, "checkpoint": str(path)}
    with Child(tmp_path, given, **slowly) as child:
        assert until(path.exists)
        child.signal(signal.SIGKILL)
        assert child.process.wait() == -signal.SIGKILL
    assert 0 < sweeps_in(path) < 250
    with Child(tmp_path, given, **slowly) as child:
        assert until(lambda: sweeps_in(path) > 250)
        child.signal(signal.SIGKILL)
        assert child.process.wait() == -signal.SIGKILL
    assert 250 < sweeps_in(path) < 2250
    copy = tmp_path / "copy"
    shutil.copy(path, copy)
    whole = run(given, **options)
    assert_same_draws(run(given, **options, checkpoint=path, n_jobs=2), whole)
    assert_same_draws(run(given, **options, checkpoint=copy), whole)
    assert files_in(tmp_path) == ["copy", "data.npz", "run"]


def test_a_run_that_is_killed_while_it_writes(tmp_path: Path) -> None:
    path, given = tmp_path / "run", CASES["gaussian"]
    run(given, checkpoint=path)
    before = path.read_bytes()
    die = "checkpoint.os.fsync = lambda file: os.kill(os.getpid(), 9)"
    with Child(tmp_path, given, 1e-9, die, n_draws=40_000, checkpoint=str(path)) as child:
        assert child.process.wait() == -signal.SIGKILL
    assert path.read_bytes() != before or sweeps_in(path) == 21
    draft = [name for name in files_in(tmp_path) if "draft" in name]
    assert len(draft) == 1  # nobody can clear up after a kill; the next run does
    assert_same_draws(run(given, checkpoint=path, n_draws=30), run(given, n_draws=30))
    assert files_in(tmp_path) == ["data.npz", "run"]


def test_a_real_ctrl_c(tmp_path: Path) -> None:
    given = CASES["gaussian, p > n"]
    with Child(tmp_path, given, 0.01, "time.sleep(0.01)", n_draws=10**5, n_chains=2) as child:
        child.wait_for(30, 30)
        child.signal(signal.SIGINT)
        child.process.communicate(timeout=60)
        assert child.process.returncode == 0
    found = np.load(tmp_path / "coef.npy")
    assert 30 <= found.shape[1] < 10**5
    np.testing.assert_array_equal(found, run(given, n_chains=2, n_draws=found.shape[1]).coef)


@on_linux
def test_a_real_ctrl_c_of_two_processes(tmp_path: Path) -> None:
    given = CASES["gaussian, p > n"]
    with Child(tmp_path, given, 0.01, "time.sleep(0.01)", n_draws=10**5, n_chains=2, n_jobs=2) as child:
        child.wait_for(20, 8)
        started = child.descendants()
        assert len(started) >= 2
        child.signal(signal.SIGINT)
        child.process.communicate(timeout=60)
        assert child.process.returncode == 0
        assert until(lambda: not any(is_running(pid) for pid in started), 20.0), started
    found = np.load(tmp_path / "coef.npy")
    assert found.shape[1] >= 8
    np.testing.assert_array_equal(found, run(given, n_chains=2, n_draws=found.shape[1]).coef)


# --- progress -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("in_steps")
@pytest.mark.parametrize("which", ["gaussian, p > n", "poisson"])
def test_progress(which: str) -> None:
    news: list[Progress] = []
    found = run(which, progress=news.append, thin=2)
    plan = Plan(4, 12, 9, 2, False)
    assert [item.sweeps for item in news] == list(range(10, 31))
    for item in news:
        assert item.n_sweeps == 30
        assert item.n_draws == plan.kept(item.sweeps)
        assert item.bytes == plan.bytes(found.coef.shape[2])
        assert item.seconds_left >= 0.0
        assert np.isfinite([item.rhat, item.ess]).all() == (item.n_draws >= 4)
        assert ("warm-up" in str(item)) == (item.n_draws == 0)
        assert f"{100 * item.sweeps // 30} %" in str(item)
    seconds = [item.seconds for item in news]
    assert seconds == sorted(seconds)
    assert seconds[0] > 0.0
    assert news[-1].seconds_left == 0.0
    assert news[-1].rhat == found.rhat().max()
    assert news[-1].ess == found.ess().min()


def test_progress_of_a_run_that_goes_on(tmp_path: Path) -> None:
    news: list[Progress] = []
    run("gaussian", checkpoint=tmp_path / "run")
    run("gaussian", checkpoint=tmp_path / "run", n_draws=40, progress=news.append)
    assert news[0].sweeps > 21
    assert (news[-1].sweeps, news[-1].n_draws) == (52, 40)


@pytest.mark.usefixtures("in_steps")
def test_progress_in_words(capfd: pytest.CaptureFixture[str]) -> None:
    run("gaussian", progress=True)
    out, err = capfd.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert re.fullmatch(r"the draws take \d+\.\d MiB", lines[0])
    assert re.fullmatch(r" 47 % warm-up, \d+ s left", lines[1])
    assert re.fullmatch(r"100 % 9 draws a chain, R-hat \d\.\d{3}, ESS \d+, 0 s left", lines[-1])
    run("gaussian", progress=False)
    assert capfd.readouterr() == ("", "")


# --- memory ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["student_t", "student_t, p > n", "negative_binomial"])
@pytest.mark.parametrize("store_lambda2", [False, True])
def test_the_size_of_the_draws_is_known_beforehand(which: str, store_lambda2: bool) -> None:
    found = run(which, store_lambda2=store_lambda2)
    arrays = [getattr(found, name) for name in QUANTITIES if getattr(found, name) is not None]
    assert {array.dtype for array in arrays} == {np.dtype(np.float64)}
    plan = Plan(4, 12, 9, 1, store_lambda2)
    assert sum(array.nbytes for array in arrays) == plan.bytes(found.coef.shape[2])


def test_too_many_draws_are_refused_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    size = Plan(4, 1000, 2000, 1, False).bytes(350)
    assert size == 8 * 4 * 2000 * (350 + 4)
    monkeypatch.setattr(chains, "advance", never)
    wide = case(x=np.random.default_rng(0).standard_normal((70, 350)), n_draws=2000, n_warmup=1000)
    with pytest.raises(ValueError, match=r"would take 22 MiB.*max_memory allows 19 MiB.*thin.*n_draws"):
        run(wide, max_memory=20e6)
    with pytest.raises(ValueError, match=r"would take 43 MiB.*max_memory allows 22 MiB.*store_lambda2"):
        run(wide, max_memory=size, store_lambda2=True)
    with pytest.raises(AssertionError):  # then it begins
        run(wide, max_memory=size, n_jobs=1)


MEMORY = """
import resource, warnings
import numpy as np
from farrier import sample_posterior
from farrier.sampling.chains import Plan

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.standard_normal((70, 350))
y = X[:, 0] + rng.standard_normal(70)

def peak(n_draws):
    sample_posterior(X, y, n_draws=n_draws, n_warmup=1, n_chains=4, random_state=0, n_jobs=1)
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

print(peak(20), peak(400), Plan(4, 1, 400, 1, False).bytes(350))
"""


@on_linux
def test_peak_memory() -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(chains.__file__).parents[1])}
    answer = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, env=environment)
    assert answer.returncode == 0, answer.stderr
    before, after, size = map(int, answer.stdout.split())
    assert after - before < 2 * size + diagnostics.BLOCK


# --- draws that are too few -----------------------------------------------------------------------


def test_a_warning_of_draws_that_are_too_few() -> None:
    frame = pd.DataFrame(WIDE, columns=[f"gene {j}" for j in range(16)])
    with pytest.warns(UserWarning, match="R-hat") as caught:
        found = sample_posterior(frame, case(x=WIDE)["y"], n_draws=50, n_warmup=20, random_state=0)
    assert len(caught) == 1
    assert caught[0].filename == __file__
    message, rhat = str(caught[0].message), found.rhat()
    named = re.findall(r"(gene \d+) (\d\.\d{3})", message)
    order = np.argsort(-rhat)[:5]
    assert [name for name, _ in named] == [f"gene {j}" for j in order]
    assert [value for _, value in named] == [f"{rhat[j]:.3f}" for j in order]
    bad = int((rhat >= 1.01).sum())
    assert f"for {bad} of 16 coefficients" in message
    assert f"and {bad - 5} more" in message
    ask = int(re.findall(r"n_draws=(\d+)", message)[0])
    assert ask > 50


def test_one_draw_is_too_few_to_say() -> None:
    with pytest.warns(UserWarning, match=r"for 5 of 5 coefficients .*n_draws=\d+"):
        sample_posterior(**case(), n_draws=1, n_chains=1, random_state=0)


def test_a_good_run_does_not_warn() -> None:
    """Warnings are errors here; the constant column stands still, and rightly so."""
    found = sample_posterior(**case(x=FLAT), n_draws=1500, random_state=0)
    assert (found.rhat() < 1.01).all()


# --- what the draws say ---------------------------------------------------------------------------


@cache
def long(which: str = "gaussian") -> Posterior:
    """Return a run that is long enough for its numbers to mean something."""
    return run(which, n_draws=400, n_warmup=200)


def test_shapes_and_a_name() -> None:
    found = long("student_t")
    assert found.coef.shape == (4, 400, 5)
    for name in ("intercept", "tau2", "sigma2", "nuisance"):
        assert found.draws(name).shape == (4, 400)
        assert (found.draws(name) > 0.0).all() or name == "intercept"
    assert found.acceptance.shape == (4,)
    assert repr(found) == "Posterior(4 chains of 400 draws, 5 coefficients, StudentT(df='estimate', df_=4.0))"
    assert ((found.shrinkage > 0.0) & (found.shrinkage < 1.0)).all()


def test_acceptance_is_a_share() -> None:
    poisson = long("poisson")
    assert ((poisson.acceptance > 0.2) & (poisson.acceptance <= 1.0)).all()
    assert (long("gaussian").acceptance == 0.0).all()


@pytest.mark.parametrize("of", ["coef", "intercept", "tau2", "sigma2", "nuisance"])
def test_summaries_are_those_of_numpy(of: str) -> None:
    found = long("student_t")
    flat = found.draws(of).reshape(1600, -1).squeeze()
    np.testing.assert_allclose(found.mean(of), flat.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.median(of), np.median(flat, axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.std(of), flat.std(axis=0), rtol=1e-12)
    ends = np.moveaxis(np.quantile(flat, [0.05, 0.95], axis=0), 0, -1)
    np.testing.assert_allclose(found.interval(0.9, of=of), ends, rtol=1e-12)
    shortest, ordered = found.interval(0.9, "highest_density", of), np.sort(flat, axis=0)
    assert shortest.shape == ends.shape
    np.testing.assert_allclose(
        shortest[..., 1] - shortest[..., 0], (ordered[1440:] - ordered[:160]).min(axis=0), rtol=1e-12
    )
    np.testing.assert_array_equal(found.rhat(of), diagnostics.rhat(found.draws(of)))
    np.testing.assert_array_equal(found.ess("bulk", of), diagnostics.ess_bulk(found.draws(of)))
    np.testing.assert_array_equal(found.ess("tail", of), diagnostics.ess_tail(found.draws(of)))
    np.testing.assert_array_equal(found.mcse(of), diagnostics.mcse_mean(found.draws(of)))


def test_the_probability_of_the_sign() -> None:
    found = long()
    flat = found.coef.reshape(-1, 5)
    np.testing.assert_allclose(
        found.sign_probability(), np.maximum((flat > 0).mean(axis=0), (flat < 0).mean(axis=0)), rtol=1e-12
    )
    assert found.sign_probability()[0] > 0.99


def test_the_table() -> None:
    frame = pd.DataFrame(FLAT, columns=list("abcdef"))
    found = run({**case(x=FLAT), "X": frame}, n_draws=200)
    table = found.summary(level=0.8, kind="highest_density")
    assert found.feature_names == tuple("abcdef")
    assert table["feature"].tolist() == list("abcdef")
    interval = found.interval(0.8, "highest_density")
    expected = {
        "mode": found.mode.coef,
        "mean": found.mean(),
        "median": found.median(),
        "std": found.std(),
        "lower": interval[:, 0],
        "upper": interval[:, 1],
        "sign_probability": found.sign_probability(),
        "shrinkage": found.shrinkage,
        "mcse": found.mcse(),
        "ess_bulk": found.ess("bulk"),
        "ess_tail": found.ess("tail"),
        "rhat": found.rhat(),
    }
    assert table.columns.tolist() == ["feature", *expected]
    for name, values in expected.items():
        np.testing.assert_array_equal(table[name], values, err_msg=name)


def test_names_of_columns() -> None:
    assert run("gaussian").feature_names == ("x0", "x1", "x2", "x3", "x4")
    frame = pd.DataFrame(TALL, columns=["b", "a", "é", "1", "x y"])
    assert run({**case(), "X": frame}).feature_names == ("b", "a", "é", "1", "x y")
    assert_same_draws(run({**case(), "X": frame}), run("gaussian"))


@pytest.mark.parametrize("family", FAMILIES)
def test_constant_columns_are_exactly_zero(family: str) -> None:
    found, without = run(case(family, FLAT), store_lambda2=True), run(family, store_lambda2=True)
    assert (found.coef[:, :, 2] == 0.0).all()
    assert (found.lambda2[:, :, 2] == 0.0).all()
    assert found.shrinkage[2] == 1.0
    np.testing.assert_array_equal(np.delete(found.coef, 2, axis=2), without.coef)
    np.testing.assert_array_equal(found.intercept, without.intercept)


def test_the_mode_is_that_of_the_estimator() -> None:
    found = run("gaussian", tau_max=1.0)
    model = HorseshoeRegressor().fit(TALL, CASES["gaussian"]["y"])
    np.testing.assert_array_equal(found.mode.coef, model.coef_)


# --- new rows -------------------------------------------------------------------------------------

NEW = np.random.default_rng(2).standard_normal((7, 5))
NEW_OFFSET = np.linspace(-0.5, 0.5, 7)
MEANS = {
    "binomial": lambda eta: 1.0 / (1.0 + np.exp(-eta)),
    "negative_binomial": np.exp,
    "poisson": np.exp,
}
VARIANCES = {
    "gaussian": lambda mean, sigma2, extra: sigma2,
    "student_t": lambda mean, sigma2, extra: sigma2 * extra / (extra - 2.0),
    "laplace": lambda mean, sigma2, extra: 2.0 * sigma2,
    "binomial": lambda mean, sigma2, extra: mean * (1.0 - mean),
    "negative_binomial": lambda mean, sigma2, extra: mean + mean**2 / extra,
    "poisson": lambda mean, sigma2, extra: mean,
}


def flat_draws(found: Posterior) -> tuple[Any, Any, Any, Any]:
    """Return the coefficients, and the other draws as columns."""
    coef = found.coef.reshape(-1, found.coef.shape[2])
    extra = found.intercept if found.nuisance is None else found.nuisance
    return coef, found.intercept.reshape(-1, 1), found.sigma2.reshape(-1, 1), extra.reshape(-1, 1)


@pytest.mark.parametrize("family", FAMILIES)
def test_predictions(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = long(family)
    coef, level, sigma2, extra = flat_draws(found)
    eta = coef @ NEW.T + level + NEW_OFFSET
    mean = MEANS.get(family, lambda eta: eta)(eta)
    variance = VARIANCES[family](mean, sigma2, extra) + 0.0 * mean
    np.testing.assert_allclose(found.predict(NEW, offset=NEW_OFFSET), mean.mean(axis=0), rtol=1e-10)
    expected = np.sqrt(variance.mean(axis=0) + mean.var(axis=0))
    for size in (posterior_module.CHUNK_BYTES, 8 * 1600 * 3, 1):
        monkeypatch.setattr(posterior_module, "CHUNK_BYTES", size)
        first, std = found.predict(NEW, return_std=True, offset=NEW_OFFSET)
        np.testing.assert_allclose(first, mean.mean(axis=0), rtol=1e-10)
        np.testing.assert_allclose(std, expected, rtol=1e-10)
        credible = found.predict_interval(NEW, 0.8, kind="credible", offset=NEW_OFFSET)
        np.testing.assert_allclose(credible, np.quantile(mean, [0.1, 0.9], axis=0).T, rtol=1e-10)


@pytest.mark.parametrize("family", FAMILIES)
def test_predictive_intervals_are_wider_than_credible_ones(family: str) -> None:
    found = long(family)
    new, mean = found.predict_interval(NEW), found.predict_interval(NEW, kind="credible")
    assert new.shape == mean.shape == (7, 2)
    if family == "binomial":
        np.testing.assert_array_equal(new, mean)
        return
    assert (np.diff(new) > np.diff(mean)).all()
    assert (np.diff(found.predict_interval(NEW, level=0.99)) > np.diff(new)).all()
    np.testing.assert_array_equal(new, found.predict_interval(NEW, random_state=0))
    if family in ("poisson", "negative_binomial"):
        assert (new >= 0.0).all()


TRUTH = {
    "gaussian": lambda eta: stats.norm(eta),
    "student_t": lambda eta: stats.t(3, eta),
    "negative_binomial": lambda eta: stats.nbinom(2, 2.0 / (2.0 + np.exp(1.0 + 0.5 * eta))),
    "poisson": lambda eta: stats.poisson(np.exp(0.5 + 0.4 * eta)),
}
"""What `simulate.DRAWS` draws from."""


@pytest.mark.parametrize("family", TRUTH)
def test_coverage_of_new_responses(family: str) -> None:
    """About that of the intervals of who knows the truth, which for whole numbers is above the level."""
    rng = np.random.default_rng(21)
    X, new = rng.standard_normal((150, 6)), rng.standard_normal((1500, 6))
    y, y_new = (DRAWS[family](rng, rows[:, 0] - rows[:, 1]) for rows in (X, new))
    found = run({"X": X, "y": y, "family": family}, n_draws=250, n_warmup=150)
    truth = TRUTH[family](new[:, 0] - new[:, 1])
    ends = {"found": found.predict_interval(new, level=0.9).T, "known": (truth.ppf(0.05), truth.ppf(0.95))}
    covered = {name: ((low <= y_new) & (y_new <= high)).mean() for name, (low, high) in ends.items()}
    assert abs(covered["found"] - covered["known"]) < 0.04, covered


@pytest.mark.parametrize("family", FAMILIES)
def test_simulated_responses(family: str) -> None:
    found = long(family)
    again = found.simulate(NEW, n_draws=1600, offset=NEW_OFFSET)
    assert again.shape == (1600, 7)
    mean, std = found.predict(NEW, return_std=True, offset=NEW_OFFSET)
    if family not in ("student_t", "negative_binomial"):  # the tails of these are too heavy for the next line
        np.testing.assert_array_less(np.abs(again.mean(axis=0) - mean), 5.0 * std / np.sqrt(1600))
    if family == "binomial":
        assert set(np.unique(again)) == {0.0, 1.0}
    if family in ("poisson", "negative_binomial"):
        assert (again >= 0.0).all()
        assert (again == np.round(again)).all()
    np.testing.assert_array_equal(again, found.simulate(NEW, n_draws=1600, offset=NEW_OFFSET, random_state=0))
    other = found.simulate(NEW, n_draws=1600, offset=NEW_OFFSET, random_state=1)
    assert not np.array_equal(again, other)
    assert found.simulate().shape == (100, 24)
    assert found.simulate(n_draws=3).shape == (3, 24)


def densities(found: Posterior, y: Any, eta: Any) -> Any:
    """Return log p(y) by SciPy, one line for each draw."""
    _, _, sigma2, extra = flat_draws(found)
    sigma = np.sqrt(sigma2)
    return {
        "Gaussian": lambda: stats.norm.logpdf(y, eta, sigma),
        "StudentT": lambda: stats.t.logpdf(y, extra, eta, sigma),
        "Laplace": lambda: stats.laplace.logpdf(y, eta, sigma),
        "Binomial": lambda: stats.bernoulli.logpmf(y, 1.0 / (1.0 + np.exp(-eta))),
        "NegativeBinomial": lambda: stats.nbinom.logpmf(y, extra, extra / (extra + np.exp(eta))),
        "Poisson": lambda: stats.poisson.logpmf(y, np.exp(eta)),
    }[type(found.family).__name__]()


@pytest.mark.parametrize("family", FAMILIES)
def test_the_log_likelihood_is_that_of_scipy(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = long(family)
    coef, level, _, _ = flat_draws(found)
    y = CASES[family]["y"]
    own = densities(found, y, coef @ TALL.T + level)
    for size in (posterior_module.CHUNK_BYTES, 8 * 1600 * 15):
        monkeypatch.setattr(posterior_module, "CHUNK_BYTES", size)
        assert found.log_likelihood().shape == (4, 400, 24)
        np.testing.assert_allclose(found.log_likelihood().reshape(1600, 24), own, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(found.log_likelihood(TALL, y), found.log_likelihood())
    new = densities(found, y[:7], coef @ NEW.T + level + NEW_OFFSET)
    got = found.log_likelihood(NEW, y[:7], offset=NEW_OFFSET)
    np.testing.assert_allclose(got.reshape(1600, 7), new, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("which", ["weights", "weights, poisson", "weights, negative_binomial", "trials"])
def test_the_log_likelihood_with_weights_and_an_offset(which: str) -> None:
    found, given = run(which), CASES[which]
    coef, level, _, _ = flat_draws(found)
    rows = given["sample_weight"] > 0.0
    weights, offset = given["sample_weight"][rows], given.get("offset", np.zeros(24))[rows]
    own = weights * densities(found, given["y"][rows], coef @ TALL[rows].T + level + offset)
    got = found.log_likelihood().reshape(len(own), -1)
    np.testing.assert_allclose(got, own, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("which", ["whole weights, student_t", "whole weights, laplace"])
def test_whole_weights_are_rows_that_are_repeated(which: str) -> None:
    given = CASES[which]
    again = np.repeat(np.arange(24), WHOLE.astype(int))
    repeated = {**given, "X": TALL[again], "y": given["y"][again], "sample_weight": None}
    if "offset" in given:
        repeated["offset"] = given["offset"][again]
    one, other = run(which, n_draws=50), run(repeated, n_draws=50)
    np.testing.assert_allclose(one.coef, other.coef, rtol=1e-6, atol=1e-8)
    coef, level, _, _ = flat_draws(one)
    offset = given.get("offset", np.zeros(24))[again]
    own = densities(one, given["y"][again], coef @ TALL[again].T + level + offset)
    np.testing.assert_allclose(one.log_likelihood().reshape(len(own), -1), own, rtol=1e-9, atol=1e-9)
    assert one.simulate(n_draws=3).shape == (3, again.size)


def test_an_offset_for_the_data_of_the_posterior_is_not_ignored() -> None:
    """The data have their own: to ask for another one without X would have no effect."""
    for method in (long().log_likelihood, long().simulate):
        with pytest.raises(ValueError, match="offset"):
            method(offset=np.ones(24))


# --- ArviZ ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["constant column", "student_t", "weights, poisson"])
def test_arviz(which: str) -> None:
    pytest.importorskip("arviz_base")
    found = long(which)
    tree = found.to_arviz()
    assert {"posterior", "observed_data", "log_likelihood"} <= set(tree.children)
    for name in QUANTITIES:
        draws = getattr(found, name)
        assert (name in tree["posterior"]) == (draws is not None)
        if draws is not None:
            assert tree["posterior"][name].dims[:2] == ("chain", "draw")
            np.testing.assert_array_equal(tree["posterior"][name], draws)
    assert tree["posterior"]["coef"].coords["feature"].values.tolist() == list(found.feature_names)
    np.testing.assert_array_equal(tree["log_likelihood"]["y"], found.log_likelihood())
    np.testing.assert_array_equal(tree["observed_data"]["y"], found.rows.y)
    assert "log_likelihood" not in found.to_arviz(log_likelihood=False).children


def test_loo() -> None:
    pytest.importorskip("arviz_base")
    arviz_stats = pytest.importorskip("arviz_stats")
    with_all, with_less = long(), run(case(), X=TALL[:, 2:], n_draws=400, n_warmup=200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of ArviZ
        good, bad = (arviz_stats.loo(found.to_arviz()) for found in (with_all, with_less))
    assert good.n_data_points == 24
    assert np.isfinite([good.elpd, bad.elpd]).all()
    assert good.elpd > bad.elpd  # the columns that matter are gone


# --- two classes ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "labels", [("no", "yes"), (False, True), ("b", "a")], ids=["words", "truth", "the other way round"]
)
@pytest.mark.parametrize("make", [np.array, list, pd.Series, lambda y: np.array(y, dtype=object)])
def test_two_labels(labels: tuple[Any, Any], make: Any) -> None:
    y = CASES["binomial"]["y"].astype(int)
    found = run(case("binomial"), y=make([labels[code] for code in y]))
    assert list(found.classes) == sorted(labels)
    same = y if sorted(labels) == list(labels) else 1 - y
    assert_same_draws(found, run(case("binomial"), y=same.astype(float)))
    np.testing.assert_array_equal(found.rows.y, same)
    assert run("binomial").classes is None


def test_the_log_likelihood_of_new_labels() -> None:
    codes = CASES["binomial"]["y"].astype(int)
    words = np.array(["no", "yes"])[codes]
    found = run(case("binomial"), y=words)
    np.testing.assert_array_equal(found.log_likelihood(TALL, words), found.log_likelihood())


# --- other units ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "which", ["gaussian", "gaussian, p > n", "student_t", "laplace", "prior lasso", "prior normal_gamma"]
)
def test_other_units_of_the_response(which: str) -> None:
    given, shift, unit = CASES[which], 17.3, 1234.5
    one = run(which, n_draws=40, store_lambda2=True)
    other = run({**given, "y": shift + unit * given["y"]}, n_draws=40, store_lambda2=True)
    size = unit * np.abs(one.coef).max()
    np.testing.assert_allclose(other.coef, unit * one.coef, rtol=1e-6, atol=1e-6 * size)
    np.testing.assert_allclose(other.intercept, shift + unit * one.intercept, rtol=1e-6, atol=1e-6 * size)
    np.testing.assert_allclose(other.sigma2, unit**2 * one.sigma2, rtol=1e-6)
    for name in ("tau2", "lambda2"):
        np.testing.assert_allclose(other.draws(name), one.draws(name), rtol=1e-6)


@pytest.mark.parametrize("which", [*FAMILIES, "gaussian, p > n", "poisson, p > n", "weights", "tau"])
def test_other_units_of_the_columns(which: str) -> None:
    given = CASES[which]
    p = given["X"].shape[1]
    unit, shift = 10.0 ** np.linspace(-5, 5, p), np.linspace(-3.0, 3.0, p)
    unit[::2] *= -1.0
    signs = np.sign(unit)
    one = run({**given, "X": given["X"] * signs}, n_draws=40)
    other = run({**given, "X": (given["X"] + shift) * unit}, n_draws=40)
    np.testing.assert_allclose(other.coef * np.abs(unit), one.coef, rtol=1e-6, atol=1e-6)
    level = one.intercept - one.coef @ (signs * shift)
    np.testing.assert_allclose(other.intercept, level, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(other.tau2, one.tau2, rtol=1e-6)


def test_integers_and_lists_are_as_good_as_floats() -> None:
    x = np.round(10.0 * TALL)
    y = np.round(10.0 * CASES["gaussian"]["y"])
    floats = run({"X": x, "y": y})
    assert_same_draws(run({"X": x.astype(int), "y": y.astype(int)}), floats)
    assert_same_draws(run({"X": x.tolist(), "y": y.tolist()}), floats)
    assert_same_draws(run({"X": np.asfortranarray(x), "y": pd.Series(y)}), floats)


def test_the_data_are_not_changed() -> None:
    for family in FAMILIES:
        x, y = TALL.copy(), CASES[family]["y"].copy()
        x.flags.writeable = y.flags.writeable = False
        run({"X": x, "y": y, "family": family}, sample_weight=WHOLE, offset=OFFSET)
        np.testing.assert_array_equal(x, TALL)
        np.testing.assert_array_equal(y, CASES[family]["y"])


def test_families_can_be_given_as_objects() -> None:
    assert_same_draws(run(case("laplace"), family=Laplace()), run("laplace"))
    assert_same_draws(run(case("laplace"), family=Laplace), run("laplace"))
