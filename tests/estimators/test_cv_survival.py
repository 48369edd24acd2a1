"""The average of survival models: what it finds, and what must not change its answer."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score
from sksurv.metrics import as_concordance_index_ipcw_scorer, concordance_index_censored

from horseshoe import AdaptiveSurvival, HorseshoeSurvival, Status
from oracles import partial_log_likelihood
from refusals import assert_says, refused
from survival_data import survival


def lives(n=120, p=30, effects=(1.0, -0.8), seed=0):
    """Return columns, and times of which a third is censored; the first columns have an effect."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p))
    lived = rng.exponential(np.exp(-X[:, : len(effects)] @ np.asarray(effects)))
    seen = rng.exponential(2.0, n)
    return X, np.column_stack([np.minimum(lived, seen), lived <= seen])


def fit(X, y, **options):
    rows = {
        name: options.pop(name)
        for name in ("sample_weight", "offset", "entry", "strata", "groups")
        if name in options
    }
    return AdaptiveSurvival(**{"cv": 4, **options}).fit(X, y, **rows)


def same(one, two, within=1e-8, columns=slice(None), factor=1.0):
    for name in ("coef_", "sparse_coef_"):
        ours, theirs = getattr(one, name)[columns], getattr(two, name) * factor
        np.testing.assert_allclose(theirs, ours, rtol=0, atol=within * max(np.abs(ours).max(), 1e-3))
    np.testing.assert_allclose(two.inclusion_, one.inclusion_[columns], atol=within)
    np.testing.assert_allclose(two.component_weights_, one.component_weights_, atol=within)
    np.testing.assert_allclose(two.cv_error_, one.cv_error_, rtol=within)
    assert two.support_.tolist() == one.support_[columns].tolist()


# --- what it finds ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("p", [30, 300])
def test_effects_are_found(p):
    X, y = lives(150, p)
    model = fit(X, y, cv=10)
    assert np.flatnonzero(model.support_).tolist() == [0, 1]
    assert model.inclusion_[:2].min() > 0.9 > 0.6 > model.inclusion_[2:].max()
    np.testing.assert_allclose(model.coef_[:2], [1.0, -0.8], atol=0.3)
    assert ((model.coef_[:2] - [1.0, -0.8]) ** 2).sum() + (model.coef_[2:] ** 2).sum() < 0.1
    assert model.status_ is Status.CONVERGED
    assert [row.name for row in model.components_] == [
        "null",
        "ridge",
        "horseshoe",
        "mixture_horseshoe",
        "mixture_forward",
    ]
    assert model.components_[0].what == "no column at all"
    assert model.cv_error_ < min(row.error for row in model.components_) + 0.05
    interval = model.coef_interval(0.95)
    assert (interval[:, 0] <= model.coef_).all()
    assert (interval[:, 1] >= model.coef_).all()
    assert ((interval[:2, 0] < [1.0, -0.8]) & ([1.0, -0.8] < interval[:2, 1])).all()


def test_one_effect_of_many_columns_is_found():
    X, y = lives(120, 400, effects=(1.2,))
    assert np.flatnonzero(fit(X, y).support_).tolist() == [0]


def test_without_an_effect_nothing_is_selected():
    empty = []
    for seed in range(8):
        X, y = lives(100, 40, effects=(0.0,), seed=seed)
        empty.append(not fit(X, y).support_.any())
    assert sum(empty) >= 7
    model = fit(np.ones((40, 2)), np.arange(40.0))
    assert not model.coef_.any()


def test_effects_that_are_spread_over_all_columns_go_to_ridge():
    rng = np.random.default_rng(3)
    X, y = lives(200, 100, effects=0.2 * rng.standard_normal(100), seed=3)
    weights = {row.name: row.weight for row in fit(X, y).components_}
    assert weights["ridge"] > 0.9


