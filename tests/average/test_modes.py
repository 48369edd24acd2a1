"""Quick modes: fixed points of the paper's EM if no column is pressed out, and what must not change them."""

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest

from average_sets import make_sets
from family_cases import FAMILIES as CASES
from horseshoe.average import modes
from horseshoe.average.modes import Start, find_modes
from horseshoe.average.ridge_path import training_normals
from horseshoe.average.sets import Sets
from horseshoe.data.dense import Dense
from horseshoe.families import Binomial, NegativeBinomial, Poisson, StudentT
from oracles import em_step, inverted_beta_mode, weighted_centred
from registry import AVERAGED


def start_of(sets, seed=0):
    """Start somewhere: every set elsewhere, every column in."""
    rng = np.random.default_rng(seed)
    p, T = sets.columns.shape[1], sets.n_sets
    coef = 0.3 * rng.standard_normal((p, T))
    noise = rng.uniform(0.5, 1.0, T) if sets.family.has_dispersion else np.ones(T)
    intercept = 0.1 * rng.standard_normal(T) if sets.center else np.zeros(T)
    return Start(coef, coef**2 + 0.05, intercept, noise, (sets.family,) * T)


@pytest.fixture
def ends(monkeypatch):
    """Where the EM of each set ended, before what is negligible is set to zero."""
    found, result = [], modes._State.result

    def seen(state):
        one = dict(vars(state), mean=state.mean[:, 0], second=state.second[:, 0], sigma2=state.sigma2[0])
        found.append(SimpleNamespace(**one))
        return result(state)

    monkeypatch.setattr(modes._State, "result", seen)
    return found


def everywhere(state, values):
    out = np.zeros(state.active.size)
    out[state.active] = values
    return out


@pytest.mark.parametrize("lambda_power", [1.5, 2.0])
@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("counts", [True, False])
def test_one_more_step_of_plain_em_moves_nothing(lambda_power, center, counts, ends, monkeypatch):
    monkeypatch.setattr(Sets, "lambda_power", lambda_power)
    monkeypatch.setattr(modes, "LOOSE_TOL", modes.TOL)
    sets = make_sets("gaussian", 40, 6, center=center, counts=counts)
    fits = find_modes(sets, start_of(sets))
    for t, end in enumerate(ends):
        X, z = weighted_centred(sets.columns.dense(), sets.y, sets.weights[:, t], center)
        mean, second = everywhere(end, end.mean), everywhere(end, end.second)
        after, _, noise = em_step(X, z, second, end.sigma2, sets.total[t], lambda_power)
        assert np.abs(after - mean).sum() < modes.TOL * (1.0 + np.abs(after).sum())
        np.testing.assert_allclose(noise, end.sigma2, rtol=2e-3)
        kept = np.abs(mean) >= 0.2 / np.sqrt(sets.total[t])
        np.testing.assert_allclose(fits.coef[:, t], np.where(kept, mean, 0.0), atol=1e-12)
        assert np.array_equal(fits.inclusion[:, t], kept)
        w, left = sets.weights[:, t], sets.y - sets.columns.matvec(fits.coef[:, t])
        np.testing.assert_allclose(fits.intercept[t], w @ left / w.sum() if center else 0.0, atol=1e-12)
    assert 2 <= fits.inclusion[:, -1].sum() < 6


@pytest.mark.parametrize("lambda_power", [1.5, 2.0])
def test_the_mode_is_that_of_plain_em_from_the_same_start(lambda_power, monkeypatch):
    monkeypatch.setattr(Sets, "lambda_power", lambda_power)
    monkeypatch.setattr(modes, "LOOSE_TOL", 1e-12)
    monkeypatch.setattr(modes, "MAX_ITERATIONS", 3000)
    sets = make_sets("gaussian", 40, 6, counts=True)
    start = start_of(sets)
    fits = find_modes(sets, start)
    for t in range(sets.n_sets):
        X, z = weighted_centred(sets.columns.dense(), sets.y, sets.weights[:, t], center=True)
        mean, second, sigma2 = start.coef[:, t], start.second_moment[:, t], start.sigma2[t]
        for _ in range(2000):
            before = mean
            mean, second, sigma2 = em_step(X, z, second, sigma2, sets.total[t], lambda_power)
            if np.abs(mean - before).max() < 1e-14:
                break
        kept = np.abs(mean) >= 0.2 / np.sqrt(sets.total[t])
        np.testing.assert_allclose(fits.coef[:, t], np.where(kept, mean, 0.0), atol=1e-7)
        np.testing.assert_allclose(fits.sigma2[t], sigma2, rtol=1e-6)


