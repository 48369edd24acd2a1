"""How the cost of a fit grows with rows, columns and workers.

``python -m benchmarks.growth`` fits data of growing size, one series after the other, with one thread; prints
the seconds, the exponent over the last decade and that of the cost model; and writes ``growth.csv`` beside
this file and the picture of ``docs/scale.md``. ``--series NAME ...`` measures only these and keeps what the
file has of the others; ``--draw`` only draws. Seconds are of the processor; for
workers they are of the wall.
"""

from __future__ import annotations

import argparse
import csv
import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")  # before NumPy

import numpy as np  # noqa: E402
from scipy import sparse  # noqa: E402

from horseshoe import AdaptiveRegressor, HorseshoeClassifier, HorseshoeRegressor  # noqa: E402
from horseshoe.files import write_picture, write_text  # noqa: E402

PLACE = Path(__file__).parent
PICTURE = PLACE.parent / "docs" / "_static" / "growth.png"
TOLERANCE = 0.15
"""How far a measured exponent may be above that of the cost model before it is called worse."""


class Series(NamedTuple):
    """What grows, through which values, what is fitted, and the exponent that the cost model allows."""

    grows: str
    values: tuple[int, ...]
    prepare: Callable[[int], Callable[[], Any]]
    allowed: float
    label: str


class Point(NamedTuple):
    """One fit: the name of its series, what grew to which value, and its seconds."""

    series: str
    value: int
    seconds: float


def planted(n: int, p: int, dtype: Any = np.float64) -> tuple[Any, Any]:
    """Return standard normal columns, ten of which have an effect, and noise of variance 1."""
    rng = np.random.default_rng([n, p])
    x = rng.standard_normal((n, p), dtype=dtype)
    y = x[:, :10] @ np.tile([1.0, -1.0], 5) + rng.standard_normal(n)
    return x, y


def gaussian(n: int, p: int) -> Callable[[], Any]:
    """Return a Gaussian fit."""
    x, y = planted(n, p)
    return lambda: HorseshoeRegressor().fit(x, y)


def average(n: int, p: int) -> Callable[[], Any]:
    """Return an adaptive fit."""
    x, y = planted(n, p)
    return lambda: AdaptiveRegressor().fit(x, y)


def classes(n: int, p: int) -> Callable[[], Any]:
    """Return a logistic fit."""
    x, y = planted(n, p)
    return lambda: HorseshoeClassifier().fit(x, y > 0.0)


def gradient(p: int) -> Callable[[], Any]:
    """Return a fit by conjugate gradients to p / 4 rows with 20 entries in each column."""
    rng, n = np.random.default_rng(p), p // 4
    x = sparse.random(n, p, 20 / n, format="csc", random_state=rng, data_rvs=rng.standard_normal)
    where = np.argsort(-np.diff(x.indptr), kind="stable")[:10]
    y = x[:, where] @ np.tile([30.0, -30.0], 5) + rng.standard_normal(n)
    model = HorseshoeRegressor(expectation="conjugate_gradient", random_state=0)
    return lambda: model.fit(x, y)


def workers(count: int) -> Callable[[], Any]:
    """Return a logistic fit of 40 chunks on so many processes of one thread."""
    from dask import array
    from distributed import Client, LocalCluster

    cluster = LocalCluster(n_workers=count, threads_per_worker=1, dashboard_address=None)
    client = Client(cluster)
    rng = array.random.default_rng(0)
    x = rng.standard_normal((400_000, 100), chunks=(10_000, 100)).persist()
    y = (x[:, 0] - x[:, 1] + rng.standard_normal(400_000, chunks=10_000) > 0.0).compute()

    def run() -> Any:
        try:
            return HorseshoeClassifier().fit(x, y)
        finally:
            client.close()
            cluster.close()

    return run


SERIES = {
    "tall": Series(
        "rows",
        (10_000, 30_000, 100_000, 300_000, 1_000_000),
        lambda n: gaussian(n, 100),
        1.0,
        "Gaussian, n x 100",
    ),
    "tall-columns": Series(
        "columns", (100, 200, 500, 1_000), lambda p: gaussian(20_000, p), 2.0, "Gaussian, 20,000 x p"
    ),
    "tall-average": Series(
        "rows",
        (10_000, 30_000, 100_000, 300_000),
        lambda n: average(n, 100),
        1.0,
        "the average, n x 100",
    ),
    "classes": Series(
        "rows", (10_000, 30_000, 100_000, 300_000), lambda n: classes(n, 100), 1.0, "logistic, n x 100"
    ),
    "wide": Series(
        "columns",
        (10_000, 30_000, 100_000, 300_000),
        lambda p: gaussian(300, p),
        1.0,
        "Gaussian, 300 x p",
    ),
    "wide-rows": Series(
        "rows", (100, 200, 500, 1_000), lambda n: gaussian(n, 20_000), 2.0, "Gaussian, n x 20,000"
    ),
    "wide-average": Series(
        "columns",
        (3_000, 10_000, 30_000),
        lambda p: average(200, p),
        1.0,
        "the average, 200 x p",
    ),
    "gradient": Series(
        "columns",
        (4_000, 12_000, 40_000),
        gradient,
        1.0,
        "conjugate gradients, p/4 x p, 20 entries a column",
    ),
    "workers": Series(
        "workers", tuple(range(1, (os.cpu_count() or 1) + 1)), workers, -1.0, "logistic, Dask, 400,000 x 100"
    ),
}


