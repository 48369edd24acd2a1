"""Formulas: read with a closed list of what may stand in them, and evaluated without Python's ``eval``.

A formula is stored in model files, which may come from anyone. So it is taken apart here: every name and
every call becomes an atom, and formulaic sees only the atoms' numbers and the operators between them. A call
is a tree of a few kinds of nodes, which is walked node by node.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left
from collections.abc import Collection
from dataclasses import dataclass
from itertools import accumulate
from typing import cast

from horseshoe.intake.formula_functions import FUNCTIONS, USABLE, Atom, atom_of, no_function
from horseshoe.intake.messages import TableError, shown

LONGEST = 200_000
LONGEST_CALL = 500
MOST_TERMS = 5_000
PLACEHOLDER = re.compile(r"v\d+")
TOKEN = re.compile(
    r"(?P<space>\s+)|`(?P<quoted>[^`]+)`|(?P<number>\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+)"
    r"|(?P<name>[^\W\d][\w.]*)|(?P<string>'[^'\\]*'|\"[^\"\\]*\")|(?P<sign>\*\*|.)",
    re.DOTALL,
)


@dataclass(frozen=True)
class Formula:
    """A formula taken apart: ``pattern`` has the numbers of the atoms in place of them."""

    text: str
    target: str | None
    pattern: str
    atoms: tuple[Atom, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The columns on the right-hand side, each once, in order."""
        return tuple(dict.fromkeys(name for atom in self.atoms for name in atom.names))

    @property
    def levels(self) -> dict[str, tuple[str, ...]]:
        """The levels that ``C()`` gives to columns."""
        return {atom.names[0]: atom.levels for atom in self.atoms if atom.levels}

    @property
    def factors(self) -> tuple[str, ...]:
        """The columns that stand in ``C()``."""
        return tuple(dict.fromkeys(atom.names[0] for atom in self.atoms if atom.factor))


def parse_formula(text: str, others: Collection[str] = ()) -> Formula:
    """Return the formula taken apart; a point stands for the columns ``others``.

    Examples
    --------
    >>> formula = parse_formula("y ~ a * b + log(`blood pressure`) - 1")
    >>> formula.target, formula.names, formula.pattern
    ('y', ('a', 'b', 'blood pressure'), 'f0*f1+f2-1')
    >>> parse_formula("y ~ __import__('os')")
    Traceback (most recent call last):
    horseshoe.intake.messages.TableError: formula: __import__ is not a function that can be used: ...
    """
    if not isinstance(text, str) or len(text) > LONGEST:
        raise TableError(f"formula: a text of at most {LONGEST:,} characters is needed")
    tokens = [(match.lastgroup or "", match.group()) for match in TOKEN.finditer(text)]
    tokens = [token for token in tokens if token[0] != "space"]
    target, right = _sides(tokens)
    source = _Source(right, others)
    pattern, atoms = _pattern(source)
    if target in {name for atom in atoms for name in atom.names}:
        raise TableError(
            f"formula: the target {shown(target)} stands on the right-hand side too: take it out"
        )
    return Formula(_written(pattern, atoms, target) if source.point else text, target, pattern, tuple(atoms))


def _written(pattern: str, atoms: list[Atom], target: str | None) -> str:
    """Return a formula with the columns for which a point stood."""

    def atom(match: re.Match[str]) -> str:
        found = atoms[int(match[1])]
        if found.rule is not None:
            return found.label
        levels = ", ".join(f'"{each}"' if "'" in each else f"'{each}'" for each in found.levels)
        inside = f"`{found.label}`" + (f", levels=[{levels}]" if levels else "")
        return f"C({inside})" if found.factor else inside

    left = "" if target is None else f"`{target}` ~ "
    return left + re.sub(r"f(\d+)", atom, pattern)


def _sides(tokens: list[tuple[str, str]]) -> tuple[str | None, list[tuple[str, str]]]:
    tildes = [place for place, token in enumerate(tokens) if token == ("sign", "~")]
    if not tildes:
        return None, tokens
    left = tokens[: tildes[0]]
    if len(tildes) > 1 or len(left) > 1 or (left and left[0][0] not in ("name", "quoted")):
        raise TableError(
            "formula: on the left of ~ the name of one column is needed; "
            "add a transformed target to the table as a column"
        )
    return (left[0][1].strip("`") if left else None), tokens[tildes[0] + 1 :]


