"""Files that are never half-written: under a temporary name first, then under their own."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any


def write_text(path: Path, text: str) -> Path:
    """Write a text file.

    Examples
    --------
    >>> import tempfile
    >>> write_text(Path(tempfile.mkdtemp()) / "new" / "a.txt", "done").read_text()
    'done'
    """
    return _replace(path, lambda draft: draft.write_text(text, encoding="utf-8"))


def write_picture(path: Path, figure: Any) -> Path:
    """Write a figure of matplotlib; the end of the name says in which format."""
    kind = path.suffix[1:] or "png"
    return _replace(path, lambda draft: figure.savefig(draft, format=kind, dpi=130, bbox_inches="tight"))


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""Return rows as CSV.

    Examples
    --------
    >>> csv_text(("a", "b"), [(1, "x,y")])
    'a,b\n1,"x,y"\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def _replace(path: Path, write: Callable[[Path], Any]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
    try:
        write(draft)
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    return path
