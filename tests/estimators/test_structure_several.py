"""Groups, columns that are never shrunk and prior scales where regressions share their local scales."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import null_space
from scipy.sparse import csc_array

import oracles
from horseshoe import HorseshoeClassifier, HorseshoeRegressor, Status, sample_posterior

ALWAYS = [0, 2, 7]
LABEL = np.repeat(np.arange(8), 3)
TIGHT = {"tol": 1e-12}


def make(n: int = 80, p: int = 24, q: int = 3, seed: int = 0) -> tuple[Any, Any]:
    """Return columns that hang together, of several units, and responses of several units."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    X[:, 3:9] += 0.6 * X[:, [0]]
    coef = np.zeros((p, q))
    coef[[0, 9 % p, 10 % p, 11 % p]] = rng.uniform(0.5, 1.5, (4, q)) * rng.choice([-1.0, 1.0], (4, q))
    Y = (X @ coef + rng.standard_normal((n, q))) * np.geomspace(0.3, 5.0, q)
    return X * rng.uniform(0.5, 3.0, p) + rng.uniform(-1.0, 1.0, p), Y + np.arange(q)


def classes(n: int = 150, p: int = 24) -> tuple[Any, Any]:
    X, Y = make(n, p)
    return X, np.array(["low", "mid", "high"])[np.argmax(Y / Y.std(axis=0), axis=1)]


def several(**options: Any) -> HorseshoeRegressor:
    return HorseshoeRegressor(**options)


def multinomial(**options: Any) -> HorseshoeClassifier:
    return HorseshoeClassifier(multi_class="multinomial", **options)


KINDS = pytest.mark.parametrize(("kind", "data"), [(several, make), (multinomial, classes)])


# --- groups ---------------------------------------------------------------------------------------------


@KINDS
def test_groups_of_one_are_the_plain_fit(kind: Any, data: Any) -> None:
    X, y = data()
    plain = kind().fit(X, y)
    for groups in (np.arange(24)[::-1], {"a": [3]}):
        alone = kind(feature_groups=groups).fit(X, y)
        np.testing.assert_allclose(alone.coef_, plain.coef_, rtol=0, atol=1e-12)
        np.testing.assert_allclose(alone.coef_std_, plain.coef_std_, rtol=0, atol=1e-12)
        assert alone.expected_by_chance_ == plain.expected_by_chance_


@KINDS
def test_groups_are_in_or_out_as_a_whole_in_all_of_them(kind: Any, data: Any) -> None:
    X, y = data()
    model = kind(feature_groups=LABEL).fit(X, y)
    support = model.support_.reshape(8, 3)
    assert (support.all(axis=1) == support.any(axis=1)).all()
    assert support[3].all()
    assert not support.all()
    assert (np.ptp(model.lambda2_.reshape(8, 3), axis=1) == 0.0).all()
    table = model.summary(by="group")
    assert len(table) == 8 * 3
    assert table["selected"].sum() == 3 * support.all(axis=1).sum()


