"""Tables of a fit, for people."""

from __future__ import annotations

from typing import Any

import numpy as np

from farrier._extras import require
from farrier.report.model import FittedClasses, FittedModel, FittedPath


def feature_names(model: FittedModel | FittedClasses) -> list[str]:
    """Return the column names of the training data, or x0, x1, ...

    Examples
    --------
    >>> from farrier import HorseshoeRegressor
    >>> feature_names(HorseshoeRegressor().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5]))
    ['x0']
    """
    names = getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(model.n_features_in_)] if names is None else [str(name) for name in names]


def coefficient_table(model: FittedModel, level: float, method: str = "auto") -> Any:
    """Return one row for each column of X, in the user's units and order.

    Where columns are tied, ``alias_of`` names the one that stands for each.

    Examples
    --------
    >>> from farrier import HorseshoeRegressor
    >>> model = HorseshoeRegressor().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5])
    >>> list(coefficient_table(model, level=0.95).columns)
    ['feature', 'coef', 'std', 'lower', 'upper', 'shrinkage', 'selected']
    """
    interval = model.coef_interval(level, method=method)
    pandas = require("pandas", extra="pandas")
    table = pandas.DataFrame(
        {
            "feature": np.array(feature_names(model), dtype=object),
            "coef": model.coef_,
            "std": model.coef_std_,
            "lower": interval[:, 0],
            "upper": interval[:, 1],
            "shrinkage": model.shrinkage_,
            "selected": model.support_,
        }
    )
    if model.aliases_:
        lead = {str(later): str(first) for first, tied in model.aliases_.items() for later in tied}
        names = table["feature"] if hasattr(model, "feature_names_in_") else map(str, range(len(table)))
        table["alias_of"] = np.array([lead.get(str(name), "") for name in names], dtype=object)
    return table


def class_table(model: FittedClasses, level: float, method: str = "auto") -> Any:
    """Return the rows of every class below each other, with the class in front.

    Examples
    --------
    >>> from farrier import HorseshoeClassifier
    >>> X = [[0.0], [0.1], [1.0], [1.1], [2.0], [2.1]]
    >>> class_table(HorseshoeClassifier().fit(X, list("aabbcc")), level=0.95, method="mode")["class"].tolist()
    ['a', 'b', 'c']
    """
    pandas = require("pandas", extra="pandas")
    tables = []
    for label, regression in zip(model.classes_.tolist(), model.estimators_, strict=True):
        table = coefficient_table(regression, level, method)
        table["feature"] = np.array(feature_names(model), dtype=object)
        table.insert(0, "class", [label] * len(table))
        tables.append(table)
    return pandas.concat(tables, ignore_index=True)


def average_table(model: Any, level: float) -> Any:
    """Return one row for each column of X: the average, its interval, inclusion, and the sparse answer.

    Examples
    --------
    >>> from farrier import HorseshoeRegressorCV
    >>> x = np.arange(20.0)
    >>> table = average_table(HorseshoeRegressorCV(cv=5).fit(x[:, None], x + np.sin(x)), level=0.95)
    >>> table.columns.tolist(), [name for name, _ in table.attrs["member_weights"]][:2]
    (['feature', 'coef', 'lower', 'upper', 'inclusion', 'sparse_coef', 'selected'], ['mean', 'ridge'])
    """
    interval = model.coef_interval(level)
    pandas = require("pandas", extra="pandas")
    table = pandas.DataFrame(
        {
            "feature": np.array(feature_names(model), dtype=object),
            "coef": model.coef_,
            "lower": interval[:, 0],
            "upper": interval[:, 1],
            "inclusion": model.inclusion_,
            "sparse_coef": model.sparse_coef_,
            "selected": model.support_,
        }
    )
    table.attrs["member_weights"] = [(row.name, row.weight) for row in model.members_]
    return table


def average_class_table(model: Any, level: float) -> Any:
    """Return the rows of every class below each other, with the class in front.

    Examples
    --------
    >>> from farrier import HorseshoeClassifierCV
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2], [2.0], [2.1], [2.2]]
    >>> model = HorseshoeClassifierCV(cv=3).fit(X, list("aaabbbccc"))
    >>> average_class_table(model, level=0.95)["class"].tolist()
    ['a', 'b', 'c']
    """
    pandas = require("pandas", extra="pandas")
    tables = []
    for label, regression in zip(model.classes_.tolist(), model.estimators_, strict=True):
        table = average_table(regression, level)
        table.attrs = {}
        table.insert(0, "class", [label] * len(table))
        tables.append(table)
    return pandas.concat(tables, ignore_index=True)


def path_table(path: FittedPath) -> Any:
    """Return one row for each value along a path; of several classes, one for each of them.

    Examples
    --------
    >>> from farrier import horseshoe_path
    >>> path = horseshoe_path([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5], values=[1.0])
    >>> path_table(path)[["tau", "n_selected", "status"]].values.tolist()
    [[1.0, 0, 'NOTHING_SELECTED']]
    """
    pandas = require("pandas", extra="pandas")
    rows = []
    for value, model in zip(path.values.tolist(), path.estimators, strict=True):
        parts = getattr(model, "estimators_", [model])
        labels = [{"class": label} for label in model.classes_.tolist()] if len(parts) > 1 else [{}]
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
