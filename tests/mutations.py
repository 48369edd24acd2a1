"""Files that somebody or something has changed: seeded changes to checkpoints, journals and models."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import pickle
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from farrier.store.envelope import TAIL

Rng = np.random.Generator
Arrays = dict[str, Any]


class Harmful:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (Path.touch, (self.path,))


def opened(action: Callable[[], Any]) -> tuple[Any, str | None]:
    """Return what a file holds and None, or None and why it is refused; any other error is raised."""
    try:
        return action(), None
    except ValueError as error:
        return None, str(error)


# --- any file -------------------------------------------------------------------------------------


def flip_bytes(content: bytes, rng: Rng) -> bytes:
    changed = bytearray(content)
    for place in rng.integers(len(content), size=int(rng.integers(1, 9))):
        changed[place] ^= int(rng.integers(1, 256))
    return bytes(changed)


def flip_one_bit(content: bytes, rng: Rng) -> bytes:
    changed = bytearray(content)
    changed[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
    return bytes(changed)


def cut_end(content: bytes, rng: Rng) -> bytes:
    return content[: int(rng.integers(len(content)))]


def cut_start(content: bytes, rng: Rng) -> bytes:
    return content[int(rng.integers(1, len(content))) :]


def cut_out(content: bytes, rng: Rng) -> bytes:
    low, high = sorted(rng.integers(len(content), size=2))
    return content[:low] + content[high:]


def put_in(content: bytes, rng: Rng) -> bytes:
    place = int(rng.integers(len(content) + 1))
    return content[:place] + rng.bytes(int(rng.integers(1, 40))) + content[place:]


def zeros_at_the_end(content: bytes, rng: Rng) -> bytes:
    """Return what a file system may leave that grew the file before it wrote."""
    keep = int(rng.integers(len(content)))
    return content[:keep] + bytes(len(content) - keep)


def noise(content: bytes, rng: Rng) -> bytes:
    return rng.bytes(int(rng.integers(0, 3000)))


ANY_FILE = (flip_bytes, flip_one_bit, cut_end, cut_start, cut_out, put_in, zeros_at_the_end, noise)


# --- checkpoints: valid archives with other arrays in them ----------------------------------------


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
    name = str(rng.choice(["state extra", "pools random", "draws lambda2", "x", "digest2", "draws coef.npy"]))
    return {**arrays, name: rng.standard_normal((4, 9, 5))}


def remove_entry(arrays: Arrays, rng: Rng) -> Arrays:
    gone = str(rng.choice(sorted(arrays)))
    return {name: value for name, value in arrays.items() if name != gone}


def rename_entry(arrays: Arrays, rng: Rng) -> Arrays:
    old = str(rng.choice(sorted(arrays)))
    new = str(rng.choice([old + "x", old.split(" ")[0], "state sweeps", "state source", "pools 3"]))
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


# --- journals: valid lines with something else in them --------------------------------------------

Lines = list[bytes]


def repeat_line(lines: Lines, rng: Rng) -> Lines:
    line = lines[int(rng.integers(len(lines)))]
    place = int(rng.integers(len(lines) + 1))
    return [*lines[:place], line, *lines[place:]]


def reorder_lines(lines: Lines, rng: Rng) -> Lines:
    return [lines[i] for i in rng.permutation(len(lines))]


def remove_line(lines: Lines, rng: Rng) -> Lines:
    gone = int(rng.integers(len(lines)))
    return lines[:gone] + lines[gone + 1 :]


def edit_line(lines: Lines, rng: Rng) -> Lines:
    """Change a field of a line, and write it as it was written before."""
    at = int(rng.integers(len(lines)))
    value = json.loads(lines[at])
    key = str(rng.choice(sorted(value)))
    values: list[Any] = [None, 0, 1.5, "x", [], {"MSE": 0.5}, {"MSE": "nan"}]
    value[key] = values[int(rng.integers(len(values)))]
    return [*lines[:at], json.dumps(value).encode() + b"\n", *lines[at + 1 :]]


def edit_metric(lines: Lines, rng: Rng) -> Lines:
    at = int(rng.integers(1, len(lines)))
    value = json.loads(lines[at])
    key = str(rng.choice(sorted(value["metrics"])))
    value["metrics"][key] = float(rng.choice([np.nan, np.inf, 0.0, value["metrics"][key] + 1e-9]))
    return [*lines[:at], json.dumps(value).encode() + b"\n", *lines[at + 1 :]]


def without_digests(lines: Lines, rng: Rng) -> Lines:
    """Return some lines, or all, as they were written before there were digests."""
    some = rng.random(len(lines)) < rng.choice([0.3, 1.0])
    old = [{k: v for k, v in json.loads(line).items() if k != "digest"} for line in lines]
    return [
        json.dumps(o).encode() + b"\n" if s else line for o, s, line in zip(old, some, lines, strict=True)
    ]


def foreign_line(lines: Lines, rng: Rng) -> Lines:
    texts = [
        b"\n",
        b"3\n",
        b"[]\n",
        b"{}\n",
        b"null\n",
        b"\xff\xfe\n",
        b'{"digest": 3}\n',
        b"[" * 5000 + b"\n",
    ]
    place = int(rng.integers(len(lines) + 1))
    return [*lines[:place], texts[int(rng.integers(len(texts)))], *lines[place:]]


def other_spaces(lines: Lines, rng: Rng) -> Lines:
    at = int(rng.integers(len(lines)))
    return [*lines[:at], lines[at].replace(b": ", b":").replace(b"\n", b"\r\n"), *lines[at + 1 :]]


LINES: tuple[Callable[[Lines, Rng], Lines], ...] = (
    repeat_line,
    reorder_lines,
    remove_line,
    edit_line,
    edit_metric,
    without_digests,
    foreign_line,
    other_spaces,
)


def mutated_journal(content: bytes, rng: Rng) -> tuple[str, bytes]:
    """Return the name of a change, and the journal after it."""
    if rng.random() < 0.4:
        on_bytes = ANY_FILE[int(rng.integers(len(ANY_FILE)))]
        return on_bytes.__name__, on_bytes(content, rng)
    on_lines = LINES[int(rng.integers(len(LINES)))]
    return on_lines.__name__, b"".join(on_lines(content.splitlines(keepends=True), rng))


# --- models: JSON with something else in it, and a digest that fits --------------------------------

Json = dict[str, Any]


def signed(content: Json) -> bytes:
    """Return a model file with any content, and the digest that belongs to it."""
    text = json.dumps({name: value for name, value in content.items() if name != "digest"}, indent=2)
    body = text.removesuffix("\n}").encode()
    return body + TAIL + hashlib.sha256(body).hexdigest().encode() + b'"\n}\n'


def objects(value: Any) -> list[Json]:
    """Return all objects in a value, outermost first."""
    inside = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    return [value] * isinstance(value, dict) + [one for part in inside for one in objects(part)]


def lists(value: Any) -> list[list[Any]]:
    """Return all lists in a value that are not empty."""
    inside = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    own = [value] if isinstance(value, list) and value else []
    return own + [one for part in inside for one in lists(part)]


def some(values: list[Any], rng: Rng) -> Any:
    return values[int(rng.integers(len(values)))]


def lose_field(content: Json, rng: Rng) -> None:
    """Take a field away; an array may do without its order, and the digest is written anew."""
    places = [(one, name) for one in objects(content) for name in one if name not in ("order", "digest")]
    place, name = some(places, rng)
    del place[name]


def add_field(content: Json, rng: Rng) -> None:
    some([one for one in objects(content) if one is not content["recipe"]], rng)["__reduce__"] = "os.system"


def other_class(content: Json, rng: Rng) -> None:
    place = some([one for one in objects(content) if "class" in one], rng)
    place["class"] = some(["Popen", "object", "Family", "LocalPrior", "", None, ["Gaussian"]], rng)


def other_kind(content: Json, rng: Rng) -> None:
    content["kind"] = some(["Pipeline", "os.system", None, 1, ["HorseshoeRegressor"], "Fitted"], rng)


def newer_schema(content: Json, rng: Rng) -> None:
    content["schema"] = some([2, 3, 100, 2**40], rng)
    content["library"] = "9.1.0"
    content["surprise"] = {}


def no_schema(content: Json, rng: Rng) -> None:
    content["schema"] = some([0, -1, "1", None, 1.0, True, [1]], rng)


def other_format(content: Json, rng: Rng) -> None:
    content["format"] = some(["", None, "farrier-checkpoint", 3], rng)


def other_type(content: Json, rng: Rng) -> None:
    """Put something in the place of a number or a text of the fit that it cannot be."""
    places = [
        (one, name)
        for one in objects(content["fitted"])
        for name, value in one.items()
        if type(value) in (float, int, bool) and name not in ("log_det", "objective", "cutoff", "edge")
    ]  # but for those that may be nothing
    place, name = some(places, rng)
    place[name] = some([None, "x", [], {}, [[1.0]], {"class": "Gaussian"}, "1.0"], rng)


def other_parameter(content: Json, rng: Rng) -> None:
    name = some(sorted(content["parameters"]), rng)
    content["parameters"][name] = some([{"class": "eval"}, [[1]], {"class": 3}, {}, {"a": 1}], rng)


def other_length(content: Json, rng: Rng) -> None:
    """Take an entry from an array, or add one."""
    fits = [lists(one) for one in content["fitted"]["regressions"]]
    arrays = [one for some_lists in fits for one in some_lists if len(one) > 1 and type(one[0]) is float]
    array = some(arrays, rng)
    if rng.random() < 0.5:
        array.pop()
    else:
        array.append(array[-1])


def other_entry(content: Json, rng: Rng) -> None:
    array = some([one for one in lists(content["fitted"]["regressions"]) if type(one[0]) is float], rng)
    array[int(rng.integers(len(array)))] = some([None, "x", True, [], {}, "nan", "1.0", [1.0]], rng)


def fewer_columns(content: Json, rng: Rng) -> None:
    content["fitted"]["n_features"] += some([-1, 1, 2**31, -(10**6), 2**50], rng)


def huge_array(content: Json, rng: Rng) -> None:
    """Ask for all the memory there is."""
    size = some([10**9, 10**11, 2**40, 2**63, -1], rng)
    regression = content["fitted"]["regressions"][0]
    name = some([name for name in ("coef", "inclusion", "std", "scale") if name in regression], rng)
    content["fitted"] |= {"n_features": size, "feature_names": None}
    regression[name] = {"shape": [size], "fill": 0.0, "at": [], "values": []}


def not_finite(content: Json, rng: Rng) -> None:
    content["fitted"]["regressions"][0][some(["coef", "intercept"], rng)] = "NaN"


def other_classes(content: Json, rng: Rng) -> None:
    fitted = content["fitted"]
    fitted["classes"] = None if fitted["classes"] else {"dtype": "<U1", "values": ["a", "b"]}


def fewer_regressions(content: Json, rng: Rng) -> None:
    fits = content["fitted"]["regressions"]
    content["fitted"]["regressions"] = some([[], [*fits, fits[0]], None, {}, fits[0]], rng)


def other_recipe(content: Json, rng: Rng) -> None:
    content["recipe"] = some([[], "x", 3, [{}]], rng)


MODELS: tuple[Callable[[Json, Rng], None], ...] = (
    lose_field,
    add_field,
    other_class,
    other_kind,
    newer_schema,
    no_schema,
    other_format,
    other_type,
    other_parameter,
    other_length,
    other_entry,
    fewer_columns,
    huge_array,
    not_finite,
    other_classes,
    fewer_regressions,
    other_recipe,
)


def nested(content: bytes, rng: Rng, harm: Path) -> bytes:
    depth = int(rng.choice([60, 900, 20_000, 200_000]))
    inside = some([b"[" * depth + b"]" * depth, b'{"a":' * depth + b"1" + b"}" * depth, b"[" * depth], rng)
    return some([inside, content.replace(b'"recipe": null', b'"recipe": {"a": ' + inside + b"}")], rng)


def tokens(content: bytes, rng: Rng, harm: Path) -> bytes:
    """Return a file with numbers that are none, or no floats, and a digest that fits."""
    token = some([b"NaN", b"-Infinity", b"Infinity", b"1e999", b"-1e400", b"9" * 5000, b"0x10", b"01"], rng)
    body = content.rpartition(TAIL)[0].replace(b'"intercept": ', b'"intercept": ' + token + b', "old": ', 1)
    return body + TAIL + hashlib.sha256(body).hexdigest().encode() + b'"\n}\n'


def doubled(content: bytes, rng: Rng, harm: Path) -> bytes:
    """Return a file in which a name stands twice, and a digest that fits."""
    name = some([b'"coef": ', b'"kind": ', b'"schema": ', b'"class": '], rng)
    body = content.rpartition(TAIL)[0].replace(name, name + b"1, " + name, 1)
    return body + TAIL + hashlib.sha256(body).hexdigest().encode() + b'"\n}\n'


def other_files(content: bytes, rng: Rng, harm: Path) -> bytes:
    """Return something else under the name of a model."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("model.json", content)
    files = [
        *(pickle.dumps(Harmful(harm), protocol=protocol) for protocol in range(6)),
        *(pickle.dumps(json.loads(content), protocol=protocol) for protocol in (0, 2, 5)),
        packed.getvalue(),
        gzip.compress(content),
        b"\xef\xbb\xbf" + content,
        content.decode().encode("utf-16"),
        content.replace(b"\n", b"\r\n"),
        json.dumps(json.loads(content)).encode(),
        content + content,
        b"",
        b"\n",
        b"null",
        b"[]",
        b"{}",
        b"<html></html>",
        b"a,b\n1,2\n",
        b"import os; os.system('true')",
    ]
    return bytes(some(files, rng))


def mutated_model(content: bytes, rng: Rng, harm: Path) -> tuple[str, bytes]:
    """Return the name of a change, and the model file after it, which is none any more."""
    draw = float(rng.random())
    if draw < 0.3:
        on_bytes = ANY_FILE[int(rng.integers(len(ANY_FILE)))]
        return on_bytes.__name__, on_bytes(content, rng)
    if draw < 0.5:
        on_text = (nested, tokens, doubled, other_files, other_files)[int(rng.integers(5))]
        return on_text.__name__, on_text(content, rng, harm)
    change, changed = MODELS[int(rng.integers(len(MODELS)))], json.loads(content)
    change(changed, rng)
    return change.__name__, signed(changed)
