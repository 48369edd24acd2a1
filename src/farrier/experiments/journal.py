"""A file of results that grows by one data set at a time, so that a run that is killed loses nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from farrier.experiments.files import write_text


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
        set aside under a new name, and a new one is begun.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "t.jsonl"
    >>> Journal(path, {"seed": 1}).append([Record("easy", 0, "lasso", {"MSE": 2.0})])
    >>> Journal(path, {"seed": 1}).records()
    [Record(setting='easy', replicate=0, method='lasso', metrics={'MSE': 2.0})]
    >>> Journal(path, {"seed": 2}).records()
    []
    """

    def __init__(self, path: Path, heading: dict[str, Any]) -> None:
        self.path = path
        self.set_aside: Path | None = None
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and _parse(_lines(path)[:1]) != [heading]:
            self.set_aside = _free_name(path)
            os.replace(path, self.set_aside)
        if not path.exists():
            write_text(path, json.dumps(heading) + "\n")
        elif not path.read_bytes().endswith(b"\n"):  # killed in the middle of a line
            write_text(path, "".join(line + "\n" for line in _lines(path)[:-1]))

    def records(self) -> list[Record]:
        """Return what has been written so far, each data set and method once."""
        found = [Record(**fields) for fields in _parse(_lines(self.path)[1:])]
        return list({record.key: record for record in reversed(found)}.values())[::-1]

    def append(self, records: Iterable[Record]) -> None:
        """Add records, and see that they are on the disk."""
        text = "".join(json.dumps(record._asdict()) + "\n" for record in records)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")


def _parse(lines: list[str]) -> list[dict[str, Any]]:
    """Return the lines that are whole."""
    found = []
    for line in lines:
        try:
            found.append(json.loads(line))
        except json.JSONDecodeError:
            continue
    return found


def _free_name(path: Path) -> Path:
    """Return the first name beside ``path`` that is not taken."""
    number = 1
    while (name := path.with_name(f"{path.stem}.old{number}{path.suffix}")).exists():
        number += 1
    return name
