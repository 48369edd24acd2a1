"""Every component for every family: what all must do; no fold sees the rows that it will predict."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csc_array
from scipy.special import logsumexp
from scipy.stats import halfcauchy

from average_sets import make_sets
from horseshoe.average import elastic_net
from horseshoe.average.components import COMPONENTS, GENERAL, Fitting
from horseshoe.average.cox_sets import sets_of
from horseshoe.average.sets import Sets
from horseshoe.data.dense import Dense
from horseshoe.data.sparse import Sparse
from horseshoe.families import resolve_family
from registry import FAMILIES as AVERAGED

SHAPES = {"tall": (40, 6), "wide": (40, 60)}
FOLDS = tuple(
    (np.flatnonzero(np.arange(40) % 3 != fold), np.flatnonzero(np.arange(40) % 3 == fold))
    for fold in range(3)
)
NOT_THE_FOURTH = (np.delete(np.arange(40), 3), np.array([3]))
CHOOSES = {"ridge", "elastic_net"}
"""What weighs penalties for all sets by cross-validation: every set's fit hangs on all rows through it."""


def names_of(family):
    """Return the components of a family: the net is for a Gaussian response."""
    return tuple(COMPONENTS) if family == "gaussian" else GENERAL


def sparse(X):
    shift = np.median(X, axis=0)
    return Sparse(csc_array(X - shift)).less(np.ones((len(X), 1)), -shift[:, None])


def fitted(fitting):
    """Return what every component says of the sets."""
    fitting = Fitting(fitting) if isinstance(fitting, Sets) else fitting
    constant = fitting.sets.family.constant_weights
    return {name: fitting.component(name) for name in (COMPONENTS if constant else GENERAL)}


@pytest.fixture(scope="module", params=[(f, s) for f in AVERAGED for s in SHAPES], ids="-".join)
def case(request):
    """A family, the training sets, and what every component says of them."""
    family, shape = request.param
    fitting = Fitting(make_sets(family, *SHAPES[shape], FOLDS))
    return family, fitting, fitted(fitting)


def test_shapes_and_numbers(case):
    _, fitting, fits = case
    sets = fitting.sets
    p = sets.columns.shape[1]
    for name, fit in fits.items():
        assert fit.coef.shape == fit.inclusion.shape == (p, 4), name
        assert fit.intercept.shape == fit.sigma2.shape == (4,), name
        assert len(fit.families) == 4
        assert all(type(family) is type(sets.family) for family in fit.families)
        for value in fit[:3]:
            assert np.isfinite(value).all(), name
        assert (fit.sigma2 > 0.0).all()
        assert fit.selects == (name != "ridge")
        assert not fit.selects or ((fit.inclusion >= 0.0) & (fit.inclusion <= 1.0)).all()
        if not sets.family.has_dispersion:
            assert (fit.sigma2 == 1.0).all()


def test_components_are_what_they_say(case):
    family, fitting, fits = case
    sets = fitting.sets
    assert not fits["null"].coef.any()
    assert fits["ridge"].coef.all()
    assert np.array_equal(fits["horseshoe"].inclusion, fits["horseshoe"].coef != 0.0)

    def at(fit):
        return fit.families[-1] if family == "ordinal" else sets.family

    for name in fits.keys() - {"null"}:
        losses = [
            np.mean(at(f).neg_log_likelihood(sets.y, sets.eta(f.coef, f.intercept)[:, -1], 1.0))
            for f in (fits["null"], fits[name])
        ]
        assert losses[1] < losses[0] + 1e-9, name
        if family in ("gaussian", "binomial", "poisson"):  # others have found nothing in so few rows
            assert losses[1] < losses[0] - 0.02, name


def near(theirs, ours, name, within=1e-8):
    known = np.abs(ours[np.isfinite(ours)])
    scale = max(float(known.max(initial=0.0)), 1e-3)
    np.testing.assert_allclose(theirs, ours, rtol=0, atol=within * scale, err_msg=name)


def changed(sets, t, wild):
    """Return the sets with other responses in the rows that fold t predicts."""
    y = sets.y.copy()
    out = sets.weights[:, t] == 0.0
    y[out] = wild(y)[out]
    return replace(sets, y=y)


WILD = {
    "gaussian": lambda y: 1e6 * (1.0 + np.arange(y.size)) * (-1.0) ** np.arange(y.size),
    "student_t": lambda y: 1e6 * (1.0 + np.arange(y.size)) * (-1.0) ** np.arange(y.size),
    "laplace": lambda y: 1e6 * (1.0 + np.arange(y.size)) * (-1.0) ** np.arange(y.size),
    "quantile": lambda y: 1e6 * (1.0 + np.arange(y.size)) * (-1.0) ** np.arange(y.size),
    "huber": lambda y: 1e6 * (1.0 + np.arange(y.size)) * (-1.0) ** np.arange(y.size),
    "gamma": lambda y: 50.0 * (np.arange(y.size) % 3) + y[::-1],
    "tweedie": lambda y: 50.0 * (np.arange(y.size) % 3) + y[::-1],
    "binomial": lambda y: 1.0 - y,
    "ordinal": lambda y: 3.0 - y,
    "poisson": lambda y: 50.0 * (np.arange(y.size) % 3) + y[::-1],
    "negative_binomial": lambda y: 50.0 * (np.arange(y.size) % 3) + y[::-1],
}


