"""Data on many machines, and genotypes: a fit beside reading the data and one product of each block.

``python -m benchmarks.cluster gaussian|logistic|genotypes [--rows N] [--columns P] [--folder F]``

The first two write a Parquet file and fit it through a Dask cluster of two processes of one thread; fit and
baseline take turns. A baseline reads each part of the file and forms X'X of it, or X'WX, on the same cluster.
"""

from __future__ import annotations

import argparse
import os
import resource
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

PARTS = 20
ROUNDS = 2
WORKER_MEMORY = "2GiB"


def main() -> None:
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("what", choices=("gaussian", "logistic", "genotypes"))
    parser.add_argument("--rows", type=int)
    parser.add_argument("--columns", type=int)
    parser.add_argument("--folder", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=asked.folder) as folder:
        if asked.what == "genotypes":
            genotypes(Path(folder), asked.rows or 2_000, asked.columns or 500_000)
        else:
            columns = asked.columns or (200 if asked.what == "gaussian" else 50)
            parquet(Path(folder), asked.what, asked.rows or 1_000_000, columns)


def effects(columns: int) -> Any:
    """Ten effects from 1 down to 0.02, with alternating signs."""
    coef = np.zeros(columns)
    coef[:10] = np.geomspace(1.0, 0.02, 10) * (-1.0) ** np.arange(10)
    return coef


def write_parquet(folder: Path, what: str, rows: int, columns: int) -> None:
    import pandas

    for part in range(PARTS):
        rng = np.random.default_rng(part)
        x = rng.standard_normal((rows // PARTS, columns))
        eta = x @ effects(columns)
        y = eta + rng.standard_normal(len(x)) if what == "gaussian" else rng.random(len(x)) < expit(eta)
        names = [f"x{j}" for j in range(columns)]
        frame = pandas.DataFrame(x, columns=names).assign(y=np.asarray(y, dtype=np.float64))
        frame.to_parquet(folder / f"part-{part:03}.parquet", index=False)


def expit(eta: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-eta))


def one_product(frame: Any, weighted: bool) -> Any:
    """Return X'X of a part, or X'WX; its first row only, so that nothing else travels."""
    from scipy.linalg import blas

    x = frame.to_numpy(dtype=np.float64)
    if weighted:
        x = x * np.sqrt(np.full(len(x), 0.25))[:, None]
    return blas.dsyrk(1.0, np.asfortranarray(x), trans=1)[:1]


def parquet(folder: Path, what: str, rows: int, columns: int) -> None:
    import dask
    from dask import dataframe
    from distributed import Client, LocalCluster

    write_parquet(folder, what, rows, columns)
    with (
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=WORKER_MEMORY, dashboard_address=None
        ) as c,
        Client(c) as client,
    ):
        table = dataframe.read_parquet(folder)
        x, y = table[[f"x{j}" for j in range(columns)]], table["y"]
        family = "gaussian" if what == "gaussian" else "binomial"
        found: list[Any] = []
        times: dict[str, list[Any]] = {"read + product": [], "fit": []}
        for _ in range(ROUNDS):
            parts = [dask.delayed(one_product)(part, family != "gaussian") for part in x.to_delayed()]
            times["read + product"].append(timed(partial(dask.compute, *parts), client))
            times["fit"].append(timed(partial(fit, found, family, x, y), client))
        peak = max(client.run(peak_memory).values())
    report(what, rows, columns, times, found[-1], peak)


def fit(found: list[Any], family: str, x: Any, y: Any) -> None:
    from horseshoe import HorseshoeRegressor

    found.append(HorseshoeRegressor(family=family).fit(x, y))


