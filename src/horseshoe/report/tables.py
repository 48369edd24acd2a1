"""Tables of a fit, for people."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from horseshoe._extras import require
from horseshoe._types import Matrix, Vector
from horseshoe.families import Family, Ordered
from horseshoe.report.groups import known_columns
from horseshoe.report.model import FittedClasses, FittedModel, FittedPath, part_labels

INTERCEPT = "(Intercept)"
"""The name of the first row."""


def feature_names(model: FittedModel | FittedClasses) -> list[str]:
    """Return the column names of the training data, or x0, x1, ...

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> feature_names(HorseshoeRegressor().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5]))
    ['x0']
    """
    names = getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(model.n_features_in_)] if names is None else [str(name) for name in names]


def mode_columns(
    model: FittedModel, level: float = 0.95, exponentiate: bool = False, method: str = "auto"
) -> dict[str, Any]:
    """Return the columns of the table of a mode: the intercept, then each column of X in the user's units.

    Where columns are tied, ``alias_of`` names the one that stands for each; ``group`` and ``unpenalized`` say
    what was known of them.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> model = HorseshoeRegressor().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5])
    >>> found = mode_columns(model)
    >>> list(found)
    ['feature', 'coef', 'std', 'lower', 'upper', 'per_sd', 'shrinkage', 'selected']
    >>> found["feature"].tolist(), found["coef"].round(2)
    (['(Intercept)', 'x0'], array([1.83, 0.  ]))
    """
    ratio = ratio_of(model.family_, exponentiate)
    interval = model.coef_interval(level, method=method)
    first = _before(model, level, method)
    numbers = np.column_stack([model.coef_, model.coef_std_, interval])
    coef, std, lower, upper = np.vstack([first, numbers]).T
    per_sd = _below(len(first), model.coef_ * model.scale_)
    found = {
        "feature": _features(model, len(first)),
        "coef": coef,
        "std": std,
        **_ends(coef, lower, upper, per_sd, ratio),
        "shrinkage": _below(len(first), model.kappa_),
        "selected": _below(len(first), model.support_, False),
    }
    if model.aliases_:
        lead = {str(later): str(one) for one, tied in model.aliases_.items() for later in tied}
        named = hasattr(model, "feature_names_in_")
        names = feature_names(model) if named else map(str, range(model.coef_.size))
        tied = np.array([lead.get(str(name), "") for name in names], dtype=object)
        found["alias_of"] = _below(len(first), tied, "")
    return found | _known(model, len(first))


def average_columns(model: Any, level: float = 0.95, exponentiate: bool = False) -> dict[str, Any]:
    """Return the columns of the table of an average: its interval, inclusion, and the sparse answer.

    Examples
    --------
    >>> from horseshoe import AdaptiveRegressor
    >>> x = np.arange(20.0)
    >>> found = average_columns(AdaptiveRegressor(cv=5).fit(x[:, None], x + np.sin(x)))
    >>> list(found)
    ['feature', 'coef', 'lower', 'upper', 'per_sd', 'inclusion', 'sparse_coef', 'selected']
    """
    ratio = ratio_of(model.family_, exponentiate)
    interval, first, value = model.coef_interval(level), int(model.fit_intercept), model.intercept_
    sparse = model.sparse_intercept_
    if isinstance(model.family_, Ordered):
        value = model.thresholds_
        first, sparse = value.size, value - sparse
    coef = _below(first, model.coef_, value)
    lower, upper = (_below(first, ends) for ends in interval.T)
    found = {
        "feature": _features(model, first),
        "coef": coef,
        **_ends(coef, lower, upper, _below(first, model.coef_ * model.scale_), ratio),
        "inclusion": _below(first, model.inclusion_),
        "sparse_coef": _below(first, model.sparse_coef_, sparse),
        "selected": _below(first, model.support_, False),
    }
    return found | _known(model, first)


def _known(model: Any, before: int) -> dict[str, Any]:
    """Return what was known of the columns beforehand: the intercept has no group, and is in."""
    first = {"group": "", "unpenalized": True}
    return {name: _below(before, values, first[name]) for name, values in known_columns(model).items()}


def _ends(coef: Vector, lower: Vector, upper: Vector, per_sd: Vector, ratio: str | None) -> dict[str, Vector]:
    """Return the ends of the intervals and the effects of one standard deviation, perhaps as ratios."""
    found = {"lower": lower, "upper": upper, "per_sd": per_sd}
    if ratio is None:
        return found
    with np.errstate(over="ignore"):  # an infinite ratio is a fair answer
        return {ratio: np.exp(coef), **{name: np.exp(values) for name, values in found.items()}}


def ratio_of(family: Family, exponentiate: Any = True) -> str | None:
    """Return what exp of a coefficient is, such as "odds_ratio"; None where nobody asked.

    Examples
    --------
    >>> from horseshoe.families import Binomial, Gaussian, Poisson
    >>> ratio_of(Binomial()), ratio_of(Poisson())
    ('odds_ratio', 'rate_ratio')
    >>> ratio_of(Gaussian())
    Traceback (most recent call last):
    ValueError: exponentiate=True is for log odds and logarithms of means, but coefficients of Gaussian are \
