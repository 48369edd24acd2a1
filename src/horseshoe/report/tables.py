"""Tables of a fit as columns by name: of its coefficients, of its groups, of the fits along a path."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from horseshoe._checks import check_choice
from horseshoe._extras import data_frame
from horseshoe._types import Vector
from horseshoe.data.structure import Structure
from horseshoe.families import Family, Ordered
from horseshoe.report.parts import feature_names, is_average, part_kind, part_labels, parts_of

# The name of the first row.
INTERCEPT = "(Intercept)"
Columns = dict[str, Any]


def summary_frame(model: Any, level: float, exponentiate: bool, by: str, **options: Any) -> Any:
    """Return the table of a model as a data frame: a row for each column of X, or ``by`` "group".

    Of several classes or responses, their labels stand in front. ``options`` may have the ``method`` of the
    intervals of a single mode.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> model = HorseshoeRegressor().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5])
    >>> summary_frame(model, 0.95, False, "column")[["feature", "selected"]].values.tolist()
    [['(Intercept)', False], ['x0', False]]
    """
    parts, labels = parts_of(model), part_labels(model)
    if check_choice("by", by, ("column", "group")) == "group":
        return data_frame([group_columns(part) for part in parts], labels, part_kind(model))
    tables = [coefficient_columns(part, level, exponentiate, **options) for part in parts]
    found = data_frame(tables, labels, part_kind(model))
    if is_average(model) and len(parts) == 1:
        found.attrs["component_weights"] = [(row.name, row.weight) for row in parts[0].components_]
    return found


def coefficient_columns(
    model: Any, level: float = 0.95, exponentiate: bool = False, method: str = "auto"
) -> Columns:
    """Return the table of one regression: the intercept, then each column of X in the user's units.

    Of a mode it has standard deviations and shrinkage, of an average the inclusion and the sparse answer.
    Where columns are tied, ``alias_of`` names the one that stands for each; ``group`` and ``unpenalized`` say
    what was known of them. ``method`` is that of the intervals of a mode.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> model = HorseshoeRegressor().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5])
    >>> found = coefficient_columns(model)
    >>> list(found)
    ['feature', 'coef', 'std', 'lower', 'upper', 'per_sd', 'shrinkage', 'selected']
    >>> found["feature"].tolist(), found["coef"].round(2)
    (['(Intercept)', 'x0'], array([1.83, 0.  ]))
    """
    ratio = ratio_name(model.family_, exponentiate)
    averaged = is_average(model)
    lower, upper = model.coef_interval(level, method=method).T
    effects = {"lower": lower, "upper": upper, "per_sd": model.coef_ * model.scale_}
    if averaged:
        first = _average_intercept(model)
        numbers = {"coef": model.coef_} | effects
        numbers |= {"inclusion": model.inclusion_, "sparse_coef": model.sparse_coef_}
    else:
        first = _mode_intercept(model, level, method)
        numbers = {"coef": model.coef_, "std": model.coef_std_} | effects | {"shrinkage": model.kappa_}
    above = first["coef"].size
    unknown = np.full(above, np.nan)
    found: Columns = {
        "feature": np.array(_intercept_names(model, above) + feature_names(model), dtype=object)
    }
    for name, values in numbers.items():
        found[name] = np.concatenate([first.get(name, unknown), values])
    found["selected"] = _below(above, False, model.support_)
    return _with_ratios(found, ratio) | _with_aliases(model, above) | _with_structure(model, above)


def _mode_intercept(model: Any, level: float, method: str) -> dict[str, Vector]:
    """Return value, deviation and interval of what stands before the columns: intercept or thresholds."""
    family = model.family_
    if isinstance(family, Ordered):
        if family.continuous:  # as many thresholds as rows
            return {"coef": np.empty(0)}
        lower, upper = model.thresholds_interval(level, method=method).T
        return {"coef": family.thresholds_, "std": family.thresholds_std_, "lower": lower, "upper": upper}
    if not model.fit_intercept:
        return {"coef": np.empty(0)}
    lower, upper = np.reshape(model.intercept_interval(level, method=method), (2, 1))
    values = {"coef": model.intercept_, "std": model.intercept_std_}
    return {name: np.array([value]) for name, value in values.items()} | {"lower": lower, "upper": upper}


def _average_intercept(model: Any) -> dict[str, Vector]:
    """Return the intercept, or the thresholds, of an average and of its sparse answer."""
    if isinstance(model.family_, Ordered):
        return {"coef": model.thresholds_, "sparse_coef": model.thresholds_ - model.sparse_intercept_}
    there = slice(int(model.fit_intercept))
    return {
        "coef": np.array([model.intercept_])[there],
        "sparse_coef": np.array([model.sparse_intercept_])[there],
    }


def _intercept_names(model: Any, above: int) -> list[str]:
    family = model.family_
    if not above or not isinstance(family, Ordered):
        return [INTERCEPT] * above
    levels = family.levels_.tolist()
    names = [f"{level:g}" if family.labels_ is None else str(level) for level in levels]
    return [f"{low} | {high}" for low, high in pairwise(names)]


def _below(above: int, first: Any, values: Any) -> Any:
    """Return what is known of the columns, below the same for intercept or thresholds."""
    return np.concatenate([np.full(above, first, dtype=values.dtype), values])


def _with_ratios(columns: Columns, ratio: str | None) -> Columns:
    """Return the table with intervals and effects of one standard deviation as ratios, if there are any."""
    if ratio is None:
        return columns
    found: Columns = {}
    with np.errstate(over="ignore"):  # an infinite ratio is a fair answer
        for name, values in columns.items():
            if name == "lower":
                found[ratio] = np.exp(columns["coef"])
            found[name] = np.exp(values) if name in ("lower", "upper", "per_sd") else values
    return found


def _with_aliases(model: Any, above: int) -> Columns:
    """Return which column stands for each tied one, if any is tied."""
    if not getattr(model, "aliases_", None):
        return {}
    lead = {str(later): str(one) for one, tied in model.aliases_.items() for later in tied}
    named = hasattr(model, "feature_names_in_")
    names = feature_names(model) if named else map(str, range(model.coef_.size))
    tied = np.array([lead.get(str(name), "") for name in names], dtype=object)
    return {"alias_of": _below(above, "", tied)}


def _with_structure(model: Any, above: int) -> Columns:
    """Return what was known of the columns, if anything was; the intercept has no group and is in."""
    known, found = _structure_of(model), Columns()
    if known.feature_groups is not None:
        groups = np.array([known.names[number] for number in known.feature_groups], dtype=object)
        found["group"] = _below(above, "", groups)
    if known.unpenalized is not None:
        found["unpenalized"] = _below(above, True, known.unpenalized)
    return found


def _structure_of(model: Any) -> Structure:
    return getattr(model._fitted, "structure", None) or Structure()


def group_columns(model: Any) -> Columns:
    """Return the table of a regression by group: size, joint effect, and whether it is selected.

    ``norm`` is the root of the sum of squares of the effects of one standard deviation of each column;
    columns without a group are one each.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> x = np.random.default_rng(0).standard_normal((50, 3))
    >>> y = x @ [3.0, 4.0, 0.0] + 0.1 * x[:, 2] ** 2
    >>> model = HorseshoeRegressor(feature_groups={"pair": [0, 1]}).fit(x, y)
    >>> {name: values.tolist() for name, values in group_columns(model).items() if name != "norm"}
    {'group': ['pair', '2'], 'size': [2, 1], 'selected': [True, False]}
    """
    known, p = _structure_of(model), model.n_features_in_
    label = np.arange(p) if known.feature_groups is None else known.feature_groups
    given = getattr(model, "feature_names_in_", np.arange(p))
    names = tuple(map(str, given)) if known.feature_groups is None else known.names
    numbers, size = np.unique(label, return_counts=True)
    found: Columns = {
        "group": np.array([names[number] for number in numbers], dtype=object),
        "size": size,
        "norm": np.sqrt(np.bincount(label, (model.coef_ * model.scale_) ** 2, minlength=numbers.size)),
    }
    if is_average(model):
        found["inclusion"] = np.zeros(numbers.size)
        np.maximum.at(found["inclusion"], label, model.inclusion_)
    for name, which in (("unpenalized", known.unpenalized), ("selected", model.support_)):
        if which is not None:
            found[name] = np.bincount(label[which], minlength=numbers.size) > 0
    return found


def ratio_name(family: Family, exponentiate: Any = True) -> str | None:
    """Return what exp of a coefficient is, such as "odds_ratio"; None where nobody asked.

    Examples
    --------
    >>> from horseshoe.families import Binomial, Gaussian, Poisson
    >>> ratio_name(Binomial()), ratio_name(Poisson())
    ('odds_ratio', 'rate_ratio')
    >>> ratio_name(Gaussian())
    Traceback (most recent call last):
    ValueError: exponentiate=True is for log odds and logarithms of means, but coefficients of Gaussian are \
