"""From a name to the finished report: run what is missing, then write Markdown, CSV and a picture."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from horseshoe_reproduction import FIGURES, RESULTS, SEED, peer_results
from horseshoe_reproduction.environment import here
from horseshoe_reproduction.experiment import RequestError
from horseshoe_reproduction.files import write_text
from horseshoe_reproduction.journal import Journal, Record
from horseshoe_reproduction.report import Report, make_report, markdown, presentation_of, table_csv
from horseshoe_reproduction.request import Request, requested
from horseshoe_reproduction.runner import computed_again, run


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
    settings: tuple[str, ...] | None = None,
) -> Outcome:
    """Reproduce a table or a figure of the paper.

    Parameters
    ----------
    name : str
        "table2" to "table6", "figure1", or what the paper does not have: "coverage", "adaptive", "tuning".
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
    settings : tuple of str, optional
        Which blocks or rows of the table; all by default.

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
        if replicates is not None or methods is not None or settings is not None or seed != SEED:
            raise RequestError(f"{name} has no replicates, methods, settings or seed: leave them out")
        return _figure(out)
    request = requested(name, replicates, methods, seed, settings)
    experiment, count, chosen = request.experiment, request.replicates, request.methods
    experiment.prepare(experiment.settings)
    known = [] if fresh else _of_others(request, out)
    with Journal(out / "journal" / request.journal, request.heading(), fresh) as journal:
        if journal.set_aside:
            notice(f"Results that are there already do not count; they are in {journal.set_aside} now.")
        processes = jobs or os.cpu_count() or 1
        records = run(experiment, journal, count, chosen, seed, processes, progress, known)
    presentation = presentation_of(experiment)
    cells = presentation.cells(experiment, chosen, peer_results.timed(records))
    report = make_report(experiment, chosen, cells, request.command, request.about())
    picture = partial(presentation.draw, experiment, chosen, cells)
    return _written(out, request.stem, report, table_csv(cells), picture)


def _of_others(request: Request, out: Path) -> list[Record]:
    """Return what is kept of methods of others, if its data sets are still the same."""
    path, settings = peer_results.file_of(request, out), request.experiment.settings
    found = peer_results.load(path, peer_results.heading(request))
    known = [record for record in found if record.setting in settings]
    again = computed_again(request.experiment, peer_results.WITNESS, request.seed, known)
    peer_results.check(path, known, again)
    return known


def _figure(out: Path) -> Outcome:
    from horseshoe_reproduction import figure1

    curves = figure1.profiles()
    report = figure1.report(curves, here())
    picture = partial(figure1.draw_figure, curves=curves)
    return _written(out, "figure1", report, figure1.table_csv(curves), picture)


def _written(out: Path, stem: str, report: Report, numbers: str, picture: Callable[[Path], Path]) -> Outcome:
    files = [
        write_text(out / f"{stem}.md", markdown(report)),
        write_text(out / f"{stem}.csv", numbers),
        picture(out / f"{stem}.png"),
    ]
    return Outcome(report, files)
