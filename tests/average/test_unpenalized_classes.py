"""Columns that are always in, in the average of classes that are fitted together: never shrunk."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csc_array
from scipy.special import softmax
from sklearn.model_selection import KFold

from horseshoe import AdaptiveClassifier, HorseshoeClassifier, load_model
from horseshoe.average import modes
from horseshoe.average.components import GENERAL, Fitting
from horseshoe.average.ridge_path import Start
from horseshoe.average.softmax_sets import SoftmaxSets, best_flat
from horseshoe.data.dense import Dense
from horseshoe.data.rows import Rows
from horseshoe.data.structure import Structure
from horseshoe.families import Binomial
from horseshoe.model.spec import ModelSpec, prepare
from horseshoe.priors import FixedScale, Horseshoe

ALWAYS = [0, 3]


def make(n: int = 120, p: int = 7, q: int = 3, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, p))
    Z[:, 1] += 0.5 * Z[:, 0]
    effects = np.zeros((p, q))
    effects[0, :2], effects[1, -2:] = [1.0, -1.0], [1.5, -1.5]
    codes = (Z @ effects + rng.gumbel(size=(n, q))).argmax(axis=1)
    return Z * np.geomspace(0.5, 4.0, p) + 1.0, codes


def average(X: Any, y: Any, known: dict[str, Any] | None = None, **options: Any) -> AdaptiveClassifier:
    options = {"unpenalized": ALWAYS, "cv": 3, "multi_class": "multinomial", **options}
    return AdaptiveClassifier(**options).fit(X, y, **(known or {}))


def sets_of(
    X: Any, codes: Any, folds: Any, center: bool = True, scale: bool = True
) -> tuple[Any, SoftmaxSets]:
    known = Structure(unpenalized=np.isin(np.arange(X.shape[1]), ALWAYS))
    spec = ModelSpec(
        Binomial(), Horseshoe(), FixedScale(1.0), fit_intercept=center, standardize=scale, structure=known
    )
    chosen = np.eye(int(codes.max()) + 1)[:, codes]
    rows = Rows(Dense(np.asfortranarray(X)), chosen[0].copy(), None, np.zeros(codes.size))
    (prepared,) = prepare(spec, [rows])
    given = prepared.design.columns, 1.0 * codes, prepared.offset, rows.counts, tuple(folds), spec.family
    basis = prepared.design.free.basis
    return prepared, SoftmaxSets(*given, center=center, chosen=chosen, basis=basis)


def mode_at(sets: SoftmaxSets, t: int, d: Any, steps: int, tol: float) -> Any:
    """Return where EM ends in a training set, the prior variances being held at ``d``."""
    none, level = np.zeros((3, d.size, sets.n_sets)), np.zeros((3, sets.n_sets))
    free = np.zeros((3, 0 if sets.basis is None else 2, sets.n_sets))
    start = Start(none, none, level, np.ones(sets.n_sets), sets.families, free)
    state = modes._Softmax(sets, t, start, d.size)
    for _ in range(steps):
        if state.step(d) < tol:
            break
    return state


def eta_of(state: Any) -> Any:
    """Return the linear predictor (n, q) of the rows of a training set, less what classes have in common."""
    eta = state.columns.matvec(state.mean) + state.intercept + state._explained(state.free)
    return eta - eta.mean(axis=1, keepdims=True)


def reference(X: Any, codes: Any) -> Any:
    """Return the coefficients (columns, classes) of softmax regression without a prior."""
    sm = pytest.importorskip("statsmodels.api")
    found = sm.MNLogit(codes, X).fit(method="newton", disp=False, maxiter=100, tol=1e-12).params
    whole = np.column_stack([np.zeros(X.shape[1]), np.asarray(found)])
    return whole - whole.mean(axis=1, keepdims=True)


def test_newton_is_multinomial_regression() -> None:
    X, codes = make()
    x = np.column_stack([np.ones(120), X[:, ALWAYS]])
    chosen = np.eye(3)[codes]
    found = best_flat(chosen.T, np.zeros((3, 120)), np.ones(120), x)
    np.testing.assert_allclose(found.T, reference(x, codes), atol=1e-7)
    beside = 0.4 * X[:, [1]] * [1.0, -1.0, 0.0]
    best = best_flat(chosen.T, beside.T, np.ones(120), x).T
    slope = x.T @ (chosen - softmax(beside + x @ best, axis=1))
    np.testing.assert_allclose(slope, 0.0, atol=1e-7)


@pytest.mark.parametrize("center", [True, False])
def test_the_mean_component_is_a_fit_of_these_columns_alone_in_every_training_set(center: bool) -> None:
    X, codes = make()
    folds = list(KFold(3, shuffle=True, random_state=1).split(X))
    prepared, sets = sets_of(X, codes, folds, center)
    fits = Fitting(sets).component("null")
    assert not fits.coef.any()
    turn, scale = prepared.design.free.turn, prepared.all_units.scale[ALWAYS]
    for t, rows in enumerate([*(train for train, _ in folds), np.arange(120)]):
        x = np.column_stack([np.ones((rows.size, int(center))), X[rows][:, ALWAYS]])
        want = reference(x, codes[rows])[int(center) :]
        np.testing.assert_allclose((turn @ fits.free[..., t].T) / scale[:, None], want, atol=1e-6)


@pytest.mark.parametrize("p", [7, 150])
@pytest.mark.parametrize("center", [True, False])
def test_components_leave_the_likelihood_no_slope_along_these_columns(p: int, center: bool) -> None:
    """So none of them shrinks what is always in, whatever it says of the others."""
    X, codes = make(p=p)
    _, sets = sets_of(X, codes, KFold(3).split(X), center)
    fitting = Fitting(sets)
    for name in GENERAL:
        fits = fitting.component(name)
        np.testing.assert_allclose(fits.free.sum(axis=0), 0.0, atol=1e-9, err_msg=name)
        left = sets.chosen[..., None] - softmax(sets.eta(fits.coef, fits.intercept, fits.free), axis=0)
        slope = np.einsum("ia,it,qit->qat", sets.flat, sets.weights, left)
        np.testing.assert_allclose(slope, 0.0, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("p", [7, 150])
def test_steps_at_fixed_scales_end_at_the_ridge_with_these_columns_unshrunk(p: int) -> None:
    X, codes = make(p=p)
    _, sets = sets_of(X, codes, KFold(3).split(X))
    eta = eta_of(mode_at(sets, 3, np.full(sets.columns.shape[1], 0.04), 500, 1e-12))
    options = {"prior": "ridge", "tau": 0.2, "unpenalized": ALWAYS, "tol": 1e-10}
    model = HorseshoeClassifier(multi_class="multinomial", **options).fit(X, codes)
    want = X @ model.coef_.T + model.intercept_
    np.testing.assert_allclose(eta, want - want.mean(axis=1, keepdims=True), atol=1e-4)


def test_always_is_a_huge_prior_variance() -> None:
    X, codes = make()
    _, sets = sets_of(X, codes, KFold(3).split(X), scale=False)
    centred = Dense(np.asfortranarray(X - X.mean(axis=0)))
    whole = replace(sets, columns=centred, basis=None)
    found = []
    for each, d in ((sets, np.full(5, 0.04)), (whole, np.where(np.isin(np.arange(7), ALWAYS), 1e6, 0.04))):
        state = mode_at(each, 1, d, 2000, 1e-13)
        found.append((state.mean if d.size == 5 else np.delete(state.mean, ALWAYS, axis=0), eta_of(state)))
    np.testing.assert_allclose(found[0][0], found[1][0], atol=1e-6)
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-5)


@pytest.mark.parametrize("p", [7, 150])
def test_no_training_set_sees_the_classes_it_leaves_out(p: int) -> None:
    X, codes = make(p=p)
    folds = list(KFold(3).split(X))
    changed, few = codes.copy(), folds[0][1][:6]
    changed[few] = (codes[few] + 1) % 3
    (_, ours), (_, theirs) = (sets_of(X, one, folds) for one in (codes, changed))
    first, second = Fitting(ours), Fitting(theirs)
    for name in (
        "null",
        "horseshoe",
        "mixture_horseshoe",
        "mixture_forward",
    ):  # ridge has one penalty for all sets
        a, b = first.component(name), second.component(name)
        np.testing.assert_allclose(b.coef[..., 0], a.coef[..., 0], atol=1e-9, err_msg=name)
        np.testing.assert_allclose(b.intercept[:, 0], a.intercept[:, 0], atol=1e-9, err_msg=name)
        np.testing.assert_allclose(b.free[..., 0], a.free[..., 0], atol=1e-9, err_msg=name)


@pytest.mark.parametrize(("p", "center"), [(7, True), (150, True), (7, False)])
def test_the_answer_has_them_unshrunk_and_never_zero(p: int, center: bool, tmp_path: Any) -> None:
    X, codes = make(p=p)
    model = average(X, codes, fit_intercept=center)
    assert model.support_[ALWAYS].all()
    assert (model.inclusion_[ALWAYS] == 1.0).all()
    assert (model.sparse_coef_[:, ALWAYS] != 0.0).all()
    np.testing.assert_allclose(model.coef_.sum(axis=0), 0.0, atol=1e-9)
    x = np.column_stack([np.ones((120, int(center))), X[:, ALWAYS]])
    answers = ((model.coef_, model.intercept_), (model.sparse_coef_, model.sparse_intercept_))
    for coef, intercept in answers:
        left = np.eye(3)[codes] - softmax(X @ coef.T + intercept, axis=1)
        np.testing.assert_allclose(x.T @ left, 0.0, atol=1e-5)
    np.testing.assert_allclose(model.predict_proba(X), softmax(X @ model.coef_.T + model.intercept_, axis=1))
    interval = model.coef_interval()
    assert (interval[..., 0] <= model.coef_ + 1e-12).all()
    assert (model.coef_ <= interval[..., 1] + 1e-12).all()
    assert model.summary()["unpenalized"].sum() == 3 * (2 + int(center))
    left = -2.0 * np.log(model.cv_prediction_[np.arange(120), codes])
    assert model.cv_error_ == pytest.approx(left.mean())
    model.save(tmp_path / "model.json")
    again = load_model(tmp_path / "model.json")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.coef_interval(), interval)


@pytest.mark.parametrize(("q", "center"), [(3, True), (4, True), (3, False)])
def test_intervals_are_those_of_multinomial_regression(q: int, center: bool) -> None:
    sm = pytest.importorskip("statsmodels.api")
    X, codes = make(300, 3, q)
    x = np.column_stack([np.ones((300, int(center))), X])
    found = sm.MNLogit(codes, x).fit(method="newton", disp=False, maxiter=100, tol=1e-12)
    k = x.shape[1]
    against_first = np.kron(np.eye(q)[:, 1:] - 1.0 / q, np.eye(k))  # to coefficients that add up to zero
    covariance = against_first @ np.asarray(found.cov_params()) @ against_first.T
    want = np.sqrt(covariance.diagonal()).reshape(q, k)[:, int(center) :]
    model = average(X, codes, unpenalized=[0, 1, 2], fit_intercept=center)
    np.testing.assert_allclose(np.ptp(model.coef_interval(), axis=2) / (2.0 * 1.959964), want, rtol=1e-4)


def test_the_status_says_if_they_tell_classes_apart_alone() -> None:
    X, _ = make(90)
    codes = np.digitize(X[:, 0], np.quantile(X[:, 0], [0.3, 0.6]))
    assert average(X, codes).status_.name == "SEPARATED"
    assert average(X, np.roll(codes, 7)).status_.name != "SEPARATED"


def test_what_must_not_change_the_answer() -> None:
    X, codes = make(n=90)
    X = np.where(np.random.default_rng(5).random(X.shape) < 0.7, X, 0.0)
    weights = np.random.default_rng(1).integers(1, 3, 90)
    folds = [(np.flatnonzero(np.arange(90) % 3 != f), np.arange(f, 90, 3)) for f in range(3)]
    options = {"cv": folds, "feature_groups": [0, 1, 2, 3, 4, 4, 5]}
    known = {"sample_weight": weights}
    want = average(X, codes, known, **options)
    np.testing.assert_allclose(average(csc_array(X), codes, known, **options).coef_, want.coef_, atol=1e-6)
    rows = np.repeat(np.arange(90), weights)
    again = [tuple(np.flatnonzero(np.isin(rows, part)) for part in pair) for pair in folds]
    repeated = average(X[rows], codes[rows], **options | {"cv": again})
    np.testing.assert_allclose(repeated.coef_, want.coef_, atol=1e-5)
    turned = X.copy()
    turned[:, 0] += 2.0 * X[:, 3]
    turned[:, 5] -= X[:, 0]
    other = average(turned, codes, known, **options)
    others = np.delete(np.arange(7), ALWAYS)
    np.testing.assert_allclose(other.coef_[:, others], want.coef_[:, others], atol=1e-5)
    np.testing.assert_allclose(other.predict_proba(turned), want.predict_proba(X), atol=1e-5)


def test_all_columns_always_in_is_multinomial_regression() -> None:
    X, codes = make()
    model = average(X[:, :3], codes, unpenalized=[0, 1, 2])
    want = reference(np.column_stack([np.ones(120), X[:, :3]]), codes)
    for coef, intercept in (
        (model.coef_, model.intercept_),
        (model.sparse_coef_, model.sparse_intercept_),
    ):
        np.testing.assert_allclose(np.column_stack([intercept, coef]).T, want, atol=1e-6)
    assert model.support_.all()


def test_what_cannot_be() -> None:
    X, codes = make()
    with pytest.raises(ValueError, match="column 7 of X is always in, but constant"):
        average(np.column_stack([X, np.ones(120)]), codes, unpenalized=[7])
    with pytest.raises(ValueError, match=r"column 7 .* combination of others that are, column 0"):
        average(np.column_stack([X, 2.0 * X[:, 0] + 1.0]), codes, unpenalized=[0, 7])
    with pytest.raises(ValueError, match="unpenalized names 15 columns, and there are 12 rows"):
        average(np.random.default_rng(0).standard_normal((12, 20)), np.arange(12) % 3, unpenalized=range(15))


def test_columns_that_tell_a_class_apart_are_no_obstacle() -> None:
    X, codes = make()
    X[:, 0] = codes == 2
    model = average(X, codes)
    assert np.isfinite(model.coef_).all()
    assert (model.predict(X)[codes == 2] == 2).all()


def test_the_first_component_says_that_they_are_in() -> None:
    X, codes = make(60)
    model = average(X, codes, components=["null", "ridge"])
    assert model.components_[0].what == "the intercept and the columns that are always in"
