"""Ordered levels and quantiles, from a file to the answer, the model, new rows and draws."""

import csv
import io
import json

import numpy as np
import pandas
import pytest

from cli.commands import done, refused
from horseshoe import AdaptiveRegressor, HorseshoeRegressor
from horseshoe.families import Ordinal, Quantile

COLUMNS = ["dose", "age", "noise"]
LEVELS = ["none", "mild", "severe"]
ASKED = ("--target", "pain", "--drop", "cost")


@pytest.fixture
def frame():
    rng = np.random.default_rng(1)
    data = pandas.DataFrame(rng.standard_normal((120, 3)), columns=["dose", "age", "noise"])
    eta = 2.0 * data["dose"] - data["age"] + rng.logistic(size=120)
    data["pain"] = np.array(LEVELS)[np.digitize(eta, [-1.0, 1.0])]
    data["cost"] = data["dose"] + rng.exponential(size=120)
    return data


@pytest.fixture
def table(frame, tmp_path):
    frame.to_csv(tmp_path / "survey.csv", index=False)
    return tmp_path / "survey.csv"


def coefficients(result):
    return [row["coef"] for row in json.loads(result.stdout)["coefficients"] if row["feature"] in COLUMNS]


def test_words_in_the_order_that_is_said(table, frame):
    found = done("fit", table, *ASKED, "--levels", "none, mild,severe", "--estimator", "mode", "--json")
    model = HorseshoeRegressor(family=Ordinal(levels=LEVELS)).fit(frame[COLUMNS], frame["pain"])
    np.testing.assert_allclose(coefficients(found), model.coef_, rtol=1e-12)
    assert "none < mild < severe" in json.loads(found.stdout)["notes"][-1]


def test_words_that_have_commas_are_named_one_by_one(table, frame):
    frame["pain"] = frame["pain"].replace("mild", "mild, now and then")
    frame.to_csv(table, index=False)
    order = ("--levels", "none", "--levels", "mild, now and then", "--levels", "severe")
    assert (
        "none < mild, now and then < severe"
        in done("fit", table, *ASKED, *order, "--estimator", "mode").stdout
    )


def test_the_order_of_an_ordered_categorical(frame, tmp_path, table):
    plain = done("fit", table, *ASKED, "--levels", ",".join(LEVELS), "--estimator", "mode", "--json")
    frame["pain"] = pandas.Categorical(frame["pain"], LEVELS, ordered=True)
    frame.to_parquet(tmp_path / "survey.parquet")
    found = done(
        "fit", tmp_path / "survey.parquet", *ASKED, "--family", "ordinal", "--estimator", "mode", "--json"
    )
    assert coefficients(found) == coefficients(plain)


def test_new_rows_have_a_level_and_its_probability(table, tmp_path):
    done(
        "fit",
        table,
        *ASKED,
        "--levels",
        ",".join(LEVELS),
        "--estimator",
        "mode",
        "--model",
        tmp_path / "model.json",
    )
    rows = list(csv.DictReader(io.StringIO(done("predict", tmp_path / "model.json", table).stdout)))
    for row in rows[:5]:
        chances = [float(row[f"p({level})"]) for level in LEVELS]
        assert row["prediction"] in LEVELS
        assert abs(sum(chances) - 1.0) < 1e-12


def test_draws_have_thresholds_and_no_intercept(table, tmp_path):
    short = ("--draws", 20, "--warmup", 20, "--chains", 1, "--out", tmp_path / "draws.csv")
    said = done("sample", table, *ASKED, "--levels", ",".join(LEVELS), *short).stdout
    assert "the log odds of a higher pain" in " ".join(said.split())
    draws = pandas.read_csv(tmp_path / "draws.csv")
    assert list(draws.columns[:5]) == [
        *("chain", "draw", "threshold[none|mild]", "threshold[mild|severe]", "tau2"),
    ]
    assert (draws["threshold[none|mild]"] < draws["threshold[mild|severe]"]).all()


def test_draws_of_times_until_an_event(tmp_path):
    rng = np.random.default_rng(2)
    data = pandas.DataFrame(rng.standard_normal((60, 2)), columns=["dose", "noise"])
    data["years"] = rng.exponential(np.exp(-data["dose"]))
    data["died"] = np.where(rng.random(60) < 0.7, 1, 0)
    data.to_csv(tmp_path / "study.csv", index=False)
    short = ("--draws", 50, "--warmup", 50, "--chains", 2, "--out", tmp_path / "draws.npz")
    said = done("sample", tmp_path / "study.csv", "--target", "years", "--event", "died", *short).stdout
    assert "the log of the hazard of died" in " ".join(said.split())
    with np.load(tmp_path / "draws.npz") as draws:
        assert sorted(draws.files) == ["coef", "feature_names", "tau2"]
        assert draws["coef"][..., 0].mean() > 0.3


def test_any_quantile(table, frame):
    asked = ("--target", "cost", "--quantile", 0.9, "--drop", "pain", "--json")
    X, y = frame[COLUMNS], frame["cost"]
    model = HorseshoeRegressor(family=Quantile(0.9)).fit(X, y)
    np.testing.assert_allclose(
        coefficients(done("fit", table, *asked, "--estimator", "mode")), model.coef_, rtol=1e-12
    )
    average = AdaptiveRegressor(family=Quantile(0.9)).fit(X, y)
    found = done("fit", table, *asked)
    np.testing.assert_allclose(coefficients(found), average.coef_, rtol=1e-12)
    assert "the 0.9 quantile of cost is modelled" in json.loads(found.stdout)["notes"]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--levels", "none,mild"), "pain is severe in row"),
        (("--levels", "none,mild,servere"), "did you mean servere"),
        (("--levels", "none,mild,severe,deadly"), "no row that is left has pain at deadly"),
        (("--levels", "none,mild,none"), "two or more different words"),
        (("--levels", "none"), "two or more different words"),
        (("--levels", "none,mild,severe", "--family", "poisson"), "--levels asks for family ordinal"),
        (
            ("--levels", "none,mild,severe", "--event", "cost"),
            "--event asks for family survival, and --levels for something else",
        ),
        (("--family", "ordinal"), "--levels lowest,next,...,highest"),
        (("--quantile", "1.5"), "a quantile is between 0 and 1"),
        (("--quantile", "nan"), "a quantile is between 0 and 1"),
        (("--quantile", "0.5", "--family", "huber"), "--quantile asks for family quantile"),
    ],
)
def test_refused(table, given, said):
    assert said in " ".join(refused("fit", table, "--target", "pain", *given).split())
