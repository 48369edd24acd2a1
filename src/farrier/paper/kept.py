"""What methods of others got, in one file of the repository: a run of hours need not compute it anew.

Our own methods change, those of others do not. ``python -m farrier.paper.kept adaptive`` copies what the
journal of an experiment has of them to ``adaptive-peers.json`` beside the reports, and every later run takes
it from there, so that one run can add to another. Numbers are kept with nine digits.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from farrier.files import write_text
from farrier.paper import RESULTS
from farrier.paper.core import RequestError
from farrier.paper.journal import Journal, Record
from farrier.paper.request import Request, requested

OURS = ("adaptive", "hs-em-auto", "posterior-mean")
"""Methods that change with farrier: they are computed anew."""
WITNESS = "mean"
"""The method that tells whether data sets are still those of the file: it costs nothing."""
ADVICE = "remove it, and all is computed anew"

Table = dict[str, dict[str, dict[str, list[float | None]]]]
"""By setting, method and metric the values of the replicates; None where there is none."""


def file_of(request: Request, out: Path) -> Path:
    """Return where the results of others are kept."""
    return out / f"{request.experiment.name}-peers.json"


def heading(request: Request) -> dict[str, Any]:
    """Return what must be equal for kept results to count: the seed, and versions but ours."""
    found: dict[str, Any] = request.heading()
    versions = {name: number for name, number in found["versions"].items() if name != "farrier"}
    return {"experiment": found["experiment"], "seed": found["seed"], "versions": versions}


def keep(path: Path, about: dict[str, Any], records: list[Record]) -> Path:
    """Write the records of all methods but ours.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "adaptive-peers.json"
    >>> found = [Record("none", 1, method, {"Error": 0.5}) for method in ("mean", "adaptive")]
    >>> kept(keep(path, {"seed": 1}, found), {"seed": 1})
    [Record(setting='none', replicate=1, method='mean', metrics={'Error': 0.5})]
    """
    table: Any = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for record in sorted(records, key=lambda record: record.key):
        if record.method not in OURS:
            for metric, value in record.metrics.items():
                values = table[record.setting][record.method][metric]
                values += [None] * (record.replicate - len(values))
                values.append(float(f"{value:.9g}") if math.isfinite(value) else None)
    content = {"heading": about, "results": table}
    return write_text(path, json.dumps({**content, "digest": _digest(content)}) + "\n")


def kept(path: Path, about: dict[str, Any]) -> list[Record]:
    """Return what a file holds: nothing if there is none, or if it is of another seed or other versions.

    Raises
    ------
    RequestError
        When the file is not as it was written.
    """
    if not path.exists():
        return []
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        same = content.pop("digest") == _digest(content)
    except (ValueError, AttributeError, KeyError, TypeError):
        same = False
    if not same:
        raise RequestError(f"{path} is not as it was written: {ADVICE}")
    return _records(content["results"]) if content["heading"] == about else []


def check(path: Path, records: list[Record], again: list[Record]) -> None:
    """Refuse kept results whose data sets are others than those drawn now.

    ``again`` are results of the witness, computed anew.
    """
    known = {record.key: record for record in records}
    for record in again:
        old = known[record.key].metrics["Error"]
        if not math.isclose(old, record.metrics["Error"], rel_tol=1e-6):
            raise RequestError(f"{path} has results of other data sets of {record.setting}: {ADVICE}")


def _records(table: Table) -> list[Record]:
    found = []
    for setting, methods in table.items():
        for method, metrics in methods.items():
            for replicate in range(max(map(len, metrics.values()))):
                here = {
                    metric: values[replicate] for metric, values in metrics.items() if replicate < len(values)
                }
                there = {metric: value for metric, value in here.items() if value is not None}
                if there:
                    found.append(Record(setting, replicate, method, there))
    return found


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def main(name: str, out: Path = RESULTS) -> str:
    """Add to the file of an experiment what its journal has, and say how much there is."""
    request = requested(name)
    path, about = file_of(request, out), heading(request)
    with Journal(out / "journal" / request.journal, request.heading()) as journal:
        records = {record.key: record for record in (*kept(path, about), *journal.records())}
    keep(path, about, list(records.values()))
    held = kept(path, about)
    return (
        f"{path}: {len(held):,} results, up to {max((r.replicate for r in held), default=-1) + 1} data sets"
    )


if __name__ == "__main__":
    print(main(sys.argv[1]))
