"""The committed table of coverage, and the defaults that were chosen by it."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from horseshoe.families import resolve_family
from horseshoe.families.cox import Cox
from horseshoe_reproduction.coverage import EXPERIMENT, SIZES

TABLE = Path(__file__).parents[2] / "experiments" / "results" / "coverage.csv"
LEAST = 0.85


def committed() -> dict[tuple[str, str, str], tuple[float, float]]:
    """Return mean and standard error by family, metric and method."""
    with TABLE.open() as file:
        rows = list(csv.DictReader(file))
    return {
        (row["setting"], row["metric"], row["method"]): (float(row["mean"]), float(row["standard_error"]))
        for row in rows
    }


def default(family: str) -> str:
    """Return what its intervals are made of."""
    return (Cox() if family == "survival" else resolve_family(family)).interval


def test_the_table_is_whole() -> None:
    assert len(committed()) == len(SIZES) * len(EXPERIMENT.metrics) * len(EXPERIMENT.methods)


@pytest.mark.parametrize("family", SIZES)
def test_a_default_that_covers_too_little_is_replaced(family: str) -> None:
    found = committed()
    at_mode = min(found[family, metric, "interval-mode"][0] for metric in ("Selected", "Predictions"))
    assert default(family) == ("posterior" if at_mode < LEAST else "mode")


@pytest.mark.parametrize("family", SIZES)
@pytest.mark.parametrize("metric", ["Selected", "Predictions"])
def test_no_default_covers_less_than_it_may(family: str, metric: str) -> None:
    assert committed()[family, metric, f"interval-{default(family)}"][0] >= LEAST


@pytest.mark.parametrize("family", SIZES)
@pytest.mark.parametrize("metric", ["Selected", "All"])
def test_the_posterior_covers_what_it_says(family: str, metric: str) -> None:
    mean, error = committed()[family, metric, "interval-posterior"]
    assert 0.93 - 2.0 * error <= mean <= 0.97 + 2.0 * error
