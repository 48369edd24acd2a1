"""The designs of section 6.2 have the sizes of the paper, and every column is what its name says."""

import math

import numpy as np
import pytest

from horseshoe_reproduction import table5, table6
from horseshoe_reproduction.datasets import MissingDataError, Table, load
from horseshoe_reproduction.designs import (
    RECIPES,
    NamedColumns,
    Recipe,
    base,
    design,
    interactions,
    powers,
    ready,
    replicate,
    split,
    with_noise,
)
from horseshoe_reproduction.experiment import Fit
from paper_data import need

SIZES = {
    "diabetes": (442, 385, 10),
    "boston": (506, 473, 11),
    "concrete": (1030, 327, 5),
    "eye": (120, 200, 0),
    "pima": (768, 214, 7),
    "heart": (303, 400, 0),
}


def rng(seed=0):
    return np.random.default_rng(seed)


@pytest.mark.parametrize("name", SIZES)
def test_sizes_of_the_paper(name):
    need(name)
    names, X = design(base(name), rng())
    rows, p, logs = SIZES[name]
    assert X.shape == (rows, p)
    assert len(set(names)) == p
    assert sum(column.startswith("log(") for column in names) == logs
    assert np.isfinite(X).all()


@pytest.mark.parametrize("name", SIZES)
def test_every_column_is_what_its_name_says(name):
    need(name)
    names, X = design(base(name), rng(1))
    by_name = dict(zip(names, X.T, strict=True))
    for column, values in by_name.items():
        if ":" in column:
            first, second = column.split(":")
            expected = by_name[first] * by_name[second]
        elif column.startswith("log("):
            expected = np.log(by_name[column[4:-1]])
        elif "^" in column:
            root, power = column.split("^")
            expected = by_name[root] ** int(power)
        else:
            continue
        np.testing.assert_allclose(values, expected, rtol=1e-14, err_msg=column)


def test_logs_only_where_every_row_is_positive():
    need("boston")
    data = base("boston")
    names, _ = design(data, rng())
    least = dict(zip(data.columns.names, data.columns.values.min(axis=0), strict=True))
    logged = {column[4:-1] for column in names if column.startswith("log(")}
    assert logged == {column for column, low in least.items() if low > 0}
    assert set(least) - logged == {"zn", "chas"}


def test_no_logs_of_zeros_or_negative_numbers():
    x = np.array([[1.0, 0.0, -1.0], [2.0, 1.0, 5.0]])
    names, values = powers(NamedColumns(("a", "b", "c"), ("a", "b", "c"), x))
    assert names == ["log(a)", "a^2", "b^2", "c^2", "a^3", "b^3", "c^3"]
    np.testing.assert_allclose(values, np.column_stack([np.log(x[:, 0]), x**2, x**3]))


def test_no_products_within_a_factor_or_of_one_column():
    columns = NamedColumns(("a", "f=2", "f=3", "g=2"), ("a", "f", "f", "g"), rng().standard_normal((4, 4)))
    names, values = interactions(columns)
    assert names == ["a:f=2", "a:f=3", "a:g=2", "f=2:g=2", "f=3:g=2"]
    np.testing.assert_array_equal(values[:, 3], columns.values[:, 1] * columns.values[:, 3])
    lonely, none = interactions(NamedColumns(("a",), ("a",), np.ones((4, 1))))
    assert lonely == []
    assert none.shape == (4, 0)


def test_dummies_of_the_heart_data():
    need("heart")
    data = base("heart")
    table = load("heart")
    whole = ~np.isnan(table.values).any(axis=1)
    assert np.count_nonzero(~whole) == 6
    np.testing.assert_array_equal(data.target, table.target)
    columns = dict(zip(data.columns.names, data.columns.values.T, strict=True))
    levels = {"cp": (2, 3, 4), "restecg": (1, 2), "slope": (2, 3), "thal": (6, 7)}
    for factor, codes in levels.items():
        raw = table.values[whole, table.names.index(factor)]
        assert [c for c in columns if c.startswith(f"{factor}=")] == [f"{factor}={code}" for code in codes]
        for code in codes:
            np.testing.assert_array_equal(columns[f"{factor}={code}"][whole], raw == code)
    unknown = np.isnan(table.values[:, table.names.index("thal")])
    assert unknown.sum() == 2
    assert not columns["thal=6"][unknown].any()  # 3, the most frequent
    assert not columns["thal=7"][unknown].any()
    unknown = np.isnan(table.values[:, table.names.index("ca")])
    np.testing.assert_allclose(columns["ca"][unknown], np.nanmean(table.values[:, table.names.index("ca")]))
    assert columns["ca"].max() == 3.0
    assert len(columns) == 18


