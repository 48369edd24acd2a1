"""What a fitted model says of its columns, one regression at a time: what table, words and pictures share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from horseshoe._types import Mask, Vector
from horseshoe.families import Family
from horseshoe.report.model import part_labels, parts_of
from horseshoe.report.tables import average_columns, feature_names, has_ratios, mode_columns


@dataclass(frozen=True)
class Effects:
    """The columns of one regression, in the order of X.

    Attributes
    ----------
    model : Any
        The regression.
    label : str or None
        The class whose odds it explains, of more than two.
    names, terms : list of str
        The columns of X, and those of the user's data that they stand for.
    coef, lower, upper, per_sd : arrays
        In the units of the linear predictor.
    selected : bool array
    inclusion, shrinkage, sparse : array or None
        What the averaged model, or the mode, has beside.
    """

    model: Any
    label: str | None
    names: list[str]
    terms: list[str]
    coef: Vector
    lower: Vector
    upper: Vector
    per_sd: Vector
    selected: Mask
    inclusion: Vector | None = None
    shrinkage: Vector | None = None
    sparse: Vector | None = None

    @property
    def family(self) -> Family:
        """The distribution of y."""
        family: Family = self.model.family_
        return family

    @property
    def is_ratio(self) -> bool:
        """Whether exp of a coefficient is what people read: a ratio of odds or of means."""
        return has_ratios(self.family)

    def is_zero(self, j: int) -> bool:
        """Tell whether a coefficient is exactly zero and has no interval."""
        return bool(self.coef[j] == self.lower[j] == self.upper[j] == 0.0)

    def strongest(self) -> NDArray[np.intp]:
        """Return the places of the columns: the selected first, and of each kind the strongest first.

        Examples
        --------
        >>> values = np.array([1.0, -3.0, 2.0])
        >>> some = np.array([True, False, True])
        >>> Effects(None, None, ["a"] * 3, ["a"] * 3, values, values, values, values, some).strongest()
        array([2, 0, 1])
        """
        return np.lexsort((-np.abs(self.per_sd), ~self.selected))


def effects_of(
    model: Any, level: float = 0.95, terms: Mapping[str, str] | None = None, method: str = "auto"
) -> list[Effects]:
    """Return what a model says of its columns: one entry, or one for each of several classes.

    ``method`` is that of the intervals, where the model has a choice.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> x = np.arange(20.0)
    >>> (found,) = effects_of(HorseshoeRegressor().fit(x[:, None], 3.0 * x + np.cos(x)))
    >>> found.names, found.coef.round(1), found.selected
    (['x0'], array([3.]), array([ True]))
    """
    parts, names = parts_of(model), feature_names(model)
    labels = [None if label is None else str(label) for label in part_labels(model)]
    users = [(terms or {}).get(name, name) for name in names]
    return [
        Effects(part, label, names, users, **_columns(part, level, method))
        for part, label in zip(parts, labels, strict=True)
    ]


def is_average(model: Any) -> bool:
    """Tell whether the model is an average over components, and not a single mode."""
    return hasattr(model, "components_")


def _columns(part: Any, level: float, method: str) -> dict[str, Any]:
    """Return the columns of the summary, without the row of the intercept."""
    table = average_columns(part, level) if is_average(part) else mode_columns(part, level, method=method)
    last = {name: values[-part.n_features_in_ :] for name, values in table.items()}
    known = {name: last[name] for name in ("coef", "lower", "upper", "per_sd", "selected")}
    beside = {"inclusion": "inclusion", "shrinkage": "shrinkage", "sparse": "sparse_coef"}
    return known | {name: last.get(column) for name, column in beside.items()}
