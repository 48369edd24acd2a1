"""What is said of the columns and cannot be: each sentence names the argument, the column or the group."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from horseshoe import AdaptiveRegressor, HorseshoeRegressor, sample_posterior

NAN = float("nan")
X = pd.DataFrame(np.random.default_rng(0).standard_normal((12, 4)), columns=["age", "sex", "bmi", "bp"])
Y = X["bmi"].to_numpy() + np.random.default_rng(1).standard_normal(12)

WRONG: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "groups too short": (
        {"feature_groups": [0, 0, 1]},
        ValueError,
        "feature_groups has 3 labels, but X has 4 columns",
    ),
    "groups a word": (
        {"feature_groups": "abcd"},
        TypeError,
        "feature_groups='abcd' must be a label for each column",
    ),
    "groups a number": ({"feature_groups": 3}, TypeError, "feature_groups=3 must be a label for each column"),
    "groups of lists": (
        {"feature_groups": [[0], [1], [2], [3]]},
        TypeError,
        "must be a label for each column",
    ),
    "a label missing": ({"feature_groups": [0, 0, NAN, 1]}, ValueError, "no label for column 'bmi'"),
    "an empty group": ({"feature_groups": {"a": []}}, ValueError, r"feature_groups\['a'\] is empty"),
    "an unknown name": (
        {"feature_groups": {"a": ["bmj", "bp"]}},
        ValueError,
        r"feature_groups\['a'\] has 'bmj', which is no column of X: do you mean 'bmi'",
    ),
    "in two groups": (
        {"feature_groups": {"a": ["age", "bp"], "b": ["bp", "sex"]}},
        ValueError,
        r"column 'bp' \(3\) of X is in groups 'a' and 'b': for groups that overlap, give X the column once",
    ),
    "twice in a group": ({"feature_groups": {"a": ["bp", "bp"]}}, ValueError, "is in group 'a' twice"),
    "a number too large": (
        {"feature_groups": {"a": [0, 4]}},
        ValueError,
        "has column 4, but X has the columns 0 to 3",
    ),
    "a negative number": ({"unpenalized": [-1]}, ValueError, "unpenalized has column -1"),
    "a float": (
        {"unpenalized": [1.5]},
        TypeError,
        "unpenalized has 1.5: a column is given by its name or its number",
    ),
    "no list": ({"unpenalized": 1.5}, TypeError, "unpenalized=1.5 must be a list of columns"),
    "a short mask": (
        {"unpenalized": [True, False]},
        ValueError,
        "unpenalized is a mask of 2 columns, but X has 4",
    ),
    "an unknown column": ({"unpenalized": ["agee"]}, ValueError, "unpenalized has 'agee'.*do you mean 'age'"),
    "half a group": (
        {"unpenalized": ["age"], "feature_groups": [0, 0, 1, 2]},
        ValueError,
        "column 'age' .* is always in, and column 'sex' .* of its group 0 is not",
    ),
    "half a group with a name": (
        {"unpenalized": ["age"], "feature_groups": {"both": ["age", "sex"]}},
        ValueError,
        "of its group 'both' is not",
    ),
    "prior_scale too long": ({"prior_scale": np.ones(5)}, ValueError, r"shape \(5,\), but X has 4 columns"),
    "prior_scale zero": ({"prior_scale": {"bp": 0.0}}, ValueError, "prior_scale of column 'bp' .* is 0.0"),
    "prior_scale negative": ({"prior_scale": [1, 1, -1, 1]}, ValueError, "column 'bmi' .* is -1"),
    "prior_scale NaN": ({"prior_scale": [1, 1, NAN, 1]}, ValueError, "column 'bmi' .* is nan"),
    "prior_scale huge": ({"prior_scale": {"bp": 1e9}}, ValueError, "between 1e-06 and 1e.06"),
    "prior_scale a word": (
        {"prior_scale": {"bp": "wide"}},
        TypeError,
        "'wide': it must be a positive number",
    ),
    "prior_scale one number": ({"prior_scale": 2.0}, ValueError, r"prior_scale has the shape \(\)"),
}


@pytest.mark.parametrize("case", WRONG)
def test_refused(case: str) -> None:
    options, kind, sentence = WRONG[case]
    for cls in (HorseshoeRegressor, AdaptiveRegressor):
        with pytest.raises(kind, match=sentence):
            cls(**options).fit(X, Y)
    with pytest.raises(kind, match=sentence):
        sample_posterior(X, Y, **options)


def test_names_where_there_are_none() -> None:
    with pytest.raises(ValueError, match="unpenalized has 'age', but the columns of X have no names"):
        HorseshoeRegressor(unpenalized=["age"]).fit(X.to_numpy(), Y)


@pytest.mark.parametrize("cls", [HorseshoeRegressor, AdaptiveRegressor])
@pytest.mark.parametrize("family", ["gaussian", "poisson"])
def test_columns_that_cannot_be_always_in(cls: Any, family: str) -> None:
    y = Y if family == "gaussian" else np.arange(12.0) % 4
    model = cls(family, unpenalized=["age", "sex", "more"])
    with pytest.raises(ValueError, match=r"column 'more' \(4\) of X is always in, but constant"):
        model.fit(X.assign(more=1.0), y)
    with pytest.raises(ValueError, match=r"'more' .* combination of others that are, column 'age' .*'sex'"):
        model.fit(X.assign(more=X["age"] - 2.0 * X["sex"]), y)
    wide = np.random.default_rng(2).standard_normal((6, 8))
    with pytest.raises(
        ValueError, match="unpenalized names 5 columns, and there are 6 rows and an intercept"
    ):
        cls(family, unpenalized=range(5)).fit(wide, y[:6])


def test_weights_too_light_for_what_is_always_in() -> None:
    with pytest.raises(ValueError, match=r"sample_weight adds up to 2\.4 rows only"):
        HorseshoeRegressor(unpenalized=["age", "sex"]).fit(X, Y, sample_weight=0.2)


def test_an_exact_fit_of_what_is_always_in() -> None:
    with pytest.raises(ValueError, match="always in explain y exactly"):
        HorseshoeRegressor(unpenalized=["age", "sex"]).fit(X, 3.0 * X["age"] - X["sex"] + 1.0)


def test_a_prior_of_a_users_own_draws_no_groups() -> None:
    class Own:
        def null_rate(self, lambda_power: float) -> float:
            return lambda_power / 2.0

        def mode(self, w: Any, lambda_power: float) -> Any:
            return w / (0.5 + lambda_power / 2.0)

        def neg_log_density(self, lambda2: Any, lambda_power: float) -> Any:
            return (lambda_power / 2.0) * np.log(lambda2)

        def draw(self, w: Any, lambda2: Any, rng: Any) -> Any:
            return lambda2

    assert HorseshoeRegressor(prior=Own(), feature_groups=[0, 0, 1, 1]).fit(X, Y).n_iter_ > 0
    with pytest.raises(ValueError, match="Own has no sampler for groups"):
        sample_posterior(X, Y, prior=Own(), feature_groups=[0, 0, 1, 1])
