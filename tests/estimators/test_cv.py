"""The regressor that averages: what it stores and says."""

import itertools
import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import KFold

from horseshoe import AdaptiveClassifier, AdaptiveRegressor, AdaptiveSurvival, Status
from horseshoe.average import components as room
from horseshoe.average.components import COMPONENTS
from horseshoe.average.result import ComponentRow
from registry import AVERAGED
from simulate import glm

N, P = 60, 12
GENERAL, PLAIN = (
    ["null", "ridge", "horseshoe", "mixture_horseshoe", "mixture_forward"],
    ["null", "ridge", "elastic_net", "mixture_horseshoe", "mixture_forward"],
)
TALL = ["null", "ridge", "mixture_horseshoe", "mixture_forward"]
"""The components of any response, of a Gaussian one, and of that with two rows or more for each column."""


def data(family="gaussian", n=N, p=P, seed=0):
    X, y, _ = glm(family, n, p, seed, n_signals=3, size=1.5)
    return X, y


def fit(X, y, **options):
    rows = {
        name: options.pop(name)
        for name in ("sample_weight", "offset", "exposure", "groups")
        if name in options
    }
    return AdaptiveRegressor(**{"cv": 5, **options}).fit(X, y, **rows)


def names_of(model):
    return [row.name for row in model.components_]


@pytest.fixture(scope="module", params=AVERAGED)
def fitted(request):
    X, y = data(request.param)
    return X, y, fit(X, y, family=request.param)


@pytest.fixture(scope="module")
def gaussian():
    X, y = data()
    return X, y, fit(X, y)


# --- what is stored -----------------------------------------------------------------------------------------


def test_attributes(fitted):
    _X, _y, model = fitted
    for name in ("coef_", "sparse_coef_", "inclusion_"):
        assert getattr(model, name).shape == (P,)
        assert np.isfinite(getattr(model, name)).all()
    assert model.n_features_in_ == P
    assert ((model.inclusion_ >= 0.0) & (model.inclusion_ <= 1.0)).all()
    np.testing.assert_array_equal(model.support_, model.sparse_coef_ != 0.0)
    assert isinstance(model.intercept_, float)
    assert isinstance(model.sparse_intercept_, float)
    assert model.sigma2_ > 0.0
    assert np.isfinite(model.cv_error_)
    assert 0.0 <= model.calibration_slope_ <= 1.0
    assert model.status_ in (Status.CONVERGED, Status.NOTHING_SELECTED, Status.NONE_STANDS_OUT)
    assert type(model.family_).__name__.lower() == model.family.replace("_", "")


def test_components(fitted):
    _, _, model = fitted
    assert names_of(model) == (TALL if model.family == "gaussian" else GENERAL)
    assert all(
        isinstance(row, ComponentRow) and row.what and np.isfinite(row.error) for row in model.components_
    )
    np.testing.assert_array_equal(model.component_weights_, [row.weight for row in model.components_])
    assert model.component_weights_.sum() == pytest.approx(1.0)
    assert (model.component_weights_ >= 0.0).all()


def test_the_path_ends_in_the_sparse_answer(fitted):
    _, _, model = fitted
    order, distances = [j for j, _ in model.path_], [left for _, left in model.path_]
    assert sorted(order) == np.flatnonzero(model.support_).tolist()
    assert all(after < before for before, after in itertools.pairwise(distances))


def test_predictions_are_the_mean_at_intercept_plus_x_coef(fitted):
    X, y, model = fitted
    eta = model.intercept_ + X @ model.coef_
    np.testing.assert_allclose(model.linear_predictor(X), eta, atol=1e-10)
    np.testing.assert_allclose(model.predict(X), model.family_.mean(eta))
    assert model.score(X, y) > 0.1
    assert np.isfinite(model.log_likelihood(X, y))


