"""What methods of others got, in one file of the repository: a run of hours need not compute it anew.

Our own methods change, those of others do not. ``python -m horseshoe_reproduction.peer_results adaptive``
copies what the journal of an experiment has of them to ``adaptive-peers.json`` beside the reports, and every
later run takes it from there, so that one run can add to another. Numbers are kept with nine digits, and
without times, which are those of a machine.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

from horseshoe_reproduction import RESULTS
from horseshoe_reproduction.experiment import Experiment, RequestError
from horseshoe_reproduction.files import write_text
from horseshoe_reproduction.journal import Record, read
from horseshoe_reproduction.request import Request, requested

# Methods that change with horseshoe: they are computed anew.
OURS = ("adaptive", "hs-em-auto", "posterior-mean")
# The method that tells whether data sets are still those of the file: it costs nothing.
WITNESS = "mean"
TIME = "Time"
ADVICE = "remove it, and all is computed anew"

# By setting, method and metric the values of the replicates; None where there is none.
Table = dict[str, dict[str, dict[str, list[float | None]]]]


def file_of(request: Request, out: Path) -> Path:
    """Return where the results of others are kept."""
    return out / f"{request.experiment.name}-peers.json"


def heading(request: Request) -> dict[str, Any]:
    """Return what must be equal for kept results to count: the seed, and versions but ours."""
    return _without_ours(request.heading())


def _without_ours(found: dict[str, Any]) -> dict[str, Any]:
    """Return a heading of a journal without the machine and the version of horseshoe."""
    versions = {name: number for name, number in found["versions"].items() if name != "horseshoe"}
    return {"experiment": found["experiment"], "seed": found["seed"], "versions": versions}


def save(path: Path, about: dict[str, Any], records: list[Record]) -> Path:
    """Write the records of all methods but ours, without times.

    A record with a number that is not finite is left out, and so is a setting without the witness.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "adaptive-peers.json"
    >>> found = [Record("none", 1, method, {"Error": 0.5}) for method in ("mean", "adaptive")]
    >>> load(save(path, {"seed": 1}, found), {"seed": 1})
    [Record(setting='none', replicate=1, method='mean', metrics={'Error': 0.5})]
    """
    table: Any = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for record in sorted(_worth_keeping(records), key=lambda record: record.key):
        for metric, value in _without_time(record).metrics.items():
            values = table[record.setting][record.method][metric]
            values += [None] * (record.replicate - len(values))
            values.append(float(f"{value:.9g}"))
    content = {"heading": about, "results": table}
    return write_text(path, json.dumps({**content, "digest": _digest(content)}) + "\n")


def _worth_keeping(records: list[Record]) -> list[Record]:
    finite = [
        r for r in records if r.method not in OURS and all(math.isfinite(v) for v in r.metrics.values())
    ]
    witnessed = {record.setting for record in finite if record.method == WITNESS}
    return [record for record in finite if record.setting in witnessed]


def _without_time(record: Record) -> Record:
    return record._replace(metrics={name: value for name, value in record.metrics.items() if name != TIME})


def timed(records: list[Record]) -> list[Record]:
    """Return the records; where a method has no time on some data sets of a setting, it has none there.

    Examples
    --------
    >>> metrics = [{"Error": 0.5}, {"Error": 0.6, "Time": 1.0}]
    >>> found = [Record("none", k, "mean", metrics[k]) for k in range(2)]
    >>> [record.metrics for record in timed(found)]
    [{'Error': 0.5}, {'Error': 0.6}]
    """
    lacking = {(record.setting, record.method) for record in records if TIME not in record.metrics}
    return [_without_time(r) if (r.setting, r.method) in lacking else r for r in records]


def load(path: Path, about: dict[str, Any]) -> list[Record]:
    """Return what a file holds: nothing if there is none, or if it is of another seed or other versions.

    Raises
    ------
    RequestError
        When the file is not as it was written.
    """
    if not path.exists():
        return []
    content = _content(path)
    return _records(content["results"]) if content["heading"] == about else []


def _content(path: Path) -> dict[str, Any]:
    """Return what stands in a file, if it is as it was written."""
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        same = content.pop("digest") == _digest(content)
    except (ValueError, AttributeError, KeyError, TypeError):
        same = False
    if not same:
        raise RequestError(f"{path} is not as it was written: {ADVICE}")
    return content


def check(path: Path, records: list[Record], again: list[Record]) -> None:
    """Refuse kept results whose data sets are others than those drawn now.

    ``again`` are results of the witness, computed anew.
    """
    unchecked = sorted({record.setting for record in records} - {record.setting for record in again})
    if unchecked:
        raise RequestError(f"{path} has no result of {WITNESS!r} on {unchecked[0]} to check it by: {ADVICE}")
    known = {record.key: record.metrics for record in records}
    for record in again:
        old, new = (metrics.get("Error", math.nan) for metrics in (known[record.key], record.metrics))
        if not math.isclose(old, new, rel_tol=1e-6):
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
    """Add to the file of an experiment what its journal has, and say how much there is.

    The journal is only read: a run may be writing it.

    Raises
    ------
    RequestError
        When the experiment, the journal or the file is not one that results can be kept of.
    """
    request = requested(name)
    _check_experiment(request.experiment)
    path, about = file_of(request, out), heading(request)
    if path.exists():
        _check_heading(path, _content(path)["heading"], about, ADVICE)
    old, new = load(path, about), _journal(out / "journal" / request.journal, about)
    both = {record.key for record in old if record.method == WITNESS} & {record.key for record in new}
    check(path, [r for r in old if r.key in both], [r for r in new if r.key in both])
    save(path, about, list({record.key: record for record in (*old, *new)}.values()))
    held = load(path, about)
    return (
        f"{path}: {len(held):,} results, up to {max((r.replicate for r in held), default=-1) + 1} data sets"
    )


def _check_experiment(experiment: Experiment) -> None:
    """Refuse experiments of which it is not known which methods are ours."""
    needed = (OURS[0], WITNESS)
    if not set(needed) <= set(experiment.methods):
        raise RequestError(
            f"nothing of {experiment.name} can be kept: it does not have the methods {' and '.join(needed)}; "
            f"use adaptive or tuning"
        )


def _journal(path: Path, about: dict[str, Any]) -> list[Record]:
    """Return the records of a journal, whatever version of horseshoe and whatever machine wrote it."""
    if not path.exists():
        raise RequestError(f"there is no {path}: run horseshoe reproduce {about['experiment']} first")
    found = read(path)
    _check_heading(
        path, _without_ours(found.heading), about, "run horseshoe reproduce, which begins a new one"
    )
    return found.records


def _check_heading(path: Path, there: dict[str, Any], here: dict[str, Any], advice: str) -> None:
    """Refuse a file with another heading, and say what differs."""
    old, new = ({**about, **about.get("versions", {}), "versions": None} for about in (there, here))
    differ = [
        f"{name} {old.get(name)} (here {new.get(name)})"
        for name in {**new, **old}
        if old.get(name) != new.get(name)
    ]
    if differ:
        raise RequestError(f"{path} is of {', '.join(differ)}: {advice}")


if __name__ == "__main__":
    print(main(sys.argv[1]))
