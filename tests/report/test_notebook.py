"""What a model shows in a notebook."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import set_config
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import simulate
from horseshoe import AdaptiveClassifier, AdaptiveRegressor, HorseshoeClassifier, HorseshoeRegressor
from horseshoe.report.summaries import MOST_SELECTED

EVERY = [HorseshoeRegressor(), AdaptiveRegressor(cv=3), HorseshoeClassifier(), AdaptiveClassifier(cv=3)]
NAME = '<script>alert("{}")</script>&'


class Cells(HTMLParser):
    """The texts of the cells of the last table."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.scripts = 0
        self.feed(html[html.rindex('<div class="horseshoe-summary">') :])

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        self.scripts += tag == "script"

    def handle_data(self, data: str) -> None:
        if self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.strip("\n")


def fitted(model: Any, n_classes: int = 2, p: int = 8) -> Any:
    X, y, _ = simulate.linear(120, p, rho=0.0, sigma2=0.05, n_signals=min(p, 26) - 2, size=1.0)
    if "Class" in type(model).__name__:
        y = np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    return model.fit(pd.DataFrame(X, columns=[NAME.format(j) for j in range(p)]), y)


@pytest.mark.parametrize("model", EVERY)
def test_before_the_fit_it_is_scikit_learns(model: Any) -> None:
    html = type(model)()._repr_html_()
    assert "horseshoe-summary" not in html
    assert "sk-container" in html


@pytest.mark.parametrize("model", EVERY)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_after_it_the_selected_columns_stand_below(model: Any, n_classes: int) -> None:
    found = fitted(model, n_classes)
    html = found._repr_html_()
    assert "sk-container" in html
    assert found._repr_mimebundle_()["text/html"].count("horseshoe-summary") == 1
    cells = Cells(html)
    assert cells.scripts == 0
    several = getattr(found, "classes_", np.arange(2)).size > 2
    shown = [row[several] for row in cells.rows[1:]]
    assert len(shown) == min(found.support_.sum(), MOST_SELECTED)
    assert set(shown) <= set(found.get_feature_names_out())
    if not several:
        coef = found.sparse_coef_ if hasattr(found, "sparse_coef_") else found.coef_
        order = np.argsort(-np.abs(coef * found.scale_))[: len(shown)]
        assert shown == [found.feature_names_in_[j] for j in order]
        np.testing.assert_allclose([float(row[1]) for row in cells.rows[1:]], coef[order], rtol=0.05)
    assert f"{found.get_support().sum()} of 8 columns selected" in html


def test_no_more_than_twenty() -> None:
    model = fitted(HorseshoeRegressor(), p=30)
    assert model.support_.sum() > MOST_SELECTED
    html = model._repr_html_()
    assert len(Cells(html).rows) == MOST_SELECTED + 1
    assert f"the first {MOST_SELECTED} are shown" in html


def test_nothing_selected() -> None:
    rng = np.random.default_rng(0)
    model = HorseshoeRegressor(tau=1e-3).fit(rng.standard_normal((50, 4)), rng.standard_normal(50))
    assert model._repr_html_().endswith("<p>none of 4 columns selected</p>")


def test_in_a_pipeline_and_as_text() -> None:
    X, y, _ = simulate.linear(60, 4, rho=0.0, sigma2=1.0, n_signals=2, size=2.0)
    pipeline = make_pipeline(StandardScaler(), HorseshoeRegressor()).fit(X, y)
    assert "HorseshoeRegressor" in pipeline._repr_html_()
    assert "horseshoe-summary" in pipeline[-1]._repr_html_()
    set_config(display="text")
    try:
        assert not hasattr(pipeline[-1], "_repr_html_")
        assert "text/html" not in pipeline[-1]._repr_mimebundle_()
    finally:
        set_config(display="diagram")


def test_it_needs_no_pandas_and_no_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    X, y, _ = simulate.glm("binomial", 60, 4, n_signals=2)
    model = HorseshoeClassifier().fit(X, y)
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert "columns selected" in model._repr_html_()
    assert "_sampled" not in model.estimators_[0].__dict__
