"""Values as JSON and back, by their types: what a field may hold is what its annotation says.

The annotations of named tuples and dataclasses are the schema. Reading builds nothing but the classes of a
closed `Registry`, and each of them from exactly its fields, each of the type it is annotated with.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, field, is_dataclass
from typing import Any, get_args

import numpy as np

from horseshoe.store.arrays import (
    NOT_FINITE,
    Budget,
    decode_array,
    decode_number,
    encode_array,
    encode_number,
)
from horseshoe.store.kinds import Type, dtype_of, is_enum, item_kinds, origin_of, parts_of, said

CLASS = "class"
"""The field that names the class of an object where several may stand."""


@dataclass(frozen=True)
class Registry:
    """All that may be in a file.

    Attributes
    ----------
    records : dict
        Classes, with their fields and the types of these, as `horseshoe.store.kinds.record` has them.
    choices : dict
        For a base class or protocol the classes that may stand for it; they are written with their names.
    makers : dict
        What makes an object of a class of its fields, where it is not the class itself.

    Examples
    --------
    >>> Registry({}).encode((1, 2.0), tuple[int, float], "pair")
    [1, 2.0]
    >>> Registry({}).decode([1, 2.0], tuple[int, float], "pair", Budget(0))
    (1, 2.0)
    """

    records: dict[Any, dict[str, Type]]
    choices: dict[Any, tuple[Any, ...]] = field(default_factory=dict)
    makers: dict[Any, Callable[[dict[str, Any]], Any]] = field(default_factory=dict)

    # --- to JSON ------------------------------------------------------------------------------------------

    def encode(self, value: Any, kind: Type, place: str) -> Any:
        """Return a value of this type as JSON has it; ``place`` says where it is, for the error.

        Examples
        --------
        >>> Registry({}).encode("2", int | None, "count")
        Traceback (most recent call last):
        TypeError: count='2' is not whole number or nothing, and cannot be saved
        """
        if parts_of(kind):
            kind = self._part(value, kind)
        if kind in self.choices:
            return self._encode_choice(value, kind, place)
        if not self._is(value, kind):
            raise TypeError(f"{place}={value!r:.200} is not {said(kind)}, and cannot be saved")
        if kind in self.records:
            hints = self.records[kind].items()
            return {name: self.encode(getattr(value, name), hint, name) for name, hint in hints}
        return self._encode_plain(value, kind, place)

    def _part(self, value: Any, kind: Type) -> Type:
        """Return the part of a union that a value is of; that of objects if it is an object of a user's."""
        parts = parts_of(kind)
        fits = [part for part in parts if self._is(value, part)]
        if not fits and not isinstance(value, str | int | float | tuple | list | dict | None):
            fits = [part for part in parts if part in self.choices]
        return fits[0] if fits else kind

    def _is(self, value: Any, kind: Type) -> bool:
        """Tell whether a value is of a type that is no union."""
        dtype = dtype_of(kind)
        if kind in self.choices:
            return type(value) in self.choices[kind]
        if kind in self.records:
            return type(value) is kind
        if dtype is not None:  # how wide whole numbers are differs from machine to machine
            found = value.dtype if isinstance(value, np.ndarray) else None
            return found is not None and (found == dtype or found.kind == dtype.kind == "i")
        if kind in (int, float):
            wide = int | np.integer if kind is int else int | float | np.integer | np.floating
            return isinstance(value, wide) and not isinstance(value, bool)
        if kind is bool:
            return isinstance(value, bool | np.bool_)
        return not parts_of(kind) and isinstance(value, origin_of(kind) or kind)

    def _encode_choice(self, value: Any, kind: Type, place: str) -> Any:
        cls = type(value)
        if cls not in self.choices[kind]:
            raise TypeError(
                f"{place}={value!r:.200} is not of horseshoe itself, and a model file holds data, never "
                "code: keep such a model as a pickle, together with the code of the class"
            )
        return {CLASS: cls.__name__, **self.encode(value, cls, place)}

    def _encode_plain(self, value: Any, kind: Type, place: str) -> Any:
        if isinstance(value, np.ndarray):
            return encode_array(value)
        if isinstance(value, dict):
            pair = tuple.__class_getitem__(get_args(kind))
            return [self.encode(item, pair, place) for item in value.items()]
        if isinstance(value, tuple | list):
            kinds = enumerate(item_kinds(kind, len(value)))
            return [self.encode(value[i], one, f"{place}[{i}]") for i, one in kinds]
        if isinstance(value, enum.Enum):
            return value.name
        if kind in (float, int):
            return encode_number(value)
        return bool(value) if kind is bool else value

    # --- and back -----------------------------------------------------------------------------------------

    def decode(self, content: Any, kind: Type, place: str, budget: Budget) -> Any:
        """Return the value of this type that JSON has, or raise ValueError with the place.

        Examples
        --------
        >>> Registry({}).decode([1, "a"], tuple[int, ...], "fitted.pair", Budget(0))
        Traceback (most recent call last):
        ValueError: fitted.pair[1]: 'a' is not whole number
        """
        if parts_of(kind):
            fits = [part for part in parts_of(kind) if self._could_be(content, part)]
            if not fits:
                raise ValueError(f"{place}: {content!r:.60} is not {said(kind)}")
            kind = fits[0]
        if kind in self.choices:
            return self._decode_choice(content, kind, place, budget)
        if kind in self.records:
            return self._decode_record(content, kind, place, budget)
        if origin_of(kind) in (tuple, list, dict):
            return self._decode_several(content, kind, place, budget)
        try:
            return _decode_plain(content, kind, budget)
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from None

    def _could_be(self, content: Any, kind: Type) -> bool:
        """Tell whether JSON of this shape can be of this type: a number, a text, a list, an object."""
        if kind in self.choices or kind in self.records:
            return isinstance(content, dict)
        if kind is float:
            return type(content) in (int, float) or (isinstance(content, str) and content in NOT_FINITE)
        if kind in (int, bool, str, type(None)):
            return type(content) is kind
        if is_enum(kind):
            return isinstance(content, str)
        return isinstance(content, list) or (dtype_of(kind) is not None and isinstance(content, dict))

    def _decode_choice(self, content: Any, kind: Type, place: str, budget: Budget) -> Any:
        if not isinstance(content, dict) or not isinstance(content.get(CLASS), str):
            raise ValueError(f"{place}: {content!r:.60} is not a {said(kind)}: an object with {CLASS!r}")
        names, name = {cls.__name__: cls for cls in self.choices[kind]}, content[CLASS]
        if name not in names:
            raise ValueError(f"{place}: the {CLASS} {name!r:.60} is not known here: {', '.join(names)} are")
        rest = {key: value for key, value in content.items() if key != CLASS}
        return self._decode_record(rest, names[name], place, budget)

    def _decode_record(self, content: Any, cls: Any, place: str, budget: Budget) -> Any:
        hints = self.records[cls]
        check_fields(content, tuple(hints), place)
        found = {
            name: self.decode(content[name], hint, f"{place}.{name}", budget) for name, hint in hints.items()
        }
        try:
            return self.makers[cls](found) if cls in self.makers else _made(cls, found)
        except (ValueError, TypeError) as error:
            raise ValueError(f"{place}: {error}") from None

    def _decode_several(self, content: Any, kind: Type, place: str, budget: Budget) -> Any:
        if not isinstance(content, list):
            raise ValueError(f"{place}: {content!r:.60} is not {said(kind)}")
        origin = origin_of(kind)
        if origin is dict:
            pair = tuple.__class_getitem__(get_args(kind))
            pairs = [self.decode(one, pair, f"{place}[{i}]", budget) for i, one in enumerate(content)]
            if len(dict(pairs)) < len(pairs):
                raise ValueError(f"{place}: a key stands twice")
            return dict(pairs)
        try:
            kinds = enumerate(item_kinds(kind, len(content)))
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from None
        return origin(self.decode(content[i], one, f"{place}[{i}]", budget) for i, one in kinds)


