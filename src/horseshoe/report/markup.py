"""Tables as text, Markdown, LaTeX and HTML, and elements of HTML: names are escaped in all of them."""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from horseshoe._checks import check_choice

# What HTML cannot hold: control characters, and halves of characters, which no file can hold either; and
# overrides of direction, which turn the letters after them about.
UNFIT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066\u2067\ud800-\udfff]")


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def element(tag: str, *content: str, **attributes: object) -> Html:
    """Return an element of HTML; content that is not `Html` already, and attributes, are escaped.

    Attributes that are None or False are left out; ``class_`` is "class", ``aria_label`` "aria-label".

    Examples
    --------
    >>> element("p", "a < b", element("b", "&"), class_="note", id=None, hidden=True)
    '<p class="note" hidden>a &lt; b<b>&amp;</b></p>'
    """
    parts = [f"<{tag}"]
    for name, value in attributes.items():
        label = name.rstrip("_").replace("_", "-")
        if value is True:
            parts.append(f" {label}")
        elif value is not None and value is not False:
            parts.append(f' {label}="{escape_html(value)}"')
    end = "" if tag in ("img", "input") else f"{join_html(content)}</{tag}>"
    return Html(f"{''.join(parts)}>{end}")


def join_html(parts: Iterable[str], between: str = "") -> Html:
    """Return several parts as one; what is not `Html` is escaped.

    Examples
    --------
    >>> join_html([element("b", "a"), "&"], " ")
    '<b>a</b> &amp;'
    """
    return Html(between.join(part if isinstance(part, Html) else escape_html(part) for part in parts))


def escape_html(text: object) -> str:
    """Return anything as text that a browser shows as it is, also within quotes.

    Examples
    --------
    >>> escape_html('<script>"')
    '&lt;script&gt;&quot;'
    """
    return html.escape(replace_unfit(str(text)), quote=True)


def replace_unfit(text: str) -> str:
    """Return a text with a sign in the place of each character that HTML cannot hold."""
    return UNFIT.sub("\N{REPLACEMENT CHARACTER}", text)


class TextTable(NamedTuple):
    """A table of texts: what stands above the columns, the rows, and lines below.

    The first ``names`` columns are names, and at the left; the others are numbers, and at the right.
    """

    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()
    names: int = 1


def write_table(table: TextTable, format: str = "text") -> str:
    r"""Write a table as "text", "markdown", "latex" or "html".

    Examples
    --------
    >>> print(write_table(TextTable(["", "coef"], [["age", "0.5"], ["s5 | x", "-12.0"]]), "markdown"))
    |  | coef |
    |:---|---:|
    | age | 0.5 |
    | s5 \| x | -12.0 |
    """
    return FORMATS[check_choice("format", format, tuple(FORMATS))](table)


def one_line(text: str) -> str:
    r"""Return a text on one line, without characters that cannot be seen.

    Examples
    --------
    >>> one_line("a\tb\nc\x1b[31m")
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
    return re.sub(r"([\\`*_{}\[\]#|~$])", r"\\\1", html.escape(one_line(text), quote=False))


LATEX = str.maketrans(
    {sign: f"\\{sign}" for sign in "{}$&#_%"}
    | {
        "\\": r"\textbackslash{}",
        "^": r"\textasciicircum{}",
        "~": r"\textasciitilde{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\textquotedbl{}",
    }
)


def escape_latex(text: str) -> str:
    r"""Return a text that LaTeX sets as it is.

    Examples
    --------
    >>> print(escape_latex("50% of x_1 & {y}"))
    50\% of x\_1 \& \{y\}
    """
    return one_line(text).translate(LATEX)


def terminal_width(text: str) -> int:
    """Return how many places a text takes in a terminal.

    Examples
    --------
    >>> terminal_width("age"), terminal_width("身長")
    (3, 4)
    """
    wide = sum(unicodedata.east_asian_width(sign) in "WF" for sign in text)
    return len(text) + wide - sum(unicodedata.combining(sign) > 0 for sign in text)


def _as_text(table: TextTable) -> str:
    lines = [[one_line(cell) for cell in line] for line in (table.header, *table.rows)]
    widths = [max(map(terminal_width, column)) for column in zip(*lines, strict=True)]

    def padded(j: int, cell: str) -> str:
        room = " " * (widths[j] - terminal_width(cell))
        return cell + room if j < table.names else room + cell

    body = ["  ".join(padded(j, cell) for j, cell in enumerate(line)).rstrip() for line in lines]
    rule = "-" * max(map(terminal_width, body))
    notes = [rule, *map(one_line, table.notes)] if table.notes else []
    return "\n".join([body[0], rule, *body[1:], *notes])


def _as_markdown(table: TextTable) -> str:
    rule = "|" + "".join(":---|" if j < table.names else "---:|" for j in range(len(table.header)))
    lines = ["| " + " | ".join(map(escape_markdown, line)) + " |" for line in (table.header, *table.rows)]
    notes = ["", *("- " + escape_markdown(note) for note in table.notes)] if table.notes else []
    return "\n".join([lines[0], rule, *lines[1:], *notes])


def _as_latex(table: TextTable) -> str:
    sides = "l" * table.names + "r" * (len(table.header) - table.names)

    def line(cells: Sequence[str], number: Callable[[str], str] = _latex_number) -> str:
        parts = [escape_latex(c) if j < table.names else number(c) for j, c in enumerate(cells)]
        return " & ".join(parts) + r" \\"

    notes = [rf"\multicolumn{{{len(sides)}}}{{l}}{{{escape_latex(note)}}} \\" for note in table.notes]
    lines = [rf"\begin{{tabular}}{{{sides}}}", r"\toprule", line(table.header, escape_latex), r"\midrule"]
    lines += [*map(line, table.rows), *([r"\midrule", *notes] if notes else [])]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _latex_number(text: str) -> str:
    """Return numbers with the minus sign and the powers of ten of mathematics."""
    found = re.sub(r"(\d)e(-?\d+)", r"\1$\\times 10^{\2}$", one_line(text))
    found = re.sub(r"(^|(?<=\s))-(?=[\d.i])", r"$-$", found)
    return found.replace("%", r"\%").replace("<", "$<$").replace(">", "$>$").replace("$$", "")


def _as_html(table: TextTable) -> str:
    def cell(j: int, text: str) -> Html:
        if j < table.names:
            return element("th", one_line(text), scope="row", style="text-align:left")
        return element("td", one_line(text), style="text-align:right")

    head = element("thead", element("tr", *(element("th", one_line(text)) for text in table.header)))
    rows = [element("tr", *(cell(j, text) for j, text in enumerate(line))) for line in table.rows]
    body = element("tbody", "\n", join_html(rows, "\n"), "\n")
    notes = [element("p", one_line(note)) for note in table.notes]
    parts = [element("table", "\n", head, "\n", body, "\n"), *notes]
    return element("div", "\n", join_html(parts, "\n"), "\n", class_="horseshoe-summary")


FORMATS: dict[str, Callable[[TextTable], str]] = {
    "text": _as_text,
    "markdown": _as_markdown,
    "latex": _as_latex,
    "html": _as_html,
}
