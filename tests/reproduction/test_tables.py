"""The tables: their cells, and the score of table 3."""

import numpy as np
import pytest

from horseshoe_reproduction import TABLES, load
from horseshoe_reproduction.experiment import Fit
from horseshoe_reproduction.methods import METHODS
from horseshoe_reproduction.printed import printed


def test_every_printed_number_has_a_method_and_a_cell():
    for name in TABLES:
        experiment = load(name)
        columns = {METHODS[m].printed for m in experiment.methods} - {None}
        for setting, metric, column in printed(name):
            assert setting in experiment.settings
            assert metric in experiment.metrics
            assert column in columns


@pytest.mark.parametrize("setting", load("table3").settings)
def test_the_score_of_table_3_is_the_error_in_the_norm_of_sigma(setting):
    rng = np.random.default_rng(3)
    problem = load("table3").draw(setting, rng)
    rho = float(setting.split(",")[0].removeprefix("rho="))
    beta = np.repeat([3.0, -3.0, 0.0], [10, 10, 330])
    guess = beta + rng.standard_normal(350) * (rng.random(350) < 0.3)
    guess[5] = 0.0
    new = np.random.default_rng(4).standard_normal((20_000, 350))
    for j in range(1, 350):
        new[:, j] = rho * new[:, j - 1] + np.sqrt(1 - rho**2) * new[:, j]
    found = problem.score(Fit(guess))
    np.testing.assert_allclose(found["MSE"], np.mean((new @ (guess - beta)) ** 2), rtol=0.05)
    assert found["TNZ"] == 19.0
    assert found["No.V"] == found["TNZ"] + found["FNZ"] == np.count_nonzero(guess)