def _number(text: str, before: str) -> str:
    """Return a number outside calls: the intercept, or the power of terms."""
    if text in (("2", "3", "4", "5") if before == "**" else ("0", "1")):
        return text
    raise TableError(
        f"formula: the number {text} cannot stand there: 0 and 1 are for the intercept, powers of terms are "
        "2 to 5, and arithmetic goes into I(), as in I(2 * a)"
    )


def _sum(parts: list[str]) -> str:
    """Return a sum in balanced parentheses: a long row of signs would be a deep tree."""
    half = len(parts) // 2
    return f"({_sum(parts[:half])}+{_sum(parts[half:])})" if half else parts[0]


class _Source:
    """The right-hand side as Python: columns are v0, v1, ..., the sign : is @, and a point a sum of columns.

    No name of the user is left in it, so no attribute and no keyword; each token is a part.
    """

    def __init__(self, tokens: list[tuple[str, str]], others: Collection[str]):
        self.others, self.point = others, False
        self.columns: dict[str, int] = {}
        self.parts: list[str] = []
        self.labels: list[str] = []
        depth = opened = call = 0  # the depth at which a call was opened, and its first part
        for place, (group, text) in enumerate(tokens):
            following = tokens[place + 1][1] if place + 1 < len(tokens) else ""
            if group == "name" and following == "(":
                if text not in FUNCTIONS and (opened or text != "C"):
                    raise TableError(f"formula: {no_function(text)}")
                opened, call = (opened, call) if opened else (depth + 1, place)
                part = text
            elif group in ("name", "quoted") and not (opened and (text, following) == ("levels", "=")):
                part = self.column(text.strip("`"))
            elif opened:
                part = self.inside(group, text)
            else:
                part = self.outside(group, text, tokens[place - 1][1] if place else "")
            self.parts.append(part)
            spaced = f"{text} " if text == "," else f" {text} " if text in "+-*/" else text
            self.labels.append(spaced if opened else text)
            depth += (text == "(") - (text == ")")
            opened = 0 if depth < opened and text == ")" else opened
        if opened:
            self._too_long(call, len(self.parts))
        self.code = " ".join(self.parts)
        self.starts = [0, *accumulate(len(part) + 1 for part in self.parts)][:-1]

    def column(self, name: str) -> str:
        return f"v{self.columns.setdefault(name, len(self.columns))}"

    def inside(self, group: str, text: str) -> str:
        """Return a token of a call."""
        if group == "string":
            return ascii(text[1:-1])
        if group in ("number", "name") or text in ("+", "-", "*", "/", "**", "(", ")", ",", "=", "[", "]"):
            return text
        raise TableError(f"formula: {shown(text)} cannot stand in a call; {USABLE}")

    def outside(self, group: str, text: str, before: str) -> str:
        """Return a token between calls and columns."""
        if group == "number":
            return _number(text, before)
        if text == ".":
            self.point = True
            if not self.others:
                raise TableError("formula: no column is left for which the point could stand")
            for name in self.others:
                if "`" in name:
                    backtick = "has a backtick in its name: rename it, or leave it out"
                    raise TableError(f"formula: {shown(name)} {backtick}")
            return _sum([self.column(name) for name in self.others])
        if group == "sign" and text in ("+", "-", "*", "/", ":", "(", ")", "**"):
            return "@" if text == ":" else text
        raise TableError(f"formula: {shown(text)} cannot stand there; {ADVICE.get(text, USABLE)}")

    def atom(self, node: ast.expr) -> Atom:
        """Return a column or a call as an atom."""
        columns = list(self.columns)
        if isinstance(node, ast.Name):
            name = columns[int(node.id[1:])]
            return Atom(name, (name,))
        first, last = (bisect_left(self.starts, at) for at in (node.col_offset, node.end_col_offset or 0))
        label = self._too_long(first, last)
        used = (part for part in self.parts[first:last] if PLACEHOLDER.fullmatch(part))
        names = tuple(dict.fromkeys(columns[int(part[1:])] for part in used))
        return atom_of(cast("ast.Call", node), label, names, columns)

    def _too_long(self, first: int, last: int) -> str:
        """Return how a call reads; refuse one that is not closed, or too long."""
        label = "".join(self.labels[first:last])
        if self.parts[last - 1] != ")" or sum(map(len, self.parts[first:last])) > LONGEST_CALL:
            raise TableError(f"formula: {shown(label)} is not closed, or too long")
        return label


