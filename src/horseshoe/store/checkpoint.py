"""Checkpoints of fits, from which an interrupted fit resumes.

A fit has sections that come one after the other: starts, classes, components of an average. Each checks the
fingerprint of its data and settings, and saves its state as a tree of arrays at the top of its loop. A
resumed fit ends in the same answer, bit for bit. The time of writing never changes the answer.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Any, Self

import numpy as np

from horseshoe._version import __version__
from horseshoe.store.checkpoint_file import WRITE_SHARE, CheckpointFile, described, digest_of

FORMAT = 1
WRITE_INTERVAL = 5.0
"""Seconds before the first writing, and between two of them, at least."""
CLASS, ARRAY, NUMBER = "class", "array", "float64"
"""How values are marked that JSON does not have."""


class FitCheckpoint(CheckpointFile):
    """The checkpoint of a fit: a context in which its parts are kept, and at whose end the file is written.

    Parameters
    ----------
    path : str or path-like
        Where. A folder, a file that is none of ours and a place where nothing can be written are refused.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "fit.npz"
    >>> with FitCheckpoint(path) as file:
    ...     file.root.section("count").save({"seen": 3, "sum": np.array([1.5])})
    >>> with FitCheckpoint(path) as file:
    ...     file.root.section("count").load()
    {'seen': 3, 'sum': array([1.5])}
    """

    def __init__(self, path: Any) -> None:
        super().__init__(path, __version__, FORMAT, "the fit", ("parts",))
        self._lock, self._next, self._fresh = RLock(), time.perf_counter() + WRITE_INTERVAL, False
        self._parts = self._open()

    @property
    def root(self) -> CheckpointSection:
        """The section of the whole fit."""
        return CheckpointSection(self, "")

    def _open(self) -> dict[str, dict[str, Any]]:
        if self.path.is_dir():
            raise IsADirectoryError(f"checkpoint={str(self.path)!r} is a folder: give a file in it")
        if self.path.exists() and not self.path.is_file():  # to read from a pipe would wait for ever
            raise OSError(f"checkpoint={str(self.path)!r} is no ordinary file: give another name")
        found = self.read()
        _refuse_unwritable(self.path)
        if found is None:
            return {}
        arrays, header = found
        try:
            parts = {**_unpacked(header["parts"], arrays)}
            for part in parts.values():
                part["settings"], part["data"], part["tree"]
        except Exception as error:
            raise self.not_one(error) from error
        return parts

    def entry(self, name: str) -> dict[str, Any]:
        """Return what is known of a section; it may be changed."""
        with self._lock:
            return self._parts.setdefault(name, {"settings": None, "data": None, "tree": None})

    def keep(self, name: str, tree: Any) -> None:
        """Keep the last word of a part, and write the file if the last time was long enough ago."""
        with self._lock:
            self.entry(name)["tree"], self._fresh = tree, True
            if time.perf_counter() >= self._next:
                self.save()

    def save(self) -> None:
        """Write the file, if there is news."""
        with self._lock:
            if not self._fresh:
                return
            start = time.perf_counter()
            arrays: dict[str, Any] = {}
            try:
                self.write(arrays, {"parts": _packed(self._parts, arrays)})
            except TypeError as error:  # a family of the user's own may hold anything
                self.complain(f"be made ({error})")
            done = time.perf_counter()
            self._fresh, self._next = False, done + max(WRITE_INTERVAL, (done - start) / WRITE_SHARE)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write the file, whether the fit came to its end, was interrupted or failed."""
        self.save()


@contextmanager
def open_checkpoint(path: Any) -> Iterator[CheckpointSection | None]:
    """Give a fit its checkpoint, if there is a path to keep it at.

    Examples
    --------
    >>> with open_checkpoint(None) as section:
    ...     print(section)
    None
    """
    if path is None:
        yield None
        return
    with FitCheckpoint(path) as file:
        yield file.root