changes of y itself: leave it out
    """
    if not isinstance(exponentiate, bool | np.bool_):
        raise TypeError(f"exponentiate={exponentiate!r} must be True or False")
    if not exponentiate:
        return None
    if family.ratio is not None:
        return family.ratio
    raise ValueError(
        "exponentiate=True is for log odds and logarithms of means, but coefficients of "
        f"{type(family).__name__} are changes of y itself: leave it out"
    )


def path_frame(path: Any) -> Any:
    """Return one row for each value along a path; of several classes, one for each of them.

    Examples
    --------
    >>> from horseshoe import horseshoe_path
    >>> path = horseshoe_path([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5], values=[1.0])
    >>> path_frame(path)[["tau", "n_selected", "status"]].values.tolist()
    [[1.0, 0, 'NOTHING_SELECTED']]
    """
    tables = []
    for value, model in zip(path.values.tolist(), path.estimators, strict=True):
        parts, labels = parts_of(model), part_labels(model)
        found: Columns = {path.over: [value] * len(parts)}
        if labels != [None]:
            found[part_kind(model)] = labels
        found["n_selected"] = [int(part.support_.sum()) for part in parts]
        found["expected_by_chance"] = [part.expected_by_chance_ for part in parts]
        found["n_iter"] = [part.n_iter_ for part in parts]
        found["status"] = [part.status_.name for part in parts]
        tables.append(found)
    return data_frame(tables, [None] * len(tables))
