"""Values as JSON and back, by their types: what a field may hold is what its annotation says.

The annotations of named tuples and dataclasses are the schema. Reading builds only classes that are annotated
or listed, each from exactly its fields, each field of its type. Models and recipes are written so. The state
of a fit has no schema, its type is ``Any``: objects have the names of their classes, arrays are put aside.
"""

from __future__ import annotations

import enum
import math
import types
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any, Union, get_args, get_origin, get_type_hints

import numpy as np

from horseshoe.store.arrays import decode_array, decode_number, encode_array, encode_number
from horseshoe.store.text import LARGEST_WHOLE

# An annotation: a class, a union, or a tuple, list, dict or array of such.
Type = Any
# The field for the class of an object where several may stand, and that for an array that was put aside.
CLASS, ARRAY = "class", "array"
# Numbers that JSON would change, where there is no schema: they are written with the name of their type.
AS_TEXT: dict[str, type] = {"float": float, "float64": np.float64, "int": int}


# Plain types: their names for people, and which values are of them.
PLAIN: dict[Any, tuple[str, Any]] = {
    float: ("number", int | float | np.integer | np.floating),
    int: ("whole number", int | np.integer),
    str: ("text", str),
    bool: ("true or false", bool | np.bool_),
    type(None): ("nothing", type(None)),
}


