"""Checkpoints, from which a fit or a run of the sampler resumes: plain arrays and JSON, never code.

A fit has sections that come one after the other: starts, classes, components of an average. Each checks the
fingerprint of its data and settings, and saves its state at the top of its loop. A resumed fit ends in the
same answer, bit for bit. The time of writing never changes the answer. The file is always whole, and has a
digest of all that is in it.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import fields, is_dataclass
from pathlib import Path
from threading import RLock
from typing import Any

import numpy as np

from horseshoe._version import __version__
from horseshoe.files import write_file
from horseshoe.store.codec import CLASS, Codec
from horseshoe.store.text import from_text

# Seconds before the first writing, and between two of them, at least.
FORMAT = 4
WRITE_INTERVAL = 5.0
# Of the time, at most, goes into writing.
WRITE_SHARE = 0.05
AGAIN = "it was left as it is; choose another path, or remove the file to start anew"


class CheckpointFile:
    """A file of sections, which is always whole: see `horseshoe.files.write_file`.

    Parameters
    ----------
    path : str or path-like
        Where. A folder, a file that is no checkpoint and a place where nothing can be written are refused.
    work : str
        What goes on if the file cannot be written.
    """

    def __init__(self, path: Any, work: str) -> None:
        self.path, self._work = _checked(path), work
        self._lock, self._next, self._unwritten = RLock(), time.perf_counter() + WRITE_INTERVAL, False
        self._warned = False
        self._sections: dict[str, CheckpointSection] = {}
        if self.path.exists():
            self._read()
        _refuse_unwritable(self.path)

    def section(self, name: str) -> CheckpointSection:
        """Return the section of this name; a new one if there is none."""
        with self._lock:
            return self._sections.setdefault(name, CheckpointSection(self, name))

    def write_if_due(self) -> None:
        """Write the file, if the last time was long enough ago."""
        with self._lock:
            self._unwritten = True
            if time.perf_counter() >= self._next:
                self.write()

    def write(self) -> None:
        """Write the file, if anything was saved since; a full disk leaves the old one."""
        with self._lock:
            if not self._unwritten:
                return
            start = time.perf_counter()
            try:
                content = self._content()
                write_file(self.path, lambda file: np.savez(file, **content))
            except TypeError as error:  # a family of the user's own may hold anything
                self._warn(f"be made ({error})")
            except OSError as error:
                self._warn(f"be written to {str(self.path)!r} ({error.strerror or error})")
            done = time.perf_counter()
            self._unwritten, self._next = False, done + max(WRITE_INTERVAL, (done - start) / WRITE_SHARE)

    def _content(self) -> dict[str, Any]:
        """Return the arrays of all sections, the header with everything else, and the digest of both."""
        sections, content = {}, dict[str, Any]()
        for name, section in self._sections.items():
            sections[name], arrays = section.encoded()
            content |= arrays  # their names begin with that of their section
        header = {"horseshoe": __version__, "format": FORMAT, "sections": sections}
        content["header"] = np.array(json.dumps(header, allow_nan=False))
        return {**content, "digest": np.array(_content_digest(content))}

    def _read(self) -> None:
        """Read the sections, if the file is what was written."""
        # 1. The archive is whole, and its arrays are plain.
        try:
            arrays = _arrays_in(self.path)
            written = arrays.pop("digest", None)
            changed = str(written) != _content_digest(arrays)
            header = from_text(str(arrays.pop("header")))
            wrote = (header["horseshoe"], header["format"])
        except Exception as error:  # a broken archive can raise almost anything
            raise self.not_one(error) from error
        # 2. Every byte is as it was written, by this very version.
        if written is None:
            raise self.refused(
                f"has no digest of its content (horseshoe {wrote[0]}, format {wrote[1]}), so nobody can tell "
                "whether it was changed"
            )
        if changed:
            raise self.refused("was changed after it was written: its content does not fit its digest")
        if wrote != (__version__, FORMAT):
            here = f"{__version__} (format {FORMAT})"
            raise self.refused(f"was written by horseshoe {wrote[0]} (format {wrote[1]}), this is {here}")
        # 3. Each section with its own arrays; what is in them is looked at by `CheckpointSection.load`.
        for name, content in header["sections"].items():
            own = {key: array for key, array in arrays.items() if key.startswith(f"{name}state")}
            self._sections[name] = CheckpointSection(self, name, content, own)

    def not_one(self, error: Exception) -> ValueError:
        """Return the error for a file that is no checkpoint."""
        return ValueError(f"{str(self.path)!r} is not a checkpoint of horseshoe ({error}): {AGAIN}")

    def refused(self, why: str) -> ValueError:
        """Return the error for a checkpoint that is not used."""
        return ValueError(f"the checkpoint {str(self.path)!r} {why}: {AGAIN}")

    def _warn(self, what: str) -> None:
        """Warn once: the work goes on, and nothing that was written before is lost."""
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"the checkpoint could not {what}: {self._work} goes on, and the checkpoint of before, if "
                "any, is still there",
                stacklevel=2,
            )


@contextmanager
def open_checkpoint(path: Any, work: str = "the fit") -> Iterator[CheckpointSection | None]:
    """Yield the section of the whole work, None without a path; write it at the end, however that comes.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "fit.npz"
    >>> with open_checkpoint(path) as root:
    ...     root.section("count").save({"seen": 3, "sum": np.array([1.5])})
    >>> with open_checkpoint(path) as root:
    ...     root.section("count").load()
    {'seen': 3, 'sum': array([1.5])}
    """
    if path is None:
        yield None
        return
    file = CheckpointFile(path, work)
    try:
        yield file.section("")
    finally:
        file.write()


class CheckpointSection:
    """One part of a fit in a checkpoint: starts, a class, a component of an average.

    Parameters
    ----------
    file : CheckpointFile
        Where.
    name : str
        Of the section.
    content : dict, optional
        What the file has of it.
    arrays : dict, optional
        The arrays of its state.
    """

    def __init__(self, file: CheckpointFile, name: str, content: Any = None, arrays: Any = None) -> None:
        self._file, self._name, self._arrays = file, name, arrays or {}
        self._content = content or {"settings": None, "data": None, "state": None}
        self._state: Any = None  # what was saved since the file was read

    def section(self, name: str) -> CheckpointSection:
        """Return a section within this one."""
        return self._file.section(f"{self._name}{name}/")

    def check_fingerprint(self, settings: dict[str, Any], *data: Any) -> None:
        """Refuse a section of a fit with other settings or other data; a new one gets their fingerprint."""
        here, digest, there = settings_text(settings), digest_of(*data), self._content["settings"] or {}
        other = [name for name in {**there, **here} if there.get(name) != here.get(name)]
        parts = (f"{name} is {there.get(name)} there, {here.get(name)} here" for name in other)
        why = [f"another run ({'; '.join(parts)})"] if other else []
        if self._content["data"] != digest:  # which settings may decide too
            why.append("other data (X, y, sample_weight or offset)")
        if why and self._content["data"] is not None:
            raise self._file.refused(f"belongs to {' or to '.join(why)}")
        self._content |= {"settings": here, "data": digest}

    def save(self, state: Any) -> None:
        """Save arrays, numbers, texts, tuples, dicts and named tuples, which nobody may change."""
        self._state = state
        self._file.write_if_due()

    def load(self, *classes: type) -> Any:
        """Return what was saved last, or None; its named tuples may be of these classes."""
        if self._state is not None:
            return self._state
        try:
            codec = Codec({Any: classes}, arrays=self._arrays)
            return codec.decode(self._content["state"], Any, "state")
        except Exception as error:
            raise self._file.not_one(error) from error

    def encoded(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the section as JSON, and the arrays of its state."""
        if self._state is None:
            return self._content, self._arrays
        arrays: dict[str, Any] = {}
        state = Codec(arrays=arrays).encode(self._state, Any, f"{self._name}state")
        return {**self._content, "state": state}, arrays