def test_errors_are_in_the_units_of_y():
    X, y = data()
    for family in ("gaussian", "student_t"):
        one, two = fit(X, y, family=family), fit(X, 100.0 * y, family=family)
        np.testing.assert_allclose(two.cv_error_, 1e4 * one.cv_error_, rtol=1e-6)
        errors = [[row.error for row in model.components_] for model in (one, two)]
        np.testing.assert_allclose(errors[1], 1e4 * np.array(errors[0]), rtol=1e-6)
        assert one.cv_error_ < errors[0][0]  # that of the intercept alone


def test_the_cross_validated_error_of_the_mean_is_that_of_hand():
    X, y = data()
    model = fit(X, y, cv=KFold(4), components=["null"])
    squares = [np.sum((y[test] - y[train].mean()) ** 2) for train, test in KFold(4).split(X)]
    np.testing.assert_allclose(model.components_[0].error, np.sum(squares) / N)
    assert model.calibration_slope_ == 0.0
    assert not model.coef_.any()


@pytest.mark.parametrize("selection", ["1se", "paired"])
def test_selections(selection):
    X, y = data()
    model = fit(X, y, selection=selection)
    assert 3 <= model.support_.sum() <= P
    assert model.status_ is Status.CONVERGED


def test_paired_is_the_larger_selection():
    X, y = data(n=100, p=30, seed=2)
    assert fit(X, y, selection="paired").support_.sum() >= fit(X, y).support_.sum()


def test_it_selects(gaussian):
    X, _, model = gaussian
    np.testing.assert_array_equal(model.transform(X), X[:, model.support_])
    names = model.get_feature_names_out().tolist()
    assert names == [f"x{j}" for j in np.flatnonzero(model.support_)]
    assert model.get_support(indices=True).tolist() == np.flatnonzero(model.support_).tolist()
    assert model.fit_transform(X, data()[1]).shape == (N, model.support_.sum())


def test_summary(gaussian):
    _, _, model = gaussian
    table = model.summary(level=0.8)
    assert table.columns.tolist() == [
        *("feature", "coef", "lower", "upper", "per_sd"),
        *("inclusion", "sparse_coef", "selected"),
    ]
    assert dict(table.attrs["component_weights"]) == {row.name: row.weight for row in model.components_}
    first, table = table.iloc[0], table[1:]
    assert first[["feature", "coef", "sparse_coef"]].tolist() == [
        *("(Intercept)", model.intercept_, model.sparse_intercept_)
    ]
    assert first[["lower", "upper", "per_sd", "inclusion"]].isna().all()
    np.testing.assert_array_equal(table["coef"], model.coef_)
    np.testing.assert_array_equal(table[["lower", "upper"]], model.coef_interval(0.8))
    np.testing.assert_array_equal(table["selected"], model.support_)
    np.testing.assert_array_equal(table["per_sd"], model.coef_ * model.scale_)


def test_intervals_widen_with_their_level(fitted):
    X, y, model = fitted
    for ask in (model.coef_interval, lambda level: model.predict_interval(X, level)):
        narrow, wide = ask(0.5), ask(0.9)
        assert (narrow[:, 0] <= narrow[:, 1]).all()
        assert (wide[:, 0] <= narrow[:, 0]).all()
        assert (wide[:, 1] >= narrow[:, 1]).all()
    found = model.coef_interval()
    assert found.shape == (P, 2)
    assert ((found[:, 0] <= model.coef_) & (model.coef_ <= found[:, 1])).all()
    inside = model.predict_interval(X, 0.8)
    assert inside.shape == (N, 2)
    assert np.mean((inside[:, 0] <= y) & (y <= inside[:, 1])) > 0.7
    if model.family_.discrete:
        assert (inside >= 0.0).all()


def test_a_level_that_the_rows_cannot_give_is_the_whole_line():
    X, y = data(n=15, p=3)
    assert np.isinf(fit(X, y).predict_interval(X, 0.99)).all()


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, "high", np.nan])
def test_refused_levels(gaussian, level):
    X, _, model = gaussian
    for ask in (model.coef_interval, model.summary, lambda level: model.predict_interval(X, level)):
        with pytest.raises((TypeError, ValueError), match="level"):
            ask(level)


