"""Groups, columns that are always in, and prior scales, as users see them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import null_space
from scipy.sparse import csc_array

import oracles
from horseshoe import (
    AdaptiveClassifier,
    AdaptiveRegressor,
    HorseshoeClassifier,
    HorseshoeRegressor,
    Status,
    sample_posterior,
)
from simulate import DRAWS

FAMILIES = ["gaussian", "student_t", "laplace", "poisson", "negative_binomial", "binomial"]
ALWAYS = [0, 2, 7]
TIGHT = {"tol": 1e-12}


def make(family: str = "gaussian", n: int = 80, p: int = 24, seed: int = 0) -> tuple[Any, Any]:
    """Return columns that hang together, of several units, and a response that some of them explain."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    X[:, 3:9] += 0.6 * X[:, [0]]
    y = DRAWS[family](rng, X[:, [0, 10 % p, 11 % p]] @ [0.8, -0.9, 0.7])
    return X * rng.uniform(0.5, 3.0, p) + rng.uniform(-1.0, 1.0, p), y


LABEL = np.repeat(np.arange(8), 3)


# --- groups ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_groups_of_one_are_the_plain_fit(family: str) -> None:
    X, y = make(family)
    plain = HorseshoeRegressor(family).fit(X, y)
    for groups in (np.arange(24)[::-1], {"a": [3]}, [None] * 24):
        alone = HorseshoeRegressor(family, feature_groups=groups).fit(X, y)
        np.testing.assert_allclose(alone.coef_, plain.coef_, rtol=0, atol=1e-12)
        np.testing.assert_allclose(alone.coef_std_, plain.coef_std_, rtol=0, atol=1e-12)
        assert alone.status_ is plain.status_
        assert alone.expected_by_chance_ == plain.expected_by_chance_


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("prior", ["horseshoe", "normal_gamma", "student_t"])
def test_the_end_is_a_fixed_point_of_the_definition(family: str, prior: str) -> None:
    """The scale of each group minimises its objective, found by search."""
    X, y = make(family)
    sigma2 = {"sigma2": 0.6} if family in ("gaussian", "student_t", "laplace") else {}
    tol = 1e-9 if family == "laplace" else 1e-12
    model = HorseshoeRegressor(
        family, prior, feature_groups=LABEL, zero_threshold=0.0, tol=tol, **sigma2
    ).fit(X, y)
    result, local = model._fitted.result, model._fitted.hyper.local
    density = {
        "horseshoe": lambda v: oracles.neg_log_inverted_beta(v, 0.5, 0.5),
        "normal_gamma": lambda v: oracles.neg_log_gamma(v, local.shape, local.rate),
        "student_t": lambda v: oracles.neg_log_inverse_gamma(v, local.shape, local.scale),
    }[prior]
    w = result.moments.second_moment / (2.0 * result.scales.sigma2 * result.scales.tau2)
    for one in range(8):
        own = LABEL == one
        if w[own].sum() < 1e-6:
            continue
        expected = oracles.local_mode(density, 2.0, float(w[own].sum()), 3)
        np.testing.assert_allclose(result.scales.lambda2[own], expected, rtol=2e-4)


