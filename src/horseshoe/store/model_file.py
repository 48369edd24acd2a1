"""Model files: what it is, who wrote it, the model, and a digest of every byte before it."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from pathlib import Path
from typing import Any

from horseshoe._version import __version__
from horseshoe.files import write_file
from horseshoe.store.codec import check_fields
from horseshoe.store.text import from_text, to_text

# How a model file begins.
FORMAT, SCHEMA = "horseshoe-model", 1
FIELDS = ("format", "schema", "library", "kind", "parameters", "fitted", "recipe", "digest")
HEAD = b'{\n  "format": "horseshoe-model"'
# Stands before the digest, which is that of all bytes up to here.
TAIL = b',\n  "digest": "sha256:'
# Beginnings of files that are not ours.
LOOKS = {
    b"\x80": "a pickle",
    b"PK\x03\x04": "a zip archive, as .npz, .skops and .xlsx files are",
    b"\x1f\x8b": "a file packed by gzip",
    b"x\x9c": "a file packed by zlib, as joblib does",
    b"<": "HTML or XML",
    b"\x08": "a model in ONNX, which onnxruntime reads",
}


def write_envelope(path: Path, content: dict[str, Any]) -> Path:
    """Write kind, parameters, fitted and recipe as a model file; what was there stays until it is whole.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "model.json"
    >>> content = {"kind": "Mean", "parameters": {}, "fitted": {"mean": 0.1}, "recipe": None}
    >>> read_envelope(write_envelope(path, content))["fitted"]
    {'mean': 0.1}
    """
    if path.is_dir():
        raise IsADirectoryError(f"{str(path)!r} is a folder: give the name of a file in it")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {str(path.parent)!r}: create it, or choose another")
    text = to_text({"format": FORMAT, "schema": SCHEMA, "library": __version__, **content})
    body = _encoded(text.removesuffix("\n}"))
    try:
        return write_file(path, lambda file: file.write(body + _end(body)))
    except OSError as error:
        raise OSError(
            error.errno,
            f"the model could not be written ({error.strerror or error}), and what was there before, if "
            "anything, is as it was",
            str(path),
        ) from error


def _encoded(text: str) -> bytes:
    """Return UTF-8; halves of characters, which names from broken encodings have, are escaped."""
    return re.sub("[\ud800-\udfff]", lambda found: f"\\u{ord(found[0]):04x}", text).encode()


def _end(body: bytes) -> bytes:
    """Return the end of a file: the digest of all bytes before it."""
    return TAIL + hashlib.sha256(body).hexdigest().encode() + b'"\n}\n'


def read_envelope(path: Path) -> dict[str, Any]:
    """Return what is in a model file, if it is whole, unchanged and of a schema that is known here."""
    data = _read(path)
    try:
        content: dict[str, Any] = _parsed(data)
        _check_schema(content)
        _check_digest(data, content)
        check_fields(content, FIELDS, "the model")
    except ValueError as error:
        raise refusal(path, error) from None
    return content


def refusal(path: Path, why: object) -> ValueError:
    """Return the error for a file that cannot be loaded.

    Examples
    --------
    >>> refusal(Path("a.json"), "it is empty")
    ValueError("the model file 'a.json' cannot be loaded: it is empty")
    """
    return ValueError(f"the model file {str(path)!r} cannot be loaded: {why}")


def _read(path: Path) -> bytes:
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no model file {str(path)!r}") from None
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(f"{str(path)!r} is a folder: give the name of the model file in it")
    if not stat.S_ISREG(mode):  # a device may never end
        raise OSError(f"{str(path)!r} is a device or a pipe, not a file: copy it to a file first")
    return path.read_bytes()


def _parsed(data: bytes) -> Any:
    """Return the JSON in the file, or say what it looks like instead."""
    if not data.strip():
        raise ValueError("it is empty")
    if data[:1] not in b"{[":
        known = next((what for start, what in LOOKS.items() if data.startswith(start)), None)
        never = "; horseshoe reads JSON and never unpickles" if known and "pickle" in known else ""
        raise ValueError(f"it looks like {known}{never}" if known else "it is not JSON")
    try:
        return from_text(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise ValueError(f"the file was changed or damaged: byte {error.start} is not UTF-8") from None
    except ValueError as error:
        if data.startswith(b"{") and not data.rstrip().endswith(b"}"):
            raise ValueError("it ends in the middle: the file was cut off") from None
        ours = data.startswith(HEAD)
        raise ValueError(f"the file was changed or damaged: {error}" if ours else str(error)) from None


def _check_schema(content: Any) -> None:
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"it is JSON, but not a model of horseshoe: its format is not {FORMAT!r}")
    schema, library = content.get("schema"), content.get("library")
    if type(schema) is not int or schema < 1 or not isinstance(library, str):
        raise ValueError("it does not say which schema it has, and which horseshoe wrote it")
    if schema > SCHEMA:
        raise ValueError(
            f"it was written by horseshoe {library:.40} with schema {schema}, and this one ({__version__}) "
            f"reads up to {SCHEMA}: update horseshoe"
        )


def _check_digest(data: bytes, content: dict[str, Any]) -> None:
    """Refuse a file in which any byte is another than was written."""
    body, tail, end = data.rpartition(TAIL)
    if tail + end != _end(body):
        raise ValueError(
            "the file was changed or damaged after it was written: its content does not fit its digest"
            if "digest" in content
            else "it has no digest, so nobody can tell whether it was changed"
        )