# --- components ---------------------------------------------------------------------------------------------


def test_components_by_name():
    X, y = data()
    assert [row.name for row in fit(X, y, components=["ridge", "horseshoe"]).components_] == [
        "ridge",
        "horseshoe",
    ]
    alone = fit(X, y, components="ridge")
    assert alone.component_weights_.tolist() == [1.0]
    assert [row.name for row in fit(X, y, components=("mixture_horseshoe",)).components_] == [
        "mixture_horseshoe"
    ]


@pytest.mark.parametrize(
    ("components", "sentence"),
    [
        (["horseshoe", "lasso"], "components has 'lasso': the components are 'null', 'ridge'"),
        ("lasso", "components has 'lasso'"),
        ([], "must name one or more different components"),
        (["horseshoe", "horseshoe"], "must name one or more different components"),
        ([3], "components has 3"),
        (3, "components=3"),
        (None, "components=None"),
    ],
)
def test_refused_components(components, sentence):
    X, y = data()
    with pytest.raises((TypeError, ValueError), match=sentence):
        fit(X, y, components=components)


@pytest.mark.parametrize(
    ("n", "p", "wanted"), [(40, 60, PLAIN), (40, 21, PLAIN), (40, 20, TALL), (40, 3, TALL)]
)
def test_the_components_of_a_gaussian_response(n, p, wanted):
    """The net is one where there are less than two rows for each column that varies."""
    X, y = data(n=n, p=p)
    model = fit(X, y)
    assert names_of(model) == wanted
    assert names_of(fit(np.column_stack([X, np.ones((n, 30))]), y)) == wanted
    assert names_of(fit(X, y, components="default")) == wanted
    np.testing.assert_array_equal(fit(X, y, components=wanted).coef_, model.coef_)


