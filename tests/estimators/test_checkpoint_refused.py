"""Checkpoints of other fits, and files that are none, are refused before the fit, and left alone."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from fit_checkpoints import CASES, NARROW, At, interrupt, noisy
from horseshoe import AdaptiveRegressor, HorseshoeClassifier, HorseshoeRegressor, sample_posterior
from horseshoe.em.checkpoint import CLASSES, FADING
from horseshoe.store import checkpoint as store
from horseshoe.store.checkpoint import CheckpointFile
from mutations.checkpoints import mutated_checkpoint
from mutations.files import opened
from posterior_runs import files_in

Y = noisy(NARROW)
AGAIN = "it was left as it is; choose another path, or remove the file to start anew"


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """Return the checkpoint of a fit that was interrupted."""
    path = tmp_path / "fit.npz"
    with pytest.raises(KeyboardInterrupt):
        HorseshoeRegressor(callback=At(5, interrupt)).fit(NARROW, Y, checkpoint=path)
    return path


def assert_refused(path: Path, match: str, X: Any = NARROW, y: Any = Y, **options: Any) -> None:
    before, known = (
        path.read_bytes(),
        {k: options.pop(k) for k in ("sample_weight", "offset") if k in options},
    )
    told = At(1, lambda: pytest.fail("the fit began"))
    with pytest.raises(ValueError, match=match) as caught:
        HorseshoeRegressor(callback=told, **options).fit(X, y, checkpoint=path, **known)
    assert AGAIN in str(caught.value)
    assert str(path) in str(caught.value)
    assert path.read_bytes() == before
    assert files_in(path.parent) == [path.name]


OTHER_DATA: dict[str, dict[str, Any]] = {
    "X": {"X": NARROW + np.eye(90, 30) * 1e-12},
    "y": {"y": Y + np.eye(90)[3] * 1e-12},
    "fewer rows": {"X": NARROW[1:], "y": Y[1:]},
    "fewer columns": {"X": NARROW[:, 1:]},
    "sample_weight": {"sample_weight": np.arange(90) % 2 + 1.0},
    "offset": {"offset": np.linspace(0.0, 1.0, 90)},
}
OTHER_OPTIONS: dict[str, Any] = {
    "prior": "lasso",
    "tau": 0.5,
    "lambda_power": 1.5,
    "sigma2": 2.0,
    "expectation": "approximate",
    "fit_intercept": False,
    "standardize": False,
    "tol": 1e-6,
    "max_iter": 77,
    "zero_threshold": 0.0,
    "slab": 3.0,
    "start": "variance",
}


@pytest.mark.parametrize("which", OTHER_DATA)
def test_other_data(which: str, good: Path) -> None:
    assert_refused(good, "other data", **OTHER_DATA[which])


@pytest.mark.parametrize("name", OTHER_OPTIONS)
def test_other_options_are_named(name: str, good: Path) -> None:
    assert_refused(good, rf"another run \(.*{name} is .* there, .* here", **{name: OTHER_OPTIONS[name]})


@pytest.mark.parametrize("name", ["feature_groups", "unpenalized", "prior_scale"])
def test_other_structure(name: str, good: Path) -> None:
    value: Any = {
        "feature_groups": np.arange(30) // 2,
        "unpenalized": [1],
        "prior_scale": np.linspace(1.0, 2.0, 30),
    }[name]
    assert_refused(good, "another run|other data", **{name: value})


def test_another_version_and_another_format(good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "__version__", "97.1")
    assert_refused(good, "written by horseshoe .*, this is 97.1")
    monkeypatch.undo()
    monkeypatch.setattr(store, "FORMAT", 98)
    assert_refused(good, "format 98")


def test_another_family(tmp_path: Path) -> None:
    path, counts = tmp_path / "fit", np.arange(90) % 4
    HorseshoeRegressor(family="poisson").fit(NARROW, counts, checkpoint=path)
    with pytest.raises(ValueError, match=r"family is Poisson.* there, NegativeBinomial.* here"):
        HorseshoeRegressor(family="negative_binomial").fit(NARROW, counts, checkpoint=path)


def test_an_average_of_other_components_or_folds(tmp_path: Path) -> None:
    path = tmp_path / "fit"
    AdaptiveRegressor(cv=3, components=["null", "ridge"]).fit(NARROW, Y, checkpoint=path)
    with pytest.raises(ValueError, match=r"components is .*null"):
        AdaptiveRegressor(cv=3, components=["null"]).fit(NARROW, Y, checkpoint=path)
    with pytest.raises(ValueError, match="other data"):
        AdaptiveRegressor(cv=4, components=["null", "ridge"]).fit(NARROW, Y, checkpoint=path)
    with pytest.raises(ValueError, match="belongs to"):
        HorseshoeRegressor().fit(NARROW, Y, checkpoint=path)


def test_classes_in_another_order(tmp_path: Path) -> None:
    case, path = CASES["one against the rest"], tmp_path / "fit"
    HorseshoeClassifier().fit(case.X, case.y, checkpoint=path)
    with pytest.raises(ValueError, match="other data"):
        HorseshoeClassifier().fit(case.X, 2 - case.y, checkpoint=path)


def test_the_checkpoint_of_a_sampler(tmp_path: Path) -> None:
    path = tmp_path / "run"
    sample_posterior(NARROW[:, :3], Y, n_draws=1500, n_chains=2, random_state=0, checkpoint=path)
    with pytest.raises(ValueError, match="belongs to another run"):
        HorseshoeRegressor().fit(NARROW[:, :3], Y, checkpoint=path)


def test_the_checkpoint_of_a_fit_for_the_sampler(good: Path) -> None:
    with pytest.raises(ValueError, match="belongs to another run"):
        sample_posterior(NARROW, Y, random_state=0, checkpoint=good)


# --- paths ------------------------------------------------------------------------------------------


def never(_: Any) -> None:
    pytest.fail("the fit began")


@pytest.mark.parametrize("value", [3, 1.5, [], True])
def test_what_is_no_path(value: Any) -> None:
    with pytest.raises(TypeError, match=r"checkpoint=.* must be the path of a file"):
        HorseshoeRegressor(callback=never).fit(NARROW, Y, checkpoint=value)


def test_a_folder(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError, match="is a folder: give a file in it"):
        HorseshoeRegressor(callback=never).fit(NARROW, Y, checkpoint=tmp_path)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such folder: create it"):
        HorseshoeRegressor(callback=never).fit(NARROW, Y, checkpoint=tmp_path / "not" / "there")


def test_a_pipe(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="no ordinary file"):
        HorseshoeRegressor(callback=never).fit(NARROW, Y, checkpoint=tmp_path / "pipe")


def test_where_nothing_can_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(self: Path, **_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "touch", denied)  # folders of others can be written to by root
    with pytest.raises(PermissionError, match=r"cannot be written .Permission denied.: choose another"):
        HorseshoeRegressor(callback=never).fit(NARROW, Y, checkpoint=tmp_path / "fit")


# --- files that were changed --------------------------------------------------------------------------


class Unknown(NamedTuple):
    """A class that no checkpoint has."""

    number: int


def tree_of(path: Path) -> Any:
    sections = CheckpointFile(path, "the fit")._sections
    return {name: (*section.encoded(), section.load(*CLASSES, *FADING)) for name, section in sections.items()}


def assert_same_tree(found: Any, wanted: Any) -> None:
    assert type(found) is type(wanted)
    if isinstance(wanted, dict):
        assert found.keys() == wanted.keys()
        for name, value in wanted.items():
            assert_same_tree(found[name], value)
    elif isinstance(wanted, tuple):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            assert_same_tree(one, other)
    else:
        assert np.array_equal(found, wanted, equal_nan=isinstance(wanted, float))


@pytest.mark.parametrize(("count", "seed"), [(150, 1), pytest.param(1000, 2, marks=pytest.mark.slow)])
def test_a_changed_checkpoint_is_refused_or_is_what_was_written(count: int, seed: int, good: Path) -> None:
    content, harm, rng = good.read_bytes(), good.parent / "harm", np.random.default_rng(seed)
    written, refused = tree_of(good), Counter[str]()
    for _ in range(count):
        change, changed = mutated_checkpoint(content, rng, harm)
        good.write_bytes(changed)
        found, why = opened(lambda: tree_of(good))
        if why is None:
            assert_same_tree(found, written)
        else:
            assert str(good) in why, change
            assert "remove the file to start anew" in why, change
            refused[change] += 1
        assert good.read_bytes() == changed, change
        assert not harm.exists(), change
    assert len(refused) > 12
    assert refused.total() > 0.8 * count  # the others changed a date in the archive, or nothing


@pytest.mark.parametrize("end", [0, 1, 100, 5000, -1])
def test_a_truncated_file(end: int, good: Path) -> None:
    good.write_bytes(good.read_bytes()[:end])
    assert_refused(good, "is not a checkpoint of horseshoe")


def test_a_state_that_is_none(good: Path) -> None:
    """With a digest that is right: written by a program, not by a fit."""
    file = CheckpointFile(good, "the fit")
    state = file.section("round 0/").load(*CLASSES, *FADING)
    file.section("round 0/").save({**state, "state": Unknown(1)})
    file.write()
    assert_refused(good, "is not a checkpoint of horseshoe")
