"""What a user knows of the columns: which belong together, are always in, or are likely to matter."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from horseshoe._types import Mask, Vector
from horseshoe.data.checks import read_array
from horseshoe.data.columns import column_label
from horseshoe.data.view import View

# A prior scale is at most this, and at least one over it.
WIDEST = 1e6
# What tells groups apart: `GROUP` and its label, or `ALONE` and the number of a column in none.
GROUP, ALONE = "group", "alone"
Key = tuple[str, Any]
OVERLAP = "for groups that overlap, give X the column once for each of them"


@dataclass(frozen=True, eq=False)
class Structure:
    """What is known of the columns of X; None where nothing is.

    Attributes
    ----------
    feature_groups : array of int of shape (p,), or None
        The number of the group of each column, from 0 on.
    names : tuple of str
        What the groups are called, by their numbers.
    unpenalized : bool array of shape (p,), or None
        The columns that are not shrunk.
    prior_scale : array of shape (p,), or None
        By what the prior standard deviation of each coefficient is multiplied.
    """

    feature_groups: NDArray[np.int64] | None = None
    names: tuple[str, ...] = ()
    unpenalized: Mask | None = None
    prior_scale: Vector | None = None

    def __repr__(self) -> str:
        """Tell one structure from another, in any process."""
        digest = hashlib.sha256()
        for part in (self.feature_groups, self.unpenalized, self.prior_scale):
            digest.update(b"-" if part is None else part.tobytes())
        return f"Structure({digest.hexdigest()[:16]})"


def check_structure(
    feature_groups: Any, unpenalized: Any, prior_scale: Any, columns: View
) -> Structure | None:
    """Return what is known of the columns, checked; None if that is nothing.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> found = check_structure({"left": [0, 2]}, [1], None, Dense(np.eye(3)))
    >>> found.feature_groups, found.names, found.unpenalized
    (array([0, 1, 0]), ('left', '1'), array([False,  True, False]))
    """
    if feature_groups is None and unpenalized is None and prior_scale is None:
        return None
    label, keys = _groups(feature_groups, columns)
    free = _unpenalized(unpenalized, columns)
    scale = _prior_scale(prior_scale, columns)
    if label is not None and free is not None:
        label, keys = _without(label, keys, free, columns)
    if label is None and free is None and scale is None:
        return None
    return Structure(label, _names(keys, columns), free, scale)


def _groups(groups: Any, columns: View) -> tuple[NDArray[np.int64] | None, tuple[Key, ...]]:
    """Return the number of each column's group, in the order in which they begin, and the key of each."""
    if groups is None:
        return None, ()
    keys = _from_names(groups, columns) if isinstance(groups, Mapping) else _from_labels(groups, columns)
    numbers: dict[Key, int] = {}
    label = np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)
    return (None, ()) if len(numbers) == len(keys) else (label, tuple(numbers))


def _names(keys: tuple[Key, ...], columns: View) -> tuple[str, ...]:
    """Return what groups are called: a column alone by its name or number, but never as a group is."""
    groups = {str(label) for kind, label in keys if kind == GROUP}
    alone = {_called(columns, j) for kind, j in keys if kind == ALONE}
    return tuple(
        str(label) if kind == GROUP else _apart(_called(columns, label), groups, alone)
        for kind, label in keys
    )


def _apart(name: str, groups: set[str], alone: set[str]) -> str:
    """Return the name of a column in no group, with "column" before it if a group is called the same."""
    if name in groups:
        while name in groups | alone:
            name = f"column {name}"
    return name


def _from_names(groups: Mapping[Any, Any], columns: View) -> list[Key]:
    """Return the key of each column's group from the columns of some; the others are alone."""
    keys: list[Key] = [(ALONE, j) for j in range(columns.shape[1])]
    taken: dict[int, Any] = {}
    for name, components in groups.items():
        places = _places(f"feature_groups[{name!r}]", components, columns)
        if not places:
            raise ValueError(
                f"feature_groups[{name!r}] is empty: give it at least one column, or leave it out"
            )
        for j in places:
            if j in taken:
                where = f"groups {taken[j]!r} and {name!r}" if taken[j] != name else f"group {name!r} twice"
                raise ValueError(f"{column_label(columns, j)} of X is in {where}: {OVERLAP}")
            taken[j] = name
            keys[j] = (GROUP, name)
    return keys


