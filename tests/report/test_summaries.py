"""Tables of all four estimators: the intercept, effects of one standard deviation, ratios, and text forms."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simulate
from horseshoe import AdaptiveClassifier, AdaptiveRegressor, HorseshoeClassifier, HorseshoeRegressor
from horseshoe.data.dense import Dense
from horseshoe.report.markup import FORMATS, TextTable, escape_latex, escape_markdown, write_table
from horseshoe.report.summaries import summary_text
from loops import each

N, P = 90, 6
NASTY = [
    "a|b",
    "<script>alert(1)</script>",
    "50% & {x}_1^2 ~$\\",
    '"quotes" `code` *star*',
    "tab\tnew\nline",
    "ok",
]
MODE = {"method": "mode"}


def data(family: str = "gaussian", n_classes: int = 2) -> tuple[Any, Any]:
    X, y, _ = simulate.glm(family, N, P, n_signals=2, size=1.5)
    X = X * np.array([1.0, 10.0, 0.01, 1.0, 1.0, 5.0])
    if family == "binomial":
        y = np.digitize(X[:, 0] + 0.1 * X[:, 1], [-0.5, 0.5]) if n_classes > 2 else y.astype(int)
        y = np.array(["no", "yes", "perhaps"])[y]
    return pd.DataFrame(X, columns=[f"c{j}" for j in range(P)]), y


def options(model: Any) -> dict[str, str]:
    return {} if hasattr(model, "inclusion_") else MODE


@pytest.fixture(scope="module")
def fits() -> dict[str, Any]:
    """Every kind of estimator once; intervals of classes at the mode, for speed."""
    return {
        "gaussian": HorseshoeRegressor().fit(*data()),
        "poisson": HorseshoeRegressor(family="poisson").fit(*data("poisson")),
        "two": HorseshoeClassifier().fit(*data("binomial")),
        "three": HorseshoeClassifier().fit(*data("binomial", 3)),
        "gaussian cv": AdaptiveRegressor(cv=4).fit(*data()),
        "poisson cv": AdaptiveRegressor(family="poisson", cv=4).fit(*data("poisson")),
        "two cv": AdaptiveClassifier(cv=4).fit(*data("binomial")),
        "three cv": AdaptiveClassifier(cv=4).fit(*data("binomial", 3)),
    }


KINDS = ["gaussian", "poisson", "two", "three", "gaussian cv", "poisson cv", "two cv", "three cv"]
every_kind = pytest.mark.parametrize("kind", KINDS)


@every_kind
def test_the_first_row_is_the_intercept(fits: Any, kind: str) -> None:
    model = fits[kind]
    table = model.summary(**options(model))
    intercepts = table[table["feature"] == "(Intercept)"]
    np.testing.assert_array_equal(intercepts["coef"], np.ravel(model.intercept_))
    assert intercepts.index[0] == 0
    assert len(table) == np.size(model.intercept_) * (P + 1)
    assert not intercepts["selected"].any()
    assert table["selected"].dtype == bool
    assert table["selected"].sum() == model.support_.sum()


@every_kind
def test_the_effect_of_one_standard_deviation(fits: Any, kind: str) -> None:
    model = fits[kind]
    table = model.summary(**options(model))
    X, _ = data(kind.split()[0] if kind.split()[0] in ("gaussian", "poisson") else "binomial")
    np.testing.assert_allclose(model.scale_, X.std(ddof=0), rtol=1e-12)
    columns = table[table["feature"] != "(Intercept)"]
    want = np.ravel(model.coef_ * X.std(ddof=0).to_numpy())
    np.testing.assert_allclose(columns["per_sd"], want, rtol=1e-12)
    assert table["per_sd"].isna().sum() == np.size(model.intercept_)


@pytest.mark.parametrize("averaged", [False, True])
def test_standard_deviations_of_columns_that_are_not_standardised(averaged: bool) -> None:
    X, y = data()
    kind = AdaptiveRegressor(cv=3, standardize=False) if averaged else HorseshoeRegressor(standardize=False)
    np.testing.assert_allclose(kind.fit(X, y).scale_, X.std(ddof=0), rtol=1e-12)
    weights = np.arange(N) % 3
    weighted = kind.fit(X, y, sample_weight=weights)
    around = X - np.average(X, weights=weights, axis=0)
    np.testing.assert_allclose(weighted.scale_, np.sqrt(np.average(around**2, weights=weights, axis=0)))


@pytest.mark.parametrize(
    ("kind", "name"), [(k, "rate_ratio" if "poisson" in k else "odds_ratio") for k in KINDS if "ga" not in k]
)
def test_ratios_are_exponentials(fits: Any, kind: str, name: str) -> None:
    model = fits[kind]
    plain, ratio = (model.summary(exponentiate=asked, **options(model)) for asked in (False, True))
    np.testing.assert_allclose(ratio[name], np.exp(plain["coef"]))
    for column in ("lower", "upper", "per_sd"):
        np.testing.assert_allclose(ratio[column], np.exp(plain[column]))
    for column in {"coef", "std", "sparse_coef", "inclusion", "shrinkage"} & set(plain):
        np.testing.assert_array_equal(ratio[column], plain[column])
    assert name not in plain


@pytest.mark.parametrize("kind", ["gaussian", "gaussian cv"])
def test_ratios_of_an_identity_link_are_refused(fits: Any, kind: str) -> None:
    with pytest.raises(ValueError, match=r"exponentiate=True is for log odds.*Gaussian are changes of y"):
        fits[kind].summary(exponentiate=True)
    with pytest.raises(TypeError, match="exponentiate='mode' must be True or False"):
        fits[kind].summary(0.95, "mode")


def test_a_ratio_may_be_infinite_without_a_warning() -> None:
    X, y = data("poisson")
    table = HorseshoeRegressor(family="poisson").fit(X * 1e-6, y).summary(exponentiate=True)
    assert np.isinf(table.loc[table["selected"], "upper"]).any()


@pytest.mark.parametrize("kind", [HorseshoeRegressor(), AdaptiveRegressor(cv=3)])
def test_without_an_intercept_there_is_no_row_for_it(kind: Any) -> None:
    X, y = data()
    table = kind.set_params(fit_intercept=False).fit(X, y).summary()
    assert table["feature"].tolist() == X.columns.tolist()
    assert not table.isna().any(axis=None)


@pytest.mark.parametrize("kind", [HorseshoeClassifier(), AdaptiveClassifier(cv=3)])
def test_classes_without_an_intercept(kind: Any) -> None:
    X, y = data("binomial")
    model = kind.set_params(fit_intercept=False).fit(X, y)
    assert model.summary(**options(model))["feature"].tolist() == X.columns.tolist()


@pytest.mark.parametrize("family", ["gaussian", "poisson", "student_t"])
def test_the_interval_of_the_intercept_is_that_of_the_predictor_at_zero(family: str) -> None:
    X, y = data(family if family == "poisson" else "gaussian")
    model = HorseshoeRegressor(family=family).fit(X, y)
    at_zero = float(np.sqrt(model._fitted.predictor_variance(Dense(np.zeros((1, P))))[0]))
    assert model.intercept_std_ == pytest.approx(at_zero, rel=1e-12)
    reach = 1.6448536269514722 * at_zero
    want = [model.intercept_ - reach, model.intercept_ + reach]
    np.testing.assert_allclose(model.intercept_interval(0.9), want)
    np.testing.assert_allclose(model.summary(0.9, method="mode")[["lower", "upper"]].iloc[0], want)


def test_an_intercept_far_from_the_data() -> None:
    X, y = data()
    model = HorseshoeRegressor().fit(X + 1e6, y)
    assert np.isfinite(model.intercept_std_)
    assert model.intercept_std_ > 1e3 * model.coef_std_.max()
    with pytest.raises(AttributeError, match="after fit"):
        HorseshoeRegressor().intercept_std_  # noqa: B018


# --- text -------------------------------------------------------------------------------------------------


@each("format", FORMATS)
@every_kind
def test_every_format_has_every_name_and_number(fits: Any, kind: str, format: str) -> None:
    model = fits[kind]
    text = summary_text(model, format, **options(model))
    for name in ("(Intercept)", *(f"c{j}" for j in range(P))):
        assert name in text
    assert not re.search(r"\d{12}|\d\.\d{11}", text)
    assert "nan" not in text.lower()
    assert ("odds ratio" in text) == ("two" in kind or "three" in kind)
    assert "status" in text


@every_kind
def test_a_summary_in_a_style_is_the_same_table(fits: Any, kind: str) -> None:
    model = fits[kind]
    for style in FORMATS:
        text = model.summary(0.9, style=style, **options(model))
        assert text == summary_text(model, style, level=0.9, exponentiate=False, **options(model)), style
    with pytest.raises(ValueError, match="style='word' is not known"):
        model.summary(style="word")
    with pytest.raises(ValueError, match="by='group' is a data frame"):
        model.summary(by="group", style="text")


def test_text_lines_up_and_fits_a_terminal(fits: Any) -> None:
    for kind in KINDS:
        lines = summary_text(fits[kind], statistics=False, **options(fits[kind])).splitlines()
        assert max(map(len, lines)) <= (90 if "three" in kind else 80)
        assert lines[0].split()[-1] in ("shrinkage", "sparse")
        assert set(lines[1]) == {"-"}


def test_many_columns_are_left_out_of_a_text() -> None:
    X, y, _ = simulate.linear(60, 200, rho=0.0, sigma2=0.1, n_signals=3, size=3.0)
    model = HorseshoeRegressor().fit(X, y)
    text = summary_text(model)
    assert "of 200 columns those that are selected" in text
    assert sum(line.startswith("x") for line in text.splitlines()) == model.support_.sum()
    assert sum(line.startswith("x") for line in summary_text(model, rows="all").splitlines()) == 200
    with pytest.raises(ValueError, match="rows='some'"):
        summary_text(model, rows="some")


@pytest.mark.parametrize("averaged", [False, True])
def test_names_are_shown_and_never_obeyed(averaged: bool) -> None:
    X, y = data()
    X.columns = NASTY
    model = (AdaptiveRegressor(cv=3) if averaged else HorseshoeRegressor()).fit(X, y)
    found = {format: summary_text(model, format, statistics=False) for format in FORMATS}
    assert "<script>" not in found["html"]
    assert "<script>" not in found["markdown"]
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in found["html"]
    assert all(
        line.count("|") - line.count(r"\|") == (7 if averaged else 6)
        for line in found["markdown"].splitlines()
    )
    body = found["latex"].split(r"\midrule")[1].split(r"\bottomrule")[0].strip().splitlines()
    assert len(body) == P + 1
    columns = 6 if averaged else 5
    assert all(line.count("&") - line.count(r"\&") == columns - 1 for line in body)
    assert r"50\% \& \{x\}\_1\textasciicircum{}2 \textasciitilde{}\$\textbackslash{}" in found["latex"]
    assert len(found["text"].splitlines()) == P + 3
    with pytest.raises(ValueError, match="format='word' is not known"):
        summary_text(model, "word")


def test_signs_and_powers_in_latex() -> None:
    text = write_table(TextTable(["", "coef", "interval"], [["a", "-1.2e-8", "-3.0 to 4.0"]]), "latex")
    assert r"a & $-$1.2$\times 10^{-8}$ & $-$3.0 to 4.0 \\" in text
    assert r"$<$0.01" in write_table(TextTable(["", "x"], [["a", "<0.01"]]), "latex")


def test_escapes() -> None:
    assert escape_markdown("a_b [c](d) #e") == r"a\_b \[c\](d) \#e"
    assert escape_latex("a|b<c>\"d'") == r"a\textbar{}b\textless{}c\textgreater{}\textquotedbl{}d'"


def test_wide_characters_take_two_places() -> None:
    lines = write_table(TextTable(["", "x"], [["身長", "1"], ["abcd", "22"]])).splitlines()
    assert lines[2] == "身長   1"
    assert lines[3] == "abcd  22"


def test_models_that_are_none() -> None:
    with pytest.raises(ValueError, match="this HorseshoeRegressor is not fitted yet"):
        summary_text(HorseshoeRegressor())
    with pytest.raises(TypeError, match="no model of horseshoe"):
        summary_text([1, 2])
