"""The tables and figures of the paper, each from one command: ``horseshoe reproduce table3``."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from horseshoe_reproduction.experiment import Experiment

# Experiments that the paper does not have.
RESULTS = Path("experiments") / "results"
SEED = 1000
TABLES = ("table2", "table3", "table4", "table5", "table6")
FIGURES = ("figure1",)
MORE = ("coverage", "adaptive", "tuning")


def load(name: str) -> Experiment:
    """Return the experiment of that name.

    Examples
    --------
    >>> load("table3").replicates
    100
    """
    return cast("Experiment", import_module(f"horseshoe_reproduction.{name}").EXPERIMENT)
