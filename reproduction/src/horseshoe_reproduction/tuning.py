"""The truths of "adaptive" with other sizes and other random numbers, to tune on without looking at those."""

from __future__ import annotations

from horseshoe_reproduction.adaptive import experiment
from horseshoe_reproduction.adaptive_rows import truth_rows

EXPERIMENT = experiment(
    "tuning", "Adapting to the unknown sparsity: truths to tune on", truth_rows(tuning=True)
)
