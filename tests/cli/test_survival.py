"""Times until an event, from a file to the answer, the report, the model and the risks of new rows."""

import csv
import io
import json

import numpy as np
import pandas
import pytest

from cli.commands import done, refused
from horseshoe import AdaptiveSurvival, HorseshoeSurvival, load_model


@pytest.fixture
def frame():
    rng = np.random.default_rng(4)
    data = pandas.DataFrame(rng.standard_normal((90, 3)), columns=["dose", "noise", "age"])
    data["city"] = np.array(["Bonn", "Kiel", "Ulm"])[np.arange(90) % 3]
    lived = rng.exponential(np.exp(-1.2 * data["dose"] - 1.5 * (data["city"] == "Kiel")))
    watched = rng.exponential(3.0, 90)
    data["years"] = np.minimum(lived, watched) + 0.1
    data["status"] = np.where(lived <= watched, "dead", "alive")
    data["start"] = np.where(np.arange(90) % 4 == 0, 0.05, 0.0)
    data["clinic"] = np.where(np.arange(90) % 2, "north", "south")
    return data


@pytest.fixture
def table(frame, tmp_path):
    frame.to_csv(tmp_path / "study.csv", index=False)
    return tmp_path / "study.csv"


ASKED = ("--target", "years", "--event", "status=dead", "--entry", "start", "--strata", "clinic")


@pytest.mark.parametrize(
    "more",
    [
        (),
        (
            "--estimator",
            "mode",
        ),
    ],
    ids=["average", "mode"],
)
def test_the_answer_is_that_of_the_estimator(table, frame, more):
    found = json.loads(done("fit", table, *ASKED, *more, "--json").stdout)
    names = [row["feature"] for row in found["coefficients"]]
    X = pandas.DataFrame({name: frame[name] for name in ("dose", "noise", "age")})
    for name in names[3:]:
        X[name] = (frame["city"] == name.removeprefix("city=")).astype(float)
    y = np.column_stack([frame["years"], frame["status"] == "dead"])
    groups = ["dose", "noise", "age", "city", "city"]
    cls = HorseshoeSurvival if more else AdaptiveSurvival
    model = cls(feature_groups=groups).fit(X, y, entry=frame["start"], strata=frame["clinic"])
    assert found["estimator"] == cls.__name__
    np.testing.assert_allclose([row["coef"] for row in found["coefficients"]], model.coef_, rtol=1e-12)
    assert found["statistics"]["n_events"] == model.n_events_ == (frame["status"] == "dead").sum()
    assert (found["components"] is None) == bool(more)


def test_the_answer_in_words(table):
    shown = " ".join(done("fit", table, *ASKED).stdout.split())  # wherever lines are broken
    assert "status: dead means that the event was seen, alive that the row is censored" in shown
    assert "years is the time until status=dead" in shown
    assert "What the average is made of" in shown
    assert "The hazard is multiplied by" in shown
    assert "per unit of dose" in shown
    assert "Hazard ratio" in shown
    assert "intercept" not in shown.lower()


@pytest.mark.parametrize(
    "more",
    [
        (),
        (
            "--estimator",
            "mode",
        ),
    ],
    ids=["average", "mode"],
)
def test_the_report_the_model_and_the_risks(table, tmp_path, frame, more):
    model, report = tmp_path / "model.json", tmp_path / "report.html"
    done("fit", table, *ASKED, *more, "--model", model, "--report", report)
    page = report.read_text("utf-8")
    assert "years, until status" in page
    assert "proportional hazards" in page
    assert "entry times, strata" in page
    assert "ties were treated as Efron does; each of 2 strata had a baseline hazard of its own" in page
    assert "intercept" not in page.lower()
    assert "There is no picture" not in page
    shown = done("show", model).stdout
    assert "The hazard is multiplied by" in shown
    assert "events" in shown
    new = tmp_path / "new.csv"
    frame[["city", "age", "noise", "dose"]][:5].to_csv(new, index=False)
    rows = list(csv.DictReader(io.StringIO(done("predict", model, new).stdout)))
    fitted = load_model(model)
    X = pandas.DataFrame({name: frame[name] for name in ("dose", "noise", "age")})
    for name in fitted.feature_names_in_[3:]:
        X[name] = (frame["city"] == name.removeprefix("city=")).astype(float)
    np.testing.assert_allclose([float(row["risk"]) for row in rows], fitted.predict(X[:5]), rtol=1e-12)
    if more:  # an average has no intervals of risks
        assert all(float(row["lower"]) <= float(row["risk"]) <= float(row["upper"]) for row in rows)
    else:
        assert list(rows[0]) == ["row", "risk"]


def test_a_column_can_be_always_in(table, tmp_path):
    done(
        "fit",
        table,
        *ASKED,
        "--unpenalized",
        "noise",
        "--unpenalized",
        "city",
        "--model",
        tmp_path / "m.json",
    )
    fitted = load_model(tmp_path / "m.json")
    assert fitted.support_[[name != "age" for name in fitted.feature_names_in_]].all()
    rows = json.loads(done("fit", table, *ASKED, "--unpenalized", "noise", "--json").stdout)["coefficients"]
    assert [row["feature"] for row in rows if row["unpenalized"]] == ["noise"]


def test_refusals_are_sentences(table):
    assert "say which of them means the event" in refused(
        "fit", table, "--target", "years", "--event", "status"
    )
    assert "--family poisson" in refused("fit", table, *ASKED, "--family", "poisson")
    assert "--unpenalized agee: there is no such column" in refused(
        "fit", table, *ASKED, "--unpenalized", "agee"
    )