def others(p=60):
    """Yield everything that is not one Gaussian response without groups: a model, and its rows."""
    X, y = data(n=40, p=p)
    yield AdaptiveRegressor(family="student_t", cv=3), X, y
    yield AdaptiveRegressor(family="poisson", cv=3), X, np.round(np.exp(0.3 * y))
    yield AdaptiveRegressor(feature_groups=np.arange(p) // 3, cv=3), X, y
    yield AdaptiveRegressor(cv=3), X, np.column_stack([y, X[:, 3] - y])
    yield AdaptiveClassifier(cv=3), X, y > np.median(y)
    yield (
        AdaptiveClassifier(cv=3, multi_class="multinomial"),
        X,
        np.digitize(y, np.quantile(y, [0.3, 0.6])),
    )
    yield AdaptiveSurvival(cv=3), X, np.column_stack([np.exp(0.3 * y), np.ones(40)])


@pytest.mark.parametrize("number", range(7))
def test_of_anything_else_the_net_is_no_component(number):
    model, X, y = list(others())[number]
    parts = getattr(model.fit(X, y), "estimators_", [model])
    for part in parts:
        assert names_of(part) == GENERAL
    for components in (["elastic_net"], ["null", "elastic_net"]):
        with pytest.raises(
            ValueError, match=r"components has 'elastic_net', which is for one Gaussian response without"
        ):
            clone(model).set_params(components=components).fit(X, y)


def test_the_net_may_be_asked_for_in_any_shape():
    for p in (3, 60):
        X, y = data(n=40, p=p)
        model = fit(X, y, components=["elastic_net"])
        assert model.component_weights_.tolist() == [1.0]
        assert model.components_[0].what == "elastic net, averaged over its penalty by cross-validation"
        assert model.score(X, y) > 0.3
        assert names_of(fit(X, y, components=["elastic_net", "horseshoe"])) == ["elastic_net", "horseshoe"]


def broken(error):
    def fit_nothing(fitting):
        if isinstance(error, Exception):
            raise error
        found = COMPONENTS["null"].fit(fitting)
        return found._replace(coef=np.full_like(found.coef, np.nan))

    return room.Component("broken", fit_nothing)


@pytest.mark.parametrize("error", [np.linalg.LinAlgError("singular"), FloatingPointError("overflow"), "nan"])
def test_a_component_that_fails_is_left_out_and_named(monkeypatch, error):
    X, y = data()
    monkeypatch.setitem(COMPONENTS, "mixture_forward", broken(error))
    with pytest.warns(
        UserWarning, match=r"the component 'mixture_forward' is left out: (singular|overflow|its coef)"
    ):
        model = fit(X, y)
    assert "mixture_forward" not in [row.name for row in model.components_]
    want = fit(X, y, components=[name for name in TALL if name != "mixture_forward"])
    np.testing.assert_array_equal(model.coef_, want.coef_)


@pytest.mark.parametrize(
    ("family", "p", "named", "left"),
    [
        ("poisson", P, ["horseshoe", "mixture_horseshoe"], ["null", "ridge", "mixture_forward"]),
        (
            "gaussian",
            P,
            ["mixture_horseshoe"],
            ["null", "ridge", "mixture_forward"],
        ),  # of which the mode is no component
        ("gaussian", 40, ["mixture_horseshoe"], ["null", "ridge", "elastic_net", "mixture_forward"]),
    ],
)
def test_what_starts_at_a_component_that_fails_is_left_out_too(monkeypatch, family, p, named, left):
    X, y = data(family, p=p)
    monkeypatch.setitem(COMPONENTS, "horseshoe", broken(np.linalg.LinAlgError("singular")))
    with pytest.warns(UserWarning, match="is left out") as told:
        model = fit(X, y, family=family)
    assert [str(one.message) for one in told] == [
        f"the component {name!r} is left out: singular" for name in named
    ]
    assert names_of(model) == left


def test_if_every_component_fails_that_is_an_error(monkeypatch):
    X, y = data()
    monkeypatch.setitem(COMPONENTS, "horseshoe", broken(np.linalg.LinAlgError("singular")))
    with (
        pytest.warns(UserWarning, match="'horseshoe' is left out"),
        pytest.raises(ValueError, match="components"),
    ):
        fit(X, y, components=["horseshoe"])


def test_inclusion_does_without_ridge_if_that_fails(monkeypatch):
    X, y = data()
    monkeypatch.setitem(COMPONENTS, "ridge", broken(np.linalg.LinAlgError("singular")))
    with pytest.warns(UserWarning, match="'ridge' is left out"):
        model = fit(X, y)
    assert np.isfinite(model.inclusion_).all()


def test_the_callback_is_told_of_each_component():
    X, y = data()
    told = []
    fit(X, y, callback=told.append)
    assert [(step.component, step.done, step.total) for step in told] == [
        (name, number, len(TALL)) for number, name in enumerate(TALL, 1)
    ]
    with pytest.raises(TypeError, match="callback=3 must be callable"):
        fit(X, y, callback=3)


# --- data with nothing in them ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("family", "y", "status", "mean"),
    [
        ("gaussian", np.full(N, 3.0), Status.CONSTANT_RESPONSE, 3.0),
        ("student_t", np.full(N, 3.0), Status.CONSTANT_RESPONSE, 3.0),
        ("poisson", np.zeros(N), Status.BOUNDARY, 0.0),
        ("negative_binomial", np.zeros(N), Status.BOUNDARY, 0.0),
        ("binomial", np.ones(N), Status.BOUNDARY, 1.0),
    ],
)
def test_a_response_without_variation(family, y, status, mean):
    X, _ = data()
    model = fit(X, y, family=family)
    assert model.status_ is status
    assert not model.coef_.any()
    assert not model.support_.any()
    assert model.path_ == ()
    np.testing.assert_allclose(model.predict(X), mean, atol=0.51 / N)  # as if half a row were otherwise
    low, high = model.predict_interval(X).T
    assert ((low <= mean) & (mean <= high)).all()
    np.testing.assert_allclose(high - low, 0.0, atol=0.51 / N)
    np.testing.assert_array_equal(model.coef_interval(), np.zeros((P, 2)))
    assert len(model.summary()) == P + 1


