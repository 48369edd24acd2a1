"""Journals: valid lines with something else in them."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from mutations.files import ANY_FILE, Rng

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
