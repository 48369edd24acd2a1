"""Several responses that share columns: one of them is the plain average, and oracles."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csc_array

from average_sets import make_sets
from horseshoe.average import modes
from horseshoe.average.batch import Batch
from horseshoe.average.components import GENERAL, Fitting, prior_of
from horseshoe.average.fit import fit_average, fit_averages
from horseshoe.average.forward import forward
from horseshoe.average.mixture import GRID, fit_mixture
from horseshoe.average.modes import find_modes
from horseshoe.average.submodel import summarise
from horseshoe.average.weights import judge_all, weigh
from horseshoe.data.dense import Dense
from horseshoe.data.responses import leading
from horseshoe.data.rows import Rows
from horseshoe.data.sparse import Sparse
from horseshoe.families import Gaussian
from oracles import shared_mixture_mean

SHAPES = {"tall": (40, 6), "wide": (40, 60)}


def several(n, p, q=3, seed=0, **options):
    """Return the training sets of q responses to the same columns, the first two of which matter."""
    first = make_sets("gaussian", n, p, seed=seed, **options)
    rng = np.random.default_rng([seed, 7])
    x = first.columns.dense()
    effects = rng.standard_normal((2, q))
    Y = x[:, :2] @ effects + 0.7 * rng.standard_normal((n, q))
    return with_y(first, Y.T)


def with_y(sets, y):
    """Return the sets with another response, or several."""
    fields = (sets.columns, y, sets.offset, sets.counts, sets.folds, sets.family, sets.center)
    return type(sets)(*fields)


def batch_of(sets):
    return sets.batch(*sets.linearised(np.empty(0), np.ones(sets.n_sets), ()))


@pytest.fixture(params=SHAPES)
def sets(request):
    return several(*SHAPES[request.param])


# --- one regression is the plain component ----------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("options", [{}, {"counts": True}, {"center": False}, {"folds": "series"}])
def test_the_components_of_the_same_response_twice_are_those_of_one(shape, options, monkeypatch):
    monkeypatch.setattr(modes, "SHARED_GONE", modes.GONE)  # the mode of several ends elsewhere
    monkeypatch.setattr(modes, "SHARED_TOL", modes.LOOSE_TOL)
    one = several(*SHAPES[shape], q=1, **options)
    plain, twice = Fitting(with_y(one, one.y[0])), Fitting(with_y(one, np.repeat(one.y, 2, axis=0)))
    for name in ("null", "ridge"):
        for ours, theirs in zip(twice.component(name)[:3], plain.component(name)[:3], strict=True):
            np.testing.assert_allclose(ours, np.stack([theirs, theirs]), rtol=0, atol=1e-12, err_msg=name)
    start, several_start = plain.ridge_start, twice.ridge_start
    for ours, theirs in zip(several_start[:4], start[:4], strict=True):
        np.testing.assert_allclose(ours, np.stack([theirs, theirs]), rtol=0, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("options", [{}, {"counts": True}, {"center": False}, {"folds": "series"}])
def test_one_regression_of_several_is_the_plain_component(shape, options, monkeypatch):
    monkeypatch.setattr(modes, "SHARED_TOL", modes.LOOSE_TOL)
    shared = several(*SHAPES[shape], q=1, **options)
    sets = with_y(shared, shared.y[0])
    plain, fitting = Fitting(sets), Fitting(shared)
    for name in ("null", "ridge", "horseshoe"):
        for ours, theirs in zip(fitting.component(name)[:4], plain.component(name)[:4], strict=True):
            np.testing.assert_allclose(np.reshape(ours, theirs.shape), theirs, atol=1e-12, err_msg=name)
    start, sigma2 = plain.component("horseshoe").coef[None], np.full((1, sets.n_sets), 0.5)
    one, whole = (fit_mixture(batch_of(each), start, sigma2) for each in (sets, shared))
    for ours, theirs in zip(whole, one, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
    np.testing.assert_allclose(forward(batch_of(shared)), forward(batch_of(sets)), rtol=0, atol=1e-12)


def test_one_regression_has_the_plain_sparse_answer():
    rng = np.random.default_rng(3)
    x, weights = Dense(rng.standard_normal((50, 9))), rng.uniform(0.5, 2.0, 50)
    coef = rng.standard_normal(9) * (rng.uniform(size=9) < 0.6)
    one = summarise(x, coef, 0.3, weights, 0.2)
    both = summarise(x, coef[:, None], np.array([0.3]), weights, 0.2)
    assert one.order.tolist() == both.order.tolist()
    np.testing.assert_allclose(both.coef[:, 0], one.coef, rtol=0, atol=1e-12)
    np.testing.assert_allclose(both.intercept[0], one.intercept, rtol=0, atol=1e-12)
    np.testing.assert_allclose(both.distance, one.distance, rtol=0, atol=1e-12)


# --- the mixture ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("whole", [False, True])
def test_the_mixture_of_orthogonal_columns_is_the_posterior_mean(whole):
    """There the posterior is a product over columns, and sums over all that can be in say what it is."""
    rng = np.random.default_rng(1)
    x = np.linalg.qr(rng.standard_normal((40, 4)))[0] * np.sqrt(40.0)
    Y = x[:, :2] @ np.array([[1.0, -1.0, 0.0], [0.0, 1.5, 0.7]]) + rng.standard_normal((40, 3))
    sigma2 = np.array([0.8, 1.0, 1.3])
    data = Batch(Dense(x), Y.T[..., None], np.ones((40, 1)), center=False)
    freedom = 3.0 if whole else None
    found = fit_mixture(
        data,
        np.zeros((3, 4, 1)),
        sigma2[:, None],
        known_noise=True,
        freedom=freedom,
        tol=1e-13,
        max_sweeps=20_000,
    )
    pi, omega = found.pi[:, 0], found.omega[0]
    for j in range(4):
        mean, reach = shared_mixture_mean(x[:, j], Y, sigma2, pi, omega, GRID)
        np.testing.assert_allclose(found.coef[:, j, 0], mean, rtol=0, atol=1e-9)
        np.testing.assert_allclose(found.inclusion[:, j, 0], reach, rtol=0, atol=1e-9)


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("shape", [(40, 6), (40, 60), (30, 200)])
def test_no_sweep_lowers_the_elbo(shape, whole):
    rng = np.random.default_rng(5)
    n, p = shape
    x = rng.standard_normal((n, p)) + 2.0 * rng.standard_normal((n, 1))
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    Y = x[:, :5] @ rng.standard_normal((5, 3)) + rng.standard_normal((n, 3))
    weights = np.ones((n, 2))
    weights[: n // 4, 0] = 0.0
    data = Batch(Dense(np.asfortranarray(x)), np.repeat(Y.T[..., None], 2, axis=2), weights)
    seen, options = [], {"freedom": 3.0 if whole else None, "tol": 0.0, "max_sweeps": 25}
    fit_mixture(data, np.zeros((3, p, 2)), np.ones((3, 2)), callback=seen.append, **options)
    assert len(seen) == 25
    assert np.diff(np.array(seen), axis=0).min() > -1e-8
    assert np.ptp(np.array(seen), axis=0).min() > 1e-3


def test_omega_says_how_much_is_shared():
    rng = np.random.default_rng(2)
    x = rng.standard_normal((200, 40))
    noise = rng.standard_normal((200, 4))
    every = np.zeros((40, 4))
    every[:6] = rng.choice([-1.0, 1.0], (6, 4))
    own = np.zeros((40, 4))
    own[np.arange(12), np.arange(12) % 4] = 1.0
    found = []
    for effects in (every, own):
        data = Batch(Dense(x), (x @ effects + noise).T[..., None], np.ones((200, 1)))
        found.append(fit_mixture(data, np.zeros((4, 40, 1)), np.ones((4, 1))))
    assert found[0].omega[0] > 0.9
    assert found[1].omega[0] < 0.3  # a column reaches one of four
    assert found[1].inclusion[:, :12, 0].T[own[:12] == 0.0].max() < 0.5


# --- all components ---------------------------------------------------------------------------------------


def test_held_out_responses_never_matter(sets):
    t = 1
    out = sets.weights[:, t] == 0.0
    number = np.arange(out.size)
    other = Fitting(with_y(sets, np.where(out, 1e3 * (-1.0) ** number * number, sets.y)))
    fitting = Fitting(sets)
    for name in GENERAL:
        if name == "ridge":  # which asks them for its penalty, and for nothing else
            continue
        for a, b in zip(fitting.component(name)[:4], other.component(name)[:4], strict=True):
            np.testing.assert_allclose(b[..., t], a[..., t], rtol=0, atol=1e-8, err_msg=name)


def test_the_order_of_responses_and_columns_does_not_matter(sets):
    back = [2, 0, 1]
    turned = np.random.default_rng(0).permutation(sets.columns.shape[1])
    columns = Dense(np.asfortranarray(sets.columns.dense()[:, turned]))
    other = Fitting(replace(sets, columns=columns, y=sets.y[back]))
    fitting = Fitting(sets)
    for name in GENERAL:
        ours, theirs = fitting.component(name).coef, other.component(name).coef
        np.testing.assert_allclose(theirs, ours[back][:, turned], rtol=0, atol=1e-7, err_msg=name)


@pytest.mark.parametrize("shape", SHAPES)
def test_weights_are_counts_and_sparse_columns_are_columns(shape):
    sets = several(*SHAPES[shape], counts=True)
    twice = np.repeat(np.arange(40), sets.counts.astype(int))
    x = sets.columns.dense()
    place = {row: np.flatnonzero(twice == row) for row in range(40)}

    def rows(which):
        return np.concatenate([place[row] for row in which])

    folds = tuple((rows(train), rows(test)) for train, test in sets.folds)
    none = np.zeros(twice.size)
    columns = Dense(np.asfortranarray(x[twice]))
    copied = type(sets)(columns, sets.y[:, twice], none, none + 1.0, folds, sets.family)
    shift = np.median(x, axis=0)
    sparse = replace(sets, columns=Sparse(csc_array(x - shift)).less(np.ones((len(x), 1)), -shift[:, None]))
    ours = Fitting(sets)
    for others in (copied, sparse):
        theirs = Fitting(others)
        for name in GENERAL:
            found = theirs.component(name).coef
            np.testing.assert_allclose(found, ours.component(name).coef, rtol=0, atol=1e-6, err_msg=name)


def test_threads_change_nothing(sets):
    start = Fitting(sets).ridge_start
    one, two = (find_modes(sets, start, jobs) for jobs in (None, 2))
    assert np.array_equal(one.coef, two.coef)


# --- the average ---------------------------------------------------------------------------------------


def rows_of(x, Y):
    return [Rows(Dense(x), y.copy(), None, np.zeros(len(x))) for y in Y.T]


def drawn(n=60, p=12, q=3, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((n, p))
    effects = np.zeros((p, q))
    effects[[1, 4]] = rng.choice([-1.0, 1.0], (2, q)) * rng.uniform(0.5, 1.5, (2, q))
    folds = tuple((np.flatnonzero(np.arange(n) % 5 != f), np.arange(f, n, 5)) for f in range(5))
    return x, x @ effects + rng.standard_normal((n, q)), folds


def test_a_constant_response_has_no_say():
    x, Y, folds = drawn(q=3)
    with_constant = np.column_stack([Y[:, 0], np.full(60, 4.0), Y[:, 1]])
    both = fit_averages(rows_of(x, Y[:, :2]), Gaussian(), folds)
    three = fit_averages(rows_of(x, with_constant), Gaussian(), folds)
    assert np.array_equal(three[0].coef, both[0].coef)
    assert np.array_equal(three[2].coef, both[1].coef)
    assert not three[1].coef.any()
    assert three[1].intercept == 4.0
    one, _ = fit_averages(rows_of(x, with_constant[:, :2]), Gaussian(), folds)
    alone = fit_average(rows_of(x, Y)[0], Gaussian(), folds)
    assert np.array_equal(one.coef, alone.coef)
    assert np.array_equal(one.inclusion, alone.inclusion)


def test_units_of_responses_are_theirs_alone():
    x, Y, folds = drawn()
    unit, level = np.array([1.0, 2.0**20, 2.0**-15]), np.array([0.0, 3.0, -1.0])
    plain = fit_averages(rows_of(x, Y), Gaussian(), folds)
    scaled = fit_averages(rows_of(x, Y * unit + level * unit), Gaussian(), folds)
    for k in range(3):
        np.testing.assert_allclose(scaled[k].coef / unit[k], plain[k].coef, rtol=0, atol=1e-9)
        np.testing.assert_allclose(scaled[k].inclusion, plain[k].inclusion, rtol=0, atol=1e-9)
        assert np.array_equal(scaled[k].support, plain[k].support)


def test_weights_come_from_the_loss_of_all_responses():
    x, Y, folds = drawn()
    found = fit_averages(rows_of(x, Y), Gaussian(), folds)
    sets = found[0].sets
    fitting = Fitting(with_y(sets, np.array([each.sets.y for each in found])))
    alone, both = np.zeros(len(GENERAL)), np.zeros((len(GENERAL), len(GENERAL)))
    for k, each in enumerate(found):
        judged, together = judge_all(
            each.sets, tuple(fitting.component(name).responses(3)[k] for name in GENERAL)
        )
        np.testing.assert_allclose(each.average.judged, judged)
        alone, both = alone + [one.loss for one in judged], both + together
    want = weigh(alone, both, prior_of(GENERAL))
    for each in found:
        np.testing.assert_allclose(each.average.weights, want, rtol=1e-9)
        assert np.flatnonzero(each.support).tolist() == [1, 4]
        assert each.path == found[0].path


def test_sharing_pays_where_there_is_something_to_share():
    """Six data sets with weak effects of the same columns: the errors are paired."""
    gaps = []
    for seed in range(6):
        rng = np.random.default_rng([seed, 11])
        x, effects = rng.standard_normal((60, 50)), np.zeros((50, 4))
        effects[:5] = 0.4 * rng.choice([-1.0, 1.0], (5, 4))
        Y = x @ effects + rng.standard_normal((60, 4))
        folds = tuple((np.flatnonzero(np.arange(60) % 5 != f), np.arange(f, 60, 5)) for f in range(5))
        shared = fit_averages(rows_of(x, Y), Gaussian(), folds)
        alone = [fit_average(rows, Gaussian(), folds) for rows in rows_of(x, Y)]
        errors = [
            ((np.column_stack([one.coef for one in found]) - effects) ** 2).sum() for found in (shared, alone)
        ]
        gaps.append(errors[1] - errors[0])
    assert np.mean(gaps) > 3.0 * np.std(gaps, ddof=1) / np.sqrt(6)


def test_what_responses_have_in_common_does_not_hang_on_the_order_of_rows():
    rng = np.random.default_rng(0)
    for _ in range(20):
        Y, counts = rng.standard_normal((19, 3)), rng.integers(1, 4, 19).astype(float)
        turned = rng.permutation(19)
        found = leading(Y, counts)
        np.testing.assert_allclose(leading(Y[turned], counts[turned]), found[turned], atol=1e-12)
        np.testing.assert_allclose(leading(Y[:, ::-1], counts), found, atol=1e-12)


def test_what_responses_have_in_common_counts_rows():
    rng = np.random.default_rng(1)
    for _ in range(20):
        Y, times = rng.standard_normal((19, 3)), rng.integers(1, 4, 19)
        again = np.repeat(np.arange(19), times)
        found = leading(Y, times.astype(float))
        np.testing.assert_allclose(leading(Y[again], np.ones(again.size)), found[again], atol=1e-12)


def test_a_constant_response_has_nothing_in_common_with_others():
    Y = np.random.default_rng(2).standard_normal((19, 2))
    with_constant = np.column_stack([Y, np.full(19, 0.1)])
    np.testing.assert_allclose(leading(with_constant, np.ones(19)), leading(Y, np.ones(19)), atol=1e-12)
