"""Short runs of the sampler on every family and prior, and what two runs are compared by."""

from __future__ import annotations

import io
import sys
import warnings
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import horseshoe
from horseshoe import sample_posterior
from horseshoe.families import NegativeBinomial, StudentT
from horseshoe.posterior.draws import Posterior
from horseshoe.posterior.summaries import QUANTITIES
from horseshoe.priors import InverseGammaGlobal, InvertedBeta
from horseshoe.sampling import chains
from horseshoe.sampling.chains import Plan, Progress
from horseshoe.sampling.gibbs import Model, State
from simulate import DRAWS

SOURCE = str(Path(horseshoe.__file__).parents[1])
"""For processes that a test starts."""
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
SHAPES = InvertedBeta(a="estimate", b="estimate")
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
    "shapes": case(prior=SHAPES),
    "shapes, p > n": case(x=WIDE, prior=SHAPES),
    "shapes, binomial": case("binomial", prior=SHAPES, slab=2.0),
    "shape, poisson": case("poisson", prior=InvertedBeta(a="estimate"), tau=0.3),
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
        np.testing.assert_array_equal(one.kappa, other.kappa)
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


def files_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def as_bytes(save: Any, *arrays: Any, **named: Any) -> bytes:
    buffer = io.BytesIO()
    save(buffer, *arrays, **named)
    return buffer.getvalue()


def heard(action: Any) -> tuple[Any, list[str]]:
    """Return what ``action`` returns, and the warnings but those of R-hat."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer = action()
    return answer, [str(w.message) for w in caught if not str(w.message).startswith("R-hat")]


on_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")


@cache
def long(which: str = "gaussian") -> Posterior:
    """Return a run that is long enough for its numbers to mean something."""
    return run(which, n_draws=400, n_warmup=200)


def flat_draws(found: Posterior) -> tuple[Any, Any, Any, Any]:
    """Return the coefficients, and the other draws as columns."""
    coef = found.coef.reshape(-1, found.coef.shape[2])
    extra = found.intercept if found.nuisance is None else found.nuisance
    return coef, found.intercept.reshape(-1, 1), found.sigma2.reshape(-1, 1), extra.reshape(-1, 1)