def test_held_out_responses_never_matter(case, monkeypatch):
    """The most important of all: else a cross-validated loss says what one wants to hear."""
    family, fitting, fits = case
    t = 1
    changed_fitting = Fitting(changed(fitting.sets, t, WILD[family]))
    other = fitted(changed_fitting)
    assert fits.keys() == other.keys() == set(names_of(family))
    for name in fits.keys() - CHOOSES:
        for ours, theirs in zip(fits[name][:4], other[name][:4], strict=True):
            near(theirs[..., t], ours[..., t], name)
        one, two = fits[name].families[t], other[name].families[t]
        if one.nuisance is not None:
            np.testing.assert_allclose(getattr(two, one.nuisance), getattr(one, one.nuisance), rtol=1e-8)
    # ridge asks them how penalties count, all folds together, and for nothing else
    for ours, theirs in zip(fitting.paths[0].points, changed_fitting.paths[0].points, strict=False):
        for name in ("solution", "intercept", "eta", "sigma2", "evidence"):
            near(getattr(theirs, name)[..., t], getattr(ours, name)[..., t], name)
    for ours, theirs in zip(fitting.ridge_start[:4], changed_fitting.ridge_start[:4], strict=True):
        near(theirs[..., t], ours[..., t], "start")
    if family == "gaussian":  # so does the net
        given = np.random.default_rng(0).dirichlet(np.ones(elastic_net.PENALTIES.size))
        monkeypatch.setattr(elastic_net, "_shares", lambda *_: given)
        for ours, theirs in zip(
            *(elastic_net.elastic_net(some.sets)[:4] for some in (fitting, changed_fitting)), strict=True
        ):
            np.testing.assert_array_equal(theirs[..., t], ours[..., t])
    assert any(np.abs(other[name].coef - fits[name].coef).max() > 1e-3 for name in fits)  # of other folds


def test_ridge_is_averaged_over_its_penalty_by_rows_left_out(case):
    """A posterior mean, by numbers: the likelihood of rows left out, and a half-Cauchy scale."""
    _, fitting, fits = case
    sets, path, terms = fitting.sets, fitting.paths[0], []
    for point in path.points:
        eta, loss = sets.eta(path.coef(sets, point.solution), point.intercept), 0.0
        for t, (_, test) in enumerate(sets.folds):
            if sets.family.constant_weights:
                loss += np.sum((sets.y[test] - eta[test, t]) ** 2)
            else:
                density = point.families[t].neg_log_likelihood(sets.y[test], eta[test, t], point.sigma2[t])
                loss += density.sum()
        if sets.family.constant_weights:
            loss = 0.5 * len(np.unique(np.concatenate([test for _, test in sets.folds]))) * np.log(loss)
        tau = np.sqrt(sets.columns.shape[1] / point.penalty)
        terms.append(-loss + halfcauchy.logpdf(tau) + np.log(tau))  # even in log tau
    weights = np.exp(np.array(terms) - logsumexp(terms))
    coef = sum(w * path.coef(sets, point.solution) for w, point in zip(weights, path.points, strict=True))
    np.testing.assert_allclose(fits["ridge"].coef, coef, atol=1e-10)
    assert weights.max() < 0.999


def rounding(family):
    """Return how close fits are whose sums run in another order.

    The weights of Laplace noise are 1/|r|: where a fit comes close to a row, a residual of 1e-7 has lost half
    its digits, and with them its weight.
    """
    return 1e-6 if family in ("laplace", "quantile") else 1e-8


def same(ours, theirs, names, within=1e-8, sets=slice(None)):
    for name in names:
        for kind, one, two in zip(ours[name]._fields[:4], ours[name], theirs[name], strict=False):
            near(two[..., sets], one[..., sets], f"{name}: {kind}", within)


def test_sparse_columns_say_the_same(case):
    family, fitting, fits = case
    sets = fitting.sets
    other = replace(sets, columns=sparse(sets.columns.dense()))
    same(fits, fitted(other), names_of(family), rounding(family))


