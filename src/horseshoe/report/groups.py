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
    >>> structure_of(HorseshoeRegressor().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5])).groups is None
    True
    """
    return getattr(model._fitted, "structure", None) or Structure()


def known_columns(model: Any) -> dict[str, Any]:
    """Return the columns of a table that say what was known, ``group`` and ``always``, if anything was."""
    known, found = structure_of(model), dict[str, Any]()
    if known.groups is not None:
        found["group"] = np.array([known.names[number] for number in known.groups], dtype=object)
    if known.always is not None:
        found["always"] = known.always
    return found


def group_columns(model: Any) -> dict[str, Any]:
    """Return the table of a regression by group: size, joint effect, and whether it is selected.

    ``norm`` is the root of the sum of squares of the effects of one standard deviation of each column;
    columns without a group are one each.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> x = np.random.default_rng(0).standard_normal((50, 3))
    >>> model = HorseshoeRegressor(groups={"pair": [0, 1]}).fit(x, x @ [3.0, 4.0, 0.0] + 0.1 * x[:, 2] ** 2)
    >>> {name: values.tolist() for name, values in group_columns(model).items() if name != "norm"}
    {'group': ['pair', '2'], 'size': [2, 1], 'selected': [True, False]}
    """
    known, p = structure_of(model), model.n_features_in_
    label = np.arange(p) if known.groups is None else known.groups
    given = getattr(model, "feature_names_in_", np.arange(p))
    names = tuple(map(str, given)) if known.groups is None else known.names
    numbers, size = np.unique(label, return_counts=True)
    found = {
        "group": np.array([names[number] for number in numbers], dtype=object),
        "size": size,
        "norm": np.sqrt(np.bincount(label, (model.coef_ * model.scale_) ** 2, minlength=numbers.size)),
    }
    if hasattr(model, "inclusion_"):
        found["inclusion"] = _largest(label, numbers.size, model.inclusion_)
    if known.always is not None:
        found["always"] = _any(label, numbers.size, known.always)
    return found | {"selected": _any(label, numbers.size, model.support_)}


def _any(label: Any, size: int, which: Mask) -> Mask:
    return np.asarray(np.bincount(label[which], minlength=size) > 0)


def _largest(label: Any, size: int, values: Vector) -> Vector:
    out: Vector = np.zeros(size)
    np.maximum.at(out, label, values)
    return out
