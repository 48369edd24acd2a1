"""Columns that are always in, in the average over ordered levels: fitted by each training set, unshrunk."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csc_array
from sklearn.model_selection import KFold

from horseshoe import AdaptiveRegressor, HorseshoeRegressor, load_model
from horseshoe.average.components import GENERAL, Fitting
from horseshoe.average.ordinal_covariates import best_beside, levels_beside
from horseshoe.average.ridge_newton import Newton, _nowhere
from horseshoe.data.dense import Dense
from horseshoe.data.rows import Rows
from horseshoe.data.structure import Structure
from horseshoe.families import Ordinal
from horseshoe.model.spec import ModelSpec, prepare
from horseshoe.priors import FixedScale, Horseshoe

ALWAYS = [0, 2]


def make(n: int = 120, p: int = 8, levels: int = 4, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * np.geomspace(0.5, 4.0, p) + 1.0
    X[:, 3] += 0.6 * X[:, 0]
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    eta = Z[:, [0, 3, 4]] @ [0.8, -0.9, 1.2] + rng.logistic(size=n)
    return X, 1.0 * np.digitize(eta, np.linspace(-1.5, 1.5, levels - 1))


def average(X: Any, y: Any, known: dict[str, Any] | None = None, **options: Any) -> AdaptiveRegressor:
    options = {"family": "ordinal", "unpenalized": ALWAYS, "cv": 3, **options}
    return AdaptiveRegressor(**options).fit(X, y, **(known or {}))


def sets_of(X: Any, y: Any, folds: Any, weights: Any = None, offset: Any = None) -> Any:
    unpenalized = np.isin(np.arange(X.shape[1]), ALWAYS)
    family = Ordinal().learn(y)
    spec = ModelSpec(family, Horseshoe(), FixedScale(1.0), structure=Structure(unpenalized=unpenalized))
    rows = Rows(Dense(np.asfortranarray(X)), y, weights, np.zeros(y.size) if offset is None else offset)
    (prepared,) = prepare(spec, [rows])
    return prepared, levels_beside(prepared, rows.counts, tuple(folds), family)


def reference(X: Any, y: Any, offset: Any = None) -> Any:
    """Return the coefficients and thresholds of proportional odds without a prior."""
    ordered = pytest.importorskip("statsmodels.miscmodels.ordinal_model")
    levels = pd.Series(pd.Categorical(y, ordered=True))
    model = ordered.OrderedModel(levels, X, distr="logit", offset=offset)
    found = model.fit(method="bfgs", disp=False, gtol=1e-7, maxiter=2000)
    q = X.shape[1]
    return found.params[:q], model.transform_threshold_params(found.params)[1:-1]


@pytest.mark.parametrize("levels", [2, 4])
def test_the_best_beside_a_linear_predictor_is_that_of_the_likelihood(levels: int) -> None:
    X, y = make(levels=levels)
    offset = 0.3 * X[:, 4]
    family, free = best_beside(Ordinal().learn(y), y, offset, np.ones(120), X[:, ALWAYS], np.zeros(2))
    coef, thresholds = reference(X[:, ALWAYS], y, offset)
    np.testing.assert_allclose(free, coef, atol=1e-5)
    np.testing.assert_allclose(family.thresholds_, thresholds, atol=1e-5)
    rows = np.repeat(np.arange(120), 1 + np.arange(120) % 2)
    weights = 1.0 + np.arange(120) % 2
    ours = best_beside(family, y, offset, weights, X[:, ALWAYS], free)[1]
    theirs = best_beside(family, y[rows], offset[rows], np.ones(rows.size), X[rows][:, ALWAYS], free)[1]
    np.testing.assert_allclose(ours, theirs, atol=1e-9)


def test_the_mean_component_is_a_fit_of_these_columns_alone_in_every_training_set() -> None:
    X, y = make()
    folds = list(KFold(3, shuffle=True, random_state=1).split(X))
    prepared, sets = sets_of(X, y, folds)
    fits = Fitting(sets).component("null")
    assert not fits.coef.any()
    turn, scale = prepared.design.free.turn, X[:, ALWAYS].std(axis=0)
    for rows, family in zip([*(train for train, _ in folds), np.arange(120)], fits.families, strict=True):
        coef, _ = reference(X[rows][:, ALWAYS], y[rows])
        np.testing.assert_allclose(turn @ family.free / scale, coef, atol=1e-4)


@pytest.mark.parametrize("p", [8, 150])
def test_components_leave_the_likelihood_no_slope_along_these_columns(p: int) -> None:
    """So none of them shrinks what is always in, whatever it says of the others."""
    X, y = make(p=p)
    _, sets = sets_of(X, y, KFold(3).split(X))
    fitting = Fitting(sets)
    for name in GENERAL:
        fits = fitting.component(name)
        eta = sets.eta(fits.coef, fits.intercept)
        for t, family in enumerate(fits.families):
            part = sets.part(t)
            weights, targets = family.working(part.y, eta[part.inside, t], 1.0)
            pull = sets.family.basis[part.inside].T @ (weights * (targets - eta[part.inside, t]))
            np.testing.assert_allclose(pull, 0.0, atol=1e-5, err_msg=name)


@pytest.mark.parametrize(("p", "levels"), [(8, 4), (8, 2), (150, 3)])
def test_steps_at_a_penalty_end_at_the_ridge_with_these_columns_unshrunk(p: int, levels: int) -> None:
    X, y = make(p=p, levels=levels)
    _, sets = sets_of(X, y, KFold(3).split(X))
    newton, point = Newton(sets), _nowhere(sets)
    for _ in range(60):
        point = newton.step(point, 25.0)
    whole = point.eta[:, -1] + point.families[-1].explained(sets.y)
    model = HorseshoeRegressor("ordinal", prior="ridge", tau=0.2, unpenalized=ALWAYS, tol=1e-10).fit(X, y)
    want = X @ model.coef_
    np.testing.assert_allclose(whole - whole.mean(), want - want.mean(), atol=1e-5)


def test_against_a_huge_prior_scale() -> None:
    """The penalty of the ridge is per column, and there are two less: it moves a little on its path."""
    X, y = make()
    folds = list(KFold(5, shuffle=True, random_state=0).split(X))
    ours = average(X, y, cv=folds, components=["ridge"])
    huge = average(
        X, y, cv=folds, components=["ridge"], unpenalized=None, prior_scale=dict.fromkeys(ALWAYS, 1e3)
    )
    plain = average(X, y, cv=folds, components=["ridge"], unpenalized=None)
    gap = np.abs(ours.coef_ - huge.coef_)[ALWAYS].max()
    assert gap < 0.1 * np.abs(ours.coef_[ALWAYS]).max()
    assert gap < np.abs(ours.coef_ - plain.coef_)[ALWAYS].max()


@pytest.mark.parametrize("p", [8, 150])
def test_no_training_set_sees_the_levels_it_leaves_out(p: int) -> None:
    X, y = make(p=p)
    folds = list(KFold(3).split(X))
    changed, few = y.copy(), folds[0][1][:4]
    changed[few] = 3.0 - y[few]
    (_, ours), (_, theirs) = (sets_of(X, levels, folds) for levels in (y, changed))
    first, second = Fitting(ours), Fitting(theirs)
    for name in (
        "null",
        "horseshoe",
        "mixture_horseshoe",
        "mixture_forward",
    ):  # ridge has one penalty for all sets
        a, b = first.component(name), second.component(name)
        np.testing.assert_allclose(b.coef[:, 0], a.coef[:, 0], atol=1e-9, err_msg=name)
        np.testing.assert_allclose(b.families[0].free, a.families[0].free, atol=1e-9, err_msg=name)
        np.testing.assert_allclose(b.families[0].thresholds, a.families[0].thresholds, atol=1e-9)


@pytest.mark.parametrize("p", [8, 150])
def test_the_answer_has_them_unshrunk_and_never_zero(p: int, tmp_path: Any) -> None:
    X, y = make(p=p)
    model = average(X, y)
    assert model.support_[ALWAYS].all()
    assert (model.inclusion_[ALWAYS] == 1.0).all()
    assert (model.sparse_coef_[ALWAYS] != 0.0).all()
    assert model.components_[0].what == "the thresholds and the columns that are always in"
    others = np.delete(np.arange(p), ALWAYS)
    for coef, level in ((model.coef_, 0.0), (model.sparse_coef_, model.sparse_intercept_)):
        offset = X[:, others] @ coef[others]
        want, thresholds = reference(X[:, ALWAYS], y, offset)
        np.testing.assert_allclose(coef[ALWAYS], want, atol=1e-4)
        assert np.mean(model.thresholds_ - level) == pytest.approx(thresholds.mean(), abs=1e-3)
    interval = model.coef_interval()
    assert (interval[:, 0] <= model.coef_).all()
    assert (model.coef_ <= interval[:, 1]).all()
    low, high = model.predict_interval(X).T
    assert np.mean((low <= y) & (y <= high)) > 0.9
    table = model.summary().set_index("feature")
    assert table.loc[["x0", "x2"], ["unpenalized", "selected"]].all(axis=None)
    model.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.predict_interval(X), model.predict_interval(X))
    assert again.cv_error_ == model.cv_error_


@pytest.mark.parametrize("levels", [2, 6])
def test_intervals_are_those_of_proportional_odds_with_the_thresholds_unknown(levels: int) -> None:
    """Thresholds take more than an intercept does: the more so the select_active an effect is."""
    ordered = pytest.importorskip("statsmodels.miscmodels.ordinal_model")
    rng = np.random.default_rng(0)
    X = rng.standard_normal((250, 3)) * [1.0, 2.0, 0.5] + 1.0
    latent = X @ [3.0, -0.4, 1.0] + rng.logistic(size=250)
    y = 1.0 * np.digitize(latent, np.quantile(latent, np.linspace(0.0, 1.0, levels + 1)[1:-1]))
    interval = average(X, y, unpenalized=[0, 1, 2]).coef_interval()
    model = ordered.OrderedModel(pd.Series(pd.Categorical(y, ordered=True)), X, distr="logit")
    want = model.fit(method="bfgs", disp=False, gtol=1e-6, maxiter=2000).bse[:3]
    np.testing.assert_allclose(np.ptp(interval, axis=1) / (2.0 * 1.959964), want, rtol=1e-3)


def test_intervals_of_rows_have_these_columns_as_their_training_sets_do() -> None:
    """Else the errors of the rows left out belong to other fits than those that predict new rows."""
    X, y = make(60, 6)
    model = average(X, y, unpenalized=[0, 1, 2], cv=list(KFold(5, shuffle=True, random_state=0).split(X)))
    found = model._fitted
    coef = found.units.coef(found.average.fold_coef.T)
    level = found.units.intercept(found.average.fold_intercept, found.average.fold_coef.T)
    coef, level = found.unpenalized.complete(coef, level, found.units)
    assert np.ptp(coef[:, 0]) > 0.01
    rows, folds = found.sets.tested
    predicted = np.einsum("ij,ij->i", X[rows], coef[folds]) + level[folds]
    np.testing.assert_allclose(predicted, found.average.predicted, atol=1e-9)


def test_columns_that_are_all_always_in_leave_every_level_in_every_fold() -> None:
    X, _ = make(120, 3 + 2)
    y = 1.0 * (np.arange(120) % 9)
    model = average(X[:, :3], y, unpenalized=[0, 1, 2])
    assert all(np.unique(y[rows]).size == 9 for rows in _learnt(model, 120))


def _learnt(model: AdaptiveRegressor, n: int) -> list[Any]:
    folds = model._fitted.sets.folds
    assert sorted(np.concatenate([test for _, test in folds]).tolist()) == list(range(n))
    return [train for train, _ in folds]


def test_the_status_says_if_they_tell_levels_apart_alone() -> None:
    X, _ = make(90, 5)
    y = 1.0 * np.digitize(X[:, 0], np.quantile(X[:, 0], [0.3, 0.6]))
    assert average(X, y).status_.name == "SEPARATED"
    assert average(X, np.roll(y, 7)).status_.name != "SEPARATED"


def test_rows_left_out_are_judged_by_what_their_training_set_says() -> None:
    X, y = make()
    folds = list(KFold(3, shuffle=True, random_state=1).split(X))
    model = average(X, y, cv=folds)
    found, others = model._fitted.average, np.delete(np.arange(8), ALWAYS)
    total = 0.0
    for (train, test), coef in zip(folds, found.fold_coef.T, strict=True):
        eta = X[:, others] @ model._fitted.units.coef(coef)[others]
        family, free = best_beside(
            Ordinal().learn(y), y[train], eta[train], np.ones(train.size), X[train][:, ALWAYS], np.zeros(2)
        )
        chances = family.probabilities(eta[test] + X[test][:, ALWAYS] @ free)
        total -= 2.0 * np.log(chances[np.arange(test.size), y[test].astype(int)]).sum()
    assert model.cv_error_ == pytest.approx(total / y.size, rel=1e-7)


def test_what_must_not_change_the_answer() -> None:
    X, y = make(n=90)
    X = np.where(np.random.default_rng(5).random(X.shape) < 0.7, X, 0.0)
    weights, offset = np.random.default_rng(1).integers(1, 3, 90), np.linspace(-0.3, 0.3, 90)
    folds = [(np.flatnonzero(np.arange(90) % 3 != f), np.arange(f, 90, 3)) for f in range(3)]
    options = {"cv": folds, "feature_groups": [0, 1, 2, 3, 3, 4, 4, 5]}
    known = {"sample_weight": weights, "offset": offset}
    want = average(X, y, known, **options)
    sparse = average(csc_array(X), y, known, **options)
    np.testing.assert_allclose(sparse.coef_, want.coef_, atol=1e-6)
    rows = np.repeat(np.arange(90), weights)
    again = [
        (np.flatnonzero(np.isin(rows, train)), np.flatnonzero(np.isin(rows, test))) for train, test in folds
    ]
    repeated = average(X[rows], y[rows], {"offset": offset[rows]}, **options | {"cv": again})
    np.testing.assert_allclose(repeated.coef_, want.coef_, atol=1e-5)
    turned = X.copy()
    turned[:, 0] += 2.0 * X[:, 2]
    turned[:, 5] -= X[:, 0]
    other = average(turned, y, known, **options)
    np.testing.assert_allclose(np.delete(other.coef_, ALWAYS), np.delete(want.coef_, ALWAYS), atol=1e-5)
    np.testing.assert_allclose(other.predict_proba(turned), want.predict_proba(X), atol=1e-5)


def test_all_columns_always_in_is_proportional_odds() -> None:
    X, y = make()
    model = average(X[:, :3], y, unpenalized=[0, 1, 2])
    coef, thresholds = reference(X[:, :3], y)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-4)
    np.testing.assert_allclose(model.sparse_coef_, coef, atol=1e-4)
    np.testing.assert_allclose(model.thresholds_, thresholds, atol=1e-4)
    assert model.support_.all()


def test_what_cannot_be() -> None:
    X, y = make()
    with pytest.raises(ValueError, match="column 8 of X is always in, but constant"):
        average(np.column_stack([X, np.ones(120)]), y, unpenalized=[8])
    with pytest.raises(ValueError, match=r"column 8 .* combination of others that are, column 0"):
        average(np.column_stack([X, 2.0 * X[:, 0] + 1.0]), y, unpenalized=[0, 8])
    with pytest.raises(ValueError, match="unpenalized names 15 columns, and there are 12 rows"):
        average(np.random.default_rng(0).standard_normal((12, 20)), np.arange(12) % 3, unpenalized=range(15))


def test_a_column_that_varies_in_one_fold_only_is_no_obstacle() -> None:
    X, y = make()
    X[:, 0] = 0.0
    X[:5, 0] = 1.0
    model = average(X, y, cv=KFold(4))
    assert np.isfinite(model.coef_).all()
    assert model.coef_[0] != 0.0
