"""The next problem is taken in the pass that finds eta: the same fits from fewer passes."""

from dataclasses import dataclass

import numpy as np
import pytest

from horseshoe import HorseshoeRegressor
from horseshoe.data.chunked import Chunked
from horseshoe.data.sources.parts import ArrayParts
from horseshoe.em.fused_passes import with_sums
from horseshoe.families import Binomial, Gamma, Huber, Poisson, Working

N, P = 6_000, 12
FAMILIES = {
    "binomial": Binomial(),
    "irls": Binomial("irls"),
    "poisson": Poisson(),
    "gamma": Gamma(),
    "huber": Huber(),
}


class Counted(ArrayParts):
    passes = 0

    def each(self, *args, **options):
        type(self).passes += 1
        return super().each(*args, **options)


@pytest.fixture(autouse=True)
def nothing_is_held(monkeypatch):
    monkeypatch.setattr("horseshoe.data.chunked.ROOM", 0)


def data(name, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((N, P)) + 3.0
    eta = x[:, :4] @ np.array([1.0, -0.7, 0.4, -0.1]) - 1.8
    y = {
        "poisson": lambda: rng.poisson(np.exp(0.5 * eta)).astype(float),
        "gamma": lambda: rng.gamma(2.0, np.exp(0.5 * eta)),
        "huber": lambda: eta + rng.standard_t(3.0, N),
    }.get(name, lambda: (rng.random(N) < 1.0 / (1.0 + np.exp(-eta))).astype(float))()
    return x, y, {"sample_weight": rng.uniform(0.5, 2.0, N), "offset": rng.uniform(-0.3, 0.3, N)}


def fit(x, y, known, family, **options):
    Counted.passes = 0
    columns = Chunked(Counted(x, axis=0, step=700))
    return HorseshoeRegressor(family=family, **options).fit(columns, y, **known), Counted.passes


@pytest.mark.parametrize("name", FAMILIES)
def test_fewer_passes_end_in_the_same_fit(name, monkeypatch):
    x, y, known = data(name)
    ours, few = fit(x, y, known, FAMILIES[name])
    monkeypatch.setattr(f"horseshoe.families.{type(FAMILIES[name]).__name__}.rowwise", False)
    theirs, many = fit(x, y, known, FAMILIES[name])
    here = HorseshoeRegressor(family=FAMILIES[name]).fit(x, y, **known)
    assert few <= 25
    assert few < many
    for other in (theirs, here):
        assert np.array_equal(ours.support_, other.support_)
        np.testing.assert_allclose(ours.coef_, other.coef_, rtol=0, atol=1e-10)
        np.testing.assert_allclose(ours.intercept_, other.intercept_, rtol=0, atol=1e-9)
        np.testing.assert_allclose(ours.coef_std_, other.coef_std_, rtol=0, atol=1e-10)


def test_the_ridge_that_a_prior_without_selection_starts_from_too():
    x, y, known = data("binomial")
    ours, few = fit(x, y, known, "binomial", prior="ridge")
    here = HorseshoeRegressor(family="binomial", prior="ridge").fit(x, y, **known)
    np.testing.assert_allclose(ours.coef_, here.coef_, rtol=0, atol=1e-9)
    assert few <= 25


@dataclass(frozen=True)
class Related(Poisson):
    """Says that its rows stand alone, and weighs them by all of them."""

    def working(self, y, eta, sigma2):
        weights, targets = super().working(y, eta, sigma2)
        return Working(weights * np.mean(np.exp(0.1 * eta)), targets)


def test_rows_that_do_not_stand_alone_are_found_out(monkeypatch):
    x, y, known = data("poisson")
    found = []
    monkeypatch.setattr(
        "horseshoe.em.working.with_sums", lambda *args: found.append(with_sums(*args)) or found[-1]
    )
    ours, _ = fit(x, y, known, Related())
    here = HorseshoeRegressor(family=Related()).fit(x, y, **known)
    assert found
    assert not any(found)
    np.testing.assert_allclose(ours.coef_, here.coef_, rtol=0, atol=1e-9)
