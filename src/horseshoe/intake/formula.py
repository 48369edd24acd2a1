"""Formulas: read with a closed list of what may stand in them, and evaluated without Python's ``eval``.

A formula is stored in model files, which may come from anyone. So it is taken apart here: every name and
every call becomes an atom, and formulaic sees only the atoms' numbers and the operators between them. A call
is a tree of a few kinds of nodes, which is walked node by node.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection
from dataclasses import dataclass

from horseshoe.intake.formula_functions import FUNCTIONS, USABLE, Atom, atom_of, no_function, tree_of
from horseshoe.intake.messages import TableError, shown

LONGEST = 200_000
LONGEST_CALL = 500
MOST_TERMS = 5_000
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
    reader = _Reader(right, others)
    pattern = reader.read()
    if target is not None and target in {name for atom in reader.atoms for name in atom.names}:
        raise TableError(
            f"formula: the target {shown(target)} stands on the right-hand side too: take it out"
        )
    if count_terms(pattern) > MOST_TERMS:
        raise TableError(
            f"formula: it has more than {MOST_TERMS:,} terms: write fewer, or do without a formula"
        )
    written = _written(pattern, reader.atoms, target) if reader.point else text
    return Formula(written, target, pattern, tuple(reader.atoms))


def _written(pattern: str, atoms: list[Atom], target: str | None) -> str:
    """Return a formula with the columns for which a point stood."""

    def atom(match: re.Match[str]) -> str:
        found = atoms[int(match[1])]
        if found.tree is not None:
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


class _Reader:
    """Goes through the tokens of the right-hand side and keeps the atoms."""

    def __init__(self, tokens: list[tuple[str, str]], others: Collection[str]):
        self.tokens, self.others, self.at = tokens, others, 0
        self.atoms: list[Atom] = []
        self.places: dict[str, int] = {}
        self.point = False

    def read(self) -> str:
        parts = []
        while self.at < len(self.tokens):
            parts.append(self.part())
        pattern = "".join(parts)
        if not pattern:
            raise TableError("formula: nothing stands on the right-hand side")
        return pattern

    def part(self) -> str:
        group, text = self.tokens[self.at]
        self.at += 1
        if group == "name" and self.at < len(self.tokens) and self.tokens[self.at][1] == "(":
            return self.atom(self.call(text))
        if group in ("name", "quoted"):
            name = text.strip("`")
            return self.atom(Atom(name, (name,)))
        if group == "number":
            return self.number(text)
        if text == ".":
            if not self.others:
                raise TableError("formula: no column is left for which the point could stand")
            self.point = True
            odd = [name for name in self.others if "`" in name]
            if odd:
                raise TableError(
                    f"formula: {shown(odd[0])} has a backtick in its name: rename it, or leave it out"
                )
            return _sum([self.atom(Atom(name, (name,))) for name in self.others])
        if group == "sign" and text in ("+", "-", "*", "/", ":", "(", ")", "**"):
            return text
        raise TableError(f"formula: {shown(text)} cannot stand there; {ADVICE.get(text, USABLE)}")

    def number(self, text: str) -> str:
        power = self.at > 1 and self.tokens[self.at - 2][1] == "**"
        if text in (("2", "3", "4", "5") if power else ("0", "1")):
            return text
        raise TableError(
            f"formula: the number {text} cannot stand there: 0 and 1 are "
            "for the intercept, powers of terms are 2 to 5, "
            "and arithmetic goes into I(), as in I(2 * a)"
        )

    def atom(self, atom: Atom) -> str:
        place = self.places.setdefault(atom.label, len(self.atoms))
        if place == len(self.atoms):
            self.atoms.append(atom)
        if atom.factor:  # C(a) anywhere makes a category of a everywhere
            if self.atoms[place].levels not in ((), atom.levels):
                raise TableError(f"formula: C() gives {shown(atom.label)} other levels in another place")
            self.atoms[place] = atom
        return f"f{place}"

    def call(self, function: str) -> Atom:
        """Return the call whose name was read; placeholders stand for columns, so no attribute is left."""
        if function != "C" and function not in FUNCTIONS:
            raise TableError(f"formula: {no_function(function)}")
        code, label, names, depth = [function], [function], list[str](), 0
        while self.at < len(self.tokens):
            group, text = self.tokens[self.at]
            self.at += 1
            depth += (text in "([") - (text in ")]") if group == "sign" else 0
            code.append(self.inner(group, text, names))
            label.append(f"{text} " if text == "," else f" {text} " if text in ("+", "-", "*", "/") else text)
            if depth == 0:
                break
        if depth or len("".join(code)) > LONGEST_CALL:
            raise TableError(f"formula: {shown(''.join(label))} is not closed, or too long")
        tree = tree_of("".join(code), "".join(label))
        return atom_of(function, tree, "".join(label), tuple(names))

    def inner(self, group: str, text: str, names: list[str]) -> str:
        if group in ("number", "string"):
            return text
        if group == "sign":
            if text in ("+", "-", "*", "/", "**", "(", ")", ",", "=", "[", "]"):
                return text
            raise TableError(f"formula: {shown(text)} cannot stand in a call; {USABLE}")
        following = self.tokens[self.at][1] if self.at < len(self.tokens) else ""
        if group == "name" and following == "(":
            if text not in FUNCTIONS:
                raise TableError(f"formula: {no_function(text)}")
            return text
        if group == "name" and text == "levels" and following == "=":
            return text
        name = text.strip("`")
        if name not in names:
            names.append(name)
        return f"v{names.index(name)}"


def _sum(parts: list[str]) -> str:
    """Return a sum in balanced parentheses: a long row of signs would be a deep tree."""
    half = len(parts) // 2
    return f"({_sum(parts[:half])}+{_sum(parts[half:])})" if half else parts[0]


ADVICE = {
    "|": "a formula of one part is needed",
    "^": "powers are written **",
    "{": "arithmetic goes into I(), as in I(a + b)",
    "%": "write a / b for b within a",
    "[": "a column whose name has other signs goes between backticks",
}


def count_terms(pattern: str) -> int:
    """Return about how many terms a pattern has, without writing them out.

    Examples
    --------
    >>> count_terms("(f0+f1+f2)**2"), count_terms("f0*f1*f2")
    (9, 7)
    """
    try:
        return _terms(ast.parse(pattern.replace(":", "@"), mode="eval").body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise TableError(
            "formula: its signs do not make a formula such as y ~ a * b + log(c), or it is too long"
        ) from None


def _terms(node: ast.AST) -> int:
    if isinstance(node, ast.UnaryOp):
        return _terms(node.operand)
    if not isinstance(node, ast.BinOp):
        return 1
    if isinstance(node.op, ast.Add | ast.Sub):  # a long sum is a deep tree
        total, rest = 0, node
        while isinstance(rest, ast.BinOp) and isinstance(rest.op, ast.Add | ast.Sub):
            total, rest = total + _terms(rest.right), rest.left  # type: ignore[assignment]
        return total + _terms(rest)
    left, right = _terms(node.left), _terms(node.right)
    if isinstance(node.op, ast.Pow):
        if not isinstance(node.right, ast.Constant):
            raise ValueError
        return int(min(left ** int(node.right.value), MOST_TERMS + 1))  # type: ignore[arg-type]
    return min(left * right + (0 if isinstance(node.op, ast.MatMult) else left + right), MOST_TERMS + 1)
