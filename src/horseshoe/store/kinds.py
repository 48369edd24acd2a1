"""The types of what is in a model file, as the annotations of the code say them."""

from __future__ import annotations

import enum
import types
from dataclasses import fields, is_dataclass
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

Type = Any
"""An annotation: a class, a union, or a tuple, list, dict or array of such."""
WORDS: dict[Any, str] = {
    float: "number",
    int: "whole number",
    str: "text",
    bool: "true or false",
    type(None): "nothing",
}


def origin_of(kind: Type) -> Any:
    """Return the class behind an annotation with brackets; None if it has none.

    Examples
    --------
    >>> origin_of(tuple[int, ...])
    <class 'tuple'>
    """
    return get_origin(kind)


def parts_of(kind: Type) -> tuple[Type, ...]:
    """Return the types that a union is made of; none if it is no union.

    Examples
    --------
    >>> parts_of(int | None), parts_of(int)
    ((<class 'int'>, <class 'NoneType'>), ())
    """
    return get_args(kind) if origin_of(kind) in (Union, types.UnionType) else ()


def dtype_of(kind: Type) -> Any:
    """Return the type of the entries of an annotated array; None if it is no array.

    Examples
    --------
    >>> from horseshoe._types import Mask
    >>> dtype_of(Mask), dtype_of(int)
    (dtype('bool'), None)
    """
    return np.dtype(get_args(get_args(kind)[1])[0]) if origin_of(kind) is np.ndarray else None


def is_enum(kind: Type) -> bool:
    """Tell whether a type is one of names.

    Examples
    --------
    >>> from horseshoe import Status
    >>> is_enum(Status), is_enum(int)
    (True, False)
    """
    return isinstance(kind, type) and issubclass(kind, enum.Enum)


def item_kinds(kind: Type, n: int) -> tuple[Type, ...]:
    """Return the type of each of n items of a tuple or a list.

    Examples
    --------
    >>> item_kinds(tuple[int, ...], 2), item_kinds(tuple[int, str], 2)
    ((<class 'int'>, <class 'int'>), (<class 'int'>, <class 'str'>))
    """
    args = get_args(kind)
    if origin_of(kind) is list or (len(args) == 2 and args[1] is Ellipsis):
        return (args[0],) * n
    if len(args) != n:
        raise ValueError(f"{n} values are there, where {len(args)} belong")
    return args


def record(cls: Any, without: tuple[str, ...] = (), **others: Type) -> dict[str, Type]:
    """Return the fields of a named tuple or a dataclass with their types; ``others`` have other types.

    Examples
    --------
    >>> from horseshoe._types import Start
    >>> list(record(Start))
    ['mean', 'second_moment', 'expected_rss']
    """
    hints = get_type_hints(cls)
    names = [one.name for one in fields(cls)] if is_dataclass(cls) else list(cls._fields)
    return {name: hints[name] for name in names if name not in without} | others


def said(kind: Type) -> str:
    """Return a type in words.

    Examples
    --------
    >>> said(int | None)
    'whole number or nothing'
    """
    if parts_of(kind):
        return " or ".join(map(said, parts_of(kind)))
    if kind in WORDS:
        return WORDS[kind]
    dtype = dtype_of(kind)
    return str((origin_of(kind) or kind).__name__) if dtype is None else f"array of {dtype}"
