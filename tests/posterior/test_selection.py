"""Selection from draws: against brute force, in every metric, at the edges, and on simulated data."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np
import pytest

import simulate
from horseshoe import sample_posterior
from horseshoe.data.dense import Dense
from horseshoe.data.rows import Rows
from horseshoe.families import Binomial, Gaussian, Laplace, NegativeBinomial, Poisson, StudentT
from horseshoe.posterior import selection
from horseshoe.posterior.draws import Posterior
from horseshoe.posterior.selection import select
from loops import each


def made(
    X: Any,
    coef: Any,
    *,
    intercept: Any = 0.5,
    sigma2: Any = 1.0,
    family: Any = None,
    nuisance: float | None = None,
    weights: Any = None,
    offset: Any = None,
    y: Any = None,
) -> Posterior:
    """Return a posterior with these draws, one chain; only what selection looks at."""
    n, p = X.shape
    draws = len(coef)
    return Posterior(
        coef=np.asarray(coef)[None],
        intercept=np.broadcast_to(intercept, (1, draws)),
        tau2=np.ones((1, draws)),
        sigma2=np.broadcast_to(sigma2, (1, draws)),
        lambda2=None,
        nuisance=None if nuisance is None else np.full((1, draws), nuisance),
        kappa=np.ones(p),
        acceptance=np.zeros(1),
        family=Gaussian() if family is None else family,
        feature_names=tuple(f"x{j}" for j in range(p)),
        mode=None,  # type: ignore[arg-type]
        rows=Rows(
            Dense(X), np.ones(n) if y is None else y, weights, np.zeros(n) if offset is None else offset
        ),
    )


def gaussian_draws(X: Any, beta: Any, seed: int = 1, draws: int = 300, sigma2: float = 1.0) -> Any:
    """Return draws that scatter around beta as least squares would, a little wider for safety."""
    rng = np.random.default_rng(seed)
    precision = X.T @ X + 0.5 * np.eye(X.shape[1])
    scatter = np.linalg.solve(np.linalg.cholesky(precision).T, rng.standard_normal((X.shape[1], draws))).T
    noise = sigma2 * len(X) / rng.chisquare(len(X), draws)
    return beta + np.sqrt(sigma2) * scatter, noise


def correlated(n: int, p: int, seed: int, level: float = 3.0) -> Any:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, p)) @ (0.6 * np.eye(p) + 0.4) + level * rng.standard_normal(p)


def least_squares(X: Any, target: Any, weights: Any, support: Any, with_intercept: bool = True) -> Any:
    """Return the fit of the target on some columns, in the user's units."""
    columns = X[:, support]
    if with_intercept:
        columns = np.column_stack([columns, np.ones(len(X))])
    root = np.sqrt(weights)
    return columns @ np.linalg.lstsq(columns * root[:, None], target * root, rcond=None)[0]


def explained(posterior: Posterior, weights: Any, support: Any, with_intercept: bool = True) -> Any:
    """Return rho2 of each draw, from its definition; ``weights`` are those of the metric, without counts."""
    X, counts = posterior.rows.columns.dense(), posterior.rows.counts
    metric = counts * weights
    full = (support == (posterior.mean() != 0.0)).all()
    target = X @ posterior.mean()
    fit = target if full else least_squares(X, target, metric, support, with_intercept)
    out = []
    for coef, sigma2 in zip(posterior.coef[0], posterior.sigma2[0], strict=True):
        eta = X @ coef
        signal, loss = (
            float(metric @ (v - with_intercept * np.average(v, weights=metric)) ** 2)
            for v in (eta, eta - fit)
        )
        out.append(signal / (signal + counts.sum() * sigma2 + loss))
    return np.array(out)


def check_against_definition(
    posterior: Posterior, weights: Any, level: float = 0.9, with_intercept: bool = True
) -> Any:
    found = select(posterior, "decoupled", level)
    path, p = found.path, posterior.coef.shape[2]
    assert path is not None
    assert (np.diff(path.sizes) > 0).all()
    assert path.sizes[0] == 0
    shares = np.array([explained(posterior, weights, support, with_intercept) for support in path.supports])
    np.testing.assert_allclose(path.explained, shares.mean(axis=1), rtol=1e-9)
    ends = np.quantile(shares, (0.5 - level / 2.0, 0.5 + level / 2.0), axis=1).T
    np.testing.assert_allclose(path.interval, ends, rtol=1e-9)
    enough = ends[:, 1] >= shares[-1].mean()
    assert (found.support == path.supports[np.argmax(enough)]).all()
    assert ((found.coef != 0.0) == found.support).all()
    metric, X = posterior.rows.counts * weights, posterior.rows.columns.dense()
    target = X @ posterior.mean() + posterior.mean("intercept")
    fit = target
    if found.support.sum() < p:
        fit = least_squares(X, target, metric, found.support, with_intercept)
    np.testing.assert_allclose(X @ found.coef + found.intercept, fit, rtol=1e-9, atol=1e-9)
    return found


