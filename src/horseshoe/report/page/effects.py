"""The effects of the columns of a fitted model, one regression at a time: for table, words and pictures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from horseshoe._types import Mask, Vector
from horseshoe.families import Family
from horseshoe.report.parts import feature_names, is_average, part_labels, parts_of
from horseshoe.report.tables import coefficient_columns

# The attributes of `Effects`, and the columns of the table that they hold.
COLUMNS = {name: name for name in ("coef", "lower", "upper", "per_sd", "selected", "inclusion", "shrinkage")}
COLUMNS["sparse"] = "sparse_coef"


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
        return self.family.ratio is not None

    @property
    def null(self) -> str:
        """The text of the null value, no effect: 0 of a coefficient, 1 of a ratio."""
        return "1" if self.is_ratio else "zero"

    @property
    def uncertain(self) -> Mask:
        """The selected columns whose interval includes the null value."""
        return np.asarray(self.selected & (self.lower <= 0.0) & (self.upper >= 0.0))

    def ranked(self, which: Mask | None = None) -> list[int]:
        """Return the places of some columns or of all: the selected first, of each kind the strongest first.

        Examples
        --------
        >>> values = np.array([1.0, -3.0, 2.0])
        >>> some = np.array([True, False, True])
        >>> Effects(None, None, ["a"] * 3, ["a"] * 3, values, values, values, values, some).ranked()
        [2, 0, 1]
        """
        order: list[int] = np.lexsort((-np.abs(self.per_sd), ~self.selected)).tolist()
        return order if which is None else [j for j in order if which[j]]

    def terms_of(self, places: Iterable[int]) -> list[str]:
        """Return the user's columns that some columns stand for, each once."""
        return list(dict.fromkeys(self.terms[j] for j in places))


def effects_of(
    model: Any, level: float = 0.95, terms: Mapping[str, str] | None = None, method: str = "auto"
) -> list[Effects]:
    """Return the columns of a model with their effects: one entry, or one for each of several classes.

    ``terms`` say which of the user's columns each column stands for, where the names differ; ``method`` is
    that of the intervals, where the model has a choice.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> x = np.arange(20.0)
    >>> (found,) = effects_of(HorseshoeRegressor().fit(x[:, None], 3.0 * x + np.cos(x)))
    >>> found.names, found.coef.round(1), found.selected
    (['x0'], array([3.]), array([ True]))
    """
    names, found = feature_names(model), []
    users = [(terms or {}).get(name, name) for name in names]
    for part, label in zip(parts_of(model), part_labels(model), strict=True):
        table = coefficient_columns(part, level, method="auto" if is_average(part) else method)
        last = {name: values[-len(names) :] for name, values in table.items()}  # without the intercept
        known: dict[str, Any] = {field: last.get(column) for field, column in COLUMNS.items()}
        found.append(Effects(part, None if label is None else str(label), names, users, **known))
    return found
