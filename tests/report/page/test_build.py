"""A report from a fit: what stands in it, and how large it is."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes

from horseshoe import AdaptiveClassifier, AdaptiveRegressor, HorseshoeRegressor
from horseshoe.report.page import build
from horseshoe.report.page.build import ReportInput, build_page
from horseshoe.report.page.content import Fact
from horseshoe.report.page.html import render


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    given = ReportInput(
        X, y, target="progression", source="diabetes.csv", command="horseshoe fit diabetes", seconds=1.5
    )
    return build_page(AdaptiveRegressor().fit(X, y), given)


def test_a_report_says_what_was_asked_and_what_was_found(diabetes):
    assert diabetes.title == "What matters for progression"
    assert diabetes.subtitle == "diabetes.csv: 442 rows, 10 columns"
    assert diabetes.answer[0].startswith("3 of 10 variables matter for progression: s5 (+50 per unit, 95 %")
    assert ("Time", "1.5 s") in diabetes.asked
    assert ("Rows", "442") in diabetes.data
    assert diabetes.command == "horseshoe fit diabetes"


def test_the_table_is_the_summary_with_the_selected_first(diabetes):
    rows = diabetes.table.rows
    assert [row.names[0] for row in rows if row.selected] == ["s5", "bmi", "bp"]
    assert [row.selected for row in rows] == [True] * 3 + [False] * 7
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    model = AdaptiveRegressor().fit(X, y)
    by_name = {row.names[0]: row.numbers for row in rows}
    for j, name in enumerate(X.columns):
        lower, upper = model.coef_interval()[j]
        found = [number.value for number in by_name[name][:3]]
        np.testing.assert_allclose(found, [model.coef_[j], lower, upper], rtol=1e-5)
        assert by_name[name][4].value == pytest.approx(model.inclusion_[j], rel=1e-5)


def test_the_report_of_the_diabetes_data_is_small(diabetes):
    assert len(render(diabetes).encode()) < 1_000_000


def test_a_report_of_ten_thousand_columns_is_small():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 10_000))
    y = X[:, 0] * 3.0 + rng.standard_normal(60)
    frame = pd.DataFrame(X, columns=[f"gene number {j}" for j in range(10_000)])
    model = AdaptiveRegressor(cv=3, components=["null", "ridge"]).fit(frame, y)
    page = build_page(model, ReportInput(frame, y))
    assert len(page.table.rows) == 10_000
    assert len(render(page).encode()) < 3_000_000


def test_what_happened_to_the_data_is_told(diabetes):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((90, 3)), columns=["a", "town=Bonn", "town=Jena"])
    y = np.where(X["a"] + X["town=Jena"] + 0.5 * rng.standard_normal(90) > 0.0, "ill", "well")
    given = ReportInput(
        X,
        y,
        terms={"town=Bonn": "town", "town=Jena": "town"},
        dropped=[("id", "another value in every row")],
        encoded=[("town", "against Aalen")],
        notes=["decimal commas"],
        warnings=["few rows"],
        facts=[("Missing", "none")],
    )
    page = build_page(AdaptiveClassifier(cv=3).fit(X, y), given)
    assert page.subtitle == "90 rows, 2 columns"
    assert ("Columns", "2 (3 columns after encoding)") in page.data
    assert page.dropped == (Fact("id", "another value in every row"),)
    assert [heading.name for heading in page.table.names] == ["Column", "Belongs to"]
    assert {row.names for row in page.table.rows} >= {("a", "a"), ("town=Jena", "town")}
    assert page.table.numbers[0].name == "Odds ratio"
    assert "The odds of well are multiplied by" in page.answer[0]
    assert page.warnings == ("few rows",)


def test_several_classes_share_a_table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((120, 2)), columns=["a", "b"])
    y = np.digitize(X["a"] + 0.3 * rng.standard_normal(120), [-0.5, 0.5]).astype(str)
    page = build_page(AdaptiveClassifier(cv=3).fit(X, y), ReportInput(X, y, target="grade"))
    assert [heading.name for heading in page.table.names] == ["Column", "Class"]
    assert sorted(row.names for row in page.table.rows) == [(c, k) for c in "ab" for k in "012"]


def test_draws_that_do_not_agree_are_told_and_not_warned_of(monkeypatch):
    known = build.effects_of

    def warned(*args):
        warnings.warn("R-hat is 1.2", stacklevel=1)
        return known(*args)

    X = pd.DataFrame({"a": np.arange(20.0)})
    model = HorseshoeRegressor().fit(X, X["a"] + np.sin(X["a"]))
    monkeypatch.setattr(build, "effects_of", warned)
    assert build_page(model, ReportInput(X, X["a"])).warnings == ("R-hat is 1.2",)


NASTY = ["<script>alert(1)</script>", "</script>", "$x^2$ \\frac", "$", "W" * 300, "עברית", "名前 🐴", ""]


@pytest.mark.parametrize("estimator", [HorseshoeRegressor, AdaptiveRegressor])
def test_any_name_can_be_written_and_drawn(estimator):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((60, len(NASTY))), columns=NASTY)
    y = 3.0 * X.to_numpy()[:, ::2].sum(axis=1) + rng.standard_normal(60)
    page = build_page(
        estimator().fit(X, y), ReportInput(X, y, target=NASTY[0], source=NASTY[1], command=NASTY[2])
    )
    assert len(page.pictures) == 3
    assert "<script>alert" not in render(page)
    assert page.notes == page.warnings == ()


@pytest.mark.parametrize("estimator", [HorseshoeRegressor, AdaptiveRegressor])
def test_there_is_a_report_of_nothing_too(estimator):
    X = pd.DataFrame({"a": np.arange(20.0), "b": np.sin(np.arange(20.0))})
    page = build_page(estimator().fit(X, np.ones(20)), ReportInput(X, np.ones(20)))
    assert page.answer == ("There is nothing to say of y: y is constant, so every coefficient is zero.",)
    assert "y is constant" in " ".join(page.convergence)
    assert page.pictures == page.ending == page.notes == ()
    assert render(page)


def test_it_draws_without_the_state_of_pyplot(diabetes):
    import matplotlib.pyplot as plt

    before = plt.get_fignums()
    X = pd.DataFrame({"a": np.arange(20.0)})
    build_page(HorseshoeRegressor().fit(X, X["a"] + np.sin(X["a"])), ReportInput(X, X["a"]))
    assert plt.get_fignums() == before


def test_the_share_explained_is_said_to_be_beyond_the_exposure():
    rng = np.random.default_rng(0)
    X, years = rng.standard_normal((60, 2)), rng.uniform(1.0, 9.0, 60)
    y = rng.poisson(years * np.exp(0.5 * X[:, 0]))
    model = HorseshoeRegressor(family="poisson").fit(X, y, exposure=years)
    words = build_page(model, ReportInput(X, y, exposure=years)).how_sure[-1]
    assert words.startswith(
        "D^2 compares with an intercept beside the exposure, so it is what the columns explain"
    )
    assert not any(
        "compares with an intercept" in one for one in build_page(model, ReportInput(X, y)).how_sure
    )