changes of y itself: leave it out
    """
    if not isinstance(exponentiate, bool | np.bool_):
        raise TypeError(f"exponentiate={exponentiate!r} must be True or False")
    if not exponentiate:
        return None
    if has_ratios(family):
        return family.ratio
    raise ValueError(
        "exponentiate=True is for log odds and logarithms of means, but coefficients of "
        f"{type(family).__name__} are changes of y itself: leave it out"
    )


def has_ratios(family: Family) -> bool:
    """Tell whether exp of a coefficient is a ratio that has a name.

    Examples
    --------
    >>> from horseshoe.families import Gaussian, Poisson
    >>> has_ratios(Poisson()), has_ratios(Gaussian())
    (True, False)
    """
    return family.ratio is not None


def _before(model: Any, level: float, method: str) -> Matrix:
    """Return value, deviation and interval of what stands before the columns: intercept or thresholds."""
    family = model.family_
    if isinstance(family, Ordered):
        if family.continuous:  # as many thresholds as rows
            return np.empty((0, 4))
        ends = model.thresholds_interval(level, method=method)
        return np.column_stack([family.thresholds_, family.thresholds_std_, ends])
    if not model.fit_intercept:
        return np.empty((0, 4))
    ends = model.intercept_interval(level, method=method)
    return np.array([[model.intercept_, model.intercept_std_, *ends]])


def _features(model: Any, before: int) -> Any:
    family, first = model.family_, [INTERCEPT] * before
    if before and isinstance(family, Ordered):
        names = [f"{level:g}" if family.labels_ is None else str(level) for level in family.levels_.tolist()]
        first = [f"{low} | {high}" for low, high in pairwise(names)]
    return np.array(first + feature_names(model), dtype=object)


def _below(before: int, values: Any, first: Any = np.nan) -> Any:
    """Return what is said of the columns below what is said of intercept or thresholds, if there are any."""
    return np.concatenate([np.full(int(before), first, dtype=values.dtype), values])


def frame(columns: dict[str, Any]) -> Any:
    """Return columns as a data frame.

    Examples
    --------
    >>> frame({"feature": ["a"], "coef": [1.0]}).shape
    (1, 2)
    """
    return require("pandas", extra="pandas").DataFrame(columns)


def class_frame(labels: Sequence[Any], tables: Sequence[dict[str, Any]], kind: str = "class") -> Any:
    """Return the rows of every class, or what else ``kind`` says, below each other, with its name in front.

    Examples
    --------
    >>> part = {"feature": ["a"], "coef": [1.0]}
    >>> class_frame(["x", "y"], [part, part])["class"].tolist()
    ['x', 'y']
    """
    parts = []
    for label, columns in zip(labels, tables, strict=True):
        part = frame(columns)
        part.insert(0, kind, [label] * len(part))
        parts.append(part)
    return require("pandas", extra="pandas").concat(parts, ignore_index=True)


def path_table(path: FittedPath) -> Any:
    """Return one row for each value along a path; of several classes, one for each of them.

    Examples
    --------
    >>> from horseshoe import horseshoe_path
    >>> path = horseshoe_path([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5], values=[1.0])
    >>> path_table(path)[["tau", "n_selected", "status"]].values.tolist()
    [[1.0, 0, 'NOTHING_SELECTED']]
    """
    pandas = require("pandas", extra="pandas")
    rows = []
    for value, model in zip(path.values.tolist(), path.estimators, strict=True):
        parts = getattr(model, "estimators_", [model])
        kind = "output" if hasattr(model, "outputs_") else "class"
        labels = [{kind: label} for label in part_labels(model)] if len(parts) > 1 else [{}]
        rows += [
            {
                path.over: value,
                **label,
                "n_selected": int(part.support_.sum()),
                "expected_by_chance": part.expected_by_chance_,
                "n_iter": part.n_iter_,
                "status": part.status_.name,
            }
            for label, part in zip(labels, parts, strict=True)
        ]
    return pandas.DataFrame(rows)