def check_fields(content: Any, names: tuple[str, ...], place: str) -> None:
    """Refuse what is not an object with exactly these fields.

    Examples
    --------
    >>> check_fields({"a": 1}, ("a", "b"), "fitted")
    Traceback (most recent call last):
    ValueError: fitted: the field 'b' is missing
    """
    if not isinstance(content, dict):
        raise ValueError(f"{place}: {content!r:.60} is not an object with the fields {', '.join(names)}")
    for name in names:
        if name not in content:
            raise ValueError(f"{place}: the field {name!r} is missing")
    for name in content:
        if name not in names:
            raise ValueError(f"{place}: the field {name!r:.60} is not known")


def _made(cls: Any, found: dict[str, Any]) -> Any:
    """Return an object of its fields: of a dataclass whatever its constructor asks for, but checked by it."""
    if not is_dataclass(cls):
        return cls(**found)
    made: Any = cls.__new__(cls)  # type: ignore[arg-type]
    for name, value in found.items():
        object.__setattr__(made, name, value)
    if hasattr(made, "__post_init__"):
        made.__post_init__()
    return made


def _decode_plain(content: Any, kind: Type, budget: Budget) -> Any:
    if dtype_of(kind) is not None:
        return decode_array(content, dtype_of(kind), budget)
    if kind is float:
        return decode_number(content)
    if is_enum(kind):
        if not isinstance(content, str) or content not in kind.__members__:
            raise ValueError(f"{content!r:.60} is none of {', '.join(kind.__members__)}")
        return kind[content]
    if type(content) is not kind:
        raise ValueError(f"{content!r:.60} is not {said(kind)}")
    return content