@pytest.mark.slow
def test_intervals_cover_and_the_average_predicts_at_least_as_well_as_the_mode():
    covered, better = [], []
    for seed in range(60):
        X, y = lives(200, 60, effects=(0.8, -0.6, 0.4, 0.3), seed=seed)
        truth = np.r_[0.8, -0.6, 0.4, 0.3, np.zeros(56)]
        model = fit(X, y, cv=10)
        interval = model.coef_interval(0.95)
        covered.append((interval[:, 0] <= truth) & (truth <= interval[:, 1]))
        mode = HorseshoeSurvival().fit(X, y)
        better.append(((mode.coef_ - truth) ** 2).sum() - ((model.coef_ - truth) ** 2).sum())
    assert np.mean(covered, axis=0)[:4].mean() > 0.88
    assert np.mean(covered) > 0.93
    assert np.mean(better) > -np.std(better) / np.sqrt(60)


# --- what is said -------------------------------------------------------------------------------------------


def test_the_error_is_what_events_left_out_cost():
    """As Verweij and van Houwelingen have it: by a likelihood that goes over rows and times one by one."""
    data = survival(n=40)
    strata = np.unique(data.strata, return_inverse=True)[1]
    folds = list(KFold(4).split(data.X))
    known = {"entry": data.entry, "strata": data.strata, "offset": data.offset, "sample_weight": data.weights}
    model = AdaptiveSurvival(cv=folds).fit(data.X, data.y, **known)
    counted = data.weights > 0.0

    def log_likelihood(coef, rows):
        rows = rows[counted[rows]]
        eta = data.X[rows] @ coef + data.offset[rows]
        seen = (data.time, data.event, data.entry, strata, data.weights)
        return partial_log_likelihood(eta, *(part[rows] for part in seen), efron=True)

    every, found = np.arange(40), model._fitted.average
    added = 0.0
    for (train, _), coef in zip(folds, model._fitted.units.coef(found.fold_coef.T), strict=True):
        added += log_likelihood(coef, every) - log_likelihood(coef, train)
    events = float(data.weights[data.event].sum())
    assert model.cv_error_ == pytest.approx(-2.0 * added / events, rel=1e-9)


def test_hazards_and_scores_are_those_of_the_average():
    data = survival()
    model = fit(data.X, data.y, strata=data.strata, entry=data.entry)
    eta = data.X @ model.coef_
    np.testing.assert_allclose(model.predict(data.X), eta)
    np.testing.assert_allclose(model.linear_predictor(data.X, offset=1.0), eta + 1.0)
    assert model.intercept_ == 0.0
    single = HorseshoeSurvival(prior="ridge", tau=1e-8, zero_threshold=0)  # as good as no coefficients
    single.fit(data.X, data.y, strata=data.strata, entry=data.entry, offset=eta)
    many, one = (
        fitted.predict_cumulative_hazard_function(data.X, True, offset, data.strata)
        for fitted, offset in ((model, None), (single, eta))
    )
    np.testing.assert_allclose(many, one, rtol=1e-5)
    chances = model.predict_survival_function(data.X[:3], True, strata=data.strata[:3])
    np.testing.assert_allclose(chances, np.exp(-many[:3]))
    assert model.n_events_ == data.event.sum() == model.statistics().n_events
    plain = fit(data.X, data.y)
    assert plain.score(data.X, data.y) == pytest.approx(
        concordance_index_censored(data.event, data.time, plain.predict(data.X))[0]
    )
    assert model.summary(exponentiate=True)["hazard_ratio"].iloc[0] == pytest.approx(np.exp(model.coef_[0]))


def test_the_tools_of_others_take_it():
    X, y = lives(90, 12)
    seen = np.array([(event, time) for time, event in y], dtype=[("event", bool), ("time", float)])
    assert cross_val_score(AdaptiveSurvival(cv=3), X, seen, cv=3).min() > 0.6
    scored = as_concordance_index_ipcw_scorer(AdaptiveSurvival(cv=3), tau=1.0).fit(X, seen)
    assert scored.score(X, seen) > 0.6
    selected = fit(X, seen).transform(X)
    np.testing.assert_array_equal(selected, X[:, :2])
    with pytest.raises(ValueError, match="cv_prediction_ has those of the rows"):
        fit(X, seen).left_out()


def test_predictions_of_rows_left_out_are_those_of_their_fold():
    X, y = lives(60, 6)
    folds = list(KFold(3).split(X))
    model = fit(X, y, cv=folds)
    coef = model._fitted.units.coef(model._fitted.average.fold_coef.T)
    for (_, test), one in zip(folds, coef, strict=True):
        apart = X[test] @ one - model.cv_prediction_[test]
        np.testing.assert_allclose(apart, apart[0])  # a risk has no level


