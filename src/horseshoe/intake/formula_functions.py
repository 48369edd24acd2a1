"""Calls in formulas: a closed list of functions, checked node by node and evaluated without ``eval``."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from horseshoe._types import Vector
from horseshoe.intake.messages import TableError, near, shown

FUNCTIONS: dict[str, Callable[[Vector], Vector]] = {
    "log": np.log, "log1p": np.log1p, "log2": np.log2, "log10": np.log10, "exp": np.exp, "expm1": np.expm1,
    "sqrt": np.sqrt, "abs": np.abs, "sin": np.sin, "cos": np.cos, "square": np.square, "I": np.asarray,
}  # fmt: skip
"""What may be called: each row's value depends on that row alone, so new rows are encoded alike."""

STATEFUL = {
    "poly",
    "bs",
    "cc",
    "cr",
    "cs",
    "ns",
    "s",
    "te",
    "center",
    "scale",
    "standardize",
    "lag",
    "hashed",
    "Q",
}
OPERATORS: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: np.add, ast.Sub: np.subtract, ast.Mult: np.multiply, ast.Div: np.divide, ast.Pow: np.power,
}  # fmt: skip
USABLE = "columns, + - * / : ** ( ), 0, 1 and " + ", ".join(FUNCTIONS) + " and C can be used"


@dataclass(frozen=True)
class Atom:
    """A column or a call in a formula.

    ``label`` is how it reads, ``names`` the columns in it, ``tree`` the call (None for a plain column);
    ``levels`` are those of ``C(name)``, in order and the reference first, where they are given.
    """

    label: str
    names: tuple[str, ...]
    tree: ast.expr | None = None
    factor: bool = False
    levels: tuple[str, ...] = ()


def no_function(name: str) -> str:
    """Return why a name cannot be called, and what to do.

    Examples
    --------
    >>> print(no_function("ln"))
    ln is not a function that can be used: log, log1p, log2, ...
    """
    if name in STATEFUL:
        return (
            f"{name}() depends on all rows of a table, so new rows would be "
            "encoded otherwise: add it to the table as columns"
        )
    guess = near(name, [*FUNCTIONS, "C"])
    return f"{shown(name)} is not a function that can be used{guess or ': ' + ', '.join([*FUNCTIONS, 'C'])}"


def tree_of(code: str, label: str) -> ast.Call:
    """Return the syntax tree of a call in which placeholders stand for columns.

    Examples
    --------
    >>> tree_of("log(v0)", "log(a)").func.id
    'log'
    """
    try:
        tree = ast.parse(code, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise TableError(f"formula: {shown(label)} cannot be understood") from None
    if not isinstance(tree, ast.Call):
        raise TableError(f"formula: {shown(label)} cannot be understood")
    return tree


def atom_of(function: str, tree: ast.Call, label: str, names: tuple[str, ...]) -> Atom:
    """Return a call as an atom, or refuse it.

    Examples
    --------
    >>> atom_of("C", tree_of("C(v0)", "C(city)"), "C(city)", ("city",)).factor
    True
    """
    if function != "C":
        _check(tree, label)
        if not names:
            raise TableError(f"formula: no column stands in {shown(label)}")
        return Atom(label, names, tree)
    plain = len(tree.args) == 1 and isinstance(tree.args[0], ast.Name)
    if not plain or len(tree.keywords) > 1 or len(names) != 1:
        raise TableError(f"formula: {shown(label)} should be C(name), or C(name, levels=['first', 'second'])")
    return Atom(names[0], names, factor=True, levels=_levels(tree, label))


def _levels(tree: ast.Call, label: str) -> tuple[str, ...]:
    if not tree.keywords:
        return ()
    given = tree.keywords[0].value
    if isinstance(given, ast.List) and all(
        isinstance(each, ast.Constant) and isinstance(each.value, str | int | float) for each in given.elts
    ):
        levels = tuple(str(each.value) for each in given.elts if isinstance(each, ast.Constant))
        if len(levels) > 1 and len(set(levels)) == len(levels):
            return levels
    raise TableError(f"formula: the levels of {shown(label)} should be a list of two or more different words")


def _check(node: ast.AST, label: str) -> None:
    """Refuse whatever is not a number, a column, one of `OPERATORS` or a call of one of `FUNCTIONS`."""
    if isinstance(node, ast.Call):
        known = isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS
        if known and len(node.args) == 1 and not node.keywords:
            return _check(node.args[0], label)
    elif isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        _check(node.left, label)
        return _check(node.right, label)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        return _check(node.operand, label)
    elif (isinstance(node, ast.Name) and re.fullmatch(r"v\d+", node.id)) or (
        isinstance(node, ast.Constant) and type(node.value) in (int, float)
    ):
        return None
    raise TableError(f"formula: {shown(label)} cannot be understood; {USABLE}")


def evaluate(atom: Atom, columns: Mapping[str, Vector]) -> Vector:
    """Return the values of a call, row by row.

    Examples
    --------
    >>> evaluate(atom_of("I", tree_of("I(v0**2)", "I(a**2)"), "I(a**2)", ("a",)), {"a": np.array([1.0, 3.0])})
    array([1., 9.])
    """
    inside = {f"v{place}": columns[name] for place, name in enumerate(atom.names)}
    with np.errstate(all="ignore"):
        values = _value(atom.tree, inside) if atom.tree is not None else columns[atom.names[0]]
    return np.asarray(np.broadcast_to(values, columns[atom.names[0]].shape), dtype=float)


def _value(node: ast.AST, columns: Mapping[str, Vector]) -> Any:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return FUNCTIONS[node.func.id](_value(node.args[0], columns))
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](_value(node.left, columns), _value(node.right, columns))
    if isinstance(node, ast.UnaryOp):
        value = _value(node.operand, columns)
        return -value if isinstance(node.op, ast.USub) else value
    if isinstance(node, ast.Name):
        return columns[node.id]
    assert isinstance(node, ast.Constant)
    return np.float64(node.value)  # type: ignore[arg-type]  # _check saw a number
