"""A fit that is killed or interrupted goes on to the same answer, bit for bit."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fit_checkpoints import CASES, NARROW, WIDE, At, assert_same_fit, interrupt, noisy
from horseshoe import AdaptiveRegressor, HorseshoeClassifier, HorseshoeRegressor
from horseshoe.data.chunked import Chunked
from horseshoe.data.sources.parts import ArrayParts
from horseshoe.families import Poisson
from horseshoe.store import checkpoint as store
from posterior_runs import SOURCE, files_in, on_linux

Y = noisy(WIDE)


@pytest.fixture(scope="module")
def dead(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the checkpoints of processes that were killed in the middle of their fits."""
    folder, here = tmp_path_factory.mktemp("dead"), Path(__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([SOURCE, str(here)])}
    program = [sys.executable, str(here / "fit_checkpoints.py"), str(folder)]
    done = subprocess.run(program, capture_output=True, text=True, env=environment, check=True, timeout=300)
    assert done.stdout.splitlines() == [f"{name}: -9" for name in CASES], done.stderr
    return folder


@on_linux
@pytest.mark.parametrize("name", CASES)
def test_a_killed_fit_goes_on_to_the_same_answer(name: str, dead: Path) -> None:
    case, path = CASES[name], dead / f"{list(CASES).index(name)}.npz"
    whole, rest = At(np.inf, interrupt), At(np.inf, interrupt)
    wanted = case.model(callback=whole).fit(case.X, case.y, **case.fit)
    assert path.exists()
    found = case.model(callback=rest).fit(case.X, case.y, **case.fit, checkpoint=path)
    assert_same_fit(found, wanted)
    if not name.startswith("average"):  # components that are done are told again
        assert rest.news < whole.news or list(CASES).index(name) % 4 == 3  # killed early, while writing
    assert not [one for one in files_in(dead) if one.startswith(f"{path.name}.")]


@pytest.mark.parametrize("name", ["dense", "logistic", "one against the rest", "multinomial", "average"])
def test_ctrl_c_leaves_a_checkpoint(name: str, tmp_path: Path) -> None:
    case, path = CASES[name], tmp_path / "fit.npz"
    with pytest.raises(KeyboardInterrupt):
        case.model(callback=At(case.news, interrupt)).fit(case.X, case.y, **case.fit, checkpoint=path)
    assert files_in(tmp_path) == ["fit.npz"]
    rest = At(np.inf, interrupt)
    found = case.model(callback=rest).fit(case.X, case.y, **case.fit, checkpoint=path)
    assert_same_fit(found, case.model().fit(case.X, case.y, **case.fit))


