"""Every prior against numerical minimisation of its definition."""

import numpy as np
import pytest

import oracles
from horseshoe.priors import Horseshoe, LocalPrior, is_sparse, resolve_global, resolve_local
from loops import each
from registry import LAMBDA_POWERS, LOCAL_PRIORS, name

PROPER = [(prior, oracle) for prior, oracle in LOCAL_PRIORS if oracle is not None]
W = np.array([1e-200, 1e-30, 1e-16, 1e-8, 1e-3, 0.1, 0.5, 0.99, 1.0, 1.01, 3.0, 100.0, 1e8, 1e30])


@each("lambda_power", LAMBDA_POWERS)
@each(("prior", "oracle"), PROPER, ids=name)
def test_mode_is_the_minimum(prior, oracle, lambda_power):
    flat = (
        prior.null_rate(lambda_power) == 0.0
    )  # A = 0: below 1e-8 the oracle's objective is flat to rounding
    w = W[W >= (1e-8 if flat else 1e-30)]
    expected = [oracles.local_mode(oracle(prior), lambda_power, value) for value in w]
    np.testing.assert_allclose(prior.mode(w, lambda_power), expected, rtol=1e-11)


@each("lambda_power", LAMBDA_POWERS)
@each(("prior", "oracle"), PROPER, ids=name)
def test_neg_log_density_is_that_of_the_coordinate(prior, oracle, lambda_power):
    v = np.geomspace(1e-6, 1e6, 9)
    expected = oracle(prior)(v) + oracles.jacobian(v, lambda_power)
    difference = prior.neg_log_density(v, lambda_power) - expected
    np.testing.assert_allclose(difference, difference[0], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize(("prior", "oracle"), LOCAL_PRIORS, ids=name)
def test_mode_is_finite_and_increasing_without_warnings(prior, oracle):
    with np.errstate(all="raise", under="ignore"):
        v = prior.mode(np.append(0.0, W), 2.0)
    assert np.isfinite(v).all()
    assert (np.diff(v) >= 0).all()


def test_small_w_keeps_every_digit():
    """The naive form of Eq. (16) loses every digit below 1e-14; half of W remains to the last one."""
    w = np.array([1e-14, 1e-40, 1e-300])
    np.testing.assert_allclose(Horseshoe().mode(w, 2.0), w, rtol=2e-14)


@each(("prior", "oracle"), LOCAL_PRIORS, ids=name)
@each("lambda_power", LAMBDA_POWERS)
def test_null_rate_is_the_rate_at_which_nulls_fade(prior, oracle, lambda_power):
    if is_sparse(prior, lambda_power):
        w = np.array([1e-12])
        np.testing.assert_allclose(w / prior.mode(w, lambda_power), prior.null_rate(lambda_power), rtol=1e-6)
    else:
        assert prior.mode(np.array([1e-12]), lambda_power)[0] > 1e-12 / 0.5 * (1 - 1e-9)


def test_names_and_objects_resolve():
    assert resolve_local("horseshoe") == resolve_local(Horseshoe) == resolve_local(Horseshoe())
    assert isinstance(resolve_local("ridge"), LocalPrior)
    assert resolve_global(0.5, 1.0).bounds == (0.25, 0.25)
    assert resolve_global("estimate", 2.0).bounds[1] == 4.0
    with pytest.raises(TypeError, match="null_rate"):
        resolve_local(object())


@pytest.mark.parametrize("bad", [{"a": 0.0}, {"b": -1.0}, {"a": np.nan}, {"b": "x"}])
def test_bad_parameters_are_named(bad):
    from horseshoe.priors import InvertedBeta

    with pytest.raises((TypeError, ValueError), match=f"InvertedBeta: {next(iter(bad))}"):
        InvertedBeta(**bad)
