"""A file of results that grows by one data set at a time, so that a run that is killed loses nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

from farrier.files import write_text
from farrier.paper.core import RequestError


class Record(NamedTuple):
    """What one method got on one data set."""

    setting: str
    replicate: int
    method: str
    metrics: dict[str, float]

    @property
    def key(self) -> tuple[str, int, str]:
        """What tells it from other records."""
        return self.setting, self.replicate, self.method


class Journal:
    """Records in a text file, one a line, after a line that says what they are records of.

    Parameters
    ----------
    path : Path
        The file; it need not exist.
    heading : dict
        What must be equal for old records to count: the seed, the versions. A file with another heading is
        set aside under a new name, and a new one is begun. One process at a time can use a file.

    fresh : bool, default=False
        Whether to set the file aside whatever its heading.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "t.jsonl"
    >>> with Journal(path, {"seed": 1}) as journal:
    ...     journal.append([Record("easy", 0, "lasso", {"MSE": 2.0})])
    ...     journal.records()
    [Record(setting='easy', replicate=0, method='lasso', metrics={'MSE': 2.0})]
    >>> with Journal(path, {"seed": 2}) as journal:
    ...     journal.records()
    []
    """

    def __init__(self, path: Path, heading: dict[str, Any], fresh: bool = False) -> None:
        self.path = path
        self.set_aside: Path | None = None
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = _hold(path.with_suffix(".lock"))
        if path.exists() and (fresh or _parse(_lines(path)[:1]) != [heading]):
            self.set_aside = _free_name(path)
            os.replace(path, self.set_aside)
        if not path.exists():
            write_text(path, json.dumps(heading) + "\n")
        elif not path.read_bytes().endswith(b"\n"):  # killed in the middle of a line
            write_text(path, "".join(line + "\n" for line in _lines(path)[:-1]))

    def records(self) -> list[Record]:
        """Return what has been written so far, each data set and method once, in a fixed order."""
        fields = (line for line in _parse(_lines(self.path)[1:]) if set(line) == set(Record._fields))
        found = [Record(**line) for line in fields]
        return sorted({record.key: record for record in reversed(found)}.values(), key=lambda r: r.key)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            self._lock.close()

    def append(self, records: Iterable[Record]) -> None:
        """Add records, and see that they are on the disk."""
        text = "".join(json.dumps(record._asdict()) + "\n" for record in records)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8", errors="replace").split("\n")


def _parse(lines: list[str]) -> list[dict[str, Any]]:
    """Return the lines that are whole."""
    found = []
    for line in lines:
        try:
            value = json.loads(line)
        except json.JSONDecodeError:
            continue
        found += [value] if isinstance(value, dict) else []
    return found


def _hold(path: Path) -> IO[str] | None:
    """Lock a file until this process ends, or say that another process has it."""
    try:
        import fcntl
    except ImportError:  # not on this system
        return None
    file = path.open("w", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        file.close()
        raise RequestError(
            f"another run is using {path.with_suffix('.jsonl')}: wait until it ends"
        ) from error
    return file


def _free_name(path: Path) -> Path:
    """Return the first name beside ``path`` that is not taken."""
    number = 1
    while (name := path.with_name(f"{path.stem}.old{number}{path.suffix}")).exists():
        number += 1
    return name
