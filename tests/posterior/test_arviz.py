"""Draws handed to ArviZ."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from horseshoe.posterior.summaries import QUANTITIES
from posterior_runs import TALL, case, long, run


@pytest.mark.parametrize("which", ["constant column", "student_t", "weights, poisson", "shapes"])
def test_arviz(which: str) -> None:
    pytest.importorskip("arviz_base")
    found = long(which)
    tree = found.to_arviz()
    assert {"posterior", "observed_data", "log_likelihood"} <= set(tree.children)
    for name in QUANTITIES:
        draws = getattr(found, name)
        assert (name in tree["posterior"]) == (draws is not None)
        if draws is not None:
            assert tree["posterior"][name].dims[:2] == ("chain", "draw")
            np.testing.assert_array_equal(tree["posterior"][name], draws)
    assert tree["posterior"]["coef"].coords["feature"].values.tolist() == list(found.feature_names)
    np.testing.assert_array_equal(tree["log_likelihood"]["y"], found.log_likelihood())
    np.testing.assert_array_equal(tree["observed_data"]["y"], found.rows.y)
    assert "log_likelihood" not in found.to_arviz(log_likelihood=False).children


def test_loo() -> None:
    pytest.importorskip("arviz_base")
    arviz_stats = pytest.importorskip("arviz_stats")
    with_all, with_less = long(), run(case(), X=TALL[:, 2:], n_draws=400, n_warmup=200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of ArviZ
        good, bad = (arviz_stats.loo(found.to_arviz()) for found in (with_all, with_less))
    assert good.n_data_points == 24
    assert np.isfinite([good.elpd, bad.elpd]).all()
    assert good.elpd > bad.elpd  # the columns that matter are gone
