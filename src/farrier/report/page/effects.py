"""What a fitted model says of its columns, one regression at a time: what table, words and pictures share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farrier._types import Mask, Vector
from farrier.families import Family
from farrier.report.tables import feature_names

INTERCEPT = "(Intercept)"


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
        return self.family.is_binary or self.family.log_link

    @property
    def spread(self) -> Vector:
        """Half the width of each interval."""
        return np.asarray(0.5 * (self.upper - self.lower))

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
    model: Any, X: Any, level: float = 0.95, terms: Mapping[str, str] | None = None, method: str = "auto"
) -> list[Effects]:
    """Return what a model says of its columns: one entry, or one for each of several classes.

    ``method`` is that of the intervals, where the model has a choice.

    Examples
    --------
    >>> from farrier import HorseshoeRegressor
    >>> x = np.arange(20.0)
    >>> (found,) = effects_of(HorseshoeRegressor().fit(x[:, None], 3.0 * x + np.cos(x)), x[:, None])
    >>> found.names, found.coef.round(1), found.selected
    (['x0'], array([3.]), array([ True]))
    """
    options = {} if is_average(model) else {"method": method}
    frame = model.summary(level, **options)
    frame = frame[frame["feature"] != INTERCEPT] if len(frame) > model.n_features_in_ else frame
    parts = getattr(model, "estimators_", None) or [model]
    labels = [None] if len(parts) == 1 else [str(label) for label in model.classes_.tolist()]
    size, scale = model.n_features_in_, _scale(model, X)
    tables = [frame.iloc[k * size : (k + 1) * size] for k in range(len(parts))]
    names = feature_names(model)
    known = terms or {}
    users = [known.get(name, name) for name in names]
    return [
        Effects(part, label, names, users, **_columns(table, scale))
        for part, label, table in zip(parts, labels, tables, strict=True)
    ]


def is_average(model: Any) -> bool:
    """Tell whether the model is an average over members, and not a single mode."""
    return hasattr(model, "members_")


def _columns(table: Any, scale: Vector) -> dict[str, Any]:
    def column(name: str) -> Vector | None:
        return np.asarray(table[name], dtype=float) if name in table.columns else None

    coef = np.asarray(table["coef"], dtype=float)
    per_sd = column("per_sd")
    return {
        "coef": coef,
        "lower": column("lower"),
        "upper": column("upper"),
        "per_sd": coef * scale if per_sd is None else per_sd,
        "selected": np.asarray(table["selected"], dtype=bool),
        "inclusion": column("inclusion"),
        "shrinkage": column("shrinkage"),
        "sparse": column("sparse_coef"),
    }


def _scale(model: Any, X: Any) -> Vector:
    """Return the standard deviations of the columns."""
    if hasattr(model, "scale_"):
        return np.asarray(model.scale_)
    return np.asarray(np.asarray(X, dtype=float).std(axis=0))