# --- what must not change the answer ------------------------------------------------------------------------


@pytest.mark.parametrize(("p", "ties"), [(6, "breslow"), (90, "efron")])
def test_order_units_and_times(p, ties):
    data = survival(n=60, p=p)
    known = {"entry": data.entry, "strata": data.strata, "offset": data.offset}
    want = fit(data.X, data.y, ties=ties, **known)
    rows = np.random.default_rng(0).permutation(60)
    shuffled = fit(data.X[rows], data.y[rows], ties=ties, **{k: v[rows] for k, v in known.items()})
    same(want, shuffled, 1e-6)
    same(want, fit(data.X[:, ::-1], data.y, ties=ties, **known), 1e-6, slice(None, None, -1))
    same(want, fit(1024.0 * data.X + 3.0, data.y, ties=ties, **known), 1e-6, factor=1024.0)
    later = np.column_stack([np.expm1(data.time / 50.0), data.event])
    same(want, fit(data.X, later, ties=ties, **(known | {"entry": np.expm1(data.entry / 50.0)})), 1e-12)
    same(want, fit(data.X, data.y, ties=ties, n_jobs=2, **known), 1e-12)
    same(want, fit(pd.DataFrame(data.X), data.y, ties=ties, **known), 1e-12)


@pytest.mark.parametrize("p", [6, 90])
def test_a_row_of_weight_two_is_two_rows(p):
    data = survival(n=60, p=p)
    few = fit(data.X, data.y, sample_weight=data.weights, entry=data.entry, strata=data.strata)
    again = np.repeat(np.arange(60), data.weights.astype(int))
    many = fit(data.X[again], data.y[again], entry=data.entry[again], strata=data.strata[again])
    same(few, many, 1e-6)


def test_sparse_columns_say_the_same():
    X, y = lives(80, 20)
    X = np.where(np.abs(X) < 0.6, 0.0, X)
    same(fit(X, y), fit(sparse.csr_array(X), y), 1e-7)


def test_splitters_and_groups():
    X, y = lives(80, 8)
    assert fit(X, y, cv=StratifiedKFold(4)).support_[:2].all()
    grouped = fit(X, y, groups=None, cv=KFold(5, shuffle=True, random_state=0))
    assert grouped.support_[:2].all()
    pairs = AdaptiveSurvival(cv=4, feature_groups=list(np.arange(8) // 2), unpenalized=[6, 7]).fit(X, y)
    assert pairs.support_.tolist() == [True, True, *[False] * 4, True, True]
    assert pairs.inclusion_[0] == pairs.inclusion_[1]
    doubted = AdaptiveSurvival(cv=4, prior_scale={0: 1e-4}).fit(X, y)
    assert abs(doubted.coef_[0]) < 0.01 < abs(doubted.coef_[1])


# --- refusals -----------------------------------------------------------------------------------------------


def test_refusals_are_sentences():
    X, y = lives(30, 3)
    late = y.copy()
    late[:, 1] = np.arange(30) == 4
    assert_says(refused(lambda: fit(X, late)), "fold", "no row has its event", "use fewer folds")
    censored = y.copy()
    censored[:, 1] = 0.0
    assert_says(refused(lambda: fit(X, censored)), "no event")
    early = y.copy()
    early[:, 1] = np.arange(30) < 20
    only = [(np.arange(25), np.arange(25, 30)), (np.arange(20), np.arange(20, 25))]
    assert_says(refused(lambda: fit(X, early, cv=only)), "no fold of cv leaves out an event")
    assert_says(refused(lambda: fit(X, y, cv=31)), "cv=31", "30 rows")
    assert_says(refused(lambda: fit(X, y, ties="exact")), "ties")
    assert_says(refused(lambda: fit(X, y, components=["lasso"])), "components", "lasso")
    assert_says(refused(lambda: fit(X, y, entry=y[:, 0] + 1.0)), "entry in row 0")
    assert_says(refused(lambda: fit(X, -y)), "row 0")