def measure(name: str) -> list[Point]:
    """Return the seconds of each fit of a series: the least of two where they are short."""
    series, found = SERIES[name], []
    clock = time.perf_counter if series.grows == "workers" else time.process_time
    for value in series.values:
        times: list[float] = []
        while len(times) < 2 and sum(times) < 10.0:
            fit = series.prepare(value)
            start = clock()
            fit()
            times.append(clock() - start)
        found.append(Point(name, value, min(times)))
        print(f"{series.label}, {value:,} {series.grows}: {found[-1].seconds:.3g} s", flush=True)
    return found


def exponent(points: list[Point]) -> float:
    """Return the slope of log seconds over the last decade of what grows."""
    last = [p for p in points if p.value * 10 >= points[-1].value]
    if len(last) < 2:
        return math.nan
    logs = np.log([[p.value, p.seconds] for p in last])
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0])


def read(path: Path) -> dict[str, list[Point]]:
    """Return what was measured before."""
    found: dict[str, list[Point]] = {}
    if path.is_file():
        for row in csv.DictReader(path.read_text(encoding="utf-8").splitlines()):
            point = Point(row["series"], int(row["value"]), float(row["seconds"]))
            found.setdefault(point.series, []).append(point)
    return found


def write(path: Path, found: dict[str, list[Point]]) -> None:
    """Keep what was measured."""
    lines = [",".join(Point._fields)]
    lines += [f"{p.series},{p.value},{p.seconds:.4g}" for name in SERIES for p in found.get(name, [])]
    write_text(path, "\n".join(lines) + "\n")


def table(found: dict[str, list[Point]]) -> list[str]:
    """Return the rows of the table."""
    lines = ["| fit | grows | seconds | exponent | of the cost model | |", "|---|---|---|---|---|---|"]
    for name, points in found.items():
        series = SERIES[name]
        slope = exponent(points)
        verdict = "no worse" if slope <= series.allowed + TOLERANCE else "worse"
        ends = f"{points[0].seconds:.2g} to {points[-1].seconds:.2g}"
        grown = f"{series.grows} {points[0].value:,} to {points[-1].value:,}"
        lines.append(f"| {series.label} | {grown} | {ends} | {slope:.2f} | {series.allowed:g} | {verdict} |")
    return lines


def draw(found: dict[str, list[Point]], path: Path) -> None:
    """Draw seconds against rows, columns and workers, on logarithmic axes."""
    from matplotlib.figure import Figure

    kinds = [kind for kind in ("rows", "columns") if any(SERIES[n].grows == kind for n in found)]
    figure = Figure(figsize=(5.2 * len(kinds), 4.6), layout="constrained")
    for axis, kind in zip(figure.subplots(1, len(kinds), squeeze=False)[0], kinds, strict=True):
        for name, points in found.items():
            if SERIES[name].grows == kind:
                label = f"{SERIES[name].label}: {exponent(points):.2f}"
                axis.plot([p.value for p in points], [p.seconds for p in points], "o-", label=label)
        axis.set(xscale="log", yscale="log", xlabel=kind, ylabel="CPU seconds of one thread")
        axis.grid(alpha=0.3, which="both", linewidth=0.4)
        axis.legend(title="exponent over the last decade", fontsize=8, title_fontsize=8)
        axis.set_ylim(top=axis.get_ylim()[1] * 8)
    write_picture(path, figure)


def main() -> None:
    """Measure, print, keep and draw."""
    parser = argparse.ArgumentParser(description="How the cost of a fit grows.")
    parser.add_argument("--series", nargs="+", choices=tuple(SERIES), default=[], help="only these")
    parser.add_argument("--draw", action="store_true", help="draw what was measured before")
    options = parser.parse_args()
    kept = PLACE / "growth.csv"
    found = read(kept)
    for name in [] if options.draw else options.series or SERIES:
        found[name] = measure(name)
        write(kept, found)
    found = {name: found[name] for name in SERIES if name in found}
    print("\n".join(table(found)))
    draw(found, PICTURE)


if __name__ == "__main__":
    main()