def test_pima_zeros_are_filled_in_over_the_whole_set():
    need("pima")
    table, data = load("pima"), base("pima")
    for j, name in enumerate(table.names):
        raw, made = table.values[:, j], data.columns.values[:, j]
        hidden = (raw == 0.0) & (name in RECIPES["pima"].zero_is_missing)
        np.testing.assert_array_equal(made[~hidden], raw[~hidden])
        if hidden.any():
            np.testing.assert_allclose(made[hidden], np.mean(raw[raw != 0.0]))
    assert data.columns.values[:, 0].min() == 0.0  # no pregnancy is a fact
    assert (data.columns.values[:, 1:] > 0.0).all()


def test_preparing_leaves_the_table_alone():
    values = np.array([[0.0, 1.0], [2.0, np.nan], [4.0, 2.0]])
    table = Table("toy", ("mass", "x"), values.copy(), np.arange(3.0))
    made = ready(table, Recipe(0, zero_is_missing=("mass",)))
    np.testing.assert_array_equal(table.values, values)
    np.testing.assert_array_equal(made.columns.values, [[3.0, 1.0], [2.0, 1.5], [4.0, 2.0]])
    np.testing.assert_array_equal(made.target, [0.0, 1.0, 2.0])


def test_noise_is_correlated_and_drawn_for_all_rows():
    columns = with_noise(NamedColumns(("a",), ("a",), np.ones((20_000, 1))), 3, rng())
    assert columns.names == columns.variables == ("a", "noise_1", "noise_2", "noise_3")
    np.testing.assert_array_equal(columns.values[:, 0], 1.0)
    correlation = np.corrcoef(columns.values[:, 1:].T)
    np.testing.assert_allclose(correlation[0], [1.0, 0.8, 0.64], atol=0.02)


def test_each_replicate_has_its_own_noise_and_its_own_rows():
    generator = rng()
    first, second = (replicate(base("diabetes"), 100, generator) for _ in range(2))
    j = first.names.index("noise_1")
    assert not np.isin(first.X[:, j], np.concatenate([second.X[:, j], second.X_test[:, j]])).any()
    assert not np.array_equal(first.y, second.y)
    again = replicate(base("diabetes"), 100, rng())
    np.testing.assert_array_equal(again.X, first.X)


@pytest.mark.parametrize(("total", "train"), [(442, 100), (120, 100), (3, 2)])
def test_splits_are_disjoint_and_complete(total, train):
    rows, others = split(total, train, rng())
    assert (rows.size, others.size) == (train, total - train)
    assert sorted(np.concatenate([rows, others])) == list(range(total))


@pytest.mark.parametrize("train", [0, 5, 6])
def test_splits_without_rows_on_one_side_are_refused(train):
    with pytest.raises(ValueError, match=f"cannot train on {train} of 5 rows"):
        split(5, train, rng())


def test_replicates_keep_rows_and_responses_together():
    drawn, data = replicate(base("diabetes"), 100, rng()), base("diabetes")
    both = np.vstack([drawn.X, drawn.X_test])[:, :10]
    rows = {tuple(row): y for row, y in zip(data.columns.values, data.target, strict=True)}
    assert len(rows) == 442
    assert [rows[tuple(row)] for row in both] == [*drawn.y, *drawn.y_test]


