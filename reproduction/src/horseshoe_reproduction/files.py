"""Files that are never half-written: a draft is written first, and then renamed."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, BinaryIO


def write_file(path: Path, write: Callable[[BinaryIO], Any]) -> Path:
    """Write a file, and its folder, by ``write``, which is given it open for bytes.

    Examples
    --------
    >>> import tempfile
    >>> write_file(Path(tempfile.mkdtemp()) / "new" / "a.txt", lambda file: file.write(b"done")).read_text()
    'done'
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f"{path.name}.{os.getpid()}.draft")
    try:
        with draft.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)
    return path


def write_text(path: Path, text: str) -> Path:
    """Write a text file."""
    return write_file(path, lambda file: file.write(text.encode()))


def write_picture(path: Path, figure: Any) -> Path:
    """Write a figure of matplotlib; the end of the name says in which format."""
    kind = path.suffix[1:] or "png"
    return write_file(path, lambda file: figure.savefig(file, format=kind, dpi=130, bbox_inches="tight"))


def csv_text(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""Return rows as CSV.

    Examples
    --------
    >>> csv_text(("a", "b"), [(1, "x,y")])
    'a,b\n1,"x,y"\n'
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([header, *rows])
    return text.getvalue()
