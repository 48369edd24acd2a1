"""Table 4 of the paper: the diabetes data, posterior mode, mean and 95 % intervals, ours and printed.

    python experiments/table4.py [--draws N] [--seed S]

The printed posterior comes from one run of R's bayesreg. How far a run of its default length strays is
measured here, by cutting our own draws into runs of that length, and each difference is set beside it.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.datasets import load_diabetes

from farrier import HorseshoeRegressor, Posterior, sample_posterior

NAMES = ("AGE", "SEX", "BMI", "BP", "S1", "S2", "S3", "S4", "S5", "S6")
PRINTED = {
    "mean": (-0.009, -18.68, 5.769, 1.034, -0.223, 0.013, -0.592, 2.419, 48.84, 0.179),
    "2.5%": (-0.341, -30.93, 4.371, 0.571, -0.937, -0.342, -1.415, -3.462, 32.24, -0.225),
    "97.5%": (0.326, -5.144, 7.109, 1.457, 0.098, 0.656, 0.189, 11.36, 70.14, 0.734),
    "mode": (0.0, -17.54, 5.741, 1.021, 0.0, 0.0, -0.909, 0.0, 43.58, 0.0),
}
"""As the paper has them."""
BAYESREG = (-0.009, -18.89, 5.767, 1.041, -0.228, 0.015, -0.583, 2.506, 48.88, 0.173)
BAYESREG_ERROR = (0.0014, 0.085, 0.0086, 0.0027, 0.0051, 0.0037, 0.011, 0.097, 0.13, 0.0046)
"""Means of a run of R bayesreg 1.3 (1,000 + 10,000 iterations), and their Monte Carlo standard errors."""
DEFAULT_RUN = 1000
"""Draws of bayesreg unless it is told otherwise."""
CLOSE, SURE = 0.03, 4.0
"""The demands: within 3 % of what is printed, within 4 Monte Carlo standard errors of the longer run."""


class Cell(NamedTuple):
    """One number of the table: ours, the printed one, and how far a run like the printed one strays."""

    row: str
    name: str
    ours: float
    printed: float
    stray: float

    @property
    def relative(self) -> float:
        """The difference as a share of the printed number."""
        return abs(self.ours - self.printed) / abs(self.printed)

    @property
    def errors(self) -> float:
        """The difference in standard errors of the printed run."""
        return (self.ours - self.printed) / self.stray


def statistics(draws: Any) -> dict[str, Any]:
    """Return the rows of the table from draws with the coefficient last."""
    flat = draws.reshape(-1, draws.shape[-1])
    low, high = np.quantile(flat, [0.025, 0.975], axis=0)
    return {"mean": flat.mean(axis=0), "2.5%": low, "97.5%": high}


def straying(posterior: Posterior) -> dict[str, Any]:
    """Return the standard deviation of each number over runs of `DEFAULT_RUN` draws."""
    _, n, p = posterior.coef.shape
    pieces = posterior.coef[:, : n // DEFAULT_RUN * DEFAULT_RUN].reshape(-1, DEFAULT_RUN, p)
    found = [statistics(piece) for piece in pieces]
    return {row: np.std([one[row] for one in found], axis=0, ddof=1) for row in found[0]}


def cells(posterior: Posterior) -> list[Cell]:
    """Return the numbers of the posterior."""
    ours, stray = statistics(posterior.coef), straying(posterior)
    return [
        Cell(row, name, float(ours[row][j]), PRINTED[row][j], float(stray[row][j]))
        for row in ours
        for j, name in enumerate(NAMES)
    ]


def line(label: str, values: Any, digits: str = ".4g") -> str:
    """Return one line of the table."""
    return f"| {label} | " + " | ".join("." if v == 0.0 else format(v, digits) for v in values) + " |"


def table(mode: Any, posterior: Posterior) -> list[str]:
    """Return the table, ours and the printed numbers line by line."""
    ours, stray = statistics(posterior.coef), straying(posterior)
    out = [f"| | {' | '.join(NAMES)} |", "|---" * (len(NAMES) + 1) + "|"]
    for row in ("mean", "2.5%", "97.5%"):
        out += [
            line(f"**{row}**, ours", ours[row]),
            line(f"{row}, printed", PRINTED[row]),
            line("difference in errors of such a run", (ours[row] - PRINTED[row]) / stray[row], "+.1f"),
        ]
    out += [line("**mode**, ours", mode), line("mode, printed", PRINTED["mode"])]
    return [*out, line("Monte Carlo error of our mean", posterior.mcse(), ".1g")]


def verdicts(mode: Any, posterior: Posterior) -> list[str]:
    """Return what the demands come to."""
    error = np.hypot(BAYESREG_ERROR, posterior.mcse())
    z = np.abs(posterior.mean() - BAYESREG) / error
    all_cells = cells(posterior)
    far = [cell for cell in all_cells if cell.relative > CLOSE]
    worst = max(all_cells, key=lambda cell: abs(cell.errors))
    out = [
        f"{_word((z < SURE).all())}: every mean within {SURE:g} Monte Carlo errors of R bayesreg 1.3; the "
        f"farthest, {NAMES[int(z.argmax())]}, {z.max():.1f}",
        f"{_word(abs(worst.errors) < SURE)}: every mean and end of an interval within {SURE:g} errors of a "
        f"run of {DEFAULT_RUN} draws; the farthest, {worst.name} {worst.row}, {worst.errors:+.1f}",
        f"{len(all_cells) - len(far)} of {len(all_cells)} numbers are within {CLOSE:.0%} of the printed ones",
    ]
    out += [
        f"  {cell.name} {cell.row}: {cell.relative:.0%} off, which is {cell.errors:+.1f} of such errors"
        for cell in far
    ]
    same = np.array_equal(np.asarray(mode) != 0.0, np.asarray(PRINTED["mode"]) != 0.0)
    gap = np.max(np.abs(np.asarray(mode) - PRINTED["mode"]) / np.maximum(1.0, np.abs(PRINTED["mode"])))
    return [*out, f"{_word(same)}: the mode has the printed variables; it differs by at most {gap:.1e}"]


def _word(holds: Any) -> str:
    return "PASS" if holds else "FAIL"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=25_000, help="of each of four chains")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.draws < 2 * DEFAULT_RUN:
        parser.error(f"--draws must be at least {2 * DEFAULT_RUN}")
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    mode = HorseshoeRegressor().fit(X, y).coef_
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # chains that do not agree must not pass for an answer
        posterior = sample_posterior(X, y, n_draws=options.draws, random_state=options.seed, n_jobs=1)
    seconds = time.process_time() - start
    print("Table 4: diabetes, 442 rows, 10 columns\n")
    print("\n".join(table(mode, posterior)), end="\n\n")
    print("\n".join(verdicts(mode, posterior)))
    print(f"\n4 chains of {options.draws} draws in {seconds:.1f} CPU s, seed {options.seed}")


if __name__ == "__main__":
    main()