def _from_labels(groups: Any, columns: View) -> list[Key]:
    """Return the key of each column's group from its label; where that is None, it is alone."""
    p = columns.shape[1]
    if isinstance(groups, str | bytes):
        raise TypeError(
            f"feature_groups={groups!r} must be a label for each column of X, or a dict of lists of columns"
        )
    try:
        labels = list(groups.tolist() if isinstance(groups, np.ndarray) else groups)
        keys: list[Key] = [(GROUP, label) for label in labels]
        hash(tuple(keys))
    except TypeError:
        raise TypeError(
            f"feature_groups={groups!r} must be a label for each column of X, or a dict of lists of columns"
        ) from None
    if len(keys) != p:
        raise ValueError(
            f"feature_groups has {len(keys)} labels, but X has {p} columns: give one label for each column, "
            "or a dict of lists of columns"
        )
    for j, (_, label) in enumerate(keys):
        if label is None:
            keys[j] = (ALONE, j)
        elif label != label:
            raise ValueError(
                f"feature_groups has no label for {column_label(columns, j)} of X: it is {label}; use None"
            )
    return keys


def _unpenalized(unpenalized: Any, columns: View) -> Mask | None:
    """Return which columns are never shrunk."""
    if unpenalized is None:
        return None
    out = np.zeros(columns.shape[1], dtype=np.bool_)
    out[_places("unpenalized", unpenalized, columns)] = True
    return out if out.any() else None


def _prior_scale(prior_scale: Any, columns: View) -> Vector | None:
    """Return by what each prior standard deviation is multiplied; 1 where nothing is said."""
    if prior_scale is None:
        return None
    p = columns.shape[1]
    out: Vector = np.ones(p)
    if isinstance(prior_scale, Mapping):
        for key, value in prior_scale.items():
            (j,) = _places("prior_scale", [key], columns)
            out[j] = _number(value, columns, j)
    else:
        values = read_array("prior_scale", prior_scale)
        if values.ndim != 1 or values.size != p:
            raise ValueError(
                f"prior_scale has the shape {values.shape}, but X has {p} columns: give one positive "
                "number for each, or a dict of numbers by column"
            )
        out[:] = [_number(value, columns, j) for j, value in enumerate(values.tolist())]
    return out if (out != 1.0).any() else None


def _number(value: Any, columns: View, j: int) -> float:
    where = f"prior_scale of {column_label(columns, j)} of X is {value!r}"
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        raise TypeError(f"{where}: it must be a positive number")
    if not 1.0 / WIDEST <= value <= WIDEST:
        raise ValueError(
            f"{where}: it must be between {1.0 / WIDEST:g} and {WIDEST:g}; to leave a column out, take it "
            "from X, and to have it in without shrinkage, name it in unpenalized"
        )
    return float(value)


def _places(argument: str, components: Any, columns: View) -> list[int]:
    """Return the places of columns that are given by name or number, or as a mask."""
    p = columns.shape[1]
    if isinstance(components, str | int | np.integer):
        components = [components]
    try:
        items = list(components)
    except TypeError:
        raise TypeError(f"{argument}={components!r} must be a list of columns, by name or number") from None
    if items and all(isinstance(item, bool | np.bool_) for item in items):
        if len(items) != p:
            raise ValueError(f"{argument} is a mask of {len(items)} columns, but X has {p}")
        return np.flatnonzero(items).tolist()
    return [_place(argument, item, columns) for item in items]


def _place(argument: str, item: Any, columns: View) -> int:
    p, names = columns.shape[1], columns.names
    if isinstance(item, int | np.integer) and not isinstance(item, bool):
        if not 0 <= item < p:
            raise ValueError(f"{argument} has column {item}, but X has the columns 0 to {p - 1}")
        return int(item)
    if not isinstance(item, str):
        raise TypeError(f"{argument} has {item!r}: a column is given by its name or its number")
    if names is None:
        raise ValueError(f"{argument} has {item!r}, but the columns of X have no names: give their numbers")
    found = np.flatnonzero(np.asarray(names, dtype=object) == item)
    if not found.size:
        near = get_close_matches(item, map(str, names), n=1)
        hint = f": do you mean {near[0]!r}?" if near else ""
        raise ValueError(f"{argument} has {item!r}, which is no column of X{hint}")
    return int(found[0])


def _called(columns: View, j: int) -> str:
    return str(j) if columns.names is None else str(columns.names[j])


def _without(
    label: NDArray[np.int64], keys: tuple[Key, ...], free: Mask, columns: View
) -> tuple[NDArray[np.int64] | None, tuple[Key, ...]]:
    """Refuse a group of which only some columns are always in; those that all are need no group."""
    for number in np.unique(label[free]).tolist():
        own = label == number
        if own.sum() > 1 and not free[own].all():
            inside, outside = (int(np.flatnonzero(own & part)[0]) for part in (free, ~free))
            name = keys[number][1]
            group = repr(str(name)) if isinstance(name, str) else str(name)
            raise ValueError(
                f"{column_label(columns, inside)} of X is always in, and {column_label(columns, outside)} of "
                f"its group {group} is not: name all columns of a group in unpenalized, or none"
            )
    return (label, keys) if (np.bincount(label[~free]) > 1).any() else (None, ())
