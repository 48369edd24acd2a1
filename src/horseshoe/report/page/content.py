"""What a report says, as plain data: no model, no HTML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

# Headings of the effects of a standard deviation, and of those in the model of the selected variables.
PER_SD, SELECTED_ONLY = "Per SD", "Selected only"


class Fact(NamedTuple):
    """A line of a list: what, and its value; or a column of the user's, and what was done to it."""

    label: str
    text: str


class Number(NamedTuple):
    """A number, and how it is written; no value where there is none to sort by."""

    value: float | None
    text: str


class Heading(NamedTuple):
    """The heading of a column of the table; ``help`` says in a sentence what stands in it."""

    name: str
    help: str


class Row(NamedTuple):
    """A row of the table.

    ``names`` has a name for each heading of names: that of the row, and beside it the class, or the column of
    the user's that the row stands for. ``selected`` rows are marked.
    """

    names: tuple[str, ...]
    selected: bool
    numbers: tuple[Number, ...]


@dataclass(frozen=True)
class Table:
    """The table of coefficients.

    Attributes
    ----------
    names : tuple of Heading
        Of the name, and of the class or the column it belongs to where a row has one; then
    numbers : tuple of Heading
        one for each number of a row.
    rows : tuple of Row
        In the order in which they are shown at first.
    note : str
        What is said below it.
    """

    names: tuple[Heading, ...]
    numbers: tuple[Heading, ...]
    rows: tuple[Row, ...]
    note: str = ""


class Picture(NamedTuple):
    """A picture: bytes of a PNG or SVG file, and the words for those who cannot see it.

    A ``wide`` one has a row of its own.
    """

    heading: str
    caption: str
    content: bytes
    alt: str
    kind: str = "image/png"
    wide: bool = False


@dataclass(frozen=True)
class Page:
    """All that a report says, in the order of the page.

    Examples
    --------
    >>> page = Page(title="progression", answer=("No column can be told from chance.",))
    >>> page.table is None, page.warnings
    (True, ())
    """

    title: str
    subtitle: str = ""
    answer: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    asked: tuple[Fact, ...] = ()
    data: tuple[Fact, ...] = ()
    dropped: tuple[Fact, ...] = ()
    encoded: tuple[Fact, ...] = ()
    imputed: tuple[Fact, ...] = ()
    notes: tuple[str, ...] = ()
    table: Table | None = None
    pictures: tuple[Picture, ...] = ()
    how_sure: tuple[str, ...] = ()
    convergence: tuple[str, ...] = ()
    components: tuple[Fact, ...] = ()
    ending: tuple[Picture, ...] = ()
    methods: str = ""
    citations: tuple[str, ...] = ()
    command: str = ""
    version: str = ""
    gaps: tuple[Fact, ...] = ()
