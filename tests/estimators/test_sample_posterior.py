"""What goes into `sample_posterior`: labels, units, containers; and its warning of too few draws."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from horseshoe import sample_posterior
from horseshoe.families import Laplace
from posterior_runs import CASES, FAMILIES, FLAT, OFFSET, TALL, WHOLE, WIDE, assert_same_draws, case, run

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