FIXED = {
    "polya_gamma": Binomial(),
    "irls": Binomial(augmentation="irls"),
    "poisson": Poisson(),
    "student_t": StudentT(df=4.0),
    "negative_binomial": NegativeBinomial(size=1.0),
}


@pytest.mark.parametrize("lambda_power", [1.5, 2.0])
@pytest.mark.parametrize("name", FIXED)
def test_at_the_mode_of_other_families_slope_and_spread_agree(name, lambda_power, ends, monkeypatch):
    """The prior pulls as much as SciPy's likelihood; E[b^2] and the prior variances go with each other."""
    monkeypatch.setattr(Sets, "lambda_power", lambda_power)
    monkeypatch.setattr(modes, "TOL", 1e-10)
    monkeypatch.setattr(modes, "MAX_ITERATIONS", 3000)
    family = FIXED[name]
    (case,) = (case for case in CASES if case.name == name)
    sets = make_sets(family, 100, 5, counts=True, offset=not family.is_location)
    find_modes(sets, start_of(sets))
    for t, end in enumerate(ends):
        w, s2 = sets.weights[:, t], end.sigma2
        rows = w > 0.0
        X = sets.columns.dense()[:, end.active][rows]
        y, w, eta = sets.y[rows], w[rows], sets.offset[rows] + end.intercept + X @ end.mean
        np.testing.assert_allclose(eta, end.eta, atol=1e-9)
        d = inverted_beta_mode(end.second / (2 * s2), lambda_power, 0.5, 0.5)
        large = d > 1e-6
        assert large.any()
        pull = w * case.slope(y, eta, s2)
        np.testing.assert_allclose((X.T @ pull)[large], (end.mean / (d * s2))[large], atol=1e-4)
        np.testing.assert_allclose(pull.sum(), 0.0, atol=1e-4)
        working = w * family.working(y, eta, s2).weights
        x, z = weighted_centred(X, y, working, center=True)
        covariance = s2 * np.linalg.inv(x.T @ x + np.diag(1.0 / d))
        np.testing.assert_allclose((end.second - end.mean**2)[large], covariance.diagonal()[large], rtol=1e-4)
        if family.has_dispersion:
            left = z - x @ end.mean
            trace = np.trace(x.T @ x @ covariance)
            np.testing.assert_allclose(s2, (left @ left + trace) / w.sum(), rtol=1e-4)
        else:
            assert s2 == 1.0


@pytest.mark.parametrize("shape", [(40, 6), (30, 70)])
@pytest.mark.parametrize("name", AVERAGED)
def test_a_training_set_is_the_fit_to_its_rows_alone(name, shape, monkeypatch):
    if name in (
        "laplace",
        "quantile",
    ):  # weights 1/|r| magnify rounding without end where a fit interpolates
        monkeypatch.setattr(modes, "MAX_ITERATIONS", 8)
    for center in (True, False):
        sets = make_sets(name, *shape, "series", center=center, counts=True)
        start = start_of(sets)
        fits = find_modes(sets, start)
        assert fits.coef.any()
        for t in range(sets.n_sets):
            rows = np.flatnonzero(sets.weights[:, t])
            part = Sets(
                Dense(np.asfortranarray(sets.columns.dense()[rows])),
                *(values[rows] for values in (sets.y, sets.offset, sets.counts)),
                (),
                sets.family,
                center,
            )
            own = Start(*(value[..., [t]] for value in start[:4]), start.families[:1])
            alone = find_modes(part, own)
            np.testing.assert_allclose(fits.coef[:, t], alone.coef[:, 0], atol=1e-8)
            np.testing.assert_allclose(fits.intercept[t], alone.intercept[0], atol=1e-8)
            np.testing.assert_allclose(fits.sigma2[t], alone.sigma2[0], rtol=1e-8)
            assert repr(fits.families[t])[:40] == repr(alone.families[0])[:40]


@pytest.mark.parametrize("shape", [(40, 6), (30, 70)])
@pytest.mark.parametrize("name", AVERAGED)
def test_the_order_of_rows_and_columns_does_not_matter(name, shape, monkeypatch):
    if name in (
        "laplace",
        "quantile",
    ):  # weights 1/|r| magnify rounding without end where a fit interpolates
        monkeypatch.setattr(modes, "MAX_ITERATIONS", 8)
    n, p = shape
    sets = make_sets(name, n, p, counts=True)
    rng = np.random.default_rng(0)
    rows, columns = rng.permutation(n), rng.permutation(p)
    place = np.argsort(rows)
    other = Sets(
        Dense(np.asfortranarray(sets.columns.dense()[np.ix_(rows, columns)])),
        *(values[rows] for values in (sets.y, sets.offset, sets.counts)),
        tuple((place[train], place[test]) for train, test in sets.folds),
        sets.family,
    )
    start = start_of(sets)
    moved = start._replace(coef=start.coef[columns], second_moment=start.second_moment[columns])
    one, two = find_modes(sets, start), find_modes(other, moved)
    np.testing.assert_allclose(two.coef, one.coef[columns], atol=1e-8)
    np.testing.assert_allclose(two.intercept, one.intercept, atol=1e-8)
    np.testing.assert_allclose(two.sigma2, one.sigma2, rtol=1e-8)


