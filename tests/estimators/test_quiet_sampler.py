"""Good data are sampled without a warning, extreme ones too, and without packages that are not needed."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from horseshoe import sample_posterior
from posterior_runs import never
from refusals import assert_says, missing, put
from refused_data import COUNTS, FRAME, NONE_BEFORE, REAL, SAMPLED, N, P, X

pytestmark = pytest.mark.filterwarnings("error")


# --- packages that are not there ------------------------------------------------------------------


@pytest.mark.parametrize("family", ["binomial", "negative_binomial"])
def test_without_polyagamma(family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polyagamma", None)
    arguments = {"X": FRAME, "y": SAMPLED[family], "family": family}
    arguments |= {"checkpoint": tmp_path / "run", "progress": never, "n_jobs": 1}
    message = missing(lambda: sample_posterior(**arguments))
    assert_says(message, r"\bpolyagamma\b", r"pip install 'horseshoe\[posterior\]'")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("family", ["gaussian", "student_t", "laplace", "poisson"])
def test_others_need_no_polyagamma(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "polyagamma", None)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="R-hat")
        draws = sample_posterior(FRAME, SAMPLED[family], family, n_draws=2, n_warmup=9)
    assert draws.coef.shape == (4, 2, P)


# --- nothing else is said -------------------------------------------------------------------------


@pytest.mark.parametrize("family", SAMPLED)
@pytest.mark.parametrize("weights", [None, NONE_BEFORE], ids=["all rows", "some rows"])
def test_good_data_give_no_warning(family: str, weights: Any, tmp_path: Path) -> None:
    """Neither do NumPy, SciPy and scikit-learn: warnings are errors here."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="R-hat")
        draws = sample_posterior(
            FRAME,
            SAMPLED[family],
            family,
            n_draws=30,
            n_warmup=30,
            random_state=0,
            sample_weight=weights,
            checkpoint=tmp_path / "run",
        )
        for answer in (
            draws.predict(FRAME, return_std=True),
            draws.predict_interval(FRAME),
            draws.simulate(),
            draws.log_likelihood(),
            draws.interval(),
            draws.rhat(),
            draws.ess("tail"),
        ):
            assert np.isfinite(np.asarray(answer)).all()
        assert len(draws.summary()) == P


EXTREMES: dict[str, dict[str, Any]] = {
    "a response far from one": {"y": 1e12 + 1e9 * REAL},
    "a tiny response": {"y": 1e-150 * REAL},
    "a huge response": {"y": 1e150 * REAL},
    "tiny columns": {"X": 1e-150 * X},
    "huge columns": {"X": 1e150 * X},
    "the same column twice": {"X": np.hstack([X, X])},
    "no noise": {"y": 3.0 * X[:, 1]},
    "no noise, p > n": {"X": X[:4], "y": 3.0 * X[:4, 1]},
    "two rows": {"X": X[:2], "y": REAL[:2]},
    "an outlier": {"family": "student_t", "y": put(REAL, 1e8)},
    "outliers": {"family": "laplace", "y": put(REAL, 1e8)},
    "classes apart": {"family": "binomial", "y": (X[:, 0] > 0.0) * 1.0},
    "large counts": {"family": "poisson", "y": np.round(1e8 * np.exp(X[:, 0]))},
    "large counts, overdispersed": {"family": "negative_binomial", "y": np.round(1e8 * np.exp(X[:, 0]))},
    "one count": {"family": "poisson", "y": put(np.zeros(N), 1.0)},
    "one count, overdispersed": {"family": "negative_binomial", "y": put(np.zeros(N), 1.0)},
    "a tiny tau": {"tau": 1e-12},
    "a huge tau": {"tau": 1e12},
    "a tiny tau_max": {"tau_max": 1e-9},
    "no warm-up": {"n_warmup": 0, "family": "poisson", "y": COUNTS},
}


@pytest.mark.parametrize("which", EXTREMES)
def test_extremes_are_sampled_without_a_warning(which: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", message="R-hat")
        given = {"X": X, "y": REAL, "n_draws": 30, "n_warmup": 30, "random_state": 0, **EXTREMES[which]}
        draws = sample_posterior(**given)
    for name in ("coef", "intercept", "tau2"):
        assert np.isfinite(draws.draws(name)).all(), name
