"""What large data cost, in time and in memory.

``python -m benchmarks.scale CASE`` makes the data of a case, fits them in this process, and prints one line:
CPU seconds, the same in units of the work that nobody can do without, the most memory beside the data, and
whether the planted columns were found. ``python -m benchmarks.scale --list`` says what the cases are. Data on
disk go to a folder for temporary files, and are removed.
"""

from __future__ import annotations

import argparse
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import blas

from horseshoe import AdaptiveRegressor, HorseshoeClassifier, HorseshoeRegressor
from horseshoe.data.dense import Dense
from horseshoe.data.view import View


class Task(NamedTuple):
    """A fit, the columns that it must find, and the seconds and name of the work to compare it with."""

    fit: Callable[[], Any]
    planted: Any
    unit: float
    what: str
    passes: list[float] | None = None
    """Of each weighted Gram matrix of all rows, the share of the columns."""


def clock(work: Callable[[], Any]) -> float:
    """Return the least CPU seconds of three."""
    found = []
    for _ in range(3):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def planted(x: Any, where: Any, size: float, seed: int = 1) -> Any:
    """Return a response of a few columns, which alternate in sign, and noise of variance 1."""
    signs = size * (-1.0) ** np.arange(len(where))
    picked = x[:, where]
    picked = picked.toarray() if sparse.issparse(picked) else np.asarray(picked, dtype=float)
    return picked @ signs + np.random.default_rng(seed).standard_normal(x.shape[0])


def tall(folder: Path, n: int, p: int, kind: str) -> Task:
    """Return a fit of an array in memory, of chunks, or of classes."""
    x = np.random.default_rng(0).standard_normal((n, p))
    where = np.arange(10)
    y = planted(x, where, 0.5)
    across = np.asfortranarray(x[: 2**16])
    syrk = clock(lambda: blas.dsyrk(1.0, across, trans=1, lower=1)) * n / len(across)
    if kind == "classes":
        gram, passes = clock(lambda: Dense(x).gram(np.full(n, 0.5))), counted(n, p)
        return Task(
            lambda: HorseshoeClassifier().fit(x, y > 0.0), where, gram, "weighted Gram matrices", passes
        )
    if kind == "gaussian":
        return Task(lambda: HorseshoeRegressor().fit(x, y), where, syrk, "dsyrk")
    model = HorseshoeRegressor() if kind == "chunks" else AdaptiveRegressor()
    step = 50_000
    chunks = ((x[i : i + step], y[i : i + step]) for i in range(0, n, step))
    return Task(lambda: model.fit_chunks(chunks), where, syrk, "dsyrk")


def counted(n: int, p: int) -> list[float]:
    """Return a list to which the products of all rows, from now on, add their share of the columns."""
    shares: list[float] = []

    def noted(method: Any) -> Any:
        def noting(columns: Any, *args: Any, **options: Any) -> Any:
            shares.append(columns.shape[1] / p if columns.shape[0] == n else 0.0)
            return method(columns, *args, **options)

        return noting

    for kind, name in ((View, "gram"), (View, "cross_products")):
        setattr(kind, name, noted(getattr(kind, name)))
    return shares


def parquet(folder: Path, n: int, p: int) -> Task:
    """Return a fit of a Parquet file."""
    import pyarrow
    import pyarrow.parquet

    from horseshoe.data.sources.parquet import open_parquet

    path, rng, where = folder / "rows.parquet", np.random.default_rng(0), np.arange(10)
    writer, syrk = None, 0.0
    for _ in range(0, n, 50_000):
        x = rng.standard_normal((50_000, p))
        columns = {f"x{j}": x[:, j] for j in range(p)} | {"y": planted(x, where, 0.5, int(rng.integers(99)))}
        table = pyarrow.table(columns)
        writer = writer or pyarrow.parquet.ParquetWriter(path, table.schema, compression="none")
        writer.write_table(table)
        syrk = syrk or clock(partial(blas.dsyrk, 1.0, x.T, lower=1)) * n / len(x)
    if writer is not None:
        writer.close()
    reading = time.process_time()
    for batch in pyarrow.parquet.ParquetFile(path).iter_batches(50_000):
        np.column_stack([column.to_numpy() for column in batch.columns])
    reading = time.process_time() - reading + syrk
    model = HorseshoeRegressor()
    return Task(lambda: model.fit(*open_parquet(path, "y")), where, reading, "reading + dsyrk")