@pytest.mark.parametrize("name", ["gaussian", "poisson"])
def test_columns_that_leave_do_not_come_back(name, monkeypatch):
    n, p = 20, 120
    sets = make_sets(name, n, p, folds=())
    kind = {"gaussian": modes._Gaussian, "poisson": modes._Moving}[name]
    seen, take, step = [], modes._State.take, kind.step
    takes = []

    def watched_take(state, keep):
        before = state.active.copy()
        take(state, keep)
        takes.append((before, state.active.copy()))

    def watched_step(state, d):
        assert d.size == state.active.sum() == state.mean.size
        seen.append(state.active.copy())
        return step(state, d)

    monkeypatch.setattr(modes._State, "take", watched_take)
    monkeypatch.setattr(kind, "step", watched_step)
    fits = find_modes(sets, start_of(sets))
    assert all((after <= before).all() for before, after in takes)
    assert all((after <= before).all() for before, after in pairwise(seen))
    sizes = [active.sum() for active in seen]
    assert sizes[: modes.FULL_ITERATIONS] == [p] * modes.FULL_ITERATIONS
    most = [max(p * modes.KEEP_SHARE**k, n) for k in range(1, len(sizes) - modes.FULL_ITERATIONS + 1)]
    assert (np.array(sizes[modes.FULL_ITERATIONS :]) <= most).all()
    assert sizes[modes.FULL_ITERATIONS] == int(p * modes.KEEP_SHARE)  # no more leave than have to
    assert not fits.coef[~seen[-1]].any()
    assert fits.coef.any()


def test_the_strongest_go_on():
    d = np.array([0.5, 3.0, 1e-9, 2.0, 1.0])
    assert modes.select_active(np.ones(5), 5, 1e-3) is None
    assert np.flatnonzero(modes.select_active(d, 5, 1e-3)).tolist() == [0, 1, 3, 4]
    assert np.flatnonzero(modes.select_active(d, 2, 1e-3)).tolist() == [1, 3]
    assert modes.select_active(np.append(np.ones(20), 1e-9), 21, 1e-3) is None  # a few do no harm


def test_nothing_is_left_of_nothing():
    """A response that no column explains."""
    for name in ("gaussian", "poisson"):
        sets = make_sets(name, 40, 6, y=np.full(40, 2.0))
        start = start_of(sets)
        start = start._replace(coef=0.0 * start.coef, second_moment=np.full_like(start.coef, 1e-8))
        fits = find_modes(sets, start)
        assert not fits.coef.any()
        np.testing.assert_allclose(sets.family.mean(fits.intercept), 2.0, rtol=1e-2)


def test_a_row_of_weight_two_is_two_rows():
    for name in AVERAGED:
        sets = make_sets(name, 40, 6, counts=True)
        twice = np.repeat(np.arange(40), sets.counts.astype(int))
        folds = tuple(tuple(np.flatnonzero(np.isin(twice, part)) for part in fold) for fold in sets.folds)
        other = Sets(
            Dense(np.asfortranarray(sets.columns.dense()[twice])),
            sets.y[twice],
            sets.offset[twice],
            np.ones(twice.size),
            folds,
            sets.family,
        )
        start = start_of(sets)
        one, two = find_modes(sets, start), find_modes(other, start)
        np.testing.assert_allclose(two.coef, one.coef, atol=1e-8)
        np.testing.assert_allclose(two.intercept, one.intercept, atol=1e-8)
        np.testing.assert_allclose(two.sigma2, one.sigma2, rtol=1e-8)


@pytest.mark.parametrize("center", [True, False])
def test_normal_equations_that_are_known_change_nothing(center):
    sets = make_sets("gaussian", 60, 9, center=center, counts=True)
    start = start_of(sets)
    one = find_modes(sets, start)
    two = find_modes(sets, start, normals=training_normals((sets,)))
    assert one.coef.any()
    for ours, theirs in zip(one[:4], two[:4], strict=True):
        np.testing.assert_allclose(theirs, ours, rtol=1e-8, atol=1e-10)
