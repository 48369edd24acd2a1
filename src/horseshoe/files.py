"""Files that are never half-written: a draft first, on the disk, and then under their own name."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Sequence
from glob import escape
from pathlib import Path
from typing import Any, BinaryIO


def write_file(path: Path, write: Callable[[BinaryIO], Any]) -> Path:
    """Write a file by ``write``, which is given it open for bytes.

    Until the last byte is on the disk the old file stays; if anything goes wrong it stays for good. The
    folder must be there. A link is followed; a device or a pipe is refused, for a file would take its place.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> path = Path(tempfile.mkdtemp()) / "a.npz"
    >>> with np.load(write_file(path, lambda file: np.savez(file, x=np.arange(3)))) as found:
    ...     found["x"]
    array([0, 1, 2])
    """
    path = path.resolve() if path.is_symlink() else path
    if path.exists() and not path.is_file():
        raise OSError(f"{path} is not an ordinary file, and is not replaced by one: give another name")
    _clear_up(path)
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
    """Write a text file, and its folder if there is none.

    Examples
    --------
    >>> import tempfile
    >>> write_text(Path(tempfile.mkdtemp()) / "new" / "a.txt", "done").read_text()
    'done'
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_file(path, lambda file: file.write(text.encode()))


def write_picture(path: Path, figure: Any) -> Path:
    """Write a figure of matplotlib, and its folder; the end of the name says in which format.

    Examples
    --------
    >>> import tempfile
    >>> from matplotlib.figure import Figure
    >>> write_picture(Path(tempfile.mkdtemp()) / "new" / "a.svg", Figure()).read_text()[:5]
    '<?xml'
    """
    kind = path.suffix[1:] or "png"
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_file(path, lambda file: figure.savefig(file, format=kind, dpi=130, bbox_inches="tight"))


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


def _clear_up(path: Path) -> None:
    """Remove the drafts of processes that were killed while they wrote."""
    for draft in path.parent.glob(f"{escape(path.name)}.*.draft"):
        number = draft.name.removeprefix(f"{path.name}.").removesuffix(".draft")
        if number.isdecimal() and not _runs(int(number)):
            draft.unlink(missing_ok=True)


def _runs(process: int) -> bool:
    """Tell whether there is such a process; where that cannot be asked, there is."""
    if os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):  # another user's, or no number of a process
        return True
    return True
