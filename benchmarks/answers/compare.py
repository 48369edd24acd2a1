"""Two recordings beside each other: which answers moved."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np

Record = dict[str, Any]

LIMIT = 1e-10
"""A fit that differs by more has moved."""


def load(path: str) -> dict[str, Record]:
    """Read a recording: the quantities of each case."""
    cases: dict[str, Record] = {}
    with np.load(path, allow_pickle=False) as arrays:
        for name, quantity in (key.split("::") for key in arrays.files):
            cases.setdefault(name, {})[quantity] = arrays[f"{name}::{quantity}"]
    return cases


def difference(a: Any, b: Any) -> float:
    """Return the largest difference, relative to the largest entry; infinity where there is no comparing."""
    if a is None or b is None or a.shape != b.shape or a.dtype.kind != b.dtype.kind:
        return np.inf
    if np.array_equal(a, b, equal_nan=a.dtype.kind == "f"):
        return 0.0
    if a.dtype.kind not in "fi":
        return np.inf
    finite = np.isfinite(a) & np.isfinite(b)
    if not np.array_equal(a[~finite], b[~finite], equal_nan=a.dtype.kind == "f"):
        return np.inf
    a, b = a[finite], b[finite]
    return float(np.abs(a - b).max() / (1e-300 + max(np.abs(a).max(), np.abs(b).max())))


def moved(found: dict[str, float]) -> bool:
    """Tell whether an answer is another one; the number of iterations alone does not matter."""
    return any(value > LIMIT for key, value in found.items() if key != "n_iter")


def line(label: str, found: dict[str, float]) -> str:
    """Return a label and the differences that are not zero."""
    words = [f"{key} {value:.1e}".replace(" inf", " OTHER") for key, value in found.items() if value]
    return f"{label}: {', '.join(words) or 'equal bit for bit'}"


def report(group: str, cases: dict[str, dict[str, float]]) -> None:
    """Print a line for the group, and one for each of its cases that differs."""
    quantities = sorted({key for found in cases.values() for key in found})
    worst = {key: max(found.get(key, 0.0) for found in cases.values()) for key in quantities}
    differing = {name: found for name, found in cases.items() if any(found.values())}
    counts = [f"{len(cases)} cases", f"{len(cases) - len(differing)} bit for bit"]
    equal = {key: sum(not found.get(key) for found in cases.values()) for key in quantities}
    counts += [f"{key} equal in {equal[key]}" for key in ("support", "status", "n_iter") if key in equal]
    print(line(f"{group} ({', '.join(counts)})", worst))
    for name, found in differing.items():
        print(line(f"    {'MOVED ' if moved(found) else ''}{name}", found))


def compare(before: str, after: str) -> int:
    """Print what differs between two recordings; return 1 if a fit moved, or if a case is lost or fails."""
    old, new = load(before), load(after)
    names = sorted({*old, *new})
    found: dict[str, dict[str, float]] = {}
    for name in names:
        a, b = old.get(name, {}), new.get(name, {})
        found[name] = {key: difference(a.get(key), b.get(key)) for key in sorted({*a, *b})}
    for group, components in groupby(names, key=lambda name: "/".join(name.split("/")[:2])):
        report(group, {name: found[name] for name in components})
    for kind in ("fit", "run"):
        chosen = [found[name] for name in names if name.startswith(kind)]
        equal, same = sum(not moved(f) for f in chosen), sum(not any(f.values()) for f in chosen)
        print(f"{kind}s: {equal} of {len(chosen)} within {LIMIT:g}, {same} bit for bit")
    bad = [name for name in names if name.startswith("fit") and moved(found[name])]
    bad += [name for name in names if not (name in old and name in new) or found[name].get("status")]
    return int(bool(bad))
