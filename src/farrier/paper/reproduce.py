"""From a name to the finished report: run what is missing, then write Markdown, CSV and a picture."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import NamedTuple

from farrier._extras import require
from farrier.files import write_text
from farrier.paper import FIGURES, RESULTS, SEED, TABLES, load
from farrier.paper.cells import summarise
from farrier.paper.core import Experiment, RequestError
from farrier.paper.journal import Journal
from farrier.paper.methods import METHODS
from farrier.paper.picture import draw
from farrier.paper.report import Report, make_report, markdown, table_csv
from farrier.paper.runner import run

PACKAGES = ("farrier", "numpy", "scipy", "scikit-learn", "python-glmnet", "skglm", "numba", "polyagamma")


class Outcome(NamedTuple):
    """The report, and the files it was written to."""

    report: Report
    files: list[Path]


def reproduce(
    name: str,
    replicates: int | None = None,
    jobs: int | None = 1,
    seed: int = SEED,
    methods: tuple[str, ...] | None = None,
    out: Path = RESULTS,
    fresh: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
    notice: Callable[[str], None] = lambda text: None,
) -> Outcome:
    """Reproduce a table or a figure of the paper.

    Parameters
    ----------
    name : str
        "table2" to "table6", or "figure1".
    replicates : int, optional
        How many data sets of each setting; as many as the paper's by default.
    jobs : int or None, default=1
        Processes; None is as many as there are cores. The results do not depend on it.
    seed : int, default=1000
        Of the data, the folds and the draws.
    methods : tuple of str, optional
        Names from `METHODS`; those of the table by default.
    out : Path
        The folder of the results. A run with the full number of replicates and all methods is called
        ``name``; others are called after what they have.
    fresh : bool, default=False
        Whether to compute anew what is there from an earlier run.
    progress : callable
        Called with the number of data sets done and their total.
    notice : callable
        Called with what the user should know before the run.

    Returns
    -------
    Outcome
        The report and the files.

    Examples
    --------
    >>> import tempfile
    >>> found = reproduce("table2", replicates=2, methods=("visu-shrink",), out=Path(tempfile.mkdtemp()))
    >>> [path.name for path in found.files]
    ['table2-r2-visu-shrink.md', 'table2-r2-visu-shrink.csv', 'table2-r2-visu-shrink.png']
    """
    if name in FIGURES:
        if replicates is not None or methods is not None or seed != SEED:
            raise RequestError(f"{name} has no replicates, methods or seed: leave them out")
        return _figure(out)
    if name not in TABLES:
        raise RequestError(f"{name!r} is not known: use one of {', '.join((*TABLES, *FIGURES))}")
    experiment = load(name)
    count = experiment.replicates if replicates is None else replicates
    if count < 1:
        raise RequestError(f"replicates={count} must be at least 1")
    chosen = _chosen(experiment, methods)
    _require(chosen)
    experiment.prepare()
    with Journal(out / "journal" / f"{name}-seed{seed}.jsonl", _heading(name, seed), fresh) as journal:
        if journal.set_aside:
            notice(f"Results that are there already do not count; they are in {journal.set_aside} now.")
        records = run(experiment, journal, count, chosen, seed, jobs or os.cpu_count() or 1, progress)
    cells = summarise(experiment, chosen, records)
    stem = _stem(experiment, count, chosen, seed)
    command = _command(experiment, count, chosen, seed)
    report = make_report(experiment, chosen, cells, command, _about(experiment, count, seed))
    files = [
        write_text(out / f"{stem}.md", markdown(report)),
        write_text(out / f"{stem}.csv", table_csv(cells)),
        draw(experiment, chosen, cells, out / f"{stem}.png"),
    ]
    return Outcome(report, files)


def _figure(out: Path) -> Outcome:
    from farrier.paper import figure1

    curves = figure1.profiles()
    report = figure1.report(curves, _here())
    files = [
        write_text(out / "figure1.md", markdown(report)),
        write_text(out / "figure1.csv", figure1.table_csv(curves)),
        figure1.draw_figure(out / "figure1.png", curves),
    ]
    return Outcome(report, files)


def _chosen(experiment: Experiment, methods: tuple[str, ...] | None) -> tuple[str, ...]:
    """Return the methods to run, or say which name is not one."""
    for name in methods or ():
        if name not in experiment.methods:
            known = ", ".join(experiment.methods)
            there = f"not a method of {experiment.name}" if name in METHODS else "not a method"
            raise RequestError(f"{name!r} is {there}: use some of {known}")
    if methods is not None and not methods:
        raise RequestError(f"no method is left: use some of {', '.join(experiment.methods)}")
    return tuple(m for m in experiment.methods if methods is None or m in methods)


def _require(methods: tuple[str, ...]) -> None:
    """Say before anything is computed what is not installed."""
    for module in ("matplotlib", *(module for name in methods for module in METHODS[name].needs)):
        require(module, extra="experiments")


def _stem(experiment: Experiment, count: int, methods: tuple[str, ...], seed: int) -> str:
    """Return the name of the files: that of the experiment alone for the whole of it."""
    parts = [experiment.name]
    parts += [f"r{count}"] if count != experiment.replicates else []
    parts += [f"seed{seed}"] if seed != SEED else []
    parts += list(methods) if methods != experiment.methods else []
    return "-".join(parts)


def _heading(name: str, seed: int) -> dict[str, object]:
    """Return what must be the same for results to be taken together."""
    return {"experiment": name, "seed": seed, "machine": machine(), "versions": versions()}


def _command(experiment: Experiment, count: int, methods: tuple[str, ...], seed: int) -> str:
    """Return the command that makes the same table."""
    parts = ["farrier", "reproduce", experiment.name]
    parts += ["--replicates", str(count)] if count != experiment.replicates else []
    parts += ["--seed", str(seed)] if seed != SEED else []
    parts += ["--methods", ",".join(methods)] if methods != experiment.methods else []
    return " ".join(parts)


def _about(experiment: Experiment, count: int, seed: int) -> dict[str, str]:
    return {
        "replicates": f"{count} of each setting (the paper has {experiment.replicates})",
        "seed": str(seed),
        **_here(),
    }


def _here() -> dict[str, str]:
    return {
        "versions": ", ".join(f"{name} {number}" for name, number in versions().items()),
        "machine": machine(),
        "date": datetime.now(UTC).date().isoformat(),
    }


def versions() -> dict[str, str]:
    """Return the versions of what the results depend on, and of Python.

    Examples
    --------
    >>> "numpy" in versions()
    True
    """
    found = {"Python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def machine() -> str:
    """Return the kind of machine, without its name.

    Examples
    --------
    >>> "cores" in machine()
    True
    """
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores{_processor()}"


def _processor() -> str:
    """Return the processor's name where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f", {names[0]}" if names else ""