BETA = np.array([2.0, 0.0, -1.0, 0.1, 0.5, -0.02])


@each("seed", range(5))
@each("level", [0.5, 0.9, 0.99])
def test_decoupled_is_what_it_says(seed, level):
    X = correlated(40, 6, seed)
    coef, sigma2 = gaussian_draws(X - X.mean(axis=0), BETA, seed)
    found = check_against_definition(made(X, coef, sigma2=sigma2), np.ones(40), level)
    assert found.path.supports[-1].all()


def test_of_orthogonal_columns_each_candidate_is_the_best_of_its_size():
    noise = np.random.default_rng(0).standard_normal((30, 5))
    X = np.linalg.qr(noise - noise.mean(axis=0))[0] * np.array([1.0, 3.0, 9.0, 2.0, 5.0])
    coef, sigma2 = gaussian_draws(X, np.array([4.0, 2.0, 0.3, -2.0, 0.1]))
    posterior = made(X, coef, sigma2=sigma2)
    path = select(posterior, "decoupled").path
    target = X @ posterior.mean()
    for size, support in zip(path.sizes, path.supports, strict=True):
        losses = {
            chosen: np.sum((target - least_squares(X, target, np.ones(30), list(chosen))) ** 2)
            for chosen in itertools.combinations(range(5), size)
        }
        assert min(losses, key=losses.get) == tuple(np.flatnonzero(support))


def test_no_lasso_with_as_many_columns_comes_nearer():
    from sklearn.linear_model import Lasso

    for seed in range(6):
        X = correlated(50, 8, seed, level=0.0)
        X -= X.mean(axis=0)
        rng = np.random.default_rng(seed)
        coef, sigma2 = gaussian_draws(X, rng.standard_normal(8) * rng.random(8) ** 2, seed)
        posterior = made(X, coef, sigma2=sigma2)
        path, mean = select(posterior, "decoupled").path, posterior.mean()
        target, ones = X @ mean, np.ones(50)
        scaled = X * np.abs(mean)
        top = np.abs(scaled.T @ target).max() / 50
        for alpha in top * np.geomspace(0.99, 1e-5, 60):
            lasso = Lasso(alpha=alpha, fit_intercept=False, tol=1e-12, max_iter=100_000).fit(scaled, target)
            support = lasso.coef_ != 0.0
            rivals = path.supports[path.sizes == support.sum()]
            assert len(rivals) == 1
            losses = [
                np.sum((target - least_squares(X, target, ones, chosen)) ** 2)
                for chosen in (rivals[0], support)
            ]
            assert losses[0] <= losses[1] + 1e-9 * (target @ target)


FAMILIES = {
    "gaussian": (Gaussian(), None, lambda eta: np.ones_like(eta)),
    "student_t": (StudentT(), 5.0, lambda eta: np.full_like(eta, 6.0 / 8.0)),
    "laplace": (Laplace(), None, lambda eta: np.ones_like(eta)),
    "poisson": (Poisson(), None, np.exp),
    "negative_binomial": (NegativeBinomial(), 3.0, lambda eta: np.exp(eta) / (1.0 + np.exp(eta) / 3.0)),
    "binomial": (Binomial(), None, lambda eta: np.tanh(eta / 2.0) / (2.0 * eta)),
    "newton": (Binomial("irls"), None, lambda eta: np.exp(-eta) / (1.0 + np.exp(-eta)) ** 2),
}


@each("name", FAMILIES)
@each("weighted", [False, True])
def test_every_family_has_its_metric(name, weighted):
    family, nuisance, working = FAMILIES[name]
    rng = np.random.default_rng(3)
    X = rng.standard_normal((60, 6)) + 1.0
    coef, sigma2 = gaussian_draws(X, 0.5 * BETA, sigma2=0.5)
    posterior = made(
        X,
        coef,
        intercept=rng.standard_normal(len(coef)),
        sigma2=sigma2 if family.has_dispersion else 1.0,
        family=family,
        nuisance=nuisance,
        weights=rng.integers(1, 5, 60) * 1.0 if weighted else None,
        offset=rng.standard_normal(60),
        y=(rng.random(60) < 0.5) * 1.0,
    )
    eta = X @ posterior.mean() + posterior.mean("intercept") + posterior.rows.offset
    check_against_definition(posterior, working(eta))


