"""What the draws say: summaries, tables, names, constant columns."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from horseshoe import HorseshoeRegressor
from horseshoe.families import Poisson
from horseshoe.sampling import diagnostics
from posterior_runs import CASES, FAMILIES, FLAT, TALL, assert_same_draws, case, long, run


def test_shapes_and_a_name() -> None:
    found = long("student_t")
    assert found.coef.shape == (4, 400, 5)
    for name in ("intercept", "tau2", "sigma2", "nuisance"):
        assert found.draws(name).shape == (4, 400)
        assert (found.draws(name) > 0.0).all() or name == "intercept"
    assert found.acceptance.shape == (4,)
    family = f"StudentT(df='estimate', df_={found.nuisance.mean()})"
    assert repr(found) == f"Posterior(4 chains of 400 draws, 5 coefficients, {family})"
    assert ((found.kappa > 0.0) & (found.kappa < 1.0)).all()


@pytest.mark.parametrize("family", ["student_t", "negative_binomial"])
def test_the_family_has_the_posterior_mean_of_what_it_estimates(family: str) -> None:
    found = long(family)
    assert getattr(found.family, found.family.nuisance) == pytest.approx(found.nuisance.mean())
    assert np.ptp(found.nuisance) > 0.0


def test_a_family_that_estimates_nothing_stays_as_it_is() -> None:
    assert long("poisson").family == Poisson()


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
        "shrinkage": found.kappa,
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
    assert found.kappa[2] == 1.0
    np.testing.assert_array_equal(np.delete(found.coef, 2, axis=2), without.coef)
    np.testing.assert_array_equal(found.intercept, without.intercept)


def test_the_mode_is_that_of_the_estimator() -> None:
    found = run("gaussian", tau_max=1.0)
    model = HorseshoeRegressor().fit(TALL, CASES["gaussian"]["y"])
    np.testing.assert_array_equal(found.mode.coef, model.coef_)