@pytest.mark.parametrize(("p", "center"), [(12, True), (60, True), (100, True), (100, False), (200, True)])
@pytest.mark.parametrize("family", AVERAGED)
def test_a_row_of_weight_two_is_two_rows(family, p, center):
    """Fewer columns than rows, between rows and observations, and more than both."""
    sets = make_sets(family, 40, p, FOLDS, counts=True, center=center)
    twice = np.repeat(np.arange(40), sets.counts.astype(int))
    folds = tuple(tuple(np.flatnonzero(np.isin(twice, part)) for part in fold) for fold in sets.folds)
    x = np.asfortranarray(sets.columns.dense()[twice])
    ones = np.ones(twice.size)
    parts = {"y": sets.y[twice], "offset": sets.offset[twice], "counts": ones, "folds": folds}
    other = replace(sets, columns=Dense(x), **parts)
    names, one, two = list(names_of(family)), Fitting(sets), Fitting(other)
    if family in ("laplace", "quantile") and p > 40:
        # modes interpolate, and magnify rounding without end
        names = ["null", "ridge", "mixture_forward"]
    noisy = np.ones(sets.n_sets, dtype=bool)
    if family in ("gamma", "tweedie") and p > 40:
        names.remove(
            "mixture_horseshoe"
        )  # whose sweeps make 1e-6 of 1e-15 where so many columns share so few rows
    if family == "tweedie":  # a mode without noise goes through every row, zeros too: no digits to spare
        noisy = one.component("horseshoe").sigma2 > 1e-6
    assert noisy.any()
    for name in names:
        same({name: one.component(name)}, {name: two.component(name)}, [name], rounding(family), noisy)
    for ours, theirs in zip(one.ridge_start[:4], two.ridge_start[:4], strict=True):
        near(theirs, ours, "start", rounding(family))


@pytest.mark.parametrize("family", AVERAGED)
def test_a_row_of_weight_zero_is_no_row(family):
    sets = make_sets(family, *SHAPES["wide"], FOLDS)
    counts, y = np.ones(40), sets.y.copy()
    counts[[5, 17]] = 0.0
    x = sets.columns.dense() - np.average(sets.columns.dense(), axis=0, weights=counts)
    y[[5, 17]] = y.max()
    kept = np.flatnonzero(counts)
    place = np.cumsum(counts).astype(int) - 1
    folds = tuple(tuple(place[part[counts[part] > 0.0]] for part in fold) for fold in FOLDS)
    one = replace(sets, columns=Dense(np.asfortranarray(x)), y=y, counts=counts)
    parts = {"y": y[kept], "offset": sets.offset[kept], "counts": counts[kept], "folds": folds}
    two = replace(sets, columns=Dense(np.asfortranarray(x[kept])), **parts)
    same(fitted(one), fitted(two), names_of(family), rounding(family))


@pytest.mark.parametrize("name", ["gaussian", "binomial"])
def test_a_set_is_what_it_is_beside_any_others(name):
    """All rows, with many folds and with one."""
    for n, p in SHAPES.values():
        many = fitted(make_sets(name, n, p, FOLDS))
        few = fitted(make_sets(name, n, p, FOLDS[:1]))
        for component in many.keys() - CHOOSES:
            for one, two in zip(many[component][:4], few[component][:4], strict=True):
                np.testing.assert_allclose(two[..., -1], one[..., -1], atol=1e-8)
                np.testing.assert_allclose(two[..., 0], one[..., 0], atol=1e-8)


def test_each_component_is_fitted_once():
    fitting = Fitting(make_sets("gaussian", 40, 6, FOLDS))
    assert fitting.component("horseshoe") is fitting.component("horseshoe")
    assert fitting.paths is fitting.paths


def degenerate(family):
    """Yield what may go wrong: no column, one that rests in a fold, a response that does."""
    sets = make_sets(family, 40, 6, FOLDS)
    X, wide = sets.columns.dense(), make_sets(family, 40, 60, FOLDS).columns.dense()
    once = np.where(np.arange(40) == 3, 1.0, 0.0)  # constant in the set without this row
    rests = np.where(np.arange(40) % 3 == 0, 1.0, 0.0)  # in the set without these
    yield X[:, :0], sets.y
    yield X[:, :1], sets.y
    yield np.column_stack([X, once, rests, X[:, 0]]), sets.y
    yield np.column_stack([wide, once, rests, wide[:, 0]]), sets.y
    yield X, np.ones(40)
    yield wide, rests


@pytest.mark.parametrize("family", AVERAGED)
def test_degenerate_data(family):
    for X, y in degenerate(family):
        y = y + 1.0 if family == "gamma" else y  # which has no zeros
        if family == "ordinal" and np.ptp(y) == 0.0:  # of levels there are two or more
            continue
        x, learned = Dense(np.asfortranarray(X - X.mean(axis=0))), resolve_family(family).learn(y)
        sets = sets_of(x, y, np.zeros(40), np.ones(40), (FOLDS[0], NOT_THE_FOURTH), learned)
        for name, fit in fitted(sets).items():
            assert fit.coef.shape == (X.shape[1], 3)
            for value in fit[:3]:
                assert np.isfinite(value).all(), name
