"""One seed, one answer: whatever the pieces, processes and threads, and whatever was sampled before."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from horseshoe.conditional import batch
from horseshoe.sampling import chains, streams
from horseshoe.sampling.chains import advance
from horseshoe.sampling.gibbs import join
from horseshoe.threads import _blas_pools
from posterior_runs import (
    CASES,
    LARGE,
    TALL,
    assert_different,
    assert_same_arrays,
    assert_same_draws,
    assert_same_state,
    begin,
    case,
    each_case,
    run,
)
from selections import in_turn

pytestmark = pytest.mark.usefixtures("no_processes_stay")


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
    monkeypatch.setattr(batch, "STACK", 1)
    assert_same_draws(run("gaussian"), together)


@pytest.mark.parametrize("which", ["gaussian", "gaussian, p > n", "poisson", "negative_binomial"])
def test_how_long_a_piece_takes_does_not_matter(which: str, monkeypatch: pytest.MonkeyPatch) -> None:
    usual = run(which)
    for seconds in (1e-9, 1e9):
        monkeypatch.setattr(chains, "PIECE_SECONDS", seconds)
        assert_same_draws(run(which), usual)


PARALLEL = {
    **{name: CASES[name] for name in ("gaussian", "gaussian, p > n", "poisson", "negative_binomial")},
    "large": case(x=LARGE, n_draws=2, n_warmup=4),
}


def test_the_number_of_processes_does_not_matter() -> None:
    for jobs, n_chains in ((3, 4), (2, 5)):
        for given in PARALLEL.values():
            here = run(given, n_chains=n_chains, n_jobs=1)
            assert_same_draws(run(given, n_chains=n_chains, n_jobs=jobs), here)


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


@pytest.mark.parametrize(("n_warmup", "n_draws"), in_turn([1000, 1001], [1, 3, 9]))
def test_shrinkage_factors_of_a_short_run(n_warmup: int, n_draws: int) -> None:
    found = run("gaussian", n_warmup=n_warmup, n_draws=n_draws).kappa
    assert ((found > 0.0) & (found < 1.0)).all(), found
