"""Formulas: what they ask for, and that nothing else can be smuggled into them."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from horseshoe.intake import Recipe, Table, TableError, prepare_problem
from horseshoe.intake.formula import parse_formula
from loops import each

N = 30
RNG = np.random.default_rng(1)
FRAME = pd.DataFrame(
    {
        "a": RNG.standard_normal(N),
        "b": 1.0 + RNG.random(N),
        "blood pressure": RNG.standard_normal(N),
        "sepal.length": RNG.random(N),
        "city": ["Bonn", "Kiel", "Bonn", "Ulm", "Bonn"] * 6,
        "grade": [1, 2, 3] * 10,
        "y": RNG.standard_normal(N),
    }
)


def asked(formula, **options):
    return prepare_problem(Table(FRAME), formula=formula, **options)


def test_arithmetic_and_calls():
    question = asked("y ~ a + log(b) + I(a**2 - 2*b) + sqrt(`sepal.length`) + `blood pressure`")
    X = question.X
    assert list(X.columns) == ["a", "log(b)", "I(a**2 - 2 * b)", "sqrt(`sepal.length`)", "blood pressure"]
    np.testing.assert_allclose(X["log(b)"], np.log(FRAME["b"]))
    np.testing.assert_allclose(X["I(a**2 - 2 * b)"], FRAME["a"] ** 2 - 2 * FRAME["b"])
    assert question.target == "y"
    assert question.fit_intercept
    assert question.recipe.formula.startswith("y ~ a")


def test_names_with_points_need_no_backticks():
    np.testing.assert_allclose(asked("y ~ log(sepal.length)").X.iloc[:, 0], np.log(FRAME["sepal.length"]))


def test_interactions_and_factors():
    question = asked("y ~ a * city")
    assert list(question.X.columns) == ["a", "city=Kiel", "city=Ulm", "a:city=Kiel", "a:city=Ulm"]
    assert question.terms["a:city=Ulm"] == "a:city"
    assert question.terms["city=Kiel"] == "city"
    np.testing.assert_array_equal(question.X["a:city=Ulm"], FRAME["a"] * (FRAME["city"] == "Ulm"))
    # without the main effect of a, each city has a slope of its own
    assert list(asked("y ~ a:city").X.columns) == ["a:city=Bonn", "a:city=Kiel", "a:city=Ulm"]


def test_columns_agree_with_formulaic():
    from formulaic import Formula

    for text in ("a*city + log(b)", "a:city", "(a + b + grade)**2", "city/a", "0 + city", "a*b - a"):
        theirs = Formula(text).get_model_matrix(FRAME.assign(city=pd.Categorical(FRAME["city"])))
        kept = [name for name in theirs.columns if name != "Intercept"]
        question = asked(f"y ~ {text}")
        np.testing.assert_allclose(question.X.to_numpy(), theirs[kept].to_numpy(dtype=float))
        assert question.fit_intercept == (len(kept) < theirs.shape[1])


def test_c_makes_a_category():
    question = asked("y ~ C(grade) + a")
    assert [name for name in question.X.columns if "grade" in name] == ["grade=2", "grade=3"]
    levels = asked("y ~ . + C(city, levels=['Ulm', 'Bonn', \"K'iel\", 'Kiel'])", drop=["grade"])
    assert list(levels.X.columns)[-2:] == ["city=Bonn", "city=Kiel"]  # a level without rows has no column
    assert levels.recipe.levels == {"city": ("Ulm", "Bonn", "K'iel", "Kiel")}
    assert "C(`city`, levels=['Ulm', 'Bonn', \"K'iel\", 'Kiel'])" in levels.recipe.formula
    assert "grade: reference level 1" in question.notes


@pytest.mark.parametrize("text", ["y ~ a - 1", "y ~ 0 + a", "y ~ a + 0"])
def test_no_intercept(text):
    question = asked(text)
    assert not question.fit_intercept
    assert not question.recipe.fit_intercept
    assert list(question.X.columns) == ["a"]


def test_a_point_stands_for_all_other_columns():
    question = asked("y ~ . - grade", drop=["sepal.length"])
    assert list(question.X.columns) == ["a", "b", "blood pressure", "city=Kiel", "city=Ulm"]
    again = Recipe.from_plain(question.recipe.to_plain())
    np.testing.assert_array_equal(again.apply(FRAME).X.to_numpy(), question.X.to_numpy())


def test_the_target_may_be_given_apart():
    assert list(asked("a + b", target="y").X.columns) == ["a", "b"]
    with pytest.raises(TableError, match="the formula explains y"):
        asked("y ~ a", target="b")


def test_new_rows_have_the_same_columns():
    question = asked("y ~ a * city + log(b)")
    new = FRAME[["city", "b", "a"]].iloc[[1, 3]]
    np.testing.assert_array_equal(question.recipe.apply(new).X.to_numpy(), question.X.iloc[[1, 3]].to_numpy())
    one = question.recipe.apply(new.iloc[:1])
    assert list(one.X.columns) == list(question.X.columns)


@each(
    ("text", "words"),
    [
        ("y ~ log(a)", ["log(a) is not a finite number in row", "a = -"]),
        ("y ~ log(city)", ["city holds words"]),
        ("y ~ poly(a, 3)", ["poly()", "add it to the table as columns"]),
        ("y ~ bs(a)", ["bs()"]),
        ("y ~ lgo(a)", ["did you mean log"]),
        ("y ~ A", ["did you mean a?"]),
        ("log(b) ~ a", ["left of ~"]),
        ("y ~ a ~ b", ["left of ~"]),
        ("y ~ a | b", ["one part"]),
        ("y ~ a ^ 2", ["powers are written **"]),
        ("y ~ {a + b}", ["I()"]),
        ("y ~ a ** 9", ["2 to 5"]),
        ("y ~ 2 * a", ["I(2 * a)"]),
        ("y ~ ", ["nothing stands"]),
        ("y ~ a +", ["do not make a formula"]),
        ("y ~ (a", ["do not make a formula"]),
        ("y ~ log(a", ["not closed"]),
        ("y ~ log(a, b)", ["cannot be understood"]),
        ("y ~ I(1)", ["no column stands in I(1)"]),
        ("y ~ y + a", ["y stands on the right-hand side too"]),
        ("y ~ C(a + b)", ["should be C(name)"]),
        ("y ~ C(city, levels=['Bonn', 'Ulm'])", ["levels that C() does not name: Kiel"]),
        ("y ~ C(city, levels=['Bonn'])", ["two or more different words"]),
        ("y ~ C(city, levels=['Bonn', 'Ulm', 'Kiel']):a + C(city)", ["other levels"]),
        ("y ~ C(city, contr=['Bonn'])", ["C(name"]),
        ("y ~ I(a - a)", ["none of its columns varies"]),
        ("y ~ 1", ["no column is left"]),
        ("y ~ a:'text'", ["cannot stand there"]),
        ("y ~ " + "*".join(f"x{j}" for j in range(40)), ["more than 5,000 terms"]),
        ("y ~ (((. )**5)**5)**5", ["more than 5,000 terms"]),
        ("y ~ " + "(" * 5000 + "a" + ")" * 5000, ["too long"]),
        ("y ~ log(" + "-" * 400 + "a)", ["not a finite number"]),
        ("y ~ log(" + "-" * 4000 + "a)", ["too long"]),
    ],
)
def test_refused(text, words):
    with pytest.raises(TableError) as caught:
        asked(text)
    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "y ~ __import__('os').system('true')",
        "y ~ I(__import__('os'))",
        "y ~ log(a).__class__",
        "y ~ log(a.__class__)",
        "y ~ I(().__class__.__bases__[0])",
        "y ~ I([x for x in a])",
        "y ~ I(lambda: 1)",
        "y ~ I(a if b else a)",
        "y ~ I(a and b)",
        "y ~ I(a < b)",
        "y ~ I(a @ b)",
        "y ~ I(a[0])",
        "y ~ I('text')",
        "y ~ I(f'{a}')",
        "y ~ I(a := b)",
        "y ~ I(*a)",
        "y ~ log(x=a)",
        "y ~ I(log)(a)",
        "y ~ (log)(a)",
        "y ~ log(log)",
        "y ~ eval('1')",
        "y ~ open('/etc/passwd')",
        "y ~ C(__import__('os'))",
        "y ~ C(a, levels=__import__('os'))",
        "y ~ C(a, levels=[__import__('os')])",
        "y ~ C(a, levels=['x'], spans_intercept=False)",
        "y ~ np.log(a)",
        "y ~ `a`.values",
        "y ~ a; import os",
        "y ~ a\\nimport os",
        "y ~ `__import__('os')`",
        "y ~ v0 + f0",
        "y ~ I(v0)",
        "y ~ # a",
        "y ~ a %in% b",
        "y ~ [a ~ b]",
        "y ~ I(9**9**9**9**9 * a)",
        "y ~ \x00a",
        "",
        "~",
    ],
)
def test_nothing_else_is_evaluated(text, monkeypatch):
    def never(*_args, **_kwargs):
        raise AssertionError("evaluated")

    monkeypatch.setattr("formulaic.utils.stateful_transforms.stateful_eval", never)
    monkeypatch.setattr("formulaic.materializers.base.stateful_eval", never)
    with pytest.raises(TableError):
        asked(text)
    plain = asked("y ~ a").recipe.to_plain()
    with pytest.raises(ValueError):
        Recipe.from_plain({**plain, "formula": text}).apply(FRAME)


def test_formulaic_sees_numbers_only(monkeypatch):
    import formulaic

    seen = []
    original = formulaic.Formula

    def spy(text, *args, **kwargs):
        seen.append(text)
        return original(text, *args, **kwargs)

    monkeypatch.setattr(formulaic, "Formula", spy)
    asked("y ~ a * log(b) + C(city, levels=['Ulm', 'Bonn', 'Kiel']) - 1")
    assert seen == ["f0*f1+f2-1"]


def test_a_formula_in_parts():
    formula = parse_formula("~ a + `blood pressure`:C(city)")
    assert (formula.target, formula.names, formula.factors) == (
        None,
        ("a", "blood pressure", "city"),
        ("city",),
    )
    assert formula.pattern == "f0+f1:f2"


def test_names_with_colons_and_brackets():
    odd = FRAME.rename(columns={"a": "a:b[T.x]", "city": "f1[T.l1]"})
    question = prepare_problem(Table(odd), formula="y ~ `a:b[T.x]` * `f1[T.l1]`")
    assert list(question.X.columns)[:2] == ["a:b[T.x]", "f1[T.l1]=Kiel"]
    np.testing.assert_array_equal(question.X.iloc[:, 3], FRAME["a"] * (FRAME["city"] == "Kiel"))


def test_missing_values_with_a_formula():
    holes = FRAME.assign(a=np.where(np.arange(N) == 3, np.nan, FRAME["a"]), city=[None, *FRAME["city"][1:]])
    with pytest.raises(TableError, match="2 of 30 rows"):
        prepare_problem(Table(holes), formula="y ~ a * city")
    assert prepare_problem(Table(holes), formula="y ~ a * city", missing="drop").X.shape == (28, 5)
    filled = prepare_problem(Table(holes), formula="y ~ a * city", missing="median")
    assert filled.X["a"].iloc[3] == np.nanmedian(holes["a"])
    assert prepare_problem(Table(holes), formula="y ~ b").rows_dropped == 0  # only used columns


@settings(max_examples=80)
@given(st.text(st.sampled_from("ab~+-*:/()[]`'\" .,=01vfClogI_")) | st.text(max_size=20))
def test_any_text_is_a_formula_or_a_sentence(text):
    try:
        formula = parse_formula(text, ["a"])
    except TableError as error:
        assert str(error).startswith("formula: ")  # noqa: PT017
    else:
        assert set(formula.pattern) <= set("f0123456789+-*/:()")