def test_constant_columns_are_no_columns():
    X, y = data()
    want = fit(X, y)
    more = np.insert(X, 3, 7.0, axis=1)
    model = fit(more, y)
    np.testing.assert_allclose(np.delete(model.coef_, 3), want.coef_, atol=1e-10)
    assert model.coef_[3] == model.inclusion_[3] == 0.0
    assert {j for j, _ in model.path_} == set(np.flatnonzero(model.support_).tolist())


@pytest.mark.parametrize("family", AVERAGED)
def test_without_a_column_that_varies_the_intercept_is_left_with_its_intervals(family):
    _, y = data(family)
    for X in (np.ones((N, 2)), sparse.csr_array(np.ones((N, 2)))):
        model = fit(X, y, family=family)
        assert model.status_ is Status.NO_COLUMNS
        assert not model.coef_.any()
        assert not model.support_.any()
        assert not model.inclusion_.any()
        low, high = model.predict_interval(X, 0.8).T
        assert np.mean((low <= y) & (y <= high)) >= 0.75
        np.testing.assert_array_equal(model.coef_interval(), np.zeros((2, 2)))
        if family == "gaussian":
            np.testing.assert_allclose(model.predict(X), y.mean())
        elif family in ("poisson", "binomial"):
            np.testing.assert_allclose(model.predict(X), y.mean(), rtol=0.01)


def test_without_an_intercept():
    X, y = data()
    model = fit(X, y, fit_intercept=False, standardize=False)
    assert model.intercept_ == 0.0
    np.testing.assert_allclose(model.predict(X), X @ model.coef_)
    assert model.sparse_intercept_ == 0.0


def test_noise_selects_nothing_most_of_the_time():
    rng = np.random.default_rng(0)
    empty = [
        fit(rng.standard_normal((50, 10)), rng.standard_normal(50)).status_ is Status.NOTHING_SELECTED
        for _ in range(12)
    ]
    assert np.mean(empty) >= 0.75


# --- the estimator ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", AVERAGED)
@pytest.mark.parametrize("p", [3, 150])
def test_nothing_is_warned_of(family, p):
    X, y = data(family, n=40, p=p, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fit(X, y, family=family)
        model.coef_interval()
        model.predict_interval(X)


def test_copies(gaussian):
    X, _, model = gaussian
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.predict_interval(X), model.predict_interval(X))
    np.testing.assert_array_equal(again.coef_interval(), model.coef_interval())
    fresh = clone(model)
    assert fresh.get_params() == model.get_params()
    assert not hasattr(fresh, "coef_")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"selection": "2se"}, "selection='2se'"),
        ({"family": "gama"}, "family"),
        ({"random_state": -1}, "random_state"),
        ({"weight_type": "none"}, "weight_type"),
        ({"n_jobs": 0}, "n_jobs"),
        ({"n_jobs": "two"}, "n_jobs"),
    ],
)
def test_refused_options(options, sentence):
    X, y = data()
    with pytest.raises((TypeError, ValueError), match=sentence):
        fit(X, y, **options)


def test_refused_methods(gaussian):
    X, _, model = gaussian
    with pytest.raises(ValueError, match="method='mode'"):
        model.predict_interval(X, method="mode")


def test_rows_that_have_no_room_are_refused_and_not_killed(monkeypatch):
    X, y = np.zeros((100_000, 1)), np.zeros(100_000)
    X[::2], y[::3] = 1.0, 1.0
    monkeypatch.setattr("horseshoe._checks._free_memory", lambda: 1e8)
    with pytest.raises(ValueError, match=r"over 10 folds of 100,000 rows takes about 0.3 GiB .* 0.1 GiB are"):
        AdaptiveRegressor(family="student_t").fit(X, y)
