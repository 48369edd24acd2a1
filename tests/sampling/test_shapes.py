"""Shapes of the prior that are drawn with the rest: joint moves, and what the draws look like."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import oracles
from distributions import LEVEL
from horseshoe.priors import FixedScale, HalfCauchy, InvertedBeta, Slab
from horseshoe.sampling.shapes import ShapeMoves
from posterior_runs import SHAPES, TALL, WIDE, assert_different, case, long, run


@pytest.mark.parametrize("known", [False, True])
def test_shapes_tau_and_scales_move_together_and_stay_with_their_prior(known: bool) -> None:
    """Where the data say nothing, all steps lead from the prior to the prior."""
    rng, found = np.random.default_rng(41), []
    tau: Any = FixedScale(0.3) if known else HalfCauchy(2.0)
    low, high = (0.5 * np.log(end) for end in tau.bounds)
    moves = ShapeMoves(SHAPES.shapes(), tau, (float(low), float(high)))
    for _ in range(2500):
        a, b = oracles.draw_shape(rng), oracles.draw_shape(rng)
        lambda2 = rng.standard_gamma(a, (1, 4)) / rng.standard_gamma(b, (1, 4))
        tau2 = 0.3 if known else np.tan(rng.random() * np.arctan(2.0)) ** 2
        state: Any = SimpleNamespace(
            shapes=np.array([[a, b]]), lambda2=np.maximum(lambda2, 1e-150), tau2=np.array([tau2]), rng=[rng]
        )
        w = 0.5 * state.lambda2 * rng.standard_normal((1, 4)) ** 2
        moves.move_with_scales(state, w)
        moves.move(state, 0, lambda lambda2, tau2: 0.0, rng)
        found.append([*state.shapes[0], state.tau2[0], state.lambda2[0, 0], state.lambda2[0, 3]])
    a, b, tau2, *scales = np.array(found).T
    ranks = [oracles.shape_cdf(a), oracles.shape_cdf(b), *(stats.betaprime(a, b).cdf(v) for v in scales)]
    if known:
        np.testing.assert_allclose(tau2, 0.3)
    else:
        ranks.append(np.arctan(np.sqrt(tau2)) / np.arctan(2.0))
    for rank in ranks:
        assert stats.kstest(rank, stats.uniform.cdf).pvalue > LEVEL


def test_draws_of_shapes() -> None:
    found = long("shapes")
    for name in ("a", "b"):
        draws = found.draws(name)
        assert draws.shape == (4, 400)
        assert ((draws >= 0.05) & (draws <= 20.0)).all()
        assert np.ptp(draws, axis=1).min() > 0.5
        assert found.rhat(name) < 1.2
        assert found.interval(of=name).shape == (2,)
    assert found.summary().shape[0] == 5


@pytest.mark.parametrize(("drawn", "other"), [("a", "b"), ("b", "a")])
def test_one_shape_alone(drawn: str, other: str) -> None:
    found = run(case(prior=InvertedBeta(**{drawn: "estimate"})))
    assert found.draws(drawn).shape == (4, 9)
    with pytest.raises(ValueError, match=f"no draws of {other}: the prior has a number"):
        found.draws(other)


def test_a_fixed_prior_has_no_draws_of_shapes() -> None:
    assert run("gaussian").a is None
    with pytest.raises(ValueError, match="no draws of a"):
        run("prior lasso").mean("a")


@pytest.mark.parametrize("x", [TALL, WIDE])
def test_the_mode_is_that_of_the_horseshoe(x: Any) -> None:
    found, horseshoe = run(case(x=x, prior=SHAPES)), run(case(x=x))
    np.testing.assert_array_equal(found.mode.coef, horseshoe.mode.coef)
    assert_different(found, horseshoe)


def test_a_slab_around_shapes_is_a_slab() -> None:
    inner, outer = run(case(prior=Slab(0.5, SHAPES))), run(case(prior=SHAPES, slab=0.5))
    np.testing.assert_array_equal(inner.coef, outer.coef)
    np.testing.assert_array_equal(inner.a, outer.a)


def test_a_checkpoint_with_other_shapes_is_refused(tmp_path: Any) -> None:
    run("shapes", checkpoint=tmp_path / "run")
    with pytest.raises(ValueError, match="prior is InvertedBeta"):
        run("gaussian", checkpoint=tmp_path / "run")


def test_a_follows_how_dense_the_truth_is() -> None:
    """Forty effects of the same size ask for a larger a, and a lighter tail, than one among forty does."""
    rng = np.random.default_rng(43)
    X = rng.standard_normal((120, 40))
    noise = rng.standard_normal(120)
    plan: dict[str, Any] = {"n_chains": 2, "n_draws": 300, "n_warmup": 200, "n_jobs": 1}
    dense, sparse = (
        run(case(), X=X, y=X @ effects + noise, prior=SHAPES, **plan)
        for effects in (np.where(np.arange(40) % 2, 1.0, -1.0), np.eye(40)[0] * 5.0)
    )
    print(dense.median("a"), sparse.median("a"), dense.median("b"), sparse.median("b"))
    assert dense.median("a") > 2.0 * sparse.median("a")
    assert dense.median("b") > 2.0 * sparse.median("b")
