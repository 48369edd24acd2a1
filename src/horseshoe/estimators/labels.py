"""The labels of classes as plain data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

# The types of labels that a model file takes: booleans, numbers, text, and objects that are one of these.
DTYPE = re.compile(r"[|<>]?(b1|[iu][1248]|f[248]|U[1-9][0-9]{0,3})|O")
# Text comes before numbers: the labels "NaN" and "Infinity" are written as NaN and infinities are.
Label = bool | int | str | float


@dataclass(frozen=True)
class Labels:
    """Labels in their order, and the type of the array that they were.

    Examples
    --------
    >>> labels = Labels.of(np.array(["no", "yes"]))
    >>> labels.values, labels.array()
    (('no', 'yes'), array(['no', 'yes'], dtype='<U3'))
    """

    dtype: str
    values: tuple[Label, ...]

    @classmethod
    def of(cls, classes: Any) -> Labels:
        """Return the labels of an array."""
        listed, dtype = classes.tolist(), "O" if classes.dtype == object else classes.dtype.str
        plain = all(type(label) in (bool, int, float, str) for label in listed)
        if not plain or not DTYPE.fullmatch(dtype):
            raise TypeError(
                f"the labels {listed!r:.100} (of type {classes.dtype}) cannot be saved: a model file takes "
                "booleans, numbers and text; fit with such labels"
            )
        return cls(dtype, tuple(listed))

    def __post_init__(self) -> None:
        if not self.values or not DTYPE.fullmatch(self.dtype):
            raise ValueError(f"{len(self.values)} labels of type {self.dtype!r:.40} are no classes")
        self.array()

    def array(self) -> Any:
        """Return the array, or say that these are no different labels of this type."""
        try:
            found = np.array(self.values, dtype=self.dtype)
        except (OverflowError, ValueError, TypeError) as error:
            raise ValueError(f"the labels are not of type {self.dtype!r}: {error}") from None
        same = found.tolist() == list(self.values) and [*map(type, found.tolist())] == [
            *map(type, self.values)
        ]
        if not same or len(set(self.values)) < len(self.values):
            raise ValueError(f"the labels are not different ones of type {self.dtype!r}")
        return found