def _pattern(source: _Source) -> tuple[str, list[Atom]]:
    """Return the right-hand side with the numbers of its atoms in place of them, and these."""
    if not source.parts:
        raise TableError("formula: nothing stands on the right-hand side")
    leaves: list[ast.expr] = []
    try:
        terms = count_terms(ast.parse(source.code, mode="eval").body, leaves)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        place = bisect_left(source.starts, getattr(error, "offset", None) or 0)
        before = shown("".join(source.labels[max(0, place - 4) : place]).strip())
        near = f" near {before}" if place else ""
        raise TableError(
            f"formula: its signs{near} do not make a formula such as y ~ a * b + log(c), or it is too long"
        ) from None
    atoms, places, pattern, at = list[Atom](), dict[str, int](), "", 0
    for leaf in sorted(leaves, key=lambda leaf: leaf.col_offset):
        atom = source.atom(leaf)
        place = places.setdefault(atom.label, len(atoms))
        if place == len(atoms):
            atoms.append(atom)
        if atom.factor:  # C(a) anywhere makes a category of a everywhere
            if atoms[place].levels not in ((), atom.levels):
                raise TableError(f"formula: C() gives {shown(atom.label)} other levels in another place")
            atoms[place] = atom
        pattern += f"{source.code[at : leaf.col_offset]}f{place}"
        at = leaf.end_col_offset or 0
    pattern = (pattern + source.code[at:]).replace(" ", "").replace("@", ":")
    if terms > MOST_TERMS:
        raise TableError(
            f"formula: it has more than {MOST_TERMS:,} terms: write fewer, or do without a formula"
        )
    return pattern, atoms


ADVICE = {
    "|": "a formula of one part is needed",
    "^": "powers are written **",
    "{": "arithmetic goes into I(), as in I(a + b)",
    "%": "write a / b for b within a",
    "[": "a column whose name has other signs goes between backticks",
}


def count_terms(node: ast.AST, leaves: list[ast.expr]) -> int:
    """Return about how many terms a formula has, without writing them out; append its columns and calls.

    Examples
    --------
    >>> [count_terms(ast.parse(text, mode="eval").body, []) for text in ("(a + b + c)**2", "a * b * c")]
    [9, 7]
    """
    if isinstance(node, ast.Name) or (
        isinstance(node, ast.Call) and not PLACEHOLDER.fullmatch(getattr(node.func, "id", "v0"))
    ):
        leaves.append(node)
        return 1
    if isinstance(node, ast.Constant):
        return 1
    if isinstance(node, ast.UnaryOp):
        return count_terms(node.operand, leaves)
    if not isinstance(node, ast.BinOp):
        raise ValueError
    if isinstance(node.op, ast.Add | ast.Sub):  # a long sum is a deep tree
        total, rest = 0, cast("ast.expr", node)
        while isinstance(rest, ast.BinOp) and isinstance(rest.op, ast.Add | ast.Sub):
            total, rest = total + count_terms(rest.right, leaves), rest.left
        return total + count_terms(rest, leaves)
    left, right = count_terms(node.left, leaves), count_terms(node.right, leaves)
    if isinstance(node.op, ast.Pow):
        if not isinstance(node.right, ast.Constant):
            raise ValueError
        return int(min(left ** int(cast("int", node.right.value)), MOST_TERMS + 1))
    return min(left * right + (0 if isinstance(node.op, ast.MatMult) else left + right), MOST_TERMS + 1)