@dataclass(frozen=True, eq=False)
class Codec:
    """All that may be in a file.

    Attributes
    ----------
    choices : dict
        For a base class or protocol the classes that may stand for it; they are written with their names.
    types : dict
        For a class the types of fields that are annotated otherwise.
    unsaved : dict
        For a class the fields that are not written, and their values after reading.
    arrays : dict, optional
        The arrays that are put aside, by their places; None where all values must have a type.

    Examples
    --------
    >>> Codec().encode((1, 2.0), tuple[int, float], "pair")
    [1, 2.0]
    >>> Codec().decode([1, "a"], tuple[int, ...], "fitted.pair")
    Traceback (most recent call last):
    ValueError: fitted.pair[1]: 'a' is not whole number
    """

    choices: dict[Any, tuple[Any, ...]] = field(default_factory=dict)
    types: dict[Any, dict[str, Type]] = field(default_factory=dict)
    unsaved: dict[Any, dict[str, Any]] = field(default_factory=dict)
    arrays: dict[str, Any] | None = None

    def fields_of(self, kind: Any) -> dict[str, Type]:
        """Return the fields of a class that are written, and their types."""
        hints = {**hints_of(kind), **self.types.get(kind, {})}
        return {name: hint for name, hint in hints.items() if name not in self.unsaved.get(kind, {})}

    # --- to JSON ------------------------------------------------------------------------------------------

    def encode(self, value: Any, kind: Type, place: str) -> Any:
        """Return a value of this type as JSON has it; ``place`` says where it is, for the error.

        Examples
        --------
        >>> Codec().encode("2", int | None, "count")
        Traceback (most recent call last):
        TypeError: count='2' is not whole number, and cannot be saved
        """
        for part in parts_of(kind):  # the first part of a union that the value is of
            try:
                return self._encode_part(value, part, place)
            except TypeError as error:
                refusal = error
        raise refusal

    def _encode_part(self, value: Any, kind: Type, place: str) -> Any:
        if kind is Any and self.arrays is not None:
            return self._encode_any(value, place, self.arrays)
        if kind in self.choices:
            return self._encode_choice(value, kind, place)
        if not _is_instance(value, kind):
            raise TypeError(f"{place}={value!r:.200} is not {type_name(kind)}, and cannot be saved")
        if isinstance(value, np.ndarray):
            return encode_array(value)
        if is_record(kind):
            hints = self.fields_of(kind).items()
            return {name: self.encode(getattr(value, name), hint, f"{place}.{name}") for name, hint in hints}
        if isinstance(value, dict):
            return self.encode(tuple(value.items()), pairs_of(kind), place)
        if isinstance(value, tuple | list):
            kinds = enumerate(item_kinds(kind, len(value)))
            return [self.encode(value[i], one, f"{place}[{i}]") for i, one in kinds]
        if isinstance(value, enum.Enum):
            return value.name
        return encode_number(value) if kind in (int, float) else bool(value) if kind is bool else value

    def _encode_choice(self, value: Any, kind: Type, place: str) -> Any:
        cls = type(value)
        if cls not in self.choices[kind]:
            raise TypeError(
                f"{place}={value!r:.200} is not of horseshoe itself, and a model file holds data, never "
                "code: keep such a model as a pickle, together with the code of the class"
            )
        return {CLASS: cls.__name__, **self.encode(value, cls, place)}

    def _encode_any(self, value: Any, place: str, arrays: dict[str, Any]) -> Any:
        if isinstance(value, np.ndarray | np.generic) and not isinstance(value, np.float64):
            if value.dtype == object:
                raise TypeError(f"an array of objects is in {place}")
            arrays[place] = np.asarray(value)
            return {ARRAY: place}
        exact = isinstance(value, np.float64) or (type(value) is float and not math.isfinite(value))
        if exact or (type(value) is int and abs(value) >= LARGEST_WHOLE):
            return {type(value).__name__: repr(value.item() if isinstance(value, np.generic) else value)}
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if hasattr(value, "_asdict"):
            value = {CLASS: type(value).__name__, **value._asdict()}
        if isinstance(value, dict):
            return {name: self._encode_any(one, f"{place}/{name}", arrays) for name, one in value.items()}
        if isinstance(value, tuple | list):
            return [self._encode_any(one, f"{place}/{i}", arrays) for i, one in enumerate(value)]
        raise TypeError(f"a {type(value).__name__} is in {place}")

    # --- and back -----------------------------------------------------------------------------------------

    def decode(self, content: Any, kind: Type, place: str) -> Any:
        """Return the value of this type that JSON has, or raise ValueError with the place.

        Examples
        --------
        >>> Codec().decode("2", int | None, "count")
        Traceback (most recent call last):
        ValueError: count: '2' is not whole number
        """
        for part in parts_of(kind):  # the first part of a union that the content is of
            try:
                return self._decode_part(content, part, place)
            except ValueError as error:
                refusal = error
        raise refusal

    def _decode_part(self, content: Any, kind: Type, place: str) -> Any:
        if kind is Any and self.arrays is not None:
            return self._decode_any(content, self.arrays)
        if kind in self.choices:
            return self._decode_choice(content, kind, place)
        if is_record(kind):
            return self._decode_record(content, kind, place)
        if origin_of(kind) in (tuple, list, dict):
            return self._decode_several(content, kind, place)
        try:
            return _decode_plain(content, kind)
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from None

    def _decode_choice(self, content: Any, kind: Type, place: str) -> Any:
        names = {cls.__name__: cls for cls in self.choices[kind]}
        if not isinstance(content, dict) or not isinstance(content.get(CLASS), str):
            raise ValueError(f"{place}: {content!r:.60} is not a {type_name(kind)}: an object with {CLASS!r}")
        name = content[CLASS]
        if name not in names:
            raise ValueError(f"{place}: the class {name!r:.60} is not known here: {', '.join(names)} are")
        own = {key: value for key, value in content.items() if key != CLASS}
        return self._decode_record(own, names[name], place)

    def _decode_record(self, content: Any, kind: Type, place: str) -> Any:
        """Return an object of its fields; of a dataclass even those that its constructor does not take."""
        hints = self.fields_of(kind)
        check_fields(content, tuple(hints), place)
        found = {name: self.decode(content[name], hint, f"{place}.{name}") for name, hint in hints.items()}
        found |= self.unsaved.get(kind, {})
        if not is_dataclass(kind):
            return kind(**found)
        cls: Any = kind
        made = cls.__new__(cls)
        for name, value in found.items():
            object.__setattr__(made, name, value)
        try:
            getattr(made, "__post_init__", lambda: None)()
        except (TypeError, ValueError) as error:
            raise ValueError(f"{place}: {error}") from None
        return made

    def _decode_several(self, content: Any, kind: Type, place: str) -> Any:
        if not isinstance(content, list):
            raise ValueError(f"{place}: {content!r:.60} is not {type_name(kind)}")
        if origin_of(kind) is dict:
            found = dict(self.decode(content, pairs_of(kind), place))
            if len(found) < len(content):
                raise ValueError(f"{place}: a key stands twice")
            return found
        try:
            kinds = enumerate(item_kinds(kind, len(content)))
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from None
        return origin_of(kind)(self.decode(content[i], one, f"{place}[{i}]") for i, one in kinds)

    def _decode_any(self, content: Any, arrays: dict[str, Any]) -> Any:
        if isinstance(content, list):
            return tuple(self._decode_any(one, arrays) for one in content)
        if not isinstance(content, dict):
            return content
        if content.keys() == {ARRAY}:
            found = arrays[content[ARRAY]]
            return found[()] if found.ndim == 0 else found
        if len(content) == 1 and (name := next(iter(content))) in AS_TEXT:
            return AS_TEXT[name](content[name])
        found = {name: self._decode_any(one, arrays) for name, one in content.items() if name != CLASS}
        names = {cls.__name__: cls for cls in self.choices.get(Any, ())}
        return names[content[CLASS]](**found) if CLASS in content else found


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