def test_whole_weights_are_repeated_rows():
    rng = np.random.default_rng(0)
    X, counts = correlated(30, 6, 0), rng.integers(1, 4, 30)
    again = np.repeat(np.arange(30), counts)
    coef, sigma2 = gaussian_draws(X - X.mean(axis=0), BETA)
    one = select(made(X, coef, sigma2=sigma2, weights=counts * 1.0), "decoupled", 0.9)
    two = select(made(X[again], coef, sigma2=sigma2), "decoupled", 0.9)
    np.testing.assert_allclose(one.coef, two.coef, rtol=1e-9)
    np.testing.assert_allclose(one.path.interval, two.path.interval, rtol=1e-9)
    assert one.intercept == pytest.approx(two.intercept)


def test_offsets_take_no_part_in_a_linear_model():
    X = correlated(30, 6, 0)
    coef, sigma2 = gaussian_draws(X - X.mean(axis=0), BETA)
    offset = 10.0 * np.random.default_rng(0).standard_normal(30)
    one = select(made(X, coef, sigma2=sigma2), "decoupled")
    two = select(made(X, coef, sigma2=sigma2, offset=offset), "decoupled")
    assert (one.coef == two.coef).all()
    assert one.intercept == two.intercept


def test_more_columns_than_rows():
    X = correlated(25, 60, 0)
    beta = np.zeros(60)
    beta[:3] = 3.0, -2.0, 2.0
    coef, sigma2 = gaussian_draws(X - X.mean(axis=0), beta)
    coef = beta + 0.1 * (coef - beta)
    posterior = made(X, coef, sigma2=sigma2)
    found = check_against_definition(posterior, np.ones(25))
    assert np.flatnonzero(found.support).tolist() == [0, 1, 2]
    assert found.path.sizes[-1] == 60
    assert found.path.sizes[-2] <= 24
    assert found.path.explained[-2] == pytest.approx(found.path.explained[-1], rel=1e-6)


def test_constant_columns_are_never_selected():
    X = np.insert(correlated(40, 6, 0), 2, 7.0, axis=1)
    kept = np.arange(7) != 2
    coef, sigma2 = gaussian_draws(X[:, kept] - X[:, kept].mean(axis=0), BETA)
    for method in ("credible", "decoupled"):
        with_it = select(made(X, np.insert(coef, 2, 0.0, axis=1), sigma2=sigma2), method)
        without = select(made(X[:, kept], coef, sigma2=sigma2), method)
        assert not with_it.support[2]
        assert with_it.coef[2] == 0.0
        np.testing.assert_allclose(with_it.coef[kept], without.coef, rtol=1e-9)
        assert with_it.intercept == pytest.approx(without.intercept)


def test_without_intercept():
    X = correlated(40, 6, 0)
    coef, sigma2 = gaussian_draws(X, BETA)
    posterior = made(X, coef, sigma2=sigma2, intercept=0.0)
    found = check_against_definition(posterior, np.ones(40), with_intercept=False)
    assert found.intercept == 0.0
    assert select(posterior).intercept == 0.0


def test_credible_keeps_the_mean_and_the_level():
    X = correlated(40, 6, 2)
    coef, sigma2 = gaussian_draws(X - X.mean(axis=0), BETA)
    posterior = made(X, coef, sigma2=sigma2)
    found = select(posterior, "credible", 0.9)
    lower, upper = np.quantile(coef, (0.05, 0.95), axis=0)
    assert (found.support == ((lower > 0) | (upper < 0))).all()
    assert 0 < found.support.sum() < 6
    assert (found.coef == np.where(found.support, posterior.mean(), 0.0)).all()
    level = X.mean(axis=0)
    assert level @ found.coef + found.intercept == pytest.approx(level @ posterior.mean() + 0.5)
    assert found.path is None


def test_nothing_selected():
    X = correlated(40, 6, 0)
    coef, sigma2 = gaussian_draws(X - X.mean(axis=0), np.zeros(6))
    for method in ("credible", "decoupled"):
        found = select(made(X, coef, sigma2=sigma2), method, 0.99)
        assert not found.support.any()
        assert not found.coef.any()
        assert found.intercept == pytest.approx(0.5 + float(X.mean(axis=0) @ coef.mean(axis=0)))


