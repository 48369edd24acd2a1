"""A file of results that grows by one data set at a time, so that a run that is killed loses nothing."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, NamedTuple, Self

from horseshoe_reproduction.experiment import RequestError
from horseshoe_reproduction.files import write_text


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

    Every line ends with a digest of itself and of all lines before it, so a line that was changed, moved,
    repeated or taken out is found when the file is opened. Only a last line without an end, which is what a
    crash leaves, is dropped and written anew.

    Parameters
    ----------
    path : Path
        The file; it need not exist.
    heading : dict
        What must be equal for old records to count: the seed, the versions. A file with another heading is
        set aside under a new name, and a new one is begun. One process at a time can use a file.

    fresh : bool, default=False
        Whether to set the file aside whatever is in it.

    Raises
    ------
    RequestError
        When a line is not as it was written; the message says which one.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "t.jsonl"
    >>> with Journal(path, {"seed": 1}) as journal:
    ...     journal.append([Record("easy", 0, "lasso", {"MSE": 2.0})])
    ...     journal.records()
    [Record(setting='easy', replicate=0, method='lasso', metrics={'MSE': 2.0})]
    >>> _ = path.write_text(path.read_text().replace("2.0", "1.0"))
    >>> Journal(path, {"seed": 1})
    Traceback (most recent call last):
    horseshoe_reproduction.experiment.RequestError: line 2 of ...t.jsonl is not as it was written...
    >>> with Journal(path, {"seed": 2}) as journal:
    ...     journal.records()
    []
    """

    def __init__(self, path: Path, heading: dict[str, Any], fresh: bool = False) -> None:
        self.path = path
        self.set_aside: Path | None = None
        path.parent.mkdir(parents=True, exist_ok=True)
        self._lock = _hold(path.with_suffix(".lock"))
        try:
            self._open(heading, fresh)
        except BaseException:
            self.__exit__()
            raise

    def _open(self, heading: dict[str, Any], fresh: bool) -> None:
        if self.path.exists() and (fresh or _heading(self.path) != heading):
            self.set_aside = _free_name(self.path)
            os.replace(self.path, self.set_aside)
        if not self.path.exists():
            write_text(self.path, _signed(heading, "")[0])
        _, self._found, self._digest = read(self.path)
        whole, end, rest = self.path.read_bytes().rpartition(b"\n")
        if rest:  # killed in the middle of a line
            write_text(self.path, (whole + end).decode())

    def records(self) -> list[Record]:
        """Return what has been written so far, each data set and method once, in a fixed order."""
        return sorted({record.key: record for record in reversed(self._found)}.values(), key=lambda r: r.key)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._lock is not None:
            self._lock.close()

    def append(self, records: Iterable[Record]) -> None:
        """Add records, and see that they are on the disk."""
        added, lines, digest = list(records), [], self._digest
        for record in added:
            line, digest = _signed(record._asdict(), digest)
            lines.append(line)
        with self.path.open("ab") as file:
            file.write("".join(lines).encode())
            file.flush()
            os.fsync(file.fileno())
        self._found, self._digest = [*self._found, *added], digest


class Contents(NamedTuple):
    """What a journal says: its heading, its records in the order of the file, the digest of the last line."""

    heading: dict[str, Any]
    records: list[Record]
    digest: str


def read(path: Path) -> Contents:
    """Return what a journal says, and leave it alone: a run may be writing it.

    A last line without an end is left out.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "t.jsonl"
    >>> with Journal(path, {"seed": 1}) as journal:
    ...     journal.append([Record("easy", 0, "lasso", {"MSE": 2.0})])
    ...     read(path).records == journal.records()
    True
    """
    *lines, _ = path.read_bytes().split(b"\n")
    if not lines:
        raise _changed(path, 1)
    heading, digest = _value(path, 1, lines[0], "")
    found = []
    for number, line in enumerate(lines[1:], start=2):
        value, digest = _value(path, number, line, digest)
        found.append(_record(path, number, value))
    return Contents(heading, found, digest)


ADVICE = "it was left as it is; remove it, or start anew with --fresh, which sets it aside"


def _signed(value: dict[str, Any], before: str) -> tuple[str, str]:
    """Return a line with its digest, and the digest; ``before`` is that of the line before."""
    digest = hashlib.sha256(f"{before} {json.dumps(value)}".encode()).hexdigest()
    return json.dumps({**value, "digest": digest}) + "\n", digest


def _heading(path: Path) -> dict[str, Any]:
    """Return what the first line of a file says."""
    with path.open("rb") as file:
        first = file.readline()
    if not first.endswith(b"\n"):  # it was never written in part
        raise _changed(path, 1)
    return _value(path, 1, first[:-1], "")[0]


def _value(path: Path, number: int, line: bytes, before: str) -> tuple[dict[str, Any], str]:
    """Return what a line says and its digest, if it is the line that was written there."""
    try:
        value = json.loads(line)
        known = value.pop("digest", None)
        signed, digest = _signed(value, before)
    except Exception as error:  # anything may stand there
        raise _changed(path, number) from error
    if known is None and number == 1:
        raise RequestError(
            f"{path} has no digests (older versions wrote none), so nobody can tell whether it was changed: "
            f"{ADVICE}"
        )
    if signed.encode() != line + b"\n":
        raise _changed(path, number)
    return value, digest


def _record(path: Path, number: int, value: dict[str, Any]) -> Record:
    if set(value) != set(Record._fields):
        raise _changed(path, number)
    return Record(**value)


def _changed(path: Path, number: int) -> RequestError:
    return RequestError(f"line {number} of {path} is not as it was written: the file was changed; {ADVICE}")


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