# --- types --------------------------------------------------------------------------------------------


def origin_of(kind: Type) -> Any:
    """Return the class behind an annotation with brackets; None if it has none.

    Examples
    --------
    >>> origin_of(tuple[int, ...])
    <class 'tuple'>
    """
    return get_origin(kind)


def parts_of(kind: Type) -> tuple[Type, ...]:
    """Return the types that a union is made of, ``None`` first: the error names the others.

    Examples
    --------
    >>> parts_of(int | None), parts_of(int)
    ((<class 'NoneType'>, <class 'int'>), (<class 'int'>,))
    """
    union = origin_of(kind) in (Union, types.UnionType)
    return tuple(sorted(get_args(kind), key=lambda one: one is not type(None))) if union else (kind,)


def dtype_of(kind: Type) -> Any:
    """Return the type of the entries of an annotated array; None if it is no array.

    Examples
    --------
    >>> from horseshoe._types import Mask
    >>> dtype_of(Mask), dtype_of(int)
    (dtype('bool'), None)
    """
    return np.dtype(get_args(get_args(kind)[1])[0]) if origin_of(kind) is np.ndarray else None


def is_record(kind: Type) -> bool:
    """Tell whether a type is a named tuple or a dataclass."""
    return isinstance(kind, type) and (is_dataclass(kind) or hasattr(kind, "_fields"))


@cache
def hints_of(kind: Any) -> dict[str, Type]:
    """Return the fields of a named tuple or a dataclass with their types.

    Examples
    --------
    >>> from horseshoe._types import Start
    >>> list(hints_of(Start))
    ['mean', 'second_moment', 'expected_rss']
    """
    hints = get_type_hints(kind)
    names = [one.name for one in fields(kind)] if is_dataclass(kind) else kind._fields
    return {name: hints[name] for name in names}


def pairs_of(kind: Type) -> Type:
    """Return the type of the items of a dict, which JSON has as a list of pairs."""
    pair: Any = tuple.__class_getitem__(get_args(kind))
    return tuple[pair, ...]


def item_kinds(kind: Type, n: int) -> tuple[Type, ...]:
    """Return the type of each of n items of a tuple or a list.

    Examples
    --------
    >>> item_kinds(tuple[int, ...], 2), item_kinds(tuple[int, str], 2)
    ((<class 'int'>, <class 'int'>), (<class 'int'>, <class 'str'>))
    """
    args = get_args(kind)
    if origin_of(kind) is list or args[1:] == (Ellipsis,):
        return (args[0],) * n
    if len(args) != n:
        raise ValueError(f"{n} values are there, where {len(args)} belong")
    return args


def type_name(kind: Type) -> str:
    """Return a type in words.

    Examples
    --------
    >>> type_name(int)
    'whole number'
    """
    dtype = dtype_of(kind)
    if dtype is not None:
        return f"array of {dtype}"
    return PLAIN[kind][0] if kind in PLAIN else str((origin_of(kind) or kind).__name__)


def _is_instance(value: Any, kind: Type) -> bool:
    """Tell whether a value is of a type that is no union; nothing is of no type."""
    if kind is Any:
        return False
    dtype = dtype_of(kind)
    if dtype is not None:  # how wide whole numbers are differs from machine to machine
        own = getattr(value, "dtype", None) if isinstance(value, np.ndarray) else None
        return own is not None and (own == dtype or own.kind == dtype.kind == "i")
    if is_record(kind):
        return type(value) is kind
    if kind in (int, float) and isinstance(value, bool):
        return False
    return isinstance(value, PLAIN[kind][1] if kind in PLAIN else origin_of(kind) or kind)


def _decode_plain(content: Any, kind: Type) -> Any:
    if dtype_of(kind) is not None:
        return decode_array(content, dtype_of(kind))
    if issubclass(kind, enum.Enum):
        if not isinstance(content, str) or content not in kind.__members__:
            raise ValueError(f"{content!r:.60} is none of {', '.join(kind.__members__)}")
        return kind[content]
    if type(content) is not kind and kind is not float:
        raise ValueError(f"{content!r:.60} is not {type_name(kind)}")
    return decode_number(content) if kind in (int, float) else content