class CheckpointSection:
    """One part of a fit in a checkpoint: starts, a class, a component of an average.

    Parameters
    ----------
    file : FitCheckpoint
        Where.
    name : str
        Of the section.
    """

    def __init__(self, file: FitCheckpoint, name: str) -> None:
        self._file, self._name = file, name

    def section(self, name: str) -> CheckpointSection:
        """Return a section within this one."""
        return CheckpointSection(self._file, f"{self._name}{name}/")

    def check_fingerprint(self, settings: dict[str, Any], *arrays: Any) -> None:
        """Refuse a section of a fit with other settings or other data; a new one gets their fingerprint."""
        said, data, part = described(settings), digest_of(*arrays), self._file.entry(self._name)
        if part["data"] is not None:
            self._file.compare({**part["settings"]}, said, data=True)  # they decide what the data come to
            self._file.compare({}, {}, part["data"] == data)
        part["settings"], part["data"] = said, data

    def load(self, *classes: type) -> Any:
        """Return what was saved last, or None; its named tuples may be of these classes."""
        tree = self._file.entry(self._name)["tree"]
        try:
            return _made(tree, {one.__name__: one for one in classes})
        except Exception as error:
            raise self._file.not_one(error) from error

    def save(self, tree: Any) -> None:
        """Keep a tree of arrays, numbers, texts, tuples, dicts and named tuples, which nobody may change."""
        self._file.keep(self._name, tree)


def changed(value: Any, base: Any) -> dict[str, Any]:
    """Return the attributes in which an object differs from another of its class.

    Examples
    --------
    >>> from horseshoe.families import StudentT
    >>> changed(StudentT(df_=7.0), StudentT())
    {'df_': 7.0}
    """
    if value is base or value is None:
        return {}
    if type(value) is not type(base):
        return {"": value}  # which cannot be kept
    before = vars(base)
    return {name: one for name, one in vars(value).items() if one is not before.get(name, CLASS)}


def with_changes(base: Any, changes: dict[str, Any]) -> Any:
    """Return an object with other attributes in the place of some.

    Examples
    --------
    >>> from horseshoe.families import StudentT
    >>> with_changes(StudentT(), {"df_": 7.0}).df_
    7.0
    """
    if not changes:
        return base
    out = copy(base)
    for name, value in changes.items():
        object.__setattr__(out, name, value)
    return out


def _refuse_unwritable(path: Path) -> None:
    """Refuse a place where no file can be written, before anything takes time."""
    try:
        trial = path.resolve().with_name(f"{path.name}.{time.time_ns()}.trial")
        trial.touch(exist_ok=False)
        trial.unlink()
    except OSError as error:
        raise OSError(
            error.errno, f"checkpoint={str(path)!r} cannot be written ({error.strerror}): choose another"
        ) from error


def _packed(tree: Any, arrays: dict[str, Any]) -> Any:
    """Return a tree as JSON has it; its arrays go to ``arrays``, by number."""
    if isinstance(tree, np.ndarray):
        if tree.dtype == object:
            raise TypeError("an array of objects is in the state of the fit")
        name = str(len(arrays))
        arrays[name] = tree
        return {ARRAY: name}
    if isinstance(tree, np.float64):
        return {NUMBER: float(tree)}
    if isinstance(tree, np.generic):
        return _packed(np.asarray(tree), arrays)
    if isinstance(tree, dict):
        return {name: _packed(one, arrays) for name, one in tree.items()}
    if hasattr(tree, "_fields"):
        named = {name: _packed(one, arrays) for name, one in zip(tree._fields, tree, strict=True)}
        return {CLASS: type(tree).__name__, **named}
    if isinstance(tree, tuple | list):
        return [_packed(one, arrays) for one in tree]
    if tree is None or isinstance(tree, bool | int | float | str):
        return tree
    raise TypeError(f"a {type(tree).__name__} is in the state of the fit")


def _unpacked(content: Any, arrays: dict[str, Any]) -> Any:
    """Return the tree of JSON and its arrays; named tuples are still dicts."""
    if isinstance(content, list):
        return tuple(_unpacked(one, arrays) for one in content)
    if not isinstance(content, dict):
        return content
    if content.keys() == {ARRAY}:
        found = arrays[content[ARRAY]]
        return found[()] if found.ndim == 0 else found
    if content.keys() == {NUMBER}:
        return np.float64(content[NUMBER])
    return {name: _unpacked(one, arrays) for name, one in content.items()}


def _made(tree: Any, classes: dict[str, type]) -> Any:
    """Return the tree with named tuples where there are such, as they were saved."""
    if isinstance(tree, tuple):
        return tuple(_made(one, classes) for one in tree) if not hasattr(tree, "_fields") else tree
    if not isinstance(tree, dict):
        return tree
    found = {name: _made(one, classes) for name, one in tree.items()}
    name = found.pop(CLASS, None)
    return found if name is None else classes[name](**found)
