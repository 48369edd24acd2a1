"""Checkpoints: valid archives with other arrays in them."""

from __future__ import annotations

import io
import json
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mutations.files import ANY_FILE, Harmful, Rng, flip_bytes

Arrays = dict[str, Any]


def unpack(content: bytes) -> Arrays:
    with np.load(io.BytesIO(content)) as file:
        return {name: file[name] for name in file.files}


def pack(arrays: Arrays) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def pick(arrays: Arrays, rng: Rng, kinds: str = "f") -> str:
    return str(rng.choice(sorted(name for name, value in arrays.items() if value.dtype.kind in kinds)))


def edit_number(arrays: Arrays, rng: Rng) -> Arrays:
    name = pick({name: value for name, value in arrays.items() if value.size}, rng)
    value = arrays[name].copy()
    place = int(rng.integers(value.size))
    value.flat[place] = rng.choice([np.nan, np.inf, -1.0, 0.0, 1e300, np.nextafter(value.flat[place], 9e9)])
    return {**arrays, name: value}


def change_dtype(arrays: Arrays, rng: Rng) -> Arrays:
    name = pick(arrays, rng)
    return {**arrays, name: arrays[name].astype(str(rng.choice(["<f4", ">f8", "<i8", "<c16", "U9"])))}


def change_shape(arrays: Arrays, rng: Rng) -> Arrays:
    name = pick(arrays, rng)
    value = arrays[name]
    shapes = [value.ravel(), value[None], value[..., :-1], value[1:], np.concatenate([value, value])]
    return {**arrays, name: shapes[int(rng.integers(len(shapes)))]}


def transpose(arrays: Arrays, rng: Rng) -> Arrays:
    name = pick(arrays, rng)
    return {**arrays, name: arrays[name].T[::-1]}


def swap_entries(arrays: Arrays, rng: Rng) -> Arrays:
    one, other = rng.choice(sorted(arrays), size=2, replace=False)
    return {**arrays, one: arrays[other], other: arrays[one]}


def add_entry(arrays: Arrays, rng: Rng) -> Arrays:
    name = str(
        rng.choice(
            [
                "state/extra",
                "state/streams/pools/random",
                "state/draws/lambda2",
                "x",
                "digest2",
                "state/draws/coef.npy",
            ]
        )
    )
    return {**arrays, name: rng.standard_normal((4, 9, 5))}


def remove_entry(arrays: Arrays, rng: Rng) -> Arrays:
    gone = str(rng.choice(sorted(arrays)))
    return {name: value for name, value in arrays.items() if name != gone}


def rename_entry(arrays: Arrays, rng: Rng) -> Arrays:
    old = str(rng.choice(sorted(arrays)))
    new = str(
        rng.choice([old + "x", old.split("/")[0], "state/state/sweeps", "state/state/source", "pools 3"])
    )
    return {new if name == old else name: value for name, value in arrays.items()}


def edit_header(arrays: Arrays, rng: Rng) -> Arrays:
    header = json.loads(str(arrays["header"]))
    key = str(rng.choice(sorted(header)))
    values: list[Any] = [None, 0, -1, 17, [], {}, "x", header[key]]
    header[key] = values[int(rng.integers(len(values)))]
    if key == "generators" and rng.random() < 0.5:
        header[key] = json.loads(str(arrays["header"]))[key]
        header[key][0]["state"]["state"] += 1
    return {**arrays, "header": np.array(json.dumps(header))}


def edit_digest(arrays: Arrays, rng: Rng) -> Arrays:
    values = [np.array(""), np.array("0" * 64), np.zeros(64), np.array(["a", "b"]), arrays["header"]]
    return {**arrays, "digest": values[int(rng.integers(len(values)))]}


ARRAYS: tuple[Callable[[Arrays, Rng], Arrays], ...] = (
    edit_number,
    edit_number,
    change_dtype,
    change_shape,
    transpose,
    swap_entries,
    add_entry,
    remove_entry,
    rename_entry,
    edit_header,
    edit_digest,
)


def with_pickle(content: bytes, rng: Rng, harm: Path) -> bytes:
    """Return a checkpoint in which an array, old or new, holds objects that do harm when they are made."""
    arrays = unpack(content)
    name = str(rng.choice([*sorted(arrays), "new"]))
    return pack({**arrays, name: np.array([Harmful(harm)], dtype=object)})


def in_the_archive(content: bytes, rng: Rng) -> bytes:
    """Return the archive with one part replaced, doubled or turned, and all checksums right."""
    with zipfile.ZipFile(io.BytesIO(content)) as old:
        parts = [(name, old.read(name)) for name in old.namelist()]
    at = int(rng.integers(len(parts)))
    name, part = parts[at]
    what = int(rng.integers(5))
    if what == 0:
        parts[at] = (name, part.replace(b"'fortran_order': False", b"'fortran_order': True "))
    elif what == 1:
        parts[at] = (name, flip_bytes(part, rng))
    elif what == 2:
        parts.insert(int(rng.integers(len(parts))), (name, flip_bytes(part, rng)))
    elif what == 3:
        parts[at] = (name.removesuffix(".npy"), part)
    else:
        parts.append(("../outside.npy", part))
    buffer = io.BytesIO()
    packing = zipfile.ZIP_DEFLATED if rng.random() < 0.2 else zipfile.ZIP_STORED
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", packing) as new:
        warnings.simplefilter("ignore")  # of doubled names
        for name, part in parts:
            new.writestr(name, part)
    return buffer.getvalue()


def mutated_checkpoint(content: bytes, rng: Rng, harm: Path) -> tuple[str, bytes]:
    """Return the name of a change, and the checkpoint after it."""
    draw = float(rng.random())
    if draw < 0.25:
        on_bytes = ANY_FILE[int(rng.integers(len(ANY_FILE)))]
        return on_bytes.__name__, on_bytes(content, rng)
    if draw < 0.35:
        return "pickle", with_pickle(content, rng, harm)
    if draw < 0.5:
        return "archive", in_the_archive(content, rng)
    on_arrays = ARRAYS[int(rng.integers(len(ARRAYS)))]
    return on_arrays.__name__, pack(on_arrays(unpack(content), rng))
