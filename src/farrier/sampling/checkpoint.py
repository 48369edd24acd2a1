"""A run on disk: everything that is needed to take it up again, as plain arrays and JSON, never as code."""

from __future__ import annotations

import hashlib
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from farrier._types import Vector
from farrier._version import __version__
from farrier.files import write_file
from farrier.sampling.gibbs import State
from farrier.sampling.streams import Streams

FORMAT = 3
WRITE_SHARE = 0.05
"""Of the time, at most, goes into writing."""


class Checkpoint:
    """One file, which is always whole: see `farrier.files.write_file`.

    Parameters
    ----------
    path : str or path-like
        Where.
    settings : dict
        What a run must share with the one in the file to go on from it, as text by name.
    digest : str
        The data, in short.
    """

    def __init__(self, path: Any, settings: dict[str, str], digest: str) -> None:
        self.path, self.settings, self.digest = Path(path), settings, digest
        self._next = 0.0
        self._warned = False

    def load(self) -> tuple[State, dict[str, Any]] | None:
        """Return the state and the draws in the file, or None if there is no file."""
        if not self.path.exists():
            if not self.path.parent.is_dir():
                raise FileNotFoundError(
                    f"checkpoint={str(self.path)!r}: there is no such folder: create it, or choose another"
                )
            return None
        arrays, header = self._read()
        self._compare(header)
        try:
            return _state(arrays, header), _complete(_part(arrays, "draws"))
        except Exception as error:
            raise self._no_checkpoint(error) from error

    def save(self, state: State, draws: dict[str, Any], now: bool = False) -> None:
        """Write the file, unless the last time was too short a while ago; a full disk leaves the old one."""
        start = time.perf_counter()
        if start < self._next and not now:
            return
        content = self._content(state, draws)
        try:
            write_file(self.path, lambda file: np.savez(file, **content))
        except OSError as error:
            self._complain(error)
        done = time.perf_counter()
        self._next = done + max(1.0, (done - start) / WRITE_SHARE)

    def _complain(self, error: OSError) -> None:
        """Warn once: the run goes on, and nothing that was written before is lost."""
        if not self._warned:
            self._warned = True
            warnings.warn(
                f"the checkpoint could not be written to {str(self.path)!r} ({error.strerror or error}): "
                "sampling goes on, and the checkpoint of before, if any, is still there",
                stacklevel=2,
            )

    def _content(self, state: State, draws: dict[str, Any]) -> dict[str, Any]:
        header = {
            "farrier": __version__,
            "format": FORMAT,
            "settings": self.settings,
            "data": self.digest,
            "sweeps": state.sweeps,
            "generators": [rng.bit_generator.state for rng in state.rng],
        }
        parts = {"state": state.arrays(), "pools": state.source.pools, "draws": draws}
        named = {f"{part} {name}": value for part, values in parts.items() for name, value in values.items()}
        content = {"header": np.array(json.dumps(header)), **named}
        return {**content, "digest": np.array(_content_digest(content))}

    def _read(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return what is in the file, if it is what was written."""
        try:
            with self.path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
                if any(part.compress_type for part in file.zip.infolist()):  # it could be of any size
                    raise ValueError("it was packed anew")
                arrays = {name: file[name] for name in file.files}
            header = json.loads(str(arrays["header"]))
            header = {**header, "settings": {**header["settings"]}}
            for name in ("farrier", "format", "data"):
                header[name]
            written = str(arrays.pop("digest")) if "digest" in arrays else None
            changed = written != _content_digest(arrays)
        except Exception as error:  # a broken archive can raise almost anything
            raise self._no_checkpoint(error) from error
        if written is None:
            raise self._refused(
                f"has no digest of its content (farrier {header['farrier']}, format {header['format']}), "
                "so nobody can tell whether it was changed"
            )
        if changed:
            raise self._refused("was changed after it was written: its content does not fit its digest")
        return arrays, header

    def _no_checkpoint(self, error: Exception) -> ValueError:
        return ValueError(
            f"{str(self.path)!r} is not a checkpoint of farrier ({error}): it was left as it is; "
            "choose another path, or remove the file to start anew"
        )

    def _refused(self, why: str) -> ValueError:
        return ValueError(
            f"the checkpoint {str(self.path)!r} {why}: it was left as it is; "
            "choose another path, or remove the file to start anew"
        )

    def _compare(self, header: dict[str, Any]) -> None:
        """Refuse a file that was not written by this very run."""
        if (header["farrier"], header["format"]) != (__version__, FORMAT):
            raise self._refused(
                f"was written by farrier {header['farrier']} (format {header['format']}), "
                f"this is {__version__} (format {FORMAT})"
            )
        if header["data"] != self.digest:
            raise self._refused("belongs to other data (X, y, sample_weight or offset)")
        before = header["settings"]
        other = [name for name in {**before, **self.settings} if before.get(name) != self.settings.get(name)]
        if other:
            parts = (f"{name} is {before.get(name)} there, {self.settings.get(name)} here" for name in other)
            raise self._refused(f"belongs to another run ({'; '.join(parts)})")


def digest_of(*arrays: Vector) -> str:
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


def _content_digest(content: dict[str, Any]) -> str:
    """Return a fingerprint of named arrays: no entry can be changed, renamed, added or left out unseen."""
    names = sorted(content)
    return digest_of(np.array(json.dumps(names)), *(content[name] for name in names))


def _part(arrays: dict[str, Any], part: str) -> dict[str, Any]:
    return {name.split(" ", 1)[1]: value for name, value in arrays.items() if name.split(" ")[0] == part}


def _complete(draws: dict[str, Any]) -> dict[str, Any]:
    for name in ("coef", "intercept", "tau2", "sigma2", "nuisance"):
        draws[name]
    return draws


def _state(arrays: dict[str, Any], header: dict[str, Any]) -> State:
    generators = []
    for state in header["generators"]:
        bits = np.random.PCG64()
        bits.state = state
        generators.append(np.random.Generator(bits))
    source = Streams(generators, _part(arrays, "pools"))
    return State(**_part(arrays, "state"), source=source, sweeps=header["sweeps"])