def test_draws_that_are_all_zero():
    X = correlated(20, 3, 0)
    for method in ("credible", "decoupled"):
        found = select(made(X, np.zeros((50, 3))), method)
        assert not found.support.any()
        assert found.intercept == 0.5
    assert found.path.sizes.tolist() == [0]
    assert found.path.explained.tolist() == [0.0]


def test_of_two_copies_decoupled_takes_one():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 4))
    X[:, 1] = X[:, 0]
    share = rng.uniform(-1.0, 3.0, 400)
    noise = 0.1 * rng.standard_normal((2, 400))
    posterior = made(X, np.column_stack([share, 2.2 - share, *noise]))
    assert not select(posterior, "credible").support.any()
    found = select(posterior, "decoupled")
    assert found.support.sum() == 1
    assert found.coef[:2].sum() == pytest.approx(2.2, abs=0.1)


def test_units_places_and_order_do_not_matter():
    X = correlated(40, 6, 1)
    coef, sigma2 = gaussian_draws(X - X.mean(axis=0), BETA)
    plain = select(made(X, coef, sigma2=sigma2), "decoupled")
    unit, place = np.array([1e-6, 1e5, 1.0, 3.0, 1e3, 0.1]), np.array([5.0, -7.0, 0.0, 100.0, 1e-3, 2.0])
    intercept = 0.5 - coef @ place
    moved = select(made((X + place) * unit, coef / unit, sigma2=sigma2, intercept=intercept), "decoupled")
    np.testing.assert_allclose(moved.coef * unit, plain.coef, rtol=1e-6, atol=1e-9)
    assert moved.intercept == pytest.approx(plain.intercept - float(place @ plain.coef))
    loud = select(made(X, 1e8 * coef, sigma2=1e16 * sigma2, intercept=0.5e8), "decoupled")
    np.testing.assert_allclose(loud.coef, 1e8 * plain.coef, rtol=1e-9)
    order = np.random.default_rng(0).permutation(6)
    mixed = select(made(X[:, order], coef[:, order], sigma2=sigma2), "decoupled")
    np.testing.assert_allclose(mixed.coef, plain.coef[order], rtol=1e-9)


def test_a_higher_level_selects_no_more():
    X = correlated(40, 6, 3)
    coef, sigma2 = gaussian_draws(X - X.mean(axis=0), BETA)
    for method in ("credible", "decoupled"):
        sizes = [
            int(select(made(X, coef, sigma2=sigma2), method, level).support.sum())
            for level in (1e-6, 0.2, 0.5, 0.8, 0.95, 0.999)
        ]
        assert sizes == sorted(sizes, reverse=True)
        assert sizes[0] > sizes[-1]


def test_little_noise_finds_small_effects():
    X = correlated(40, 5, 0)
    beta = np.array([1.0, 1e-3, 0.0, 1e-5, 1.0])
    coef, sigma2 = gaussian_draws(X - X.mean(axis=0), beta, sigma2=1e-16)
    found = select(made(X, coef, sigma2=sigma2), "decoupled")
    assert np.flatnonzero(found.support).tolist() == [0, 1, 3, 4]


def test_a_few_draws_at_a_time(monkeypatch):
    X = correlated(40, 6, 0)
    coef, sigma2 = gaussian_draws(X - X.mean(axis=0), BETA)
    whole = select(made(X, coef, sigma2=sigma2), "decoupled").path
    monkeypatch.setattr(selection, "CHUNK_BYTES", 7 * 8 * 40)
    pieces = select(made(X, coef, sigma2=sigma2), "decoupled").path
    np.testing.assert_allclose(pieces.interval, whole.interval, rtol=1e-12)


def test_a_path_on_which_columns_leave():
    """Its candidates are the best of their size, and least squares on their columns."""
    lost = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((12, 8)) @ rng.standard_normal((8, 8))
        coef, sigma2 = gaussian_draws(X - X.mean(axis=0), rng.standard_normal(8), seed, draws=40)
        posterior = made(X, coef, sigma2=sigma2)
        steps = np.array(list(selection._supports(X - X.mean(axis=0), posterior.mean())))
        if not (steps[:-1] & ~steps[1:]).any():
            continue
        lost += 1
        path = check_against_definition(posterior, np.ones(12)).path
        target = X @ posterior.mean()
        for support in steps:
            rival = path.supports[path.sizes == support.sum()][0]
            losses = [
                np.sum((target - least_squares(X, target, np.ones(12), chosen)) ** 2)
                for chosen in (rival, support)
            ]
            assert losses[0] <= losses[1] * (1.0 + 1e-9) + 1e-18 * (target @ target)
    assert lost > 5