@pytest.mark.parametrize("model", [HorseshoeRegressor(), AdaptiveRegressor(cv=3)], ids=["mode", "average"])
def test_the_order_and_the_names_of_groups_mean_nothing(model: Any) -> None:
    X, y = make()
    rng = np.random.default_rng(3)
    order = rng.permutation(24)
    first = model.set_params(feature_groups=LABEL).fit(X, y)
    coef, support = first.coef_.copy(), first.support_.copy()
    words = np.array(list("qwertyui"))[LABEL]
    second = model.set_params(feature_groups=words[order]).fit(X[:, order], y)
    np.testing.assert_allclose(second.coef_, coef[order], rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(second.support_, support[order])
    by_name = {str(one): np.flatnonzero(LABEL == one).tolist() for one in range(8)}
    third = model.set_params(feature_groups=by_name).fit(X, y)
    np.testing.assert_array_equal(third.coef_, coef)


@pytest.mark.parametrize("cls", [HorseshoeRegressor, AdaptiveRegressor])
def test_groups_are_in_or_out_as_a_whole(cls: Any) -> None:
    X, y = make(p=60)
    label = np.repeat(np.arange(20), 3)
    support = cls(feature_groups=label).fit(X, y).support_.reshape(20, 3)
    assert (support.all(axis=1) == support.any(axis=1)).all()
    assert support[3].all()  # columns 9, 10 and 11
    assert not support.all()


def test_a_constant_column_of_a_group_is_left_out() -> None:
    X, y = make()
    X[:, 9] = 5.0
    model = HorseshoeRegressor(feature_groups=LABEL).fit(X, y)
    fewer = HorseshoeRegressor(feature_groups=np.delete(LABEL, 9)).fit(np.delete(X, 9, axis=1), y)
    np.testing.assert_allclose(np.delete(model.coef_, 9), fewer.coef_, rtol=1e-12)
    assert model.coef_[9] == 0.0


def test_tied_columns_of_a_group_share_and_a_copy_of_a_group_is_an_alias() -> None:
    X, y = make()
    inside = HorseshoeRegressor(feature_groups=[*LABEL, 3], **TIGHT).fit(np.column_stack([X, X[:, 9]]), y)
    assert inside.coef_[9] == pytest.approx(inside.coef_[-1], rel=1e-6)
    assert inside.coef_[9] != 0.0
    assert inside.aliases_ == {}
    alone = HorseshoeRegressor(feature_groups=LABEL, **TIGHT).fit(X, y)
    again = np.column_stack([X, -2.0 * X[:, 11], X[:, 9], X[:, 10]])
    twice = HorseshoeRegressor(feature_groups=[*LABEL, 9, 9, 9], **TIGHT).fit(again, y)
    np.testing.assert_allclose(twice.coef_[:24], alone.coef_, rtol=1e-6, atol=1e-9)
    assert twice.aliases_ == {9: (25,), 10: (26,), 11: (24,)}


def test_overlapping_groups_by_repeating_columns() -> None:
    X, y = make()
    groups = [*LABEL, 8, 8]
    model = HorseshoeRegressor(feature_groups=groups).fit(np.column_stack([X, X[:, 10], X[:, 20]]), y)
    assert model.status_ is Status.CONVERGED
    effect = model.coef_[10] + model.coef_[24]
    assert effect == pytest.approx(HorseshoeRegressor(feature_groups=LABEL).fit(X, y).coef_[10], rel=0.2)


def test_what_noise_selects_counts_groups() -> None:
    """Of orthogonal columns: a null group passes when a chi-squared variate does."""
    rng = np.random.default_rng(0)
    n, p = 400, 200
    selected, expected = [], 0.0
    for _ in range(12):
        X = np.linalg.qr(np.column_stack([np.ones(n), rng.standard_normal((n, p))]))[0][:, 1:]
        model = HorseshoeRegressor(feature_groups=np.repeat(np.arange(p // 4), 4), sigma2=1.0)
        model.fit(X, rng.standard_normal(n))
        selected.append(int(model.support_.sum()))
        expected = model.expected_by_chance_
    assert 0.5 * expected < np.mean(selected) < 2.0 * expected
    assert expected < HorseshoeRegressor(sigma2=1.0).fit(X, rng.standard_normal(n)).expected_by_chance_ * 4


# --- prior scales ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_a_prior_scale_is_another_unit_of_a_standardised_column(family: str) -> None:
    X, y = make(family)
    scale = np.geomspace(0.3, 4.0, 24)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    found = HorseshoeRegressor(family, prior_scale=scale, slab=3.0, **TIGHT).fit(X, y)
    other = HorseshoeRegressor(family, standardize=False, slab=3.0, **TIGHT).fit(Z * scale, y)
    np.testing.assert_allclose(found.coef_ * X.std(axis=0), other.coef_ * scale, rtol=1e-8, atol=1e-9)
    np.testing.assert_array_equal(found.support_, other.support_)
    sparse = HorseshoeRegressor(family, prior_scale=scale, slab=3.0, **TIGHT).fit(csc_array(X), y)
    np.testing.assert_allclose(sparse.coef_, found.coef_, rtol=1e-7, atol=1e-9)


def test_a_prior_scale_of_one_is_none_and_by_name() -> None:
    X, y = make()
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(24)])
    plain = HorseshoeRegressor().fit(frame, y)
    ones = HorseshoeRegressor(prior_scale=np.ones(24)).fit(frame, y)
    np.testing.assert_array_equal(ones.coef_, plain.coef_)
    by_name = HorseshoeRegressor(prior_scale={"c4": 2.0}).fit(frame, y)
    by_number = HorseshoeRegressor(prior_scale={4: 2}).fit(X, y)
    np.testing.assert_array_equal(by_name.coef_, by_number.coef_)


def test_outside_knowledge_helps() -> None:
    """A ridge that is told which columns matter predicts better."""
    X, y = make(n=40, p=60)
    new, truth = make(n=400, p=60, seed=1)
    scale = np.where(np.isin(np.arange(60), [0, 10, 11]), 10.0, 1.0)
    plain, told = (
        HorseshoeRegressor(prior="ridge", tau=0.05, prior_scale=s).fit(X, y).score(new, truth)
        for s in (None, scale)
    )
    assert told > plain + 0.1


# --- always in ------------------------------------------------------------------------------------------


def rotated(X: Any, y: Any, unpenalized: list[int]) -> tuple[Any, Any, Any, Any]:
    """Return what is orthogonal to the columns that are always in, in as few rows, and the centred data."""
    X, y = X - X.mean(axis=0), y - y.mean()
    rest = np.delete(np.arange(X.shape[1]), unpenalized)
    basis = null_space(X[:, unpenalized].T)
    return basis.T @ X[:, rest], basis.T @ y, X, y


@pytest.mark.parametrize("p", [24, 120])
@pytest.mark.parametrize("prior", ["horseshoe", "ridge"])
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("unpenalized", [ALWAYS, [2]])
def test_always_is_frisch_waugh_projection(
    p: int, prior: str, standardize: bool, unpenalized: list[int]
) -> None:
    X, y = make(p=p)
    rest = np.delete(np.arange(p), unpenalized)
    options = {"prior": prior, "standardize": standardize, "tau": 0.4, "slab": 2.0, **TIGHT}
    model = HorseshoeRegressor(unpenalized=unpenalized, **options).fit(X, y)
    Z, z, centred, target = rotated(X, y, unpenalized)
    other = HorseshoeRegressor(fit_intercept=False, **options).fit(Z, z)
    np.testing.assert_allclose(model.coef_[rest], other.coef_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.coef_std_[rest], other.coef_std_, rtol=0, atol=1e-10)
    assert model.sigma2_ == pytest.approx(other.sigma2_, rel=1e-10)
    left = target - centred[:, rest] @ other.coef_
    own = np.linalg.lstsq(centred[:, unpenalized], left, rcond=None)[0]
    np.testing.assert_allclose(model.coef_[unpenalized], own, rtol=0, atol=1e-10)


@pytest.mark.parametrize("intercept", [True, False])
def test_with_all_columns_always_in_a_fit_is_least_squares(intercept: bool) -> None:
    X, y = make(p=3)
    model = HorseshoeRegressor(unpenalized=[0, 1, 2], fit_intercept=intercept).fit(X, y)
    design = np.column_stack([X, np.ones(len(y))]) if intercept else X
    coef = np.linalg.lstsq(design, y, rcond=None)[0]
    np.testing.assert_allclose(model.coef_, coef[:3], rtol=1e-10)
    spread = np.sqrt(np.diag(np.linalg.inv(design.T @ design))[:3] * model.sigma2_)
    np.testing.assert_allclose(model.coef_std_, spread, rtol=1e-8)
    with pytest.raises(ValueError, match="unpenalized has every column"):
        model.sample_posterior(n_draws=10)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("intercept", [True, False])
def test_always_is_a_huge_prior_variance(family: str, intercept: bool) -> None:
    """Coefficients, standard deviations, intercepts and predictions, of all families."""
    X, y = make(family)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    scale = np.ones(24)
    scale[ALWAYS] = 1e6
    known = family == "gaussian" or (family in ("student_t", "laplace") and not intercept)  # or estimated
    noise = {"sigma2": 0.8} if known else {}
    options = {"prior": "ridge", "tau": 0.3, "standardize": False, "fit_intercept": intercept, **noise}
    options["tol"] = 1e-9 if family == "laplace" else 1e-11
    ours = HorseshoeRegressor(family, unpenalized=ALWAYS, **options).fit(Z, y)
    huge = HorseshoeRegressor(family, prior_scale=scale, **options).fit(Z, y)
    np.testing.assert_allclose(ours.coef_, huge.coef_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(ours.coef_std_, huge.coef_std_, rtol=0, atol=1e-6)
    assert ours.intercept_ == pytest.approx(huge.intercept_, abs=1e-6)
    assert ours.intercept_std_ == pytest.approx(huge.intercept_std_, abs=1e-6)
    new = Z[:5] + 1.0
    for mine, other in zip(
        ours.predict(new, return_std=True), huge.predict(new, return_std=True), strict=True
    ):
        np.testing.assert_allclose(mine, other, rtol=1e-5)


@pytest.mark.parametrize("prior", ["horseshoe", "strawderman_berger"])
@pytest.mark.parametrize("p", [12, 60])
def test_always_and_groups_against_dense_algebra(prior: str, p: int) -> None:
    """A mode with columns of a prior variance of 1e9, by explicit inverses; sigma2 counts them as fitted."""
    X, y = make(n=50, p=p)
    X, y = X - X.mean(axis=0), y - y.mean()
    label = np.repeat(np.arange((p - 3) // 3), 3)
    flat, rest = X[:, :3], X[:, 3:]
    rest = rest[:, : label.size]
    away = np.eye(50) - flat @ np.linalg.pinv(flat)
    rest = rest / np.sqrt(((away @ rest) ** 2).sum(axis=0) / 47)  # as standardised once projected
    y = y / np.sqrt(((away @ y) ** 2).sum() / 47)
    b = 0.5 if prior == "horseshoe" else 1.0
    modes = {
        "horseshoe": lambda w, size: float(oracles.inverted_beta_mode(np.array([w]), 1.0 + size, 0.5, b)[0]),
    }
    modes["strawderman_berger"] = modes["horseshoe"]
    expected = oracles.grouped_em(rest, y, label, modes[prior], 400, flat=flat, flat_variance=1e9)
    model = HorseshoeRegressor(
        prior=prior,
        unpenalized=[0, 1, 2],
        feature_groups=[-3, -2, -1, *label],
        zero_threshold=0.0,
        standardize=False,
        **TIGHT,
    ).fit(np.column_stack([flat, rest]), y)
    np.testing.assert_allclose(model.coef_[3:], expected.coef, rtol=0, atol=2e-6)
    np.testing.assert_allclose(model.coef_[:3], expected.flat, rtol=0, atol=2e-6)
    np.testing.assert_allclose(model.coef_std_[:3], np.sqrt(expected.flat_variance), rtol=1e-5)
    assert model.sigma2_ == pytest.approx(expected.sigma2, rel=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_always_with_weights_offset_and_sparse_columns(family: str) -> None:
    X, y = make(family, n=60)
    X = np.where(np.random.default_rng(5).random(X.shape) < 0.6, X, 0.0)
    weights = np.random.default_rng(1).integers(1, 3, 60)
    offset = np.linspace(-0.2, 0.2, 60)
    model = HorseshoeRegressor(family, unpenalized=ALWAYS, tol=1e-10)
    dense = model.fit(X, y, sample_weight=weights, offset=offset)
    coef, std = dense.coef_.copy(), dense.coef_std_.copy()
    sparse = model.fit(csc_array(X), y, sample_weight=weights, offset=offset)
    np.testing.assert_allclose(sparse.coef_, coef, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(sparse.coef_std_, std, rtol=1e-6, atol=1e-8)
    rows = np.repeat(np.arange(60), weights)
    repeated = model.fit(X[rows], y[rows], offset=offset[rows])
    np.testing.assert_allclose(repeated.coef_, coef, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(repeated.coef_std_, std, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("family", ["gaussian", "poisson", "binomial"])
def test_what_is_always_in_may_be_turned(family: str) -> None:
    """Any basis of the same columns gives the same fit, and so do others with multiples of them added."""
    X, y = make(family)
    first = HorseshoeRegressor(family, unpenalized=ALWAYS, **TIGHT).fit(X, y)
    moved = X.copy()
    moved[:, 0] = X[:, 0] - 3.0 * X[:, 2] + 1.0
    moved[:, 10] += 2.0 * X[:, 7]
    second = HorseshoeRegressor(family, unpenalized=ALWAYS, **TIGHT).fit(moved, y)
    same = np.delete(np.arange(24), ALWAYS)
    np.testing.assert_allclose(second.coef_[same], first.coef_[same], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(second.predict(moved), first.predict(X), rtol=1e-6)
    np.testing.assert_array_equal(second.support_, first.support_)


def test_a_column_that_those_always_in_explain_is_left_out() -> None:
    X, y = make()
    more = np.column_stack([X, X[:, 0] - 2.0 * X[:, 7]])
    model = HorseshoeRegressor(unpenalized=ALWAYS).fit(more, y)
    alone = HorseshoeRegressor(unpenalized=ALWAYS).fit(X, y)
    np.testing.assert_allclose(model.coef_[:-1], alone.coef_, rtol=1e-9)
    assert model.coef_[-1] == 0.0


@pytest.mark.parametrize("cls", [HorseshoeRegressor, AdaptiveRegressor])
def test_always_only_is_least_squares(cls: Any) -> None:
    X, y = make(p=3)
    model = cls(unpenalized=[0, 1, 2]).fit(X, y)
    expected = np.linalg.lstsq(np.column_stack([np.ones(80), X]), y, rcond=None)[0]
    np.testing.assert_allclose([model.intercept_, *model.coef_], expected, rtol=1e-8)
    assert model.status_ is Status.CONVERGED
    assert model.support_.all()


def test_what_is_always_in_is_said_and_not_counted() -> None:
    X, _ = make()
    noise = np.random.default_rng(0).standard_normal(80)
    model = HorseshoeRegressor(unpenalized=["c0", "c2"], tau=0.01)
    model.fit(pd.DataFrame(X, columns=[f"c{j}" for j in range(24)]), noise)
    assert model.get_support(indices=True).tolist() == [0, 2]
    assert model.status_ is Status.NOTHING_SELECTED
    table = model.summary().set_index("feature")
    assert table.index[table["unpenalized"]].tolist() == ["(Intercept)", "c0", "c2"]
    assert np.isinf(model.lambda2_[[0, 2]]).all()
    assert (model.kappa_[[0, 2]] == 0.0).all()
    fewer = HorseshoeRegressor(tau=0.01).fit(np.delete(X, [0, 2], axis=1), noise)
    assert model.expected_by_chance_ == pytest.approx(fewer.expected_by_chance_, rel=0.1)


@pytest.mark.parametrize("family", ["gaussian", "poisson", "binomial"])
def test_an_average_keeps_what_is_always_in(family: str) -> None:
    X, y = make(family, n=120)
    model = AdaptiveRegressor(family, unpenalized=[0, 5], cv=5).fit(X, y)
    assert model.support_[[0, 5]].all()
    assert (model.inclusion_[[0, 5]] == 1.0).all()
    assert (model.sparse_coef_[[0, 5]] != 0.0).all()
    mode = HorseshoeRegressor(family, unpenalized=[0, 5]).fit(X, y)
    gap = np.abs(model.coef_[[0, 5]] - mode.coef_[[0, 5]])
    assert (gap < 2.0 * mode.coef_std_[[0, 5]]).all()
    interval = model.coef_interval()
    assert (interval[:, 0] <= model.coef_).all()
    assert (model.coef_ <= interval[:, 1]).all()
    low, high = model.predict_interval(X).T
    assert np.mean((low <= y) & (y <= high)) > 0.9


def test_a_gaussian_average_is_one_over_what_is_left() -> None:
    """Frisch, Waugh and Lovell again: with the folds of the projected rows."""
    X, y = make(n=100)
    folds = [(np.flatnonzero(np.arange(100) % 4 != f), np.arange(f, 100, 4)) for f in range(4)]
    model = AdaptiveRegressor(unpenalized=ALWAYS, cv=folds, standardize=False).fit(X, y)
    C = X[:, ALWAYS] - X[:, ALWAYS].mean(axis=0)
    rest = np.delete(np.arange(24), ALWAYS)
    left = [v - C @ np.linalg.lstsq(C, v - v.mean(axis=0), rcond=None)[0] for v in (X[:, rest], y)]
    other = AdaptiveRegressor(cv=folds, standardize=False).fit(*left)
    np.testing.assert_allclose(model.coef_[rest], other.coef_, rtol=1e-6, atol=1e-8)
    assert model.cv_error_ == pytest.approx(other.cv_error_, rel=1e-8)


# --- classes, paths, draws ------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [HorseshoeClassifier, AdaptiveClassifier])
def test_classes_have_structure_too(cls: Any) -> None:
    X, y = make("poisson", n=120)
    labels = np.array(["low", "mid", "high"])[np.minimum(y.astype(int), 2)]
    options = {} if cls is HorseshoeClassifier else {"cv": 3}
    model = cls(feature_groups=LABEL, prior_scale={3: 2.0}, **options).fit(X, labels)
    support = model.support_.reshape(3, 8, 3)
    assert (support.all(axis=2) == support.any(axis=2)).all()
    model = cls(unpenalized=[1], **options).fit(X, labels)
    assert model.support_[:, 1].all()
    assert set(model.summary(**({} if options else {"method": "mode"}))["class"]) == set(labels)


def test_the_table_by_group() -> None:
    X, y = make()
    model = HorseshoeRegressor(feature_groups=LABEL, unpenalized=None).fit(X, y)
    table = model.summary(by="group").set_index("group")
    assert table.loc["3", "selected"]
    norm = np.sqrt(((model.coef_ * model.scale_)[9:12] ** 2).sum())
    assert table.loc["3", "norm"] == pytest.approx(norm)
    assert table["size"].tolist() == [3] * 8
    assert model.summary()["group"].tolist() == ["", *map(str, LABEL)]
    with pytest.raises(ValueError, match="by='row' is not known"):
        model.summary(by="row")


@pytest.mark.parametrize(
    ("groups", "names", "said"),
    [
        ([None, 0, 0, 1, 1], None, ["column 0", "0", "0", "1", "1"]),
        (["1", None, "1", None, None], None, ["1", "column 1", "1", "3", "4"]),
        ({"g": ["b", "z"]}, ["g", "b", "z", "h", "column g"], ["column column g", "g", "g", "h", "column g"]),
        ({"g": [1, 2], "column g": [3, 4]}, list("gabcd"), ["column column g", "g", "g", *["column g"] * 2]),
    ],
)
def test_a_column_alone_is_not_called_as_a_group_is(groups: Any, names: Any, said: Any) -> None:
    X = np.random.default_rng(0).standard_normal((40, 5))
    table = X if names is None else pd.DataFrame(X, columns=names)
    model = HorseshoeRegressor(feature_groups=groups).fit(table, X[:, 1])
    assert model.summary()["group"].tolist() == ["", *said]


def test_a_warm_start_goes_on_with_what_is_always_in() -> None:
    X, y = make("poisson")
    model = HorseshoeRegressor("poisson", unpenalized=ALWAYS, warm_start=True).fit(X, y)
    coef = model.coef_.copy()
    again = model.fit(X, y)
    np.testing.assert_allclose(again.coef_, coef, atol=1e-3)
    np.testing.assert_array_equal(again.support_, coef != 0.0)


@pytest.mark.parametrize("p", [12, 60])
def test_draws_with_a_flat_prior_are_those_of_the_normal_posterior(p: int) -> None:
    """Ridge with all scales known: the posterior of what is shrunk and of what is not is normal."""
    X, y = make(n=40, p=p)
    options = {"prior": "ridge", "tau": 0.3, "sigma2": 1.2, "standardize": False}
    draws = sample_posterior(X, y, unpenalized=ALWAYS, n_draws=1500, n_warmup=50, random_state=1, **options)
    A = np.column_stack([np.ones(40), X])
    precision = np.append(0.0, np.full(p, 1 / 0.09))
    precision[[1, 3, 8]] = 0.0
    covariance = 1.2 * np.linalg.inv(A.T @ A + np.diag(precision))
    mean, std = covariance @ (A.T @ y) / 1.2, np.sqrt(np.diag(covariance))
    every = np.column_stack([draws.intercept.ravel(), draws.coef.reshape(-1, p)])
    assert np.abs((every.mean(axis=0) - mean) / std).max() < 4.5 / np.sqrt(6000)
    np.testing.assert_allclose(every.std(axis=0), std, rtol=0.05)


@pytest.mark.filterwarnings("ignore:R-hat")
def test_draws_have_one_scale_a_group_and_none_for_what_is_always_in() -> None:
    X, y = make(n=50)
    posterior = sample_posterior(
        X, y, feature_groups=LABEL, unpenalized=[21, 22, 23], n_draws=20, n_warmup=20, random_state=0,
        store_lambda2=True,
        prior_scale={0: 2.0},
    )  # fmt: skip
    scales = posterior.lambda2
    assert np.isinf(scales[..., 21:]).all()
    assert (np.ptp(scales[..., :21].reshape(4, 20, 7, 3), axis=-1) == 0.0).all()
    assert (posterior.kappa[21:] == 0.0).all()