@pytest.mark.parametrize("setting", table5.SETTINGS)
def test_table_5_draws_and_scores(setting):
    need(setting)
    problem = table5.draw(setting, rng(3))
    data = replicate(base(setting), 100, rng(3))
    assert problem.kind == "gaussian"
    np.testing.assert_array_equal(problem.design, data.X)
    np.testing.assert_array_equal(problem.y, data.y)
    assert f"p = {problem.design.shape[1]})" in table5.EXPERIMENT.settings[setting]
    coef = np.zeros(data.X.shape[1])
    coef[[0, 5]] = 0.5, -0.25
    pairs = zip(data.X_test, data.y_test, strict=True)
    expected = np.mean([(y - (0.5 * x[0] - 0.25 * x[5] + 2.0)) ** 2 for x, y in pairs])
    score = problem.score(Fit(coef, 2.0))
    assert score["MSE"] == pytest.approx(expected * (100.0 if setting == "eye" else 1.0), rel=1e-12)
    assert score["No.V"] == 2.0
    assert {*score, "Time"} == set(table5.EXPERIMENT.metrics)


@pytest.mark.parametrize("setting", table6.SETTINGS)
def test_table_6_draws_and_scores(setting):
    name, rows = table6.SETTINGS[setting]
    need(name)
    problem = table6.draw(setting, rng(3))
    assert problem.kind == "binomial"
    assert set(problem.y) == {0.0, 1.0}
    assert problem.design.shape == (rows, SIZES[name][1])
    heading = table6.EXPERIMENT.settings[setting]
    assert heading == f"{name.title()} (n = {rows}, p = {SIZES[name][1]})"
    score = problem.score(Fit(np.zeros(SIZES[name][1]), -math.log(3.0)))  # one in four, for every row
    total = SIZES[name][0] - rows
    sick = base(name).target.sum() - problem.y.sum()
    assert score["CA"] == pytest.approx(1.0 - sick / total)
    assert score["NLL"] == pytest.approx(sick * math.log(4.0) + (total - sick) * math.log(4 / 3))
    assert {*score, "Time"} == set(table6.EXPERIMENT.metrics)


def test_scores_of_classes_by_hand():
    X, y = np.array([[1.0], [2.0], [-1.0], [0.0]]), np.array([1.0, 0.0, 0.0, 1.0])
    score = table6.score(Fit(np.array([1.0]), 0.0), X, y)
    e = math.exp
    right = [1 / (1 + e(-1)), 1 / (1 + e(2)), 1 / (1 + e(-1)), 0.5]
    nll = -sum(math.log((p + 1e-10) / (1 + 2e-10)) for p in right)
    assert score == {
        "CA": 0.5,
        "NLL": pytest.approx(nll, rel=1e-14),
        "No.V": 1.0,
    }  # a half is not more than 1/2


def test_a_sure_and_wrong_prediction_has_a_finite_score():
    score = table6.score(Fit(np.array([1.0]), 0.0), np.array([[1e6], [-1e6]]), np.array([0.0, 1.0]))
    assert score["CA"] == 0.0
    assert score["NLL"] == pytest.approx(-2 * math.log(1e-10 / (1 + 2e-10)))


def test_experiments_as_the_paper_has_them():
    five, six = table5.EXPERIMENT, table6.EXPERIMENT
    assert five.replicates == six.replicates == 50
    assert five.metrics == ("MSE", "Time", "No.V")
    assert six.metrics == ("CA", "NLL", "Time", "No.V")
    assert five.settings["diabetes"] == "Diabetes (n = 100, p = 385)"
    assert set(six.methods) <= set(five.methods)
    assert any("100" in note.text for note in five.notes)


@pytest.mark.parametrize("experiment", [table5.EXPERIMENT, table6.EXPERIMENT])
def test_what_is_missing_is_said_before_anything_runs(monkeypatch, experiment):
    def fail(**options):
        raise OSError("no network")

    base.cache_clear()
    monkeypatch.delenv("HORSESHOE_DATA", raising=False)
    monkeypatch.setattr("sklearn.datasets.fetch_openml", fail)
    with pytest.raises(MissingDataError, match="HORSESHOE_DATA"):
        experiment.prepare(experiment.settings)


@pytest.mark.parametrize("experiment", [table5.EXPERIMENT, table6.EXPERIMENT])
def test_preparing_loads_once(experiment):
    need(experiment.name)
    base.cache_clear()
    experiment.prepare(experiment.settings)
    loaded = base.cache_info().misses
    for setting in experiment.settings:
        experiment.draw(setting, rng())
    assert base.cache_info().misses == loaded
