"""Intervals of an unpenalised covariate beside an average, for three sizes of noise."""

import numpy as np
import pytest
from benchmarks.unpenalised import DRAWS, NOISES, cell
from scipy.stats import binomtest

FIRST, REPLICATES, MODES = 90_000, 100, 5
"""Other data sets than those of the table."""
LEVELS = 0.93, 0.97
KINKED = {"laplace": 0.85, "quantile": 0.82}
"""What these cover at least: the information of a kinked loss is that of many more than 200 rows. The mode
has the same standard errors (`tests/average/test_always_errors.py`), but its intervals come from draws."""


@pytest.mark.slow
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("family", DRAWS)
def test_intervals_cover_and_are_as_long_as_those_of_the_mode(family, noise):
    found = cell(family, noise, REPLICATES, MODES, FIRST)
    share = binomtest(int(found.covered[0]), int(found.tried[0])).proportion_ci(0.999)
    assert share.low <= LEVELS[1]
    assert share.high >= KINKED.get(family, LEVELS[0])
    assert np.isfinite(found.length).all()
    assert family in KINKED or 0.85 < found.length[0] / found.length[1] < 1.2
