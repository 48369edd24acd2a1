"""Run us and the peers side by side and write RESULTS.md and results.json beside this file.

``make bench`` runs everything. With ``--quick``, ``--shapes`` or ``--methods`` only a part runs, and the
report goes to standard output instead, so that a partial run never replaces a whole one.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from checks import LARGE, WIDE, Run, all_checks
from environments import Environment, ensure, versions_in
from importing import measure_import
from measure import Shape
from methods import METHODS, OURS
from report import number, render
from rounds import DSYRK, measure_shape, say

HERE = Path(__file__).resolve().parent
SHAPES = ("70x350", "200x1000", "1000x200", "500x2000", "200x10000")
OURS_ALONE = (LARGE, WIDE)
ROUNDS = 5
FEWER_ROUNDS = {LARGE: 3}
QUICK_SHAPES = SHAPES[:2]
QUICK_METHODS = (OURS, "sklearn-lasso")
OUR_PACKAGES = ("farrier", "numpy", "scipy", "scikit-learn")


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    known = ", ".join(METHODS)
    parser.add_argument(
        "--shapes", nargs="+", type=shape_of, metavar="NxP", help="rows x columns, e.g. 70x350"
    )
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), metavar="NAME", help=f"any of {known}")
    parser.add_argument("--quick", action="store_true", help="two shapes, us and scikit-learn's lasso only")
    return parser.parse_args(arguments)


def shape_of(text: str) -> Shape:
    """Read a shape such as 70x350."""
    try:
        n, p = (int(part) for part in text.split("x"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not rows x columns, such as 70x350") from None
    if n < 20 or p < 20:
        raise argparse.ArgumentTypeError("at least 20 rows (ten folds) and 20 columns (twenty effects)")
    return Shape(n, p)


def plan(options: argparse.Namespace) -> list[tuple[Shape, list[str]]]:
    """List the shapes to measure, each with its methods."""
    methods = list(dict.fromkeys(options.methods or (QUICK_METHODS if options.quick else METHODS)))
    whole = not (options.quick or options.shapes)
    shapes = options.shapes or [shape_of(s) for s in (QUICK_SHAPES if options.quick else SHAPES)]
    todo = [(shape, methods) for shape in dict.fromkeys(shapes)]
    if whole and OURS in methods:
        todo += [(shape_of(name), [OURS]) for name in OURS_ALONE]
    return todo


def cpu_model() -> str:
    """Return the name of the processor."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def describe(environments: dict[str, Environment]) -> dict[str, object]:
    """Say what is about to run, when and where."""
    return {
        "command": "make bench",
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "load": f"{os.getloadavg()[0]:.2f}",
        "versions": {OURS: versions_in(sys.executable, OUR_PACKAGES)}
        | {name: environment.versions for name, environment in environments.items()},
    }


def cpu_used() -> float:
    """CPU seconds of this process and of every worker that has ended."""
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(u.ru_utime + u.ru_stime for u in usage)


def execute(todo: list[tuple[Shape, list[str]]]) -> Run:
    """Measure everything that was planned."""
    names = list(dict.fromkeys(name for _, methods in todo for name in methods))
    wanted = dict.fromkeys(METHODS[name].environment for name in names)
    environments = {name: ensure(name) for name in wanted if name is not None}
    start = cpu_used()
    run = Run(describe(environments))
    if OURS in names:
        run.imports = measure_import()
    for step, (shape, methods) in enumerate(todo, 1):
        add(run, shape, methods, environments)
        for name in methods:
            result = run.results[name, shape.name]
            outcome = f"{number(result.cpu)} s" if result.cpu is not None else result.reason
            say(f"[{step}/{len(todo)}] {shape.name} {name}: {outcome}")
    run.about["seconds"] = cpu_used() - start
    return run


def add(run: Run, shape: Shape, names: list[str], environments: dict[str, Environment]) -> None:
    """Measure some methods on one shape and add what was measured to the run."""
    own = Environment(OURS, sys.executable)
    chosen = [METHODS[name] for name in names]
    methods = [(m, own if m.environment is None else environments[m.environment]) for m in chosen]
    results = measure_shape(shape, methods, FEWER_ROUNDS.get(shape.name, ROUNDS))
    product = results.pop(DSYRK, None)
    if product is not None:
        run.dsyrk[shape.name] = product
    for name, result in results.items():
        run.results[name, shape.name] = result


def replace(path: Path, text: str) -> None:
    """Write a file under a temporary name and rename it."""
    draft = path.with_name(path.name + ".draft")
    draft.write_text(text, encoding="utf-8")
    os.replace(draft, path)


def as_json(run: Run) -> str:
    """Every raw number of the run."""
    content = {
        "about": run.about,
        "import": run.imports,
        "dsyrk": {
            shape: {"cpu": product.cpu, "rounds": product.rounds} for shape, product in run.dsyrk.items()
        },
        "results": [result.as_dict() for result in run.results.values()],
        "checks": [asdict(check) | {"verdict": check.verdict} for check in all_checks(run)],
    }
    return json.dumps(content, indent=1) + "\n"


def main() -> None:
    """Run the benchmark."""
    options = parse()
    run = execute(plan(options))
    if options.quick or options.shapes or options.methods:
        run.about["command"] = "python benchmarks/run.py " + " ".join(sys.argv[1:])
        print(render(run))
        return
    replace(HERE / "results.json", as_json(run))
    replace(HERE / "RESULTS.md", render(run))
    say(f"wrote RESULTS.md and results.json in {HERE.name}/")


if __name__ == "__main__":
    main()
