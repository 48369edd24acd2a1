"""The words of a report: computed from the fit, for every estimator and every ending."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from horseshoe import AdaptiveClassifier, AdaptiveRegressor, HorseshoeClassifier, HorseshoeRegressor
from horseshoe._types import Status
from horseshoe.families import Binomial, Gaussian, Poisson
from horseshoe.report.page.answer import answer
from horseshoe.report.page.effects import Effects, effects_of
from horseshoe.report.page.evidence import components, convergence, how_sure
from horseshoe.report.page.methods import methods


class Model:
    """As much of a fitted model as words ask for."""

    def __init__(self, family=None, status=Status.CONVERGED):
        self.family_, self.status_ = family or Gaussian(), status
        self.n_iter_, self.expected_by_chance_ = 7, 0.25


def effects(coef, names=None, terms=None, model=None, **more):
    coef = np.asarray(coef, dtype=float)
    names = names or [f"x{j}" for j in range(coef.size)]
    more = {"selected": coef != 0.0} | more
    return Effects(model or Model(), None, names, terms or names, coef, coef - 0.5, coef + 0.5, coef, **more)


def said(*parts, target="y", classes=()):
    return " ".join(answer(list(parts), 0.95, target, classes))


def test_effects_are_told_from_the_strongest_with_their_intervals():
    assert said(effects([1.0, 0.0, -3.0])) == (
        "2 of 3 variables matter for y: x2 (−3.0 per unit, 95 % interval from −3.5 to −2.5) and "
        "x0 (+1.0, 0.5 to 1.5)."
    )


def test_variables_that_reproduce_the_response_are_named():
    model = Model(status=Status.REPRODUCED)
    text = said(effects([2.0, 0.0, -3.0, 1e-5], ["later", "x", "before", "age"], model=model))
    assert text.startswith(
        "Be careful: before and later reproduce the response to rounding. Drop them if they are computed "
        "from the response, or the response from them. 2 of 4 variables"
    )
    one = said(effects([2.0, 0.0], ["copy", "x"], model=model))
    assert "copy reproduces the response to rounding. Drop it if it is computed" in one
    text = said(effects(np.arange(1.0, 21.0), model=model))
    assert "20 variables, x19 the strongest, reproduce the response" in text


def test_of_many_only_the_strongest_are_told():
    text = said(effects(np.arange(1.0, 21.0)))
    assert text.startswith("20 of 20 variables matter for y; the strongest are x19 (+20.0 per unit")
    assert text.count("(") == 3


def test_a_factor_counts_once():
    names, terms = ["age", "town=Bonn", "town=Jena", "town=Kiel"], ["age", "town", "town", "town"]
    text = said(effects([0.0, 2.0, -3.0, 0.0], names, terms))
    assert text == (
        "1 of 2 variables matters for y: town (Jena −3.0, 95 % interval from −3.5 to −2.5; "
        "and 1 other level)."
    )


def test_odds_and_means_are_multiplied():
    odds = said(effects([np.log(2.0), 0.0], model=Model(Binomial())), classes=("no", "yes"))
    assert odds == (
        "1 of 2 variables matters for y. The odds of yes are multiplied by 2.0 per unit of x0 "
        "(95 % interval from 1.2 to 3.3)."
    )
    assert "The mean of claims is multiplied by" in said(
        effects([1.0], model=Model(Poisson())), target="claims"
    )


@pytest.mark.parametrize("status", [Status.CHANCE, Status.MAX_ITER, Status.NO_NOISE])
def test_a_doubtful_ending_comes_first(status):
    text = said(effects([1.0], model=Model(status=status)))
    assert text.startswith("Be careful:")
    assert ("is selected" in text) == (status is not Status.NO_NOISE)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (
            Status.NOTHING_SELECTED,
            "The mode selects none of the 2 variables for y. That does not show that none",
        ),
        (Status.CONSTANT_RESPONSE, "There is nothing to say of y: y is constant"),
        (Status.NO_COLUMNS, "every column of X is constant"),
        (Status.BOUNDARY, "y is at the edge of its range"),
        (Status.MAX_ITER, "did not converge"),
    ],
)
def test_nothing_is_told_with_its_reason(status, words):
    assert words in said(effects([0.0, 0.0], model=Model(status=status)))


def test_clear_variables_that_are_not_selected_are_mentioned():
    inclusion = np.array([1.0, 0.95, 0.2])
    found = effects([3.0, 2.0, 1.0], selected=np.array([True, False, False]), inclusion=inclusion)
    last = "x1 is not selected, but has an interval that excludes zero."
    assert said(found).endswith(last)


def test_names_that_run_the_other_way_are_isolated_and_long_ones_shortened():
    text = said(effects([1.0, 2.0], ["א\N{RIGHT-TO-LEFT OVERRIDE}", "b" * 500]))
    assert "\N{FIRST STRONG ISOLATE}א\\u202e\N{POP DIRECTIONAL ISOLATE}" in text
    assert len(text) < 300


def draw(n=200, p=6):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.standard_normal((n, p)), columns=list("abcdef")[:p])
    return X, 2.0 * X["a"] - X["b"], rng.standard_normal(n)


def fitted():
    X, eta, noise = draw()
    two, three = np.where(eta + noise > 0.0, "yes", "no"), np.digitize(eta + noise, [-1.0, 1.0]).astype(str)
    return {
        "mode": (HorseshoeRegressor().fit(X, eta + noise), "posterior mode", "normal ones at the mode"),
        "average": (AdaptiveRegressor(cv=4).fit(X, eta + noise), "average of the intercept alone", "CV+"),
        "two": (AdaptiveClassifier(cv=4).fit(X, two), "without each of 4 folds", "binomial"),
        "three": (AdaptiveClassifier(cv=4).fit(X, three), "each of 3 classes against", "slopes of"),
        "counts": (
            HorseshoeRegressor(family="poisson").fit(X, np.round(np.exp(0.3 * eta))), "Poisson counts", "mode"
        ),
        "classes": (HorseshoeClassifier().fit(X, two), "horseshoe prior", "quantiles of posterior draws"),
    }  # fmt: skip


@pytest.fixture(scope="module")
def models():
    return fitted()


@pytest.mark.parametrize("name", ["mode", "average", "two", "three", "counts", "classes"])
def test_every_estimator_has_its_words(models, name):
    model, first, second = models[name]
    found = effects_of(model, method="mode")
    told = methods(model, found, 200, 0.95, "y")
    assert first in told.paragraph
    assert second in told.paragraph
    assert "200 rows" in told.paragraph
    assert "6 columns" in told.paragraph
    assert any("Expectation-Maximisation" in citation for citation in told.citations)
    assert any("jackknife+" in citation for citation in told.citations) == ("CV+" in told.paragraph)
    assert "6 variables" in answer(found, 0.95, "y", ("no", "yes"))[0]
    assert len(how_sure(found, 0.95)) >= 2
    assert convergence(found)[0]
    each = {"average": 4, "two": 5, "three": 5}.get(name, 0)  # of Gaussian rows that are many, four
    assert len(components(found)) == each * len(found)
    paragraphs = (told.paragraph, *how_sure(found, 0.95), *convergence(found), *answer(found, 0.95, "y"))
    assert not [
        one for one in paragraphs if "None" in one.removeprefix("None of") or "nan" in one or "{" in one
    ]


def test_what_is_explained_and_expected_is_computed(models):
    average, mode = models["average"][0], models["mode"][0]
    explained = average.statistics().cv_explained
    assert f"{100 * explained:.3g} % of the variance" in " ".join(how_sure(effects_of(average), 0.95))
    assert f"{int(mode.support_.sum())} are" in how_sure(effects_of(mode), 0.95)[-1]


def test_a_mode_outside_its_interval_is_pointed_out():
    one = effects([1.0, 2.0])
    moved = replace(one, lower=one.lower + np.array([0.0, 0.75]))
    assert "For x1 the mode is not within the interval." in " ".join(how_sure([moved], 0.95))
    assert "not within" not in " ".join(how_sure([one], 0.95))


def test_selected_columns_whose_interval_holds_zero_are_named():
    found = effects([1.0, 0.1])
    assert "The 95 % interval of x1 holds zero, which is no effect" in " ".join(how_sure([found], 0.95))


# --- the selected variables of an average -------------------------------------------------------------------


def averaged(coef, half, **more):
    """Return effects of an average: intervals of these halves, inclusion 0.95 everywhere."""
    one = effects(coef, inclusion=np.full(len(coef), 0.95), **more)
    return replace(one, lower=one.coef - np.asarray(half), upper=one.coef + np.asarray(half))


def test_a_column_that_is_not_sure_alone_does_not_matter_alone():
    told = said(averaged([2.0, 1.0, 0.0], [0.5, 3.0, 3.0]))
    assert told.startswith(
        "1 of 3 variables matters for y: x0 (+2.0 per unit, 95 % interval from 1.5 to 2.5)"
    )
    assert told.endswith("The smaller model with 2 variables also has x1, whose own interval includes zero.")


def test_selected_variables_that_stand_for_each_other_are_said_to():
    told = said(averaged([2.0, 1.0, 0.0], [5.0, 3.0, 3.0]))
    assert "matter for y:" not in told
    assert told.startswith("No single variable is sure to matter for y, for every interval includes zero")
    assert told.endswith("The average is summarised by a smaller model with 2 variables: x0 and x1.")


def test_what_is_certain_together_is_not_called_chance():
    none = averaged([0.0, 0.0], [1.0, 1.0], model=Model(status=Status.NONE_STANDS_OUT))
    told = said(replace(none, inclusion=np.array([0.4, 0.8])))
    assert told == (
        "Together the 2 variables predict y better than the mean alone, but no few of them stand out; "
        "the surest are x1 (inclusion 0.80) and x0 (0.40)."
    )


def test_a_ratio_of_a_unit_that_is_too_much_is_told_for_a_standard_deviation():
    one = effects([20.0, 0.7], model=Model(Binomial()))
    one = replace(one, per_sd=np.array([0.5, 0.7]))
    told = said(one, classes=("no", "yes"))
    assert "by 1.649 per standard deviation of x0" in told
    assert "per unit of x1" in told


def test_a_mode_does_not_claim_what_its_interval_leaves_open():
    weak = np.array([0.25])
    one = effects([3.0, 0.25])
    assert said(one).endswith(
        "x1 is selected too, but its interval includes zero: the data leave open whether it matters."
    )
    assert said(one).startswith("1 of 2 variables matters for y: x0 ")
    assert said(effects(weak)) == (
        "No variable is sure to matter for y: the mode selects x0, but its interval includes zero."
    )


def test_several_classes_do_not_claim_it_either():
    parts = [
        replace(effects([3.0, 0.25], model=Model(Binomial())), label="red"),
        replace(effects([0.0, 0.25], model=Model(Binomial())), label="blue"),
    ]
    assert said(*parts) == (
        "1 of 2 variables matters for telling apart the classes of y: x0 (for red). "
        "x1 is selected too, but every interval includes 1."
    )
    assert said(*(replace(part, selected=np.array([False, True])) for part in parts)) == (
        "No variable is sure to tell apart the classes of y: x1 is selected, but every interval includes 1."
    )


def test_a_factor_is_one_variable_of_the_smaller_model():
    names, terms = ["age", "town=Bonn", "town=Jena"], ["age", "town", "town"]
    sure = np.array([1.0, 0.1, 0.1])
    text = said(effects([3.0, 0.25, 0.0], names, terms, inclusion=sure))
    assert "The smaller model with 2 variables also has" in text


def test_one_column_that_does_not_stand_out():
    model = Model(status=Status.NONE_STANDS_OUT)
    text = said(effects([1.0], model=model, selected=np.array([False]), inclusion=np.array([0.8])))
    assert text == "x0 predicts y better than the mean alone, but does not stand out (inclusion 0.80)."
