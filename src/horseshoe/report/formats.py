"""Tables as text, Markdown, LaTeX and HTML; whatever stands in a name is shown, never obeyed."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import NamedTuple

from horseshoe._checks import check_choice


class Grid(NamedTuple):
    """A table of texts: what stands above the columns, the rows, and lines below.

    The first ``names`` columns are names, and at the left; the others are numbers, and at the right.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    names: int = 1


def write_grid(grid: Grid, format: str = "text") -> str:
    r"""Write a table as "text", "markdown", "latex" or "html".

    Examples
    --------
    >>> print(write_grid(Grid(["", "coef"], [["age", "0.5"], ["s5 | x", "-12.0"]]), "markdown"))
    |  | coef |
    |:---|---:|
    | age | 0.5 |
    | s5 \| x | -12.0 |
    """
    return FORMATS[check_choice("format", format, tuple(FORMATS))](grid)


def plain(text: str) -> str:
    r"""Return a text on one line, without characters that cannot be seen.

    Examples
    --------
    >>> plain("a\tb\nc\x1b[31m")
    'a b c[31m'
    """
    line = re.sub(r"\s+", " ", text)
    return "".join(sign for sign in line if unicodedata.category(sign) not in ("Cc", "Cf", "Cs", "Co", "Cn"))


def escape_markdown(text: str) -> str:
    r"""Return a text that Markdown shows as it is, in a cell of a table too.

    Examples
    --------
    >>> print(escape_markdown("a|b *c* <script>"))
    a\|b \*c\* &lt;script&gt;
    """
    safe = plain(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_{}\[\]#|~$])", r"\\\1", safe)


LATEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "_": r"\_",
    "%": r"\%",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
}


def escape_latex(text: str) -> str:
    r"""Return a text that LaTeX sets as it is.

    Examples
    --------
    >>> print(escape_latex("50% of x_1 & {y}"))
    50\% of x\_1 \& \{y\}
    """
    return "".join(LATEX.get(sign, sign) for sign in plain(text))


def escape_html(text: str) -> str:
    """Return a text that a browser shows as it is.

    Examples
    --------
    >>> escape_html('<script>"')
    '&lt;script&gt;&quot;'
    """
    return html.escape(plain(text), quote=True)


def width(text: str) -> int:
    """Return how many places a text takes in a terminal.

    Examples
    --------
    >>> width("age"), width("身長")
    (3, 4)
    """
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)
    return len(text) + wide - sum(unicodedata.combining(sign) > 0 for sign in text)


def _text(grid: Grid) -> str:
    lines = [[plain(cell) for cell in line] for line in (grid.header, *grid.rows)]
    widths = [max(width(line[j]) for line in lines) for j in range(len(grid.header))]

    def padded(j: int, cell: str) -> str:
        room = " " * (widths[j] - width(cell))
        return cell + room if j < grid.names else room + cell

    body = ["  ".join(padded(j, cell) for j, cell in enumerate(line)).rstrip() for line in lines]
    rule = "-" * max(width(line) for line in body)
    return "\n".join([body[0], rule, *body[1:], *([rule] if grid.notes else []), *map(plain, grid.notes)])


def _markdown(grid: Grid) -> str:
    rule = "|" + "".join(":---|" if j < grid.names else "---:|" for j in range(len(grid.header)))
    lines = ["| " + " | ".join(map(escape_markdown, line)) + " |" for line in (grid.header, *grid.rows)]
    notes = ["", *("- " + escape_markdown(note) for note in grid.notes)] if grid.notes else []
    return "\n".join([lines[0], rule, *lines[1:], *notes])


def _latex(grid: Grid) -> str:
    sides = "l" * grid.names + "r" * (len(grid.header) - grid.names)

    def line(cells: Sequence[str]) -> str:
        parts = [escape_latex(c) if j < grid.names else _latex_number(c) for j, c in enumerate(cells)]
        return " & ".join(parts) + r" \\"

    notes = [rf"\multicolumn{{{len(sides)}}}{{l}}{{{escape_latex(note)}}} \\" for note in grid.notes]
    head = " & ".join(map(escape_latex, grid.header)) + r" \\"
    lines = [rf"\begin{{tabular}}{{{sides}}}", r"\toprule", head, r"\midrule", *map(line, grid.rows)]
    lines += [r"\midrule", *notes] if notes else []
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _latex_number(text: str) -> str:
    """Return numbers with the minus sign and the powers of ten of mathematics."""
    found = re.sub(r"(\d)e(-?\d+)", r"\1$\\times 10^{\2}$", plain(text))
    found = re.sub(r"(^|(?<=\s))-(?=[\d.i])", r"$-$", found)
    return found.replace("%", r"\%").replace("<", "$<$").replace(">", "$>$").replace("$$", "")


def _html(grid: Grid) -> str:
    head = "".join(f"<th>{escape_html(cell)}</th>" for cell in grid.header)
    rows = "\n".join(_html_row(line, grid.names) for line in grid.rows)
    notes = "".join(f"\n<p>{escape_html(note)}</p>" for note in grid.notes)
    table = f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>"
    return f'<div class="horseshoe-summary">\n{table}{notes}\n</div>'


def _html_row(line: Sequence[str], names: int) -> str:
    cells = [
        f'<th scope="row" style="text-align:left">{escape_html(cell)}</th>'
        if j < names
        else f'<td style="text-align:right">{escape_html(cell)}</td>'
        for j, cell in enumerate(line)
    ]
    return f"<tr>{''.join(cells)}</tr>"


FORMATS: dict[str, Callable[[Grid], str]] = {
    "text": _text,
    "markdown": _markdown,
    "latex": _latex,
    "html": _html,
}
