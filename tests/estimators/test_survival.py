"""Cox's model: the fits of statsmodels and scikit-survival where the prior says nothing, and what else holds.

Lifelines, which R's convention for weights and late entries at tied times is checked against, cannot be
installed beside today's pandas: what it said stands in golden/survival.json, with the command that asked it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.metrics import (
    as_concordance_index_ipcw_scorer,
    as_integrated_brier_score_scorer,
    concordance_index_censored,
    concordance_index_ipcw,
)

import oracles
from golden.survival import LIFELINES
from horseshoe import HorseshoeSurvival, Status, horseshoe_path, load_model, sample_posterior
from horseshoe.estimators.concordance import concordance
from horseshoe.families import Cox
from survival_data import COEF, Survival, survival

FLAT: dict[str, Any] = {"prior": "ridge", "tau": 1e4, "zero_threshold": 0, "tol": 1e-10}
every_ties = pytest.mark.parametrize("ties", ["efron", "breslow"])
EXTRAS = {
    "plain": (),
    "strata": ("strata",),
    "entry": ("entry",),
    "offset": ("offset",),
    "all": ("strata", "entry", "offset"),
}


def given(data: Survival, names: Any) -> dict[str, Any]:
    return {name: getattr(data, name) for name in names}


@every_ties
@pytest.mark.parametrize("extras", EXTRAS)
def test_a_flat_prior_is_statsmodels(ties: str, extras: str) -> None:
    data = survival()
    more = given(data, EXTRAS[extras])
    model = HorseshoeSurvival(ties=ties, **FLAT).fit(data.X, data.y, **more)
    theirs = dict(more)
    if "strata" in more:
        theirs["strata"] = np.unique(data.strata, return_inverse=True)[1]
    found = sm.PHReg(data.time, data.X, status=data.event.astype(float), ties=ties, **theirs).fit()
    np.testing.assert_allclose(model.coef_, found.params, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(model.coef_std_, found.bse, rtol=1e-5)
    assert model.log_likelihood(data.X, data.y, **more) == pytest.approx(found.llf, rel=1e-9)
    assert model.status_ is Status.CONVERGED


@every_ties
def test_a_flat_prior_is_scikit_survival(ties: str) -> None:
    data = survival()
    model = HorseshoeSurvival(ties=ties, **FLAT).fit(data.X, data.y)
    theirs = CoxPHSurvivalAnalysis(ties=ties, tol=1e-12).fit(data.X, data.y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(model.predict(data.X), theirs.predict(data.X), rtol=1e-5, atol=1e-6)
    assert model.score(data.X, data.y) == pytest.approx(theirs.score(data.X, data.y), abs=1e-12)
    np.testing.assert_array_equal(model.unique_times_, theirs.unique_times_)
    if ties == "breslow":  # of Efron's, scikit-survival leaves the correction out of the hazard
        for what in ("predict_survival_function", "predict_cumulative_hazard_function"):
            ours, other = (getattr(one, what)(data.X[:20], return_array=True) for one in (model, theirs))
            np.testing.assert_allclose(ours, other, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("case", LIFELINES)
def test_a_flat_prior_is_lifelines(case: str) -> None:
    known = json.loads((Path(__file__).parents[1] / "golden" / "survival.json").read_text())[case]
    data = survival(entry_at_ties=True)
    more = given(data, [name for name in LIFELINES[case] if name != "weights"])
    if "weights" in LIFELINES[case]:
        more["sample_weight"] = (data.weights + 0.5) / (data.weights + 0.5).mean()
    model = HorseshoeSurvival(weight_type="precision", **FLAT).fit(data.X, data.y, **more)
    np.testing.assert_allclose(model.coef_, known["coef"], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(model.coef_std_, known["std"], rtol=1e-5)


@every_ties
def test_a_ridge_is_scikit_survivals(ties: str) -> None:
    data = survival()
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    ours = HorseshoeSurvival(prior="ridge", tau=0.3, ties=ties, tol=1e-12).fit(X, data.y)
    theirs = CoxPHSurvivalAnalysis(alpha=1.0 / 0.09, ties=ties, tol=1e-14).fit(X, data.y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-5)


@every_ties
def test_a_weight_is_a_number_of_rows(ties: str) -> None:
    data = survival()
    again = np.repeat(np.arange(data.time.size), data.weights.astype(int))
    few = HorseshoeSurvival(ties=ties, tol=1e-10).fit(
        data.X, data.y, sample_weight=data.weights, strata=data.strata, entry=data.entry
    )
    many = HorseshoeSurvival(ties=ties, tol=1e-10).fit(
        data.X[again], data.y[again], strata=data.strata[again], entry=data.entry[again]
    )
    np.testing.assert_allclose(few.coef_, many.coef_, rtol=1e-9)
    np.testing.assert_allclose(few.coef_std_, many.coef_std_, rtol=1e-9)
    assert few.n_events_ == many.n_events_
    assert few.score(data.X, data.y, data.weights) == pytest.approx(many.score(data.X[again], data.y[again]))
    some = data.weights > 0.0
    np.testing.assert_allclose(
        few.predict_survival_function(data.X[:9], strata=data.strata[:9], return_array=True),
        many.predict_survival_function(data.X[:9], strata=data.strata[:9], return_array=True),
        rtol=1e-9,
    )
    assert set(few.unique_times_) == set(data.time[some])


def test_heavy_weights_go_through_nodes() -> None:
    data = survival(40)
    again = np.repeat(np.arange(40), 60)
    few = HorseshoeSurvival(**FLAT).fit(data.X, data.y, sample_weight=np.full(40, 60.0))
    many = HorseshoeSurvival(**FLAT).fit(data.X[again], data.y[again])
    np.testing.assert_allclose(few.coef_, many.coef_, rtol=1e-7, atol=1e-8)


@every_ties
def test_only_the_order_of_the_times_matters(ties: str) -> None:
    data = survival(ties=False)
    more = {"strata": data.strata}
    first = HorseshoeSurvival(ties=ties).fit(data.X, np.c_[data.time, data.event], entry=data.entry, **more)
    for change in (np.sqrt, lambda t: 1e6 * t, lambda t: t**3):
        y = np.c_[change(data.time), data.event]
        again = HorseshoeSurvival(ties=ties).fit(data.X, y, entry=change(data.entry), **more)
        np.testing.assert_array_equal(again.coef_, first.coef_)
    order = np.random.default_rng(0).permutation(data.time.size)
    part = Survival(*(values[order] for values in data))
    again = HorseshoeSurvival(ties=ties).fit(part.X, part.y, entry=part.entry, strata=part.strata)
    np.testing.assert_allclose(again.coef_, first.coef_, rtol=1e-7)
    rescaled = HorseshoeSurvival(ties=ties).fit(1024.0 * data.X + 3.0, data.y, entry=data.entry, **more)
    np.testing.assert_allclose(1024.0 * rescaled.coef_, first.coef_, rtol=1e-7)
    columns = HorseshoeSurvival(ties=ties).fit(data.X[:, ::-1], data.y, entry=data.entry, **more)
    np.testing.assert_allclose(columns.coef_[::-1], first.coef_, rtol=1e-7)


def test_every_way_to_hand_in_y_is_the_same() -> None:
    data = survival()
    plain = HorseshoeSurvival().fit(data.X, data.y)
    other = np.array(
        list(zip(data.time, data.event, strict=True)), dtype=[("t", np.float32), ("dead", np.bool_)]
    )
    frame = pd.DataFrame({"time": data.time, "event": data.event})
    for y in (np.c_[data.time, data.event], other, frame, frame.astype({"event": int}), frame.to_numpy()):
        np.testing.assert_array_equal(HorseshoeSurvival().fit(data.X, y).coef_, plain.coef_)
    everyone = HorseshoeSurvival().fit(data.X, data.time)
    assert everyone.n_events_ == data.time.size
    np.testing.assert_array_equal(
        everyone.coef_, HorseshoeSurvival().fit(data.X, np.c_[data.time, np.ones(data.time.size)]).coef_
    )


def wide(seed: int = 0, n: int = 150, p: int = 400) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    X, coef = rng.standard_normal((n, p)), np.zeros(p)
    coef[:4] = [1.2, -1.2, 1.0, -1.0]
    lived, censored = rng.exponential(np.exp(-X @ coef)), rng.exponential(2.0, n)
    return X, np.c_[np.minimum(lived, censored), lived <= censored], coef


@pytest.mark.parametrize("start", ["auto", "linear", "paper"])
def test_the_fast_path_ends_in_the_mode_of_plain_em(start: str, monkeypatch: Any) -> None:
    import horseshoe.estimators.mode as module

    X, y, _ = wide()
    fast = HorseshoeSurvival(start=start, tol=1e-9).fit(X, y)
    options = module.em_options
    monkeypatch.setattr(
        module, "em_options", lambda params, checkpoint: options(params, checkpoint)._replace(fast=False)
    )
    plain = HorseshoeSurvival(start=start, tol=1e-9).fit(X, y)
    np.testing.assert_allclose(fast.coef_, plain.coef_, atol=1e-6)
    assert fast.n_iter_ < plain.n_iter_


def test_columns_that_rest_end_in_the_same_mode(monkeypatch: Any) -> None:
    import horseshoe.em.fast.schedule as module

    X, y, _ = wide(1)
    usual = HorseshoeSurvival(tol=1e-9).fit(X, y)
    monkeypatch.setattr(module, "LIMITS", type(module.LIMITS)(large=1))
    resting = HorseshoeSurvival(tol=1e-9).fit(X, y)
    np.testing.assert_allclose(resting.coef_, usual.coef_, atol=1e-5)


def test_it_finds_the_effects_and_says_how_sure_it_is() -> None:
    X, y, coef = wide()
    model = HorseshoeSurvival().fit(X, y)
    np.testing.assert_array_equal(np.flatnonzero(model.support_)[:4], np.arange(4))
    assert model.support_.sum() <= 6
    assert model.score(X, y) > 0.8
    low, high = model.coef_interval(0.99, method="mode")[:4].T
    assert np.all((low <= coef[:4]) & (coef[:4] <= high))
    assert 0.0 < model.expected_by_chance_ < 15.0
    assert model.chance_selection(X, y, n_permutations=3).is_noise is False
    noise = HorseshoeSurvival().fit(np.random.default_rng(9).standard_normal((150, 300)), y)
    assert noise.status_ in (Status.CHANCE, Status.NOTHING_SELECTED)


def test_sparse_columns_are_the_same_as_dense_ones() -> None:
    X, y, _ = wide()
    X = np.where(np.abs(X) > 0.8, X, 0.0)
    for columns in (X, X[:, :50]):
        dense, thin = (HorseshoeSurvival().fit(x, y) for x in (columns, sparse.csr_array(columns)))
        np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-7)


def test_more_rows_than_one_gram_matrix_serves_are_fitted() -> None:
    data = survival(6000, ties=False)
    model = HorseshoeSurvival().fit(data.X, data.y)
    found = sm.PHReg(data.time, data.X, status=data.event.astype(float)).fit()
    strong = np.abs(COEF) > 0.0
    np.testing.assert_allclose(model.coef_[strong], found.params[strong], rtol=0.02)
    np.testing.assert_array_equal(model.support_, strong)


def test_survival_functions() -> None:
    data = survival()
    model = HorseshoeSurvival(**FLAT).fit(data.X, data.y, strata=data.strata)
    functions = model.predict_survival_function(data.X[:30], strata=data.strata[:30])
    hazards = model.predict_cumulative_hazard_function(data.X[:30], strata=data.strata[:30])
    array = model.predict_survival_function(data.X[:30], strata=data.strata[:30], return_array=True)
    for row, (one, hazard) in enumerate(zip(functions, hazards, strict=True)):
        last = data.time[data.strata == data.strata[row]].max()
        assert one.domain == (0.0, last)
        grid = np.linspace(0.0, last, 50)
        np.testing.assert_allclose(one(grid), np.exp(-hazard(grid)), rtol=1e-12)
        assert one(0.0) == 1.0
        assert np.all(np.diff(one.y) <= 0.0)
        assert one.x.size == one.y.size
        np.testing.assert_array_equal(array[row], one(np.minimum(model.unique_times_, last)))
        with pytest.raises(ValueError, match="x must be within"):
            one(last + 1.0)
    before, after = (
        model.predict_survival_function(data.X[:1], strata=["a"], offset=shift)[0](5.0)
        for shift in (0.0, 0.7)
    )
    assert np.log(after) == pytest.approx(np.exp(0.7) * np.log(before))


def test_efrons_hazard_is_that_of_its_likelihood() -> None:
    time, event = np.array([1.0, 1.0, 2.0, 3.0]), np.array([True, True, False, True])
    X = np.array([[0.0], [1.0], [0.5], [2.0]])
    model = HorseshoeSurvival(prior="ridge", tau=1e-6, zero_threshold=0).fit(X, np.c_[time, event])
    hazard = model.predict_cumulative_hazard_function(X[:1], return_array=True)[0]
    np.testing.assert_allclose(hazard, [1 / 4 + 1 / 3, 7 / 12, 7 / 12 + 1.0], rtol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_concordance_is_its_definition(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 70
    time, risk = rng.integers(1, 15, n).astype(float), rng.integers(0, 8, n).astype(float)
    event, weights = rng.random(n) < 0.6, rng.integers(1, 4, n).astype(float)
    one = np.ones(n)
    found = concordance(time, event, risk, one, np.zeros(n))
    assert found == pytest.approx(oracles.concordance(time, event, risk, one), abs=1e-14)
    assert found == pytest.approx(concordance_index_censored(event, time, risk)[0], abs=1e-14)
    assert concordance(time, event, risk, weights, np.zeros(n)) == pytest.approx(
        oracles.concordance(time, event, risk, weights), abs=1e-14
    )


def test_scikit_survivals_tools_work() -> None:
    X, y, _ = wide(p=60)
    y = np.array([(bool(event), time) for time, event in y], dtype=[("event", "?"), ("time", "f8")])
    model = make_pipeline(StandardScaler(), HorseshoeSurvival())
    assert cross_val_score(model, X, y, cv=3).min() > 0.7
    search = GridSearchCV(HorseshoeSurvival(), {"tau": [0.1, 1.0]}, cv=KFold(3)).fit(X, y)
    assert search.best_score_ > 0.7
    fitted = HorseshoeSurvival().fit(X, y)
    assert concordance_index_ipcw(y, y, fitted.predict(X))[0] > 0.8
    scored = as_concordance_index_ipcw_scorer(HorseshoeSurvival(), tau=1.0).fit(X, y)
    assert scored.score(X, y) > 0.8
    nested = GridSearchCV(
        as_concordance_index_ipcw_scorer(HorseshoeSurvival(), tau=1.0), {"estimator__tau": [0.5, 1.0]}, cv=3
    ).fit(X, y)
    assert nested.best_score_ > 0.7
    times = np.quantile(y["time"], [0.2, 0.4, 0.6])
    brier = as_integrated_brier_score_scorer(HorseshoeSurvival(), times=times).fit(X, y)
    assert -0.25 < brier.score(X, y) < 0.0


def test_tables_and_statistics() -> None:
    data = survival()
    X = pd.DataFrame(data.X, columns=list("abcd"))
    model = HorseshoeSurvival().fit(X, data.y)
    table = model.summary(exponentiate=True).set_index("feature")
    assert list(table.index) == list("abcd")
    assert table.loc["a", "hazard_ratio"] == pytest.approx(np.exp(model.coef_[0]))
    assert table.loc["a", "lower"] < table.loc["a", "hazard_ratio"] < table.loc["a", "upper"]
    found = model.statistics()
    none = HorseshoeSurvival(prior="ridge", tau=1e-8, zero_threshold=0).fit(X, data.y)
    best = float(model._training.spec.family.saturated(model._training.rows.y).sum())
    gain = model.log_likelihood(X, data.y) - none.log_likelihood(X, data.y)
    assert found.n == 120
    assert found.measure == "D^2"
    assert found.explained == pytest.approx(gain / (-best - none.log_likelihood(X, data.y)), rel=1e-6)
    assert "hazard" in model._repr_html_().lower() or "coef" in model._repr_html_()
    risk, spread = model.predict(X, return_std=True)
    low, high = model.predict_interval(X, 0.9, method="mode").T
    np.testing.assert_allclose(high - low, 2 * 1.6448536 * spread, rtol=1e-6)
    np.testing.assert_allclose(0.5 * (low + high), risk, atol=1e-12)
    assert list(model.get_feature_names_out()) == list(X.columns[model.support_])
    assert clone(model).get_params() == model.get_params()


def test_a_path_and_an_earlier_fit() -> None:
    data = survival()
    path = horseshoe_path(
        data.X, data.y, values=[1.0, 0.1], estimator=HorseshoeSurvival(), strata=data.strata
    )
    assert path.n_selected[0] >= path.n_selected[1]
    first = HorseshoeSurvival(start="paper", tol=1e-9).fit(data.X, data.y)
    again = HorseshoeSurvival(start=first, tol=1e-9).fit(data.X, data.y)
    np.testing.assert_allclose(again.coef_, first.coef_, atol=1e-6)


def test_a_saved_model_says_the_same(tmp_path: Path) -> None:
    data = survival()
    for more in ({}, {"strata": data.strata}, {"strata": np.ones(120, int)}):
        model = HorseshoeSurvival(ties="breslow").fit(data.X, data.y, **more)
        model.save(tmp_path / "model.json")
        again = load_model(tmp_path / "model.json")
        asked = {name: values[:9] for name, values in more.items()}
        for one in (model, again):
            with pytest.raises(ValueError, match="strata"):
                one.predict_survival_function(data.X[:9], **({} if more else {"strata": np.ones(9)}))
        np.testing.assert_array_equal(
            again.predict_survival_function(data.X[:9], return_array=True, **asked),
            model.predict_survival_function(data.X[:9], return_array=True, **asked),
        )
        assert again.statistics() == model.statistics()
        assert again.family_ == Cox("breslow")
        assert again.family_.seen is None


def test_a_model_file_that_does_not_hold_together_is_refused(tmp_path: Path) -> None:
    from dataclasses import replace

    data = survival()
    model = HorseshoeSurvival().fit(data.X, data.y, strata=data.strata)
    model._baseline = replace(model._baseline, ends=model._baseline.ends[::-1].copy())
    model.save(tmp_path / "model.json")
    with pytest.raises(ValueError, match="ends has the number 33 after 47, where numbers rise"):
        load_model(tmp_path / "model.json")


def test_a_column_that_tells_strata_apart_tells_nothing() -> None:
    data = survival()
    X = np.column_stack([data.X, data.strata == "a"])
    model = HorseshoeSurvival().fit(X, data.y, strata=data.strata)
    plain = HorseshoeSurvival().fit(data.X, data.y, strata=data.strata)
    assert not model.support_[-1]
    np.testing.assert_allclose(model.coef_[:-1], plain.coef_, atol=1e-6)


def test_a_perfect_order_is_pointed_out() -> None:
    x = np.arange(30.0)
    model = HorseshoeSurvival().fit(x[:, None], 30.0 - x)
    assert model.status_ is Status.MONOTONE
    assert "no maximum" in str(model.status_)


@pytest.mark.parametrize("n", [30, 80, 90])
@pytest.mark.parametrize("censored", [0.0, 0.4])
@pytest.mark.parametrize("unpenalized", [None, [0, 1]])
def test_a_perfect_order_is_pointed_out_where_hazards_are_out_of_range(
    n: int, censored: float, unpenalized: Any
) -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((n, 10))
    event = rng.random(n) >= censored
    model = HorseshoeSurvival(unpenalized=unpenalized).fit(X, np.column_stack([np.exp(-X[:, 0]), event]))
    assert model.status_ is Status.MONOTONE
    assert model.status_.converged
    assert model.score(X, np.column_stack([np.exp(-X[:, 0]), event])) > 0.99


def test_a_fit_that_stalls_for_other_reasons_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    data = survival()
    monkeypatch.setattr("horseshoe.em.schedule.MOST_STALLS", 0)
    with pytest.warns(ConvergenceWarning, match="rounding"):
        assert HorseshoeSurvival().fit(data.X, data.y).status_ is Status.STALLED


def test_the_sampler_refuses_what_it_cannot_say() -> None:
    with pytest.raises(ValueError, match="HorseshoeSurvival"):
        sample_posterior([[1.0], [2.0], [3.0]], [1.0, 2.0, 3.0], family=Cox())
    instead = r"HorseshoeSurvival\(\).fit\(X, y\).sample_posterior\(\)"
    with pytest.raises(ValueError, match=f"y has 2 columns, but the family Cox.*{instead}"):
        sample_posterior(np.eye(3), np.column_stack([[1.0, 2.0, 3.0], np.ones(3)]), family=Cox())


def test_groups_and_what_is_expected_of_columns() -> None:
    X, y, _ = wide(p=60)
    plain = HorseshoeSurvival(tol=1e-9).fit(X, y)
    alone = HorseshoeSurvival(feature_groups=list(range(60)), tol=1e-9).fit(X, y)
    np.testing.assert_allclose(alone.coef_, plain.coef_, atol=1e-9)
    fours = HorseshoeSurvival(feature_groups=list(np.arange(60) // 4)).fit(X, y)
    assert fours.support_[:4].all()
    together = fours.support_.reshape(-1, 4)
    np.testing.assert_array_equal(together.any(axis=1), together.all(axis=1))
    doubted = HorseshoeSurvival(prior="ridge", tau=1.0, prior_scale={0: 1e-4}).fit(X, y)
    assert abs(doubted.coef_[0]) < 1e-3 < abs(doubted.coef_[1])