# --- fingerprints -------------------------------------------------------------------------------------


def digest_of(*arrays: Any) -> str:
    """Return a fingerprint of some arrays.

    Examples
    --------
    >>> digest_of(np.zeros(2)) == digest_of(np.zeros(3))
    False
    """
    sha = hashlib.sha256()
    for array in arrays:
        sha.update(repr((array.shape, array.dtype.str)).encode())
        sha.update(np.ascontiguousarray(array).data)
    return sha.hexdigest()


def settings_text(values: dict[str, Any]) -> dict[str, str]:
    """Return settings as text that is the same in every process; of long arrays a digest.

    Examples
    --------
    >>> from horseshoe.priors import Horseshoe
    >>> settings_text({"prior": Horseshoe(), "tol": 1e-5})
    {'prior': 'Horseshoe(a=0.5, b=0.5)', 'tol': '1e-05'}
    """
    return {name: _text(value) for name, value in values.items()}


def _text(value: Any) -> str:
    if isinstance(value, np.ndarray):
        short = value.dtype != object and value.size <= 4
        return repr(value.tolist()) if short else f"array {digest_of(_plain_array(value))[:16]}"
    if isinstance(value, dict):
        return _listed("{}", (f"{_text(key)}: {_text(one)}" for key, one in value.items()))
    if isinstance(value, tuple | list):
        return _listed("()", map(_text, value))
    if is_dataclass(value) and not isinstance(value, type):
        named = [(one, getattr(value, one.name)) for one in fields(value) if not one.name.startswith("_")]
        parts = (f"{one.name}={_text(own)}" for one, own in named if one.repr or own is not one.default)
        return type(value).__qualname__ + _listed("()", parts)
    text = repr(value)
    return f"{type(value).__qualname__}{_text(vars(value))}" if " object at 0x" in text else text


def _plain_array(value: Any) -> Any:
    return np.array([str(one) for one in value.ravel()]) if value.dtype == object else value


def _listed(ends: str, parts: Iterable[str]) -> str:
    return f"{ends[0]}{', '.join(parts)}{ends[1]}"


def _content_digest(content: dict[str, Any]) -> str:
    """Return a fingerprint of named arrays: no entry can be changed, renamed, added or left out unseen."""
    names = sorted(content)
    return digest_of(np.array(json.dumps(names)), *(content[name] for name in names))


# --- families, which are saved by what they have estimated ----------------------------------------------


def changed_attributes(value: Any, base: Any) -> dict[str, Any]:
    """Return the attributes in which an object differs from another of its class.

    Examples
    --------
    >>> from horseshoe.families import StudentT
    >>> changed_attributes(StudentT(df_=7.0), StudentT())
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


# --- files --------------------------------------------------------------------------------------------


def _checked(path: Any) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"checkpoint={path!r} must be the path of a file")
    found = Path(path)
    if found.is_dir():
        raise IsADirectoryError(f"checkpoint={str(path)!r} is a folder: give a file in it")
    if found.exists() and not found.is_file():  # to read from a pipe would wait for ever
        raise OSError(f"checkpoint={str(path)!r} is no ordinary file: give another name")
    if not found.parent.is_dir():
        raise FileNotFoundError(
            f"checkpoint={str(path)!r}: there is no such folder: create it, or choose another"
        )
    return found


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


def _arrays_in(path: Path) -> dict[str, Any]:
    with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
        if any(part.compress_type for part in file.zip.infolist()):  # it could be of any size
            raise ValueError("it was packed anew")
        return {name: file[name] for name in file.files}
