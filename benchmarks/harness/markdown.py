"""Numbers and tables, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable


def number(value: float | None) -> str:
    """Three significant digits without an exponent."""
    if value is None:
        return "-"
    digits = 4 if value < 0.01 else 3 if value < 1 else 2 if value < 100 else 0
    return f"{value:.{digits}f}"


def table(header: list[str], rows: Iterable[list[str]]) -> str:
    """Lay out a Markdown table."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "/") for cell in line) + " |" for line in lines)
