"""What was known of the columns, in tables: their groups, and which are always in."""

from __future__ import annotations

from typing import Any

import numpy as np

from horseshoe._types import Mask, Vector
from horseshoe.data.structure import Structure


def structure_of(model: Any) -> Structure:
    """Return what was known of the columns of a regression; nothing if nothing was.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> structure_of(HorseshoeRegressor().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5])).feature_groups is None
    True
    """
    return getattr(model._fitted, "structure", None) or Structure()


def known_columns(model: Any) -> dict[str, Any]:
    """Return the columns ``group`` and ``unpenalized`` of a table, those of them that are known."""
    known, found = structure_of(model), dict[str, Any]()
    if known.feature_groups is not None:
        found["group"] = np.array([known.names[number] for number in known.feature_groups], dtype=object)
    if known.unpenalized is not None:
        found["unpenalized"] = known.unpenalized
    return found


def group_columns(model: Any) -> dict[str, Any]:
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
    known, p = structure_of(model), model.n_features_in_
    label = np.arange(p) if known.feature_groups is None else known.feature_groups
    given = getattr(model, "feature_names_in_", np.arange(p))
    names = tuple(map(str, given)) if known.feature_groups is None else known.names
    numbers, size = np.unique(label, return_counts=True)
    found = {
        "group": np.array([names[number] for number in numbers], dtype=object),
        "size": size,
        "norm": np.sqrt(np.bincount(label, (model.coef_ * model.scale_) ** 2, minlength=numbers.size)),
    }
    if hasattr(model, "inclusion_"):
        found["inclusion"] = _largest(label, numbers.size, model.inclusion_)
    if known.unpenalized is not None:
        found["unpenalized"] = _any(label, numbers.size, known.unpenalized)
    return found | {"selected": _any(label, numbers.size, model.support_)}


def _any(label: Any, size: int, which: Mask) -> Mask:
    return np.asarray(np.bincount(label[which], minlength=size) > 0)


def _largest(label: Any, size: int, values: Vector) -> Vector:
    out: Vector = np.zeros(size)
    np.maximum.at(out, label, values)
    return out