@pytest.mark.parametrize("name", ["dense", "mixed", "logistic", "conjugate gradient", "survival"])
def test_interrupted_again_and_again(name: str, tmp_path: Path) -> None:
    case, path, wanted, breaks = CASES[name], tmp_path / "fit.npz", None, 0
    while wanted is None:
        callback = At(case.news // 2 + breaks, interrupt)
        try:
            wanted = case.model(callback=callback).fit(case.X, case.y, **case.fit, checkpoint=path)
        except KeyboardInterrupt:
            breaks += 1
    assert breaks > 1
    assert_same_fit(wanted, case.model().fit(case.X, case.y, **case.fit))


def test_the_trace_is_that_of_the_whole_fit(tmp_path: Path) -> None:
    path, wanted = tmp_path / "fit", HorseshoeRegressor().fit(WIDE, Y)
    with pytest.raises(KeyboardInterrupt):
        HorseshoeRegressor(callback=At(9, interrupt)).fit(WIDE, Y, checkpoint=path)
    found = HorseshoeRegressor().fit(WIDE, Y, checkpoint=path)
    assert [line[1:] for line in found.trace_] == [line[1:] for line in wanted.trace_]
    changes = [[line.change for line in fit.trace_] for fit in (found, wanted)]
    assert np.allclose(*changes, rtol=1e-12, atol=0.0)  # a sum of BLAS whose last bit hangs on where it lies


def test_a_fit_that_is_done_is_not_done_again(tmp_path: Path) -> None:
    path = tmp_path / "fit"
    wanted = HorseshoeRegressor().fit(WIDE, Y, checkpoint=path)
    told = At(np.inf, interrupt)
    found = HorseshoeRegressor(callback=told).fit(WIDE, Y, checkpoint=str(path))
    assert_same_fit(found, wanted)
    assert told.news < 0.5 * wanted.n_iter_


def test_a_fit_that_the_callback_stopped_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "fit"
    stopped = HorseshoeRegressor(callback=lambda line: line.n_active > 60).fit(WIDE, Y, checkpoint=path)
    assert stopped.status_.name == "STOPPED"
    assert_same_fit(HorseshoeRegressor().fit(WIDE, Y, checkpoint=path), HorseshoeRegressor().fit(WIDE, Y))


def test_a_warm_start_is_part_of_the_fit(tmp_path: Path) -> None:
    path, earlier = tmp_path / "fit", HorseshoeRegressor().fit(WIDE, np.roll(Y, 1))
    HorseshoeRegressor(start=earlier).fit(WIDE, Y, checkpoint=path)
    with pytest.raises(ValueError, match=r"another run \(start is"):
        HorseshoeRegressor().fit(WIDE, Y, checkpoint=path)


def test_random_numbers_without_a_seed_go_on(tmp_path: Path) -> None:
    """A Generator of the user's is set to where it was."""
    path, options = tmp_path / "fit", {"expectation": "stochastic"}
    X, y = NARROW, NARROW[:, 0] + np.sin(np.arange(90.0))
    wanted = HorseshoeRegressor(random_state=np.random.default_rng(9), **options).fit(X, y)
    first = HorseshoeRegressor(random_state=np.random.default_rng(9), callback=At(30, interrupt), **options)
    with pytest.raises(KeyboardInterrupt):
        first.fit(X, y, checkpoint=path)
    found = HorseshoeRegressor(random_state=np.random.default_rng(123), **options).fit(X, y, checkpoint=path)
    assert_same_fit(found, wanted)


def test_nothing_is_written_before_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And time changes no answer."""
    path, times = tmp_path / "fit", []
    write = store.write_file
    monkeypatch.setattr(store, "write_file", lambda *given: (times.append(1), write(*given))[1])
    slow = HorseshoeRegressor().fit(WIDE, Y, checkpoint=path)
    assert len(times) == 1  # at the end
    monkeypatch.setattr(store, "WRITE_INTERVAL", 0.0)
    monkeypatch.setattr(store, "WRITE_SHARE", np.inf)
    often = HorseshoeRegressor().fit(WIDE, Y, checkpoint=tmp_path / "other")
    assert len(times) > 10
    assert_same_fit(often, slow)


class Odd(Poisson):
    """A family of a user's own, whose estimate is no data."""

    def update(self, y: Any, eta: Any, sigma2: float, weights: Any) -> Any:
        out = Odd()
        object.__setattr__(out, "anything", object())
        return out


def test_a_state_that_cannot_be_kept_is_warned_of_and_the_fit_goes_on(tmp_path: Path) -> None:
    y, path = np.random.default_rng(0).poisson(np.exp(0.5 * NARROW[:, 0])), tmp_path / "fit"
    with pytest.warns(UserWarning, match="the checkpoint could not be made.*the fit goes on"):
        found = HorseshoeRegressor(family=Odd()).fit(NARROW, y, checkpoint=path)
    assert np.array_equal(found.coef_, HorseshoeRegressor(family=Odd()).fit(NARROW, y).coef_)
    assert not path.exists()


def test_a_full_disk_is_warned_of_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "WRITE_INTERVAL", 0.0)

    def full(file: Any, **arrays: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.warns(UserWarning, match="No space left on device.*the fit goes on") as caught:
        found = HorseshoeRegressor().fit(WIDE, Y, checkpoint=tmp_path / "fit")
    assert len(caught) == 1
    assert np.array_equal(found.coef_, HorseshoeRegressor().fit(WIDE, Y).coef_)
    assert files_in(tmp_path) == []


def test_a_pass_over_many_rows_is_not_done_again(tmp_path: Path) -> None:
    case, path = CASES["rows in parts"], tmp_path / "fit"
    wanted = HorseshoeRegressor().fit(case.X, case.y, checkpoint=path)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Chunked, "cross_products", None)
        assert_same_fit(HorseshoeRegressor().fit(case.X, case.y, checkpoint=path), wanted)
    assert_same_fit(wanted, HorseshoeRegressor().fit(case.X, case.y))


def test_other_parts_are_refused(tmp_path: Path) -> None:
    """The first and the last part are looked at; of others means and spreads, if a pass finds them."""
    array = CASES["rows in parts"].X._array
    for y in (CASES["rows in parts"].y, CASES["logistic, rows in parts"].y):
        make = HorseshoeRegressor if y.dtype.kind == "f" else HorseshoeClassifier
        path = tmp_path / make.__name__
        make().fit(ArrayParts(array, axis=0, step=700), y, checkpoint=path)
        for row in (3, 5199, *([2000] if make is HorseshoeClassifier else [])):
            other = array.copy()
            other[row, 2] += 1e-6
            with pytest.raises(ValueError, match="other data"):
                make().fit(ArrayParts(other, axis=0, step=700), y, checkpoint=path)


def test_a_fit_without_a_checkpoint_makes_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        HorseshoeClassifier().fit(WIDE, Y > 0.0)
        AdaptiveRegressor(cv=3).fit(NARROW, NARROW[:, 0])
    assert files_in(tmp_path) == []
