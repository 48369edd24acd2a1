"""Models: JSON with something else in it, and a digest that fits."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from horseshoe.store.model_file import TAIL
from mutations.files import ANY_FILE, Harmful, Rng

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
    content["format"] = some(["", None, "horseshoe-checkpoint", 3], rng)


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
    regression[name] = {"shape": [size], "values": []}


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
