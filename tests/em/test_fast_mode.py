"""Pruning, resting columns and acceleration end in the mode of plain EM."""

from dataclasses import replace

import numpy as np
import pytest

from horseshoe.em.fast import schedule
from horseshoe.em.fast.limits import LIMITS
from registry import SCHEDULES
from simulate import SETTINGS
from systems import PLAIN, run, standard_system


def elsewhere(shape, rho, sigma2, seeds):
    """Return the seeds for which the fast fit does not end where plain EM run to 1e-10 does."""
    found = []
    for seed in seeds:
        system = standard_system(*shape, rho=rho, sigma2=sigma2, seed=seed)
        fast, plain = run(system), run(system, tol=1e-10, **PLAIN)
        if not np.abs(fast.coef - plain.coef).max() <= 1e-4:
            found.append(seed)
    return found


@pytest.fixture(params=["by size", "always"])
def resting(request, monkeypatch):
    """Columns of a wide problem rest only if it is large; the second time, whatever its size."""
    if request.param == "always":
        monkeypatch.setattr(schedule, "LIMITS", replace(LIMITS, large=0))


@pytest.mark.parametrize(("rho", "sigma2"), SETTINGS)
def test_the_mode_is_that_of_plain_em(rho, sigma2):
    """25 data sets in each setting of Table 3, among those on which the limits were chosen: all must stay."""
    assert elsewhere((70, 350), rho, sigma2, range(1000, 1025)) == []


@pytest.mark.slow
@pytest.mark.usefixtures("resting")
def test_the_mode_is_that_of_plain_em_on_other_data():
    """100 data sets on which nothing was chosen: at least 98 end in the mode of plain EM."""
    assert sum(len(elsewhere((70, 350), *setting, range(2000, 2025))) for setting in SETTINGS) <= 2


@pytest.mark.parametrize(("rho", "sigma2"), SETTINGS)
def test_the_mode_is_that_of_plain_em_where_columns_rest(rho, sigma2):
    assert 120 * 1000 > LIMITS.large
    assert elsewhere((120, 1000), rho, sigma2, range(3)) == []


@pytest.mark.slow
@pytest.mark.usefixtures("resting")
@pytest.mark.parametrize(("rho", "sigma2"), SETTINGS)
def test_the_mode_is_that_of_plain_em_on_many_more(rho, sigma2):
    assert len(elsewhere((70, 350), rho, sigma2, range(300))) <= 0.02 * 300


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("expectation", ["exact", "approximate"])
@pytest.mark.parametrize("shape", [(100, 30), (60, 120)])
def test_every_schedule_ends_in_the_same_mode(schedule, expectation, shape):
    system = standard_system(*shape, rho=0.5, sigma2=0.5, n_signals=6, seed=11)
    options = {"expectation": expectation, "tol": 1e-10}
    ours, plain = (run(system, **options, **way) for way in (SCHEDULES[schedule], PLAIN))
    assert np.array_equal(ours.support, plain.support)
    np.testing.assert_allclose(ours.coef, plain.coef, rtol=0, atol=1e-7)
