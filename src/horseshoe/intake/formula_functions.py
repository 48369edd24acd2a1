"""Functions in formulas: a closed list, checked node by node and evaluated without ``eval``."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from horseshoe._types import Vector
from horseshoe.intake.messages import TableError, near, shown

# What may be called: each row's value depends on that row alone, so new rows are encoded alike.
FUNCTIONS: dict[str, Callable[[Vector], Vector]] = {
    "log": np.log, "log1p": np.log1p, "log2": np.log2, "log10": np.log10, "exp": np.exp, "expm1": np.expm1,
    "sqrt": np.sqrt, "abs": np.abs, "sin": np.sin, "cos": np.cos, "square": np.square, "I": np.asarray,
}  # fmt: skip

STATEFUL = {
    "poly", "bs", "cc", "cr", "cs", "ns", "s", "te", "center", "scale", "standardize", "lag", "hashed", "Q",
}  # fmt: skip
OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.divide, ast.Pow: np.power,
    ast.USub: np.negative, ast.UAdd: np.positive,
}  # fmt: skip
USABLE = "columns, + - * / : ** ( ), 0, 1 and " + ", ".join(FUNCTIONS) + " and C can be used"

Rule = Callable[[Mapping[str, Vector]], Any]


@dataclass(frozen=True)
class Atom:
    """A column or a call in a formula.

    ``label`` is how it reads, ``names`` the columns in it, ``rule`` the function of the columns (None for a
    plain one); ``levels`` are those of ``C(name)``, in order and the reference first, where they are given.
    """

    label: str
    names: tuple[str, ...]
    rule: Rule | None = None
    factor: bool = False
    levels: tuple[str, ...] = ()

    def evaluate(self, columns: Mapping[str, Vector]) -> Vector:
        """Return the values, row by row.

        Examples
        --------
        >>> Atom("I(a**2)", ("a",), lambda columns: columns["a"] ** 2).evaluate({"a": np.array([1.0, 3.0])})
        array([1., 9.])
        """
        first = columns[self.names[0]]
        with np.errstate(all="ignore"):
            values = first if self.rule is None else self.rule(columns)
        return np.asarray(np.broadcast_to(values, first.shape), dtype=float)


def no_function(name: str) -> str:
    """Return why a name cannot be called, and what to do.

    Examples
    --------
    >>> print(no_function("ln"))
    ln is not a function that can be used: log, log1p, log2, ...
    """
    if name in STATEFUL:
        return (
            f"{name}() depends on all rows of a table, so new rows would be encoded otherwise: add it to the "
            "table as columns"
        )
    known = [*FUNCTIONS, "C"]
    return f"{shown(name)} is not a function that can be used{near(name, known) or ': ' + ', '.join(known)}"


def atom_of(call: ast.Call, label: str, names: tuple[str, ...], columns: Sequence[str]) -> Atom:
    """Return a call as an atom, or refuse it; ``v1`` in it stands for ``columns[1]``.

    Examples
    --------
    >>> call = ast.parse("C(v0)", mode="eval").body
    >>> atom_of(call, "C(city)", ("city",), ["city"]).factor
    True
    """
    if getattr(call.func, "id", None) != "C":
        rule = _rule(call, label, columns)
        if not names:
            raise TableError(f"formula: no column stands in {shown(label)}")
        return Atom(label, names, rule)
    plain = len(call.args) == 1 and isinstance(call.args[0], ast.Name)
    if not plain or len(call.keywords) > 1 or len(names) != 1:
        raise TableError(f"formula: {shown(label)} should be C(name), or C(name, levels=['first', 'second'])")
    if not call.keywords:
        return Atom(names[0], names, factor=True)
    given = call.keywords[0].value
    words = [getattr(each, "value", None) for each in given.elts] if isinstance(given, ast.List) else []
    different = len(words) > 1 and len(set(map(str, words))) == len(words)
    if not different or not all(isinstance(word, str | int | float) for word in words):
        what = f"the levels of {shown(label)} should be a list of two or more different words"
        raise TableError(f"formula: {what}")
    return Atom(names[0], names, factor=True, levels=tuple(map(str, words)))


def _rule(node: ast.AST, label: str, columns: Sequence[str]) -> Rule:
    """Return the function that a call is; refuse all but numbers, columns, `OPERATORS` and `FUNCTIONS`."""
    if isinstance(node, ast.Name):
        name = columns[int(node.id[1:])]
        return lambda table: table[name]
    if isinstance(node, ast.Constant) and type(node.value) in (int, float):
        value = np.float64(node.value)  # type: ignore[arg-type]
        return lambda _: value
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        binary = OPERATORS[type(node.op)]
        left, right = _rule(node.left, label, columns), _rule(node.right, label, columns)
        return lambda table: binary(left(table), right(table))
    unary: Callable[..., Any] | None = None
    if isinstance(node, ast.UnaryOp):
        unary, inside = OPERATORS.get(type(node.op)), node.operand
    elif isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        unary, inside = FUNCTIONS.get(getattr(node.func, "id", "")), node.args[0]
    if unary is None:
        raise TableError(f"formula: {shown(label)} cannot be understood; {USABLE}")
    function, argument = unary, _rule(inside, label, columns)
    return lambda table: function(argument(table))