@pytest.mark.parametrize("seed", [158, 242])
def test_the_best_of_a_size_need_not_be_the_last(seed):
    rng = np.random.default_rng(seed)
    p = int(rng.integers(4, 9))
    X = rng.standard_normal((12, p)) @ rng.standard_normal((p, p))
    X -= X.mean(axis=0)
    mean = rng.standard_normal(p)
    target = X @ mean
    supports, residuals = selection._candidates(X, mean)
    losses = dict(zip(supports.sum(axis=1).tolist(), (residuals**2).sum(axis=0), strict=True))
    worse = 0
    for support in selection._supports(X, mean):
        loss = np.sum((target - least_squares(X, target, np.ones(12), support)) ** 2)
        assert losses[int(support.sum())] <= loss * (1.0 + 1e-9) + 1e-18 * (target @ target)
        worse += loss > 1.1 * losses[int(support.sum())] + 1e-9 * (target @ target)
    assert worse > 0


def test_where_no_interval_reaches_the_mean_all_columns_are_taken():
    rng = np.random.default_rng(0)
    X, coef = rng.standard_normal((10, 20)), 1.0 + 0.01 * rng.standard_normal((101, 20))
    sigma2 = np.where(np.arange(101) < 40, 1e-6, 1e6)  # the median of rho2 is near 0, the mean near 0.4
    posterior = made(X, coef, sigma2=sigma2)
    found = select(posterior, "decoupled", 0.01)
    assert (found.path.interval[:, 1] < found.path.explained[-1]).all()
    assert found.support.all()
    assert (found.coef == posterior.mean()).all()
    assert found.intercept == 0.5


@pytest.mark.parametrize("method", ["lasso", None, 3])
def test_unknown_methods(method):
    posterior = made(correlated(20, 3, 0), np.zeros((50, 3)))
    with pytest.raises(ValueError, match=r"method=.*'credible', 'decoupled'"):
        posterior.select(method)


@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, 95.0, np.nan])
@pytest.mark.parametrize("method", ["credible", "decoupled"])
def test_bad_levels(method, level):
    posterior = made(correlated(20, 3, 0), np.zeros((50, 3)))
    with pytest.raises(ValueError, match="level="):
        posterior.select(method, level)
    with pytest.raises(TypeError, match="level='high'"):
        posterior.select(method, "high")


def sample(*args: Any, **options: Any) -> Posterior:
    """Sample few draws, for which R-hat is not yet what it should be."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return sample_posterior(*args, n_draws=200, n_warmup=200, random_state=0, **options)


@pytest.mark.parametrize(("n", "p"), [(100, 20), (60, 80)])
def test_recovery(n, p):
    X, y, beta = simulate.linear(n, p, rho=0.3, sigma2=1.0, n_signals=6, size=2.0, seed=4)
    posterior = sample(X, y)
    for method in ("credible", "decoupled"):
        found = posterior.select(method)
        assert (found.support == (beta != 0.0)).all()
        assert np.abs(found.coef - beta).max() < 0.6


@pytest.mark.parametrize("family", ["poisson", "binomial"])
def test_recovery_in_other_families(family):
    X, y, where = simulate.glm(family, 250, 12, seed=5, n_signals=3, size=1.5)
    posterior = sample(X, y, family=family)
    assert np.flatnonzero(posterior.select("credible").support).tolist() == sorted(where)
    found = posterior.select("decoupled", 0.8)
    assert found.support.any()
    assert set(np.flatnonzero(found.support)) <= set(where)
    mean = posterior.family.mean(X @ found.coef + found.intercept)
    assert np.corrcoef(mean, posterior.predict(X))[0, 1] > 0.9


def test_pure_noise():
    rng = np.random.default_rng(7)
    X, y = rng.standard_normal((80, 10)), rng.standard_normal(80)
    posterior = sample(X, y)
    for method in ("credible", "decoupled"):
        found = posterior.select(method)
        assert not found.support.any()
        assert found.intercept == pytest.approx(y.mean(), abs=0.1)