@KINDS
def test_the_order_and_the_names_of_groups_mean_nothing(kind: Any, data: Any) -> None:
    X, y = data()
    order = np.random.default_rng(3).permutation(24)
    first = kind(feature_groups=LABEL, **TIGHT).fit(X, y)
    second = kind(feature_groups=np.array(list("qwertyui"))[LABEL][order], **TIGHT).fit(X[:, order], y)
    np.testing.assert_allclose(second.coef_, first.coef_[:, order], rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("shape", [(60, 12), (30, 60)])
def test_groups_of_several_responses_are_those_of_the_definition(shape: tuple[int, int]) -> None:
    n, p = shape
    X, Y = make(n, p)
    X, Y = (X - X.mean(axis=0)) / X.std(axis=0), (Y - Y.mean(axis=0)) / Y.std(axis=0)
    label = np.repeat(np.arange(p // 3), 3)
    mean, lambda2, sigma2 = oracles.several_em(X, Y, 2.0, 1200 if p < n else 800, label)
    model = several(feature_groups=label, zero_threshold=0.0, **TIGHT).fit(X, Y)
    chosen = model.support_
    np.testing.assert_allclose(model.coef_[:, chosen].T, mean[chosen], atol=1e-8)
    np.testing.assert_allclose(model.lambda2_[chosen], lambda2[chosen], rtol=1e-6)
    np.testing.assert_allclose(model.sigma2_, sigma2, rtol=1e-7)
    assert np.abs(mean[~chosen]).max(initial=0.0) < 1e-3


@pytest.mark.parametrize("seed", range(3))
@KINDS
def test_leaving_groups_out_ends_in_the_mode_of_plain_em(kind: Any, data: Any, seed: int) -> None:
    from horseshoe.em.state import Options
    from horseshoe.estimators import mode

    X, y = data(n=60 + 20 * (seed % 2))
    X = X[:, np.random.default_rng(seed).permutation(24)]
    fast = kind(feature_groups=LABEL, **TIGHT).fit(X, y)
    plain = Options(tol=1e-12, fast=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(mode, "em_options", lambda model, checkpoint: plain)
        slow = kind(feature_groups=LABEL).fit(X, y)
    np.testing.assert_allclose(fast.coef_, slow.coef_, atol=1e-7)


def test_a_group_that_copies_another_is_an_alias() -> None:
    X, Y = make()
    alone = several(feature_groups=LABEL, **TIGHT).fit(X, Y)
    again = np.column_stack([X, -2.0 * X[:, 11], X[:, 9], X[:, 10]])
    twice = several(feature_groups=[*LABEL, 9, 9, 9], **TIGHT).fit(again, Y)
    np.testing.assert_allclose(twice.coef_[:, :24], alone.coef_, rtol=1e-6, atol=1e-9)
    assert twice.aliases_ == {9: (25,), 10: (26,), 11: (24,)}


@KINDS
def test_what_noise_selects_counts_groups_of_all_coefficients(kind: Any, data: Any) -> None:
    X, y = data()
    grouped, plain = kind(feature_groups=LABEL).fit(X, y), kind().fit(X, y)
    assert 0.0 < grouped.expected_by_chance_ < 24.0
    assert grouped.expected_by_chance_ != plain.expected_by_chance_


# --- prior scales ---------------------------------------------------------------------------------------


@KINDS
def test_a_prior_scale_is_another_unit_of_a_standardised_column(kind: Any, data: Any) -> None:
    X, y = data()
    scale = np.geomspace(0.3, 4.0, 24)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    found = kind(prior_scale=scale, slab=3.0, **TIGHT).fit(X, y)
    other = kind(standardize=False, slab=3.0, **TIGHT).fit(Z * scale, y)
    np.testing.assert_allclose(found.coef_ * X.std(axis=0), other.coef_ * scale, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(found.support_, other.support_)
    sparse = kind(prior_scale=scale, slab=3.0, **TIGHT).fit(csc_array(X), y)
    np.testing.assert_allclose(sparse.coef_, found.coef_, rtol=1e-6, atol=1e-8)


# --- always in ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [24, 120])
@pytest.mark.parametrize("prior", ["horseshoe", "ridge"])
@pytest.mark.parametrize("standardize", [True, False])
def test_always_is_frisch_waugh_projection(p: int, prior: str, standardize: bool) -> None:
    X, Y = make(p=p)
    rest = np.delete(np.arange(p), ALWAYS)
    options = {"prior": prior, "standardize": standardize, "tau": 0.4, "slab": 2.0, **TIGHT}
    model = several(unpenalized=ALWAYS, **options).fit(X, Y)
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    basis = null_space(X[:, ALWAYS].T)
    other = several(fit_intercept=False, **options).fit(basis.T @ X[:, rest], basis.T @ Y)
    np.testing.assert_allclose(model.coef_[:, rest], other.coef_, rtol=0, atol=1e-10)
    np.testing.assert_allclose(model.coef_std_[:, rest], other.coef_std_, rtol=0, atol=1e-9)
    np.testing.assert_allclose(model.sigma2_, other.sigma2_, rtol=1e-9)
    own = np.linalg.lstsq(X[:, ALWAYS], Y - X[:, rest] @ other.coef_.T, rcond=None)[0].T
    np.testing.assert_allclose(model.coef_[:, ALWAYS], own, rtol=0, atol=1e-10)


@pytest.mark.parametrize("intercept", [True, False])
def test_with_known_scales_each_response_is_on_its_own(intercept: bool) -> None:
    """Coefficients, deviations and predictions of one response at a time, and a huge prior variance."""
    X, Y = make()
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    options = {"prior": "ridge", "tau": 0.3, "standardize": False, "fit_intercept": intercept, **TIGHT}
    both = several(unpenalized=ALWAYS, sigma2=0.7, **options).fit(Z, Y)
    huge = several(prior_scale=dict.fromkeys(ALWAYS, 1e6), sigma2=0.7, **options).fit(Z, Y)
    np.testing.assert_allclose(both.coef_, huge.coef_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(both.coef_std_, huge.coef_std_, rtol=0, atol=1e-6)
    mean, std = both.predict(Z + 1.0, return_std=True)
    for k, part in enumerate(both.estimators_):
        one = several(unpenalized=ALWAYS, sigma2=0.7, **options).fit(Z, Y[:, k])
        np.testing.assert_allclose(both.coef_[k], one.coef_, rtol=0, atol=1e-10)
        np.testing.assert_allclose(both.coef_std_[k], one.coef_std_, rtol=0, atol=1e-10)
        assert part.intercept_ == pytest.approx(one.intercept_, abs=1e-10)
        assert part.intercept_std_ == pytest.approx(one.intercept_std_, abs=1e-10)
        expected, spread = one.predict(Z + 1.0, return_std=True)
        np.testing.assert_allclose(mean[:, k], expected, rtol=1e-9)
        np.testing.assert_allclose(std[:, k], spread, rtol=1e-9)


def test_the_noise_of_known_scales_is_waited_for() -> None:
    X, Y = make()
    options = {"prior": "ridge", "tau": 0.3, **TIGHT}
    both = several(unpenalized=ALWAYS, **options).fit(X, Y)
    each = [several(unpenalized=ALWAYS, **options).fit(X, one).sigma2_ for one in Y.T]
    np.testing.assert_allclose(both.sigma2_, each, rtol=1e-6)


def test_all_columns_always_in_is_least_squares() -> None:
    X, Y = make(p=3)
    model = several(unpenalized=range(3)).fit(X, Y)
    design = np.column_stack([X, np.ones(80)])
    coef, rss, _, _ = np.linalg.lstsq(design, Y, rcond=None)
    np.testing.assert_allclose(model.coef_, coef[:3].T, rtol=1e-10)
    np.testing.assert_allclose(model.intercept_, coef[3], rtol=1e-8)
    spread = np.sqrt(np.outer(model.sigma2_, np.diag(np.linalg.inv(design.T @ design))[:3]))
    np.testing.assert_allclose(model.coef_std_, spread, rtol=1e-8)
    assert model.status_ is Status.CONVERGED
    assert (model.sigma2_ > 0.9 * rss / 80).all()
    with pytest.raises(ValueError, match="unpenalized has every column"):
        model.sample_posterior(n_draws=10)


def test_weights_sparse_columns_and_a_constant_response() -> None:
    X, Y = make(n=60)
    X = np.where(np.random.default_rng(5).random(X.shape) < 0.6, X, 0.0)
    Y = np.column_stack([Y, np.full(60, 3.0)])
    weights = np.random.default_rng(1).integers(1, 3, 60)
    groups = [-3, 0, -2, 0, 1, 1, 1, -1, *range(2, 18)]
    model = several(unpenalized=ALWAYS, feature_groups=groups, prior_scale={3: 2.0}, tol=1e-10)
    coef = model.fit(X, Y, sample_weight=weights).coef_.copy()
    assert (coef[3] == 0.0).all()
    assert model.estimators_[3].status_ is Status.CONSTANT_RESPONSE
    assert (coef[:3, ALWAYS] != 0.0).all()
    sparse = model.fit(csc_array(X), Y, sample_weight=weights)
    np.testing.assert_allclose(sparse.coef_, coef, rtol=1e-6, atol=1e-8)
    rows = np.repeat(np.arange(60), weights)
    np.testing.assert_allclose(model.fit(X[rows], Y[rows]).coef_, coef, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(
    "known", [{"unpenalized": ALWAYS}, {"feature_groups": LABEL}, {"prior_scale": {3: 2.0}}]
)
def test_a_start_at_an_earlier_fit_stays_there(known: Any) -> None:
    X, Y = make(n=60)
    model = several(tol=1e-10, **known).fit(X, Y)
    again = several(tol=1e-10, start=model, **known).fit(X, Y)
    np.testing.assert_allclose(again.coef_, model.coef_, rtol=0, atol=1e-8)


def test_the_table_says_what_was_known() -> None:
    X, Y = make()
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(24)])
    model = several(unpenalized=["c0", "c2"], feature_groups={"pair": ["c3", "c4"]}).fit(frame, Y)
    table = model.summary()
    own = table[(table["feature"] != "(Intercept)") & table["unpenalized"]]
    assert sorted(own["feature"].unique()) == ["c0", "c2"]
    assert own["selected"].all()
    assert (table["group"] == "pair").sum() == 6
    assert np.isinf(model.lambda2_[[0, 2]]).all()
    assert (model.kappa_[:, [0, 2]] == 0.0).all()


def test_columns_that_cannot_be_always_in() -> None:
    X, Y = make(n=12, p=4)
    with pytest.raises(ValueError, match="column 4 of X is always in, but constant"):
        several(unpenalized=[0, 4]).fit(np.column_stack([X, np.ones(12)]), Y)
    with pytest.raises(ValueError, match=r"column 4 .* combination of others that are, column 0, column 1"):
        several(unpenalized=[0, 1, 4]).fit(np.column_stack([X, X[:, 0] - X[:, 1]]), Y)
    wide = np.random.default_rng(2).standard_normal((12, 14))
    with pytest.raises(
        ValueError, match="unpenalized names 11 columns, and there are 12 rows and an intercept"
    ):
        several(unpenalized=range(11)).fit(wide, Y)
    with pytest.raises(ValueError, match="always in explain y exactly"):
        several(unpenalized=[0, 1]).fit(X, np.column_stack([Y[:, 0], X[:, 0] + 1.0]))


# --- draws ----------------------------------------------------------------------------------------------


def test_draws_against_the_closed_form() -> None:
    """A ridge of known scales and noise: coefficients and intercepts are Gaussian, one by one."""
    X, Y = make(n=40, p=5, q=2)
    options = {"prior": "ridge", "tau": 0.3, "sigma2": 1.5, "standardize": False, "unpenalized": [1, 4]}
    drawn = sample_posterior(X, Y, **options, n_draws=1000, random_state=1, n_chains=2)
    design = np.column_stack([np.ones(40), X])
    precision = design.T @ design + np.diag([0, 1 / 0.09, 0, 1 / 0.09, 1 / 0.09, 0])
    mean = np.linalg.solve(precision, design.T @ Y)
    std = np.sqrt(1.5 * np.diag(np.linalg.inv(precision)))
    for name, place in (("coef", slice(1, None)), ("intercept", slice(0, 1))):
        got, spread = drawn.mean(name).reshape(2, -1), drawn.std(name).reshape(2, -1)
        assert (np.abs(got - mean[place].T) < 4.5 * std[place] / np.sqrt(1500)).all()
        np.testing.assert_allclose(spread, np.tile(std[place], (2, 1)), rtol=0.08)


def test_draws_of_groups_and_prior_scales() -> None:
    X, Y = make(n=60, p=6, q=2)
    options = {"feature_groups": [0, 0, 1, 1, 1, 2], "prior_scale": {2: 2.0}, "random_state": 3}
    options |= {"n_draws": 400, "n_warmup": 200, "n_chains": 2}
    drawn = sample_posterior(X, Y, **options, store_lambda2=True)
    assert (drawn.lambda2[..., 0] == drawn.lambda2[..., 1]).all()
    assert (drawn.lambda2[..., 2] == drawn.lambda2[..., 4]).all()
    assert (drawn.lambda2[..., 5] != drawn.lambda2[..., 4]).any()
    model = several(feature_groups=options["feature_groups"], prior_scale={2: 2.0}, zero_threshold=0.0).fit(
        X, Y
    )
    gap = np.abs(drawn.mean() - model.coef_)
    assert (gap < 2.0 * drawn.std()).all()


# --- classes together -----------------------------------------------------------------------------------


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weights", ["polya_gamma", "irls"])
def test_always_of_classes_is_a_huge_prior_variance(intercept: bool, weights: str) -> None:
    X, y = classes()
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    options = {"prior": "ridge", "tau": 0.3, "standardize": False, "fit_intercept": intercept, "tol": 1e-10}
    options |= {"augmentation": weights}
    ours = multinomial(unpenalized=ALWAYS, **options).fit(Z, y)
    huge = multinomial(prior_scale=dict.fromkeys(ALWAYS, 1e6), **options).fit(Z, y)
    np.testing.assert_allclose(ours.coef_, huge.coef_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(ours.coef_std_, huge.coef_std_, rtol=0, atol=1e-6)
    np.testing.assert_allclose(ours.intercept_, huge.intercept_, rtol=0, atol=1e-6)
    for mine, other in zip(ours.estimators_, huge.estimators_, strict=True):
        assert mine.intercept_std_ == pytest.approx(other.intercept_std_, abs=1e-6)
    got, expected = (one.predict_interval(Z + 1.0, method="mode") for one in (ours, huge))
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-6)
    np.testing.assert_allclose(ours.coef_.sum(axis=0), 0.0, atol=1e-12)


def test_too_many_coefficients_for_a_joint_covariance(monkeypatch: pytest.MonkeyPatch) -> None:
    """The factor that classes share says about the same of what is not shrunk."""
    X, y = classes(p=12)
    exact = multinomial(unpenalized=[0, 2], prior="ridge", tau=0.3).fit(X, y)
    monkeypatch.setattr("horseshoe.em.multinomial.MOST_JOINT", 0)
    shared = multinomial(unpenalized=[0, 2], prior="ridge", tau=0.3).fit(X, y)
    np.testing.assert_allclose(shared.coef_, exact.coef_, rtol=1e-12)
    np.testing.assert_allclose(shared.coef_std_, exact.coef_std_, rtol=0.35)


def test_with_all_columns_always_in_it_is_multinomial_regression() -> None:
    """Against the information of the definition; and nothing is left to draw."""
    X, y = classes(p=4)
    model = multinomial(unpenalized=range(4), tol=1e-10).fit(X, y)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    chosen = (y[:, None] == model.classes_).astype(float)
    eta = model.decision_function(X)
    share = np.exp(eta) / np.exp(eta).sum(axis=1, keepdims=True)
    slope = np.column_stack([np.ones(150), Z]).T @ (chosen - share)
    assert np.abs(slope).max() < 1e-7
    level = model.intercept_ + X.mean(axis=0) @ model.coef_.T
    coef = (model.coef_ * X.std(axis=0)).T
    covariance = oracles.softmax_covariance(coef, level, Z, np.full(4, 1e9), np.ones(150))
    std = np.sqrt(np.diag(covariance)).reshape(3, 5)[:, 1:]
    np.testing.assert_allclose(model.coef_std_ * X.std(axis=0), std, rtol=1e-5)
    assert model.status_ is Status.CONVERGED
    with pytest.raises(ValueError, match="unpenalized has every column"):
        model.sample_posterior(n_draws=10)


def test_classes_from_every_start_with_weights_sparse_columns_and_nothing_else() -> None:
    X, y = classes(n=200, p=8)
    weights = np.random.default_rng(1).integers(1, 3, 200)
    first = multinomial(unpenalized=[0, 2], tol=1e-9).fit(X, y, sample_weight=weights)
    assert (first.coef_[:, [0, 2]] != 0.0).all()
    again = multinomial(unpenalized=[0, 2], tol=1e-9, start=first).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(again.coef_, first.coef_, rtol=1e-5, atol=1e-7)
    for start in ("linear", "paper"):  # which may end in other modes: each is one to stay in
        there = multinomial(unpenalized=[0, 2], tol=1e-9, start=start).fit(X, y, sample_weight=weights)
        again = multinomial(unpenalized=[0, 2], tol=1e-9, start=there).fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(again.coef_, there.coef_, rtol=1e-5, atol=1e-6)
    sparse = multinomial(unpenalized=[0, 2], tol=1e-9).fit(csc_array(X), y, sample_weight=weights)
    np.testing.assert_allclose(sparse.coef_, first.coef_, rtol=1e-6, atol=1e-8)
    rows = np.repeat(np.arange(200), weights)
    repeated = multinomial(unpenalized=[0, 2], tol=1e-9).fit(X[rows], y[rows])
    np.testing.assert_allclose(repeated.coef_, first.coef_, rtol=1e-6, atol=1e-8)
    noise = np.array(list("abc"))[np.random.default_rng(1).integers(0, 3, 200)]
    empty = multinomial(unpenalized=[0, 2], tau=1e-3).fit(X, noise)
    assert empty.status_ is Status.NOTHING_SELECTED
    assert empty.support_.tolist() == [j in (0, 2) for j in range(8)]
    alone = multinomial(unpenalized=[0, 1]).fit(X[:, [0, 2]], noise)
    np.testing.assert_allclose(empty.coef_[:, [0, 2]], alone.coef_, atol=1e-6)


def test_a_class_that_is_told_apart_by_what_is_always_in_is_said() -> None:
    X, _ = classes(p=5)
    y = np.column_stack([X[:, 0], X[:, 1]]) @ np.array([[1.0, -1.0, 0.0], [0.0, 0.5, 1.0]])
    model = multinomial(unpenalized=[0, 1], tau=1e-3).fit(X, np.argmax(y, axis=1))
    assert model.status_ is Status.SEPARATED


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:R-hat")
def test_draws_of_classes_have_a_flat_prior_too() -> None:
    X, y = classes(n=120, p=4)
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    options = {"prior": "ridge", "tau": 0.3, "standardize": False}
    run = {"n_draws": 1500, "n_warmup": 300, "random_state": 1}
    flat = multinomial(unpenalized=[0, 3], **options).fit(Z, y).sample_posterior(**run)
    wide = multinomial(prior_scale={0: 30.0, 3: 30.0}, **options).fit(Z, y).sample_posterior(**run)
    error = flat.std() * np.sqrt(1.0 / flat.ess() + 1.0 / wide.ess())
    assert (np.abs(flat.mean() - wide.mean()) < 4.5 * error).all()
    np.testing.assert_allclose(flat.std(), wide.std(), rtol=0.15)


@pytest.mark.filterwarnings("ignore:R-hat")
def test_draws_of_classes_with_groups_and_flat_columns() -> None:
    X, y = classes(n=60, p=6)
    model = multinomial(feature_groups=[0, 0, 1, 2, 2, 3], unpenalized=[2, 5]).fit(X, y)
    drawn = model.sample_posterior(n_draws=60, n_warmup=40, n_chains=2, random_state=1, store_lambda2=True)
    assert (drawn.lambda2[..., 0] == drawn.lambda2[..., 1]).all()
    assert np.isinf(drawn.lambda2[..., [2, 5]]).all()
    np.testing.assert_allclose(drawn.coef.sum(axis=2), 0.0, atol=1e-10)
    gap = drawn.mean()[:, [2, 5]] - model.coef_[:, [2, 5]]
    assert (np.abs(gap) < 2.0 * drawn.std()[:, [2, 5]]).all()


@KINDS
def test_a_fit_without_room_in_memory_is_refused(
    kind: Any, data: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("horseshoe.model.fit.MATRICES", 1e12)
    advice = "conjugate_gradient" if kind is several else "fit some of the columns"
    with pytest.raises(ValueError, match=f"an exact fit of .* are free: .*{advice}"):
        kind().fit(*data()[:2])
