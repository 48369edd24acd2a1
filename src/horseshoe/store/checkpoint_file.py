"""Long work on disk, to be taken up where it was broken off: plain arrays and JSON, never code.

A file is always whole, has a digest of all that is in it, and says what it belongs to. The sampler keeps its
draws in one, `horseshoe.store.checkpoint` the state of a fit.
"""

from __future__ import annotations

import hashlib
import json
import os
import warnings
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from horseshoe.files import write_file

WRITE_SHARE = 0.05
"""Of the time, at most, goes into writing."""


class CheckpointFile:
    """One file, which is always whole: see `horseshoe.files.write_file`.

    Parameters
    ----------
    path : str or path-like
        Where.
    version : str
        Of horseshoe.
    layout : int
        The number of the format.
    work : str
        What goes on if the file cannot be written.
    needs : tuple of str
        What its header has beside the version and the format.
    """

    def __init__(self, path: Any, version: str, layout: int, work: str, needs: tuple[str, ...]) -> None:
        if not isinstance(path, str | os.PathLike):
            raise TypeError(f"checkpoint={path!r} must be the path of a file")
        self.path, self._version, self._layout = Path(path), version, layout
        self._work, self._needs, self._warned = work, needs, False

    def read(self) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """Return arrays and header, if the file is what was written; None if there is no file."""
        if not self.path.exists():
            if not self.path.parent.is_dir():
                raise FileNotFoundError(
                    f"checkpoint={str(self.path)!r}: there is no such folder: create it, or choose another"
                )
            return None
        arrays, header = self._content()
        if (header["horseshoe"], header["format"]) != (self._version, self._layout):
            raise self.refused(
                f"was written by horseshoe {header['horseshoe']} (format {header['format']}), "
                f"this is {self._version} (format {self._layout})"
            )
        return arrays, header

    def write(self, arrays: dict[str, Any], header: dict[str, Any]) -> None:
        """Write the file; a full disk leaves the old one."""
        header = {"horseshoe": self._version, "format": self._layout, **header}
        content = {"header": np.array(json.dumps(header)), **arrays}
        content["digest"] = np.array(_content_digest(content))
        try:
            write_file(self.path, lambda file: np.savez(file, **content))
        except OSError as error:
            self.complain(f"be written to {str(self.path)!r} ({error.strerror or error})")

    def not_one(self, error: Exception) -> ValueError:
        """Return the error for a file that is no checkpoint."""
        return ValueError(
            f"{str(self.path)!r} is not a checkpoint of horseshoe ({error}): it was left as it is; "
            "choose another path, or remove the file to start anew"
        )

    def refused(self, why: str) -> ValueError:
        """Return the error for a checkpoint that is not used."""
        return ValueError(
            f"the checkpoint {str(self.path)!r} {why}: it was left as it is; "
            "choose another path, or remove the file to start anew"
        )

    def compare(self, before: dict[str, str], settings: dict[str, str], data: bool) -> None:
        """Refuse what was not written by this very run; ``data`` tells whether its data are the same."""
        if not data:
            raise self.refused("belongs to other data (X, y, sample_weight or offset)")
        other = [name for name in {**before, **settings} if before.get(name) != settings.get(name)]
        if other:
            parts = (f"{name} is {before.get(name)} there, {settings.get(name)} here" for name in other)
            raise self.refused(f"belongs to another run ({'; '.join(parts)})")

    def _content(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what is in the file, if it is what was written."""
        try:
            with self.path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                if any(part.compress_type for part in file.zip.infolist()):  # it could be of any size
                    raise ValueError("it was packed anew")
                arrays = {name: file[name] for name in file.files}
            header = {**json.loads(str(arrays["header"]))}
            for name in ("horseshoe", "format", *self._needs):
                header[name]
            written = str(arrays.pop("digest")) if "digest" in arrays else None
            changed = written != _content_digest(arrays)
        except Exception as error:  # a broken archive can raise almost anything
            raise self.not_one(error) from error
        if written is None:
            raise self.refused(
                f"has no digest of its content (horseshoe {header['horseshoe']}, format {header['format']}), "
                "so nobody can tell whether it was changed"
            )
        if changed:
            raise self.refused("was changed after it was written: its content does not fit its digest")
        return arrays, header

    def complain(self, what: str) -> None:
        """Warn once: the work goes on, and nothing that was written before is lost."""
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"the checkpoint could not {what}: {self._work} goes on, and the checkpoint of before, if "
                "any, is still there",
                stacklevel=2,
            )


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


def described(values: dict[str, Any]) -> dict[str, str]:
    """Return settings as text that is the same in every process; of long arrays a digest.

    Examples
    --------
    >>> from horseshoe.priors import Horseshoe
    >>> described({"prior": Horseshoe(), "tol": 1e-5})
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
