"""Fits along a grid of one parameter."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import horseshoe
import simulate
from horseshoe import HorseshoeClassifier, HorseshoeRegressor, Status, horseshoe_path
from horseshoe.em.state import Options
from horseshoe.families import FAMILIES
from horseshoe.model.fit import Earlier, fit
from horseshoe.priors import (
    GammaScale,
    HorseshoeLike,
    InvertedBeta,
    NormalGamma,
    Slab,
    StudentT,
)
from loops import each
from refusals import told

TAUS = [1.0, 0.3, 0.1, 0.03, 0.01, 0.001]


def tall(family: str = "gaussian", n: int = 400, p: int = 8) -> tuple[Any, Any]:
    X, y, _ = simulate.glm(family, n, p, n_signals=3)
    return X, y


def wide(seed: int = 0) -> tuple[Any, Any]:
    X, y, _ = simulate.linear(70, 350, seed=seed)
    return X, y


# --- the fits ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_where_the_mode_is_unique_it_is_that_of_each_value_on_its_own(family: str) -> None:
    X, y = tall(family)
    model = HorseshoeRegressor(family=family, tol=1e-9)
    warm, cold = (horseshoe_path(X, y, values=TAUS, estimator=model, warm_start=w) for w in (True, False))
    scale = np.abs(cold.coef).max()
    np.testing.assert_allclose(warm.coef, cold.coef, rtol=1e-5, atol=1e-6 * scale)
    assert warm.n_selected.min() > 0
    for value, one in zip(TAUS, cold.estimators, strict=True):
        alone = HorseshoeRegressor(family=family, tol=1e-9, tau=value).fit(X, y)
        np.testing.assert_array_equal(one.coef_, alone.coef_)


@pytest.mark.parametrize(
    ("over", "values"),
    [("lambda_power", None), ("slab", [10.0, 1.0, 0.2]), ("sigma2", [0.5, 1.0, 4.0]), ("tau_max", TAUS)],
)
def test_other_parameters_where_the_mode_is_unique(over: str, values: Any) -> None:
    X, y = tall()
    warm, cold = (horseshoe_path(X, y, over, values, warm_start=w) for w in (True, False))
    np.testing.assert_allclose(warm.coef, cold.coef, rtol=1e-5, atol=1e-6)
    for value, one in zip(warm.values, warm.estimators, strict=True):
        assert getattr(one, over) == value
    assert np.abs(np.diff(warm.coef, axis=0)).max() > 1e-3  # it is not the same fit all along


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_a_column_that_went_does_not_come_back(family: str) -> None:
    X, y, _ = simulate.glm(family, 60, 150, n_signals=5, size=0.8, seed=1)
    path = horseshoe_path(X, y, estimator=HorseshoeRegressor(family=family))
    support = path.coef != 0.0
    assert (support[1:] <= support[:-1]).all()
    assert path.n_selected[0] > path.n_selected[-1]


def test_the_order_matters_in_wide_data() -> None:
    X, y = wide()
    warm, cold = (horseshoe_path(X, y, warm_start=w) for w in (True, False))
    assert (np.diff(warm.n_selected) <= 0).all()
    assert warm.n_selected[-1] > cold.n_selected[-1]
    np.testing.assert_array_equal(warm.coef[0], cold.coef[0])


@pytest.mark.parametrize("over", ["tau", "lambda_power", "slab"])
def test_plain_em_stays_where_each_fit_ended(over: str) -> None:
    X, y = wide(1)
    path = horseshoe_path(X, y, over, estimator=HorseshoeRegressor(zero_threshold=0.0))
    for model in path.estimators[1::3]:
        assert model.support_.any()
        here = Earlier(model.coef_, model.coef_std_, model.intercept_, model.sigma2_, again=False)
        plain = Options(fast=False, tol=1e-9, zero_threshold=0.0)
        found = fit(model._training.spec, model._training.rows, plain, here).coef
        np.testing.assert_allclose(found, model.coef_, rtol=1e-4, atol=1e-4 * np.abs(found).max())


# --- what is returned -------------------------------------------------------------------------------------


def test_what_is_returned() -> None:
    X, y = tall(p=5)
    names = ["age", "bmi", "bp", "s1", "s2"]
    path = horseshoe_path(pd.DataFrame(X, columns=names), y, values=[0.01, 1.0, 0.1])
    np.testing.assert_array_equal(path.values, [1.0, 0.1, 0.01])  # sorted: the richest first
    assert path.over == "tau"
    assert path.warm_start
    assert path.feature_names == tuple(names)
    assert path.coef.shape == (3, 5)
    for k, model in enumerate(path.estimators):
        np.testing.assert_array_equal(path.coef[k], model.coef_)
        assert path.n_selected[k] == model.support_.sum()
        assert path.status[k] is model.status_
        assert model.feature_names_in_.tolist() == names
        assert model.tau == path.values[k]
        assert (model.start, model.warm_start) == ("auto", False)
        model.predict(pd.DataFrame(X, columns=names))  # without a warning
    with pytest.raises(AttributeError):
        path.over = "slab"  # type: ignore[misc]
    bare = horseshoe_path(X, y, values=[1.0])
    assert bare.feature_names[:2] == ("x0", "x1")
    assert not hasattr(bare.estimators[0], "feature_names_in_")


def test_the_fits_share_the_columns() -> None:
    X, y = tall(p=5)
    path = horseshoe_path(pd.DataFrame(X, columns=list("abcde")), y, values=TAUS)
    assert len({id(model._training.rows.columns) for model in path.estimators}) == 1


def test_tied_columns_have_names() -> None:
    X, y = tall(p=5)
    frame = pd.DataFrame(X, columns=list("abcde")).assign(again=-X[:, 2])
    assert [model.aliases_ for model in horseshoe_path(frame, y, values=[1.0, 0.1]).estimators] == [
        {"c": ("again",)}
    ] * 2


def test_the_summary() -> None:
    X, y = tall()
    path = horseshoe_path(X, y, values=TAUS)
    table = path.summary()
    assert list(table.columns) == ["tau", "n_selected", "expected_by_chance", "n_iter", "status"]
    np.testing.assert_array_equal(table["tau"], path.values)
    np.testing.assert_array_equal(table["n_selected"], path.n_selected)
    assert table["status"].tolist() == [status.name for status in path.status]
    assert table["expected_by_chance"].is_monotonic_decreasing


def test_sparse_columns() -> None:
    X, y = tall()
    X = np.where(np.abs(X) < 0.7, 0.0, X)
    dense, thin = (horseshoe_path(x, y, values=TAUS) for x in (X, sparse.csr_array(X)))
    np.testing.assert_allclose(dense.coef, thin.coef, rtol=1e-6, atol=1e-9)


def test_weights_offsets_and_exposures_reach_every_fit() -> None:
    X, y = tall("poisson")
    model = HorseshoeRegressor("poisson", tol=1e-9)
    rng = np.random.default_rng(0)
    given = {
        "sample_weight": rng.integers(1, 3, len(y)).astype(float),
        "offset": 0.1 * rng.standard_normal(len(y)),
        "exposure": rng.uniform(0.5, 2.0, len(y)),
    }
    path = horseshoe_path(X, y, values=[1.0, 0.1], estimator=model, **given)
    for value, one in zip([1.0, 0.1], path.estimators, strict=True):
        alone = HorseshoeRegressor("poisson", tau=value, tol=1e-9).fit(X, y, **given)
        np.testing.assert_allclose(one.coef_, alone.coef_, rtol=1e-5, atol=1e-7)
    plain = horseshoe_path(X, y, values=[1.0], estimator=model)
    assert not np.allclose(plain.coef[0], path.coef[0], rtol=1e-3)


@pytest.mark.parametrize("cuts", [[0.0], [-0.5, 0.5]])
def test_classes(cuts: list[float]) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 6))
    latent = 2.0 * X[:, 0] - X[:, 2] + rng.logistic(size=400)
    y = np.array(["low", "mid", "top"])[np.digitize(latent, cuts)]
    model = HorseshoeClassifier(tol=1e-9)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    warm, cold = (horseshoe_path(frame, y, values=TAUS, estimator=model, warm_start=w) for w in (True, False))
    several = len(cuts) > 1
    assert warm.coef.shape == ((6, 3, 6) if several else (6, 6))
    np.testing.assert_allclose(warm.coef, cold.coef, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(warm.n_selected, [one.get_support().sum() for one in warm.estimators])
    assert len(warm.summary()) == (18 if several else 6)
    if several:
        assert warm.summary()["class"].tolist()[:4] == ["low", "mid", "top", "low"]
        assert warm.status[0] == warm.estimators[0].status_
    for one in warm.estimators:
        assert one.feature_names_in_.tolist() == list("abcdef")
        assert one.start == "auto"
        for part in one.estimators_:
            assert part.feature_names_in_.tolist() == list("abcdef")
            assert part.start == "auto"


def test_a_column_that_went_from_classes_does_not_come_back() -> None:
    X, y, _ = simulate.glm("binomial", 80, 100, n_signals=5, size=2.0, seed=2)
    three = np.digitize(X[:, :3].sum(axis=1) + y, [-1.0, 1.0])
    for labels in (y, three):
        support = horseshoe_path(X, labels, values=TAUS, estimator=HorseshoeClassifier()).coef != 0.0
        assert (support[1:] <= support[:-1]).all()


def test_the_estimator_is_not_changed_and_its_fit_has_no_say() -> None:
    X, y = wide()
    model = HorseshoeRegressor(prior="strawderman_berger", warm_start=True).fit(X[:, :50], y)
    before, params = model.coef_.copy(), model.get_params()
    path = horseshoe_path(X, y, values=[1.0, 0.1], estimator=model)
    np.testing.assert_array_equal(model.coef_, before)
    assert model.get_params() == params
    fresh = HorseshoeRegressor(prior="strawderman_berger", tau=1.0).fit(X, y)
    np.testing.assert_array_equal(path.coef[0], fresh.coef_)
    started = HorseshoeRegressor(start=fresh)
    first = horseshoe_path(X, y, values=[1.0, 0.1], estimator=started).coef[0]
    np.testing.assert_array_equal(first, HorseshoeRegressor(tau=1.0, start=fresh).fit(X, y).coef_)


def test_a_seed_gives_the_same_path() -> None:
    X, y = tall(n=60)
    model = HorseshoeRegressor(expectation="stochastic", random_state=3, max_iter=50, tol=1e-2)
    one, other = (horseshoe_path(X, y, values=[1.0, 0.1], estimator=model) for _ in range(2))
    np.testing.assert_array_equal(one.coef, other.coef)


def test_data_with_nothing_to_fit() -> None:
    X, _ = tall(n=30)
    assert horseshoe_path(X, np.ones(30), values=[1.0, 0.1]).status == (Status.CONSTANT_RESPONSE,) * 2
    none = horseshoe_path(np.ones((30, 2)), X[:, 0], values=[1.0, 0.1])
    assert none.status == (Status.NO_COLUMNS,) * 2
    noise = horseshoe_path(X[:, 1:], X[:, 0], values=[0.002, 0.001])
    assert noise.n_selected.tolist() == [0, 0]


def test_one_warning_for_all_fits() -> None:
    X, y = wide()
    with pytest.warns(ConvergenceWarning, match=r"3 of 3 fits, at tau = 1, 0.1, 0.01") as caught:
        horseshoe_path(X, y, values=[1.0, 0.1, 0.01], estimator=HorseshoeRegressor(max_iter=2))
    assert len(caught) == 1
    assert caught[0].filename == __file__
    three = np.digitize(X[:, 0], [-0.5, 0.5])
    with pytest.warns(ConvergenceWarning, match="1 of 1 fits") as caught:
        horseshoe_path(X, three, values=[1.0], estimator=HorseshoeClassifier(max_iter=2))
    assert len(caught) == 1


def test_it_is_public_and_draws_nothing_unasked() -> None:
    assert "horseshoe_path" in dir(horseshoe)
    code = "import sys; from horseshoe import horseshoe_path; print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False"]


# --- grids ------------------------------------------------------------------------------------------------


def grid(over: str, values: Any = None, **options: Any) -> Any:
    X, y = tall(n=40, p=3)
    return horseshoe_path(X, y, over, values, HorseshoeRegressor(**options)).values


def test_default_grids() -> None:
    for over in ("tau", "tau_max"):
        taus = grid(over, tau_max=0.5)
        assert taus.size == 31
        np.testing.assert_allclose(taus[[0, -1]], [0.5, 0.0005])
        np.testing.assert_allclose(np.diff(np.log(taus)), np.log(1e-3) / 30)
    np.testing.assert_allclose(grid("slab")[[0, -1]], [10.0, 0.1])


@pytest.mark.parametrize(
    ("prior", "lowest"),
    [
        ("horseshoe", 1.25),
        (InvertedBeta(a=0.3), 1.25),
        (InvertedBeta(a=0.8), 1.625),  # A = (1 + c)/2 - a is above 1/2
        (GammaScale(shape=0.7), 1.5),
        (NormalGamma(shape=0.9), 1.875),
        (HorseshoeLike(), 1.25),
    ],
)
def test_coordinates_in_which_the_prior_selects(prior: Any, lowest: float) -> None:
    np.testing.assert_allclose(grid("lambda_power", prior=prior), np.arange(lowest, 2.01, 0.125))


@pytest.mark.parametrize(
    ("over", "values", "wanted"),
    [
        ("tau", [0.1, 1, 0.5], [1.0, 0.5, 0.1]),
        ("tau_max", np.array([0.1, 1.0]), [1.0, 0.1]),
        ("lambda_power", (2, 1.5), [1.5, 2.0]),
        ("slab", pd.Series([1.0, 3.0], index=[5, 9]), [3.0, 1.0]),
        ("sigma2", np.float32([4.0, 1.0]), [1.0, 4.0]),
        ("a", [0.4, 0.5, 0.3], [0.4, 0.5, 0.3]),
    ],
)
def test_the_richest_is_fitted_first(over: str, values: Any, wanted: list[float]) -> None:
    found = grid(over, values)
    assert found.dtype == float
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize(
    ("prior", "over", "value", "wanted"),
    [
        ("horseshoe", "b", 0.7, InvertedBeta(0.5, 0.7)),
        (InvertedBeta(0.4, 0.6), "a", 0.3, InvertedBeta(0.3, 0.6)),
        (StudentT(df=2.0), "df", 5.0, StudentT(df=5.0)),
        ("normal_gamma", "rate", 2.0, NormalGamma(rate=2.0)),
        (Slab(2.0, HorseshoeLike()), "width", 1.0, Slab(1.0, HorseshoeLike())),
    ],
)
def test_a_parameter_of_the_prior(prior: Any, over: str, value: float, wanted: Any) -> None:
    X, y = tall(n=60, p=4)
    path = horseshoe_path(X, y, over, [value], HorseshoeRegressor(prior=prior))
    alone = HorseshoeRegressor(prior=wanted).fit(X, y)
    np.testing.assert_array_equal(path.coef[0], alone.coef_)
    assert vars(path.estimators[0].prior) == vars(wanted)


# --- refused ----------------------------------------------------------------------------------------------

CLASSES = HorseshoeClassifier()
BAD = [
    ({"over": "lambda2"}, ["over='lambda2'", "'tau'", "'lambda_power'", "'slab'", "'sigma2'", "'a', 'b'"]),
    ({"over": 3}, ["over=3", "'tau'"]),
    ({"over": "prior"}, ["over='prior'", "'tau'"]),
    ({"over": "a", "estimator": HorseshoeRegressor(prior="lasso")}, ["over='a'", "Lasso", "'shape', 'rate'"]),
    ({"over": "a", "estimator": HorseshoeRegressor(prior="ridge")}, ["over='a'", "Ridge", "prior has none"]),
    ({"over": "sigma2", "values": [1.0], "estimator": CLASSES}, ["over='sigma2'", "HorseshoeClassifier"]),
    (
        {"over": "sigma2", "values": [1.0], "estimator": HorseshoeRegressor("poisson")},
        ["over='sigma2'", "poisson", "no noise variance"],
    ),
    ({"over": "tau_max", "estimator": HorseshoeRegressor(tau=0.1)}, ["over='tau_max'", "tau=0.1"]),
    ({"over": "sigma2"}, ["over='sigma2' needs values", "units of y squared"]),
    ({"over": "a"}, ["over='a' needs values", "order"]),
    (
        {"over": "lambda_power", "estimator": HorseshoeRegressor(prior="lasso")},
        ["Lasso", "no lambda power", "values"],
    ),
    (
        {"over": "lambda_power", "estimator": HorseshoeRegressor(prior="ridge")},
        ["Ridge", "no lambda power", "values"],
    ),
    ({"values": []}, ["values is empty"]),
    ({"values": 0.1}, ["values=0.1", "list of numbers"]),
    ({"values": "0.1"}, ["values='0.1'", "list of numbers"]),
    ({"values": {0.1, 0.2}}, ["values=", "list of numbers"]),
    ({"values": [1.0, 0.0]}, [r"values\[1\]=0.0", "positive"]),
    ({"values": [-1]}, [r"values\[0\]=-1", "positive"]),
    ({"values": np.array([1.0, np.nan])}, [r"values\[1\]=nan", "finite"]),
    ({"values": [1.0, "0.1"]}, [r"values\[1\]='0.1'", "number"]),
    ({"values": [True]}, [r"values\[0\]=True", "number"]),
    ({"values": np.ones((2, 2))}, [r"values\[0\]", "number"]),
    ({"values": [0.5, 1e200]}, [r"values\[1\]=1e\+200", "between"]),
    ({"values": [0.5, 0.1, 0.5]}, [r"values\[0\] and values\[2\]", "same"]),
    ({"over": "lambda_power", "values": [2.5]}, [r"values\[0\]=2.5", "at most 2"]),
    ({"over": "slab", "values": [np.inf]}, [r"values\[0\]=inf", "finite"]),
    ({"over": "sigma2", "values": [0.0]}, [r"values\[0\]=0.0", "above 0"]),
    ({"over": "b", "values": [0.5, -0.5]}, [r"values\[1\]=-0.5", "over='b'", "positive"]),
    ({"over": "b", "values": [None]}, [r"values\[0\]=None", "finite number"]),
    ({"estimator": HorseshoeRegressor}, ["estimator=HorseshoeRegressor is a class"]),
    ({"estimator": "gaussian"}, ["estimator='gaussian'", "HorseshoeClassifier"]),
    ({"estimator": CLASSES, "exposure": 2.0}, ["exposure", "HorseshoeClassifier"]),
    ({"warm_start": "no"}, ["warm_start='no'", "True or False"]),
    ({"sample_weight": [1.0]}, ["sample_weight"]),
]


@each(("arguments", "says"), BAD, ids=lambda value: str(value)[:40])
def test_refused(arguments: dict[str, Any], says: list[str]) -> None:
    X, y = tall(n=40, p=3)
    told(lambda: horseshoe_path(X, y, **arguments), *says)


def test_a_start_that_is_no_start_is_still_refused() -> None:
    X, y = tall(n=40, p=3)
    told(lambda: HorseshoeClassifier(start=()).fit(X, y > 0), r"start=\(\)")
    told(lambda: HorseshoeClassifier(start=("auto",)).fit(X, y > 0), "start=")