def report(what: str, rows: int, columns: int, times: dict[str, list[Any]], model: Any, peak: int) -> None:
    passes = model._training.rows.columns._parts.passes
    one, ours = (np.median(times[name], axis=0) for name in ("read + product", "fit"))
    held = passes if what == "logistic" else 1
    print(f"{rows:,} x {columns} {what} from Parquet through Dask, medians of {ROUNDS} turns")
    print(f"reading and one product of each part: {one[0]:.1f} s, {one[1]:.1f} s of CPU")
    print(f"the fit, {passes} passes: {ours[0]:.1f} s, {ours[1]:.1f} s of CPU in all processes")
    ratio = ours / (held * one)
    print(f"that is {ratio[0]:.2f} times {'passes x ' * (held > 1)}the first, and {ratio[1]:.2f} by CPU")
    print(
        f"largest memory of a worker: {peak / 2**30:.2f} GiB; of this process {peak_memory() / 2**30:.2f} GiB"
    )
    print(f"selected: {np.flatnonzero(model.support_).tolist()}; {model.n_iter_} iterations")


def genotypes(folder: Path, rows: int, columns: int) -> None:
    """Fit individuals with twenty causal SNPs that explain two thirds of y; two per cent are not known."""
    causal = np.linspace(0, columns - 1, 20).astype(int)
    path, before = folder / "cohort.bed", time.perf_counter()
    y = in_child(lambda: write_bed(path, rows, columns, causal))
    print(
        f"{rows:,} x {columns:,} genotypes, {path.stat().st_size / 2**20:.0f} MiB, "
        f"written in {time.perf_counter() - before:.0f} s"
    )
    start, cpu = time.perf_counter(), time.process_time()
    from bed_reader import open_bed

    from horseshoe import HorseshoeRegressor

    model = HorseshoeRegressor().fit(open_bed(path), y)
    chosen = np.flatnonzero(model.support_)
    print(
        f"fit: {time.perf_counter() - start:.0f} s, {time.process_time() - cpu:.0f} s of CPU, "
        f"{model.n_iter_} iterations, {model.status_.name}"
    )
    print(f"largest memory: {peak_memory() / 2**30:.2f} GiB")
    print(f"selected {chosen.size}, of the 20 planted {np.isin(causal, chosen).sum()}")


def write_bed(path: Path, rows: int, columns: int, causal: Any) -> Any:
    """Write genotypes, a SNP after the other, and return y; in memory is a block of them."""
    from bed_reader import create_bed

    rng = np.random.default_rng(0)
    score = np.zeros(rows)
    with create_bed(path, rows, columns) as stream:
        for start in range(0, columns, 5_000):
            width = min(5_000, columns - start)
            share = rng.integers(26, 128, (width, 1), dtype=np.uint8)  # of 256: minor alleles have .1 to .5
            values = np.zeros((width, rows), dtype=np.int8)
            for _ in range(2):
                values += rng.integers(0, 256, values.shape, dtype=np.uint8) < share
            for place in np.flatnonzero((causal >= start) & (causal < start + width)):
                own = values[causal[place] - start].astype(float)
                score += (-1.0) ** place * (own - own.mean()) / own.std()
            values[rng.integers(0, 256, values.shape, dtype=np.uint8) < 5] = -127
            for vector in values:
                stream.write(vector)
    return score + score.std() * np.sqrt(0.5) * rng.standard_normal(rows)


def in_child(work: Callable[[], Any]) -> Any:
    """Return what a process of its own finds: its memory is not ours."""
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    with ProcessPoolExecutor(
        1, mp_context=get_context("fork"), initializer=_forked, initargs=(work,)
    ) as pool:
        return pool.submit(_work).result()


_TODO: list[Callable[[], Any]] = []


def _forked(work: Callable[[], Any]) -> None:
    _TODO.append(work)


def _work() -> Any:
    return _TODO[0]()


def timed(work: Callable[[], Any], client: Any) -> tuple[float, float]:
    """Return seconds by the clock, and of CPU in the workers and here."""
    start, cpu = time.perf_counter(), spent(client)
    work()
    return time.perf_counter() - start, spent(client) - cpu


def spent(client: Any) -> float:
    return time.process_time() + float(sum(client.run(time.process_time).values()))


def peak_memory() -> int:
    """Return the largest memory that a process has had, in bytes."""
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    main()