def wide(folder: Path, n: int, p: int) -> Task:
    """Return a fit of a memory map of single precision."""
    path, rng = folder / "wide.f32", np.random.default_rng(0)
    x: Any = np.memmap(path, dtype=np.float32, mode="w+", shape=(n, p), order="F")
    for start in range(0, p, 10_000):
        x[:, start : start + 10_000] = rng.standard_normal((n, min(10_000, p - start)), dtype=np.float32)
    x.flush()
    x = np.memmap(path, dtype=np.float32, mode="r", shape=(n, p), order="F")
    where = np.arange(5) * (p // 5) + 7
    y = planted(x, where, 2.0)
    part = np.asfortranarray(x[:, :20_000], dtype=float)
    syrk = clock(lambda: blas.dsyrk(1.0, part, lower=1)) * p / part.shape[1]
    return Task(lambda: HorseshoeRegressor().fit(x, y), where, syrk, "dsyrk")


def entries(folder: Path, n: int, p: int, density: float, expectation: str = "conjugate_gradient") -> Task:
    """Return a fit of a sparse matrix; the planted columns are those with the most entries."""
    rng = np.random.default_rng(0)
    x = sparse.random(n, p, density, format="csc", random_state=rng, data_rvs=rng.standard_normal)
    where = np.argsort(-np.diff(x.indptr), kind="stable")[:10]
    y = planted(x, where, 30.0)
    probes = rng.standard_normal((p, 32))
    unit = clock(lambda: x.T @ (x @ probes))
    model = HorseshoeRegressor(expectation=expectation, random_state=0)
    return Task(lambda: model.fit(x, y), where, unit, "products with 32 vectors and back")


CASES: dict[str, Callable[[Path], Task]] = {
    "tall": lambda folder: tall(folder, 500_000, 100, "gaussian"),
    "tall-classes": lambda folder: tall(folder, 500_000, 100, "classes"),
    "chunks": lambda folder: tall(folder, 500_000, 100, "chunks"),
    "chunks-average": lambda folder: tall(folder, 500_000, 100, "average"),
    "parquet": lambda folder: parquet(folder, 1_000_000, 200),
    "wide-decade": lambda folder: wide(folder, 500, 100_000),
    "wide": lambda folder: wide(folder, 500, 1_000_000),
    "sparse-wide": lambda folder: entries(folder, 2_000, 1_000_000, 1e-4, "exact"),
    "sparse-wider": lambda folder: entries(folder, 2_000, 1_000_000, 5e-3, "exact"),
    "gradient-small": lambda folder: entries(folder, 10_000, 40_000, 5e-4),
    "gradient": lambda folder: entries(folder, 50_000, 200_000, 1e-4),
}


def held() -> float:
    """Return the memory of this process that is in no file, in GiB; NaN where the system does not tell."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return float("nan")
    return sum(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / 2**20


def watched(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what the work returns, and the most memory that it took beyond what was held before, in GiB."""
    before, most, done = held(), 0.0, threading.Event()

    def look() -> None:
        nonlocal most
        while not done.wait(0.05):
            most = max(most, held() - before)

    watcher = threading.Thread(target=look)
    watcher.start()
    try:
        found = work()
    finally:
        done.set()
        watcher.join()
    return found, max(most, held() - before)


def lines(names: list[str]) -> Iterator[str]:
    """Yield the rows of the table."""
    yield "| case | CPU s | in units | of | GiB beside the data | iterations | planted columns found |"
    yield "|---|---|---|---|---|---|---|"
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            task = CASES[name](Path(folder))
            start = time.process_time()
            model, memory = watched(task.fit)
            cpu = time.process_time() - start
            support: Any = np.atleast_2d(model.support_).any(axis=0)
            found = f"{support[task.planted].sum()} of {len(task.planted)}, and {support.sum()} in all"
            cost = f"{cpu:.1f} | {cpu / task.unit:.1f} | {task.what} | {memory:.2f}"
            yield f"| {name} | {cost} | {getattr(model, 'n_iter_', '-')} | {found} |"
            if task.passes:
                passes = sum(task.passes)
                times = cpu / task.unit / passes
                yield f"\n{name}: {times:.2f} times its {passes:.1f} passes over all columns\n"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="What large data cost, in time and in memory.")
    parser.add_argument("cases", nargs="*", default=[], help="which; all but the largest if left out")
    parser.add_argument("--list", action="store_true", help="say what the cases are")
    options = parser.parse_args()
    if options.list:
        print("\n".join(CASES))
        return
    for line in lines(options.cases or ["tall", "tall-classes", "chunks", "wide-decade", "gradient-small"]):
        print(line, flush=True)


if __name__ == "__main__":
    main()
