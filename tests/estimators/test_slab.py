"""A slab holds large coefficients: the same model in EM and in the sampler."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate

from horseshoe import HorseshoeClassifier, HorseshoeRegressor, sample_posterior
from horseshoe.data.dense import Dense
from horseshoe.data.rows import Rows
from horseshoe.em.state import Options
from horseshoe.families import Gaussian, resolve_family
from horseshoe.model.fit import fit
from horseshoe.model.spec import ModelSpec
from horseshoe.priors import HalfCauchy, Horseshoe, Lasso, Slab
from horseshoe.sampling import gibbs
from horseshoe_reproduction.coverage import RESPONSES

FAMILIES = ("gaussian", "poisson", "binomial", "student_t", "negative_binomial", "laplace")


def data(family: str, n: int, p: int, size: float = 1.0) -> tuple[Any, Any]:
    """Return rows with two effects."""
    rng = np.random.default_rng([n, p])
    X = rng.standard_normal((n, p))
    return X, RESPONSES[family](size * (X[:, 0] - X[:, 1]), rng)  # type: ignore[index]


def test_no_slab_and_a_far_one_are_the_same() -> None:
    X, y = data("gaussian", 50, 8)
    none, far = (HorseshoeRegressor(slab=slab).fit(X, y).coef_ for slab in (None, 1e6))
    np.testing.assert_allclose(none, far, rtol=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("shape", [(80, 10), (40, 60)])
def test_the_fast_path_ends_in_the_mode_of_plain_em(family: str, shape: tuple[int, int]) -> None:
    X, y = data(family, *shape)
    spec = ModelSpec(resolve_family(family), Horseshoe(), HalfCauchy(), slab=1.5)
    rows = Rows(Dense(X), y, None, np.zeros(len(y)))
    fast, plain = (fit(spec, rows, Options(tol=1e-10, max_iter=20_000, fast=f)) for f in (True, False))
    np.testing.assert_allclose(fast.coef, plain.coef, rtol=1e-4, atol=1e-6)


def test_the_objective_never_rises() -> None:
    X, y = data("gaussian", 60, 6)
    spec = ModelSpec(Gaussian(), Horseshoe(), HalfCauchy(), sigma2=1.0, slab=0.5)
    rows = Rows(Dense(X), y, None, np.zeros(60))
    found = fit(spec, rows, Options(tol=1e-10, fast=False)).result
    values = np.array([line.objective for line in found.trace])
    assert np.all(np.diff(values) < 1e-8)


@pytest.mark.filterwarnings("ignore:R-hat")
def test_a_prior_with_a_slab_is_the_same_model() -> None:
    X, y = data("gaussian", 40, 6, size=5.0)
    one, other = HorseshoeRegressor(slab=0.5).fit(X, y), HorseshoeRegressor(prior=Slab(0.5)).fit(X, y)
    np.testing.assert_array_equal(one.coef_, other.coef_)
    short: dict[str, Any] = {"n_draws": 200, "n_warmup": 100, "random_state": 0}
    draws = [sample_posterior(X, y, **short, **kind).coef for kind in ({"slab": 0.5}, {"prior": Slab(0.5)})]
    np.testing.assert_array_equal(*draws)
    lasso = HorseshoeRegressor(prior=Slab(0.5, Lasso()), sigma2=1.0).fit(X, y)
    np.testing.assert_array_equal(
        lasso.coef_, HorseshoeRegressor(prior="lasso", slab=0.5, sigma2=1.0).fit(X, y).coef_
    )
    with pytest.raises(ValueError, match="width"):
        Slab(-1.0)


def test_large_coefficients_are_held() -> None:
    X, y = data("gaussian", 60, 5, size=50.0)
    free, held = (HorseshoeRegressor(sigma2=1.0, slab=slab).fit(X, y).coef_ for slab in (None, 0.05))
    assert np.all(np.abs(held[:2]) < 0.9 * np.abs(free[:2]))


def test_draws_of_one_coefficient_are_those_of_quadrature() -> None:
    """b given tau = sigma = 1: likelihood x normal(0, lambda2) x normal(0, slab2), lambda half-Cauchy."""
    n, slab, rng = 12, 0.7, np.random.default_rng(0)
    x = rng.standard_normal(n)
    x /= np.sqrt(np.mean(x * x))
    y = 1.2 * x + rng.standard_normal(n)

    def density(b: float) -> float:
        prior = integrate.quad(
            lambda v: np.exp(-0.5 * b * b / v**2) / (v * (1.0 + v * v)), 0.0, np.inf, limit=200
        )[0]
        return float(np.exp(-0.5 * np.sum((y - x * b) ** 2) - 0.5 * b * b / slab**2 + 0.5 * y @ y) * prior)

    grid = np.linspace(-1.0, 3.0, 801) + 1e-7
    weight = np.array([density(b) for b in grid])
    mean = float(grid @ weight / weight.sum())
    std = float(np.sqrt((grid - mean) ** 2 @ weight / weight.sum()))
    options: dict[str, Any] = {"tau": 1.0, "sigma2": 1.0, "fit_intercept": False, "standardize": False}
    found = sample_posterior(x[:, None], y, slab=slab, n_draws=8000, random_state=0, **options)
    assert abs(found.mean()[0] - mean) < 5.0 * found.mcse()[0]
    assert found.std()[0] == pytest.approx(std, rel=0.05)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:R-hat")
@pytest.mark.parametrize("family", ["gaussian", "binomial", "poisson"])
def test_tau_with_the_coefficients_integrated_out_is_the_same_tau(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where columns are more than rows tau2 is drawn without the coefficients; the posterior is the same."""
    X, y = data(family, 8, 10)
    options: dict[str, Any] = {"family": family, "slab": 1.0, "tau_max": 1.0, "n_draws": 20_000}
    collapsed = sample_posterior(X, y, random_state=0, **options)
    before = gibbs.Gibbs.__init__

    def without(self: Any, *arguments: Any) -> None:
        before(self, *arguments)
        self.collapse = False

    monkeypatch.setattr(gibbs.Gibbs, "__init__", without)
    plain = sample_posterior(X, y, random_state=1, n_jobs=1, **options)
    for of in ("coef", "tau2"):
        error = np.hypot(collapsed.mcse(of), plain.mcse(of))
        assert np.all(np.abs(collapsed.mean(of) - plain.mean(of)) < 5.0 * error)
    spread = collapsed.std() / plain.std()
    assert np.all(np.abs(np.log(spread)) < 0.15)


def test_classes_that_can_be_told_apart_get_smaller_coefficients() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    y = X[:, 0] > 0.0
    free, held = (HorseshoeClassifier(slab=slab).fit(X, y) for slab in (None, 2.0))
    assert abs(held.coef_[0]) < 0.8 * abs(free.coef_[0])


@pytest.mark.parametrize("slab", [0.0, -1.0, np.nan, np.inf, "wide", True, 1e9])
def test_a_slab_that_is_none_is_refused(slab: Any) -> None:
    X, y = data("gaussian", 20, 3)
    with pytest.raises((TypeError, ValueError), match="slab"):
        HorseshoeRegressor(slab=slab).fit(X, y)
    with pytest.raises((TypeError, ValueError), match="slab"):
        sample_posterior(X, y, slab=slab)
