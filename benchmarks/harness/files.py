"""The files that a whole run leaves."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path

from benchmarks.harness.report import render
from benchmarks.harness.run import Run
from benchmarks.tasks.checks import all_checks


def as_json(run: Run) -> str:
    """Every raw number of the run."""
    content = {
        "about": run.about,
        "import": run.imports,
        "dsyrk": [
            {"case": asdict(case), "cpu": product.cpu, "rounds": product.rounds}
            for case, product in run.dsyrk.items()
        ],
        "results": [result.as_dict() for result in run.results.values()],
        "posterior": [sampled.as_dict() for sampled in run.posterior.values()],
        "checks": [asdict(check) | {"verdict": check.verdict} for check in all_checks(run)],
    }
    return json.dumps(content, indent=1) + "\n"


def _replace(path: Path, text: str) -> None:
    """Write a file under a temporary name and rename it."""
    draft = path.with_name(path.name + ".draft")
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, path)


def write(run: Run, folder: Path) -> None:
    """Replace the report and the raw numbers."""
    _replace(folder / "results.json", as_json(run))
    _replace(folder / "RESULTS.md", render(run))
