"""Fits computed independently, to the last digits that they share."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from horseshoe import HorseshoeClassifier, HorseshoeRegressor
from horseshoe.data.dense import Dense
from horseshoe.data.standardise import standardise, standardise_response
from horseshoe.em.likelihood import GaussianLikelihood, WorkingLikelihood
from horseshoe.em.loop import solve
from horseshoe.em.m_step import Hyper
from horseshoe.em.state import Options
from horseshoe.families import Binomial
from horseshoe.priors import HalfCauchy, Horseshoe, InverseGammaGlobal, Lasso

GOLDEN = Path(__file__).parents[1] / "golden"
CASES = sorted(path.stem for path in GOLDEN.glob("[adg]_*.json"))
PRIORS = {
    "hs.lambda2": (Horseshoe(), 2.0, HalfCauchy()),
    "lasso.lambda": (Lasso(), 1.0, InverseGammaGlobal()),
}
RTOL = 1e-8


def load(case):
    fit = json.loads((GOLDEN / f"{case}.json").read_text())
    if fit["case"] == "a_diabetes":
        X, y = load_diabetes(return_X_y=True, scaled=False)
        return X, y, fit
    X, y = (np.loadtxt(GOLDEN / f"{fit['case']}_{part}.csv", delimiter=",", skiprows=1) for part in "Xy")
    return X, y, fit


def plain(X, y, fit, **changes):
    """Run plain EM, no pruning and no acceleration, on the standardised scale."""
    hyper = Hyper(*PRIORS[fit["prior"]])
    options = Options(
        expectation="approximate" if fit["approx"] else "exact", tol=1e-12, fast=False, **changes
    )
    design = standardise(Dense(X), None, center=True, scale=True)
    if fit["model"] == "binomial":
        family = Binomial(weights_of(fit))
        weights = WorkingLikelihood(design, y, np.zeros_like(y), family, center=True, accelerated=False)
        return solve(weights, hyper, options._replace(sigma2=1.0))[0]
    response = standardise_response(y, None, center=True)
    return solve(GaussianLikelihood(design.problem(response.values)), hyper, options)[0]


def weights_of(fit):
    return "polya_gamma" if fit["PG"] else "irls"


def estimator(fit, **changes):
    prior, lambda_power, tau = PRIORS[fit["prior"]]
    expectation = "approximate" if fit["approx"] else "exact"
    shared = {"prior": prior, "lambda_power": lambda_power, "tau": tau, "expectation": expectation, **changes}
    shared["tol"] = 1e-12
    if fit["model"] == "binomial":
        return HorseshoeClassifier(augmentation=weights_of(fit), start="paper", **shared)
    return HorseshoeRegressor(**shared)


def assert_close(ours, golden):
    np.testing.assert_allclose(ours, golden, rtol=RTOL, atol=0)


def test_all_cases_are_there():
    assert len(CASES) == 16


@pytest.mark.parametrize("case", CASES)
def test_estimator_reaches_the_golden_fit(case):
    X, y, fit = load(case)
    model = estimator(fit).fit(X, y)
    golden, support = np.array(fit["coef"]), np.array(fit["coef"]) != 0
    assert np.array_equal(model.support_, support)
    assert_close(model.coef_, golden)
    assert_close(model.intercept_, fit["intercept"])
    assert_close(model.tau2_, fit["tau2"])
    if fit["model"] != "binomial":
        assert_close(model.sigma2_, fit["sigma2"] * fit["y_sd"] ** 2)
    assert_close(model.lambda2_[support], np.array(fit["lambda2"])[support])
    std = np.sqrt(np.array(fit["post_var"])) * fit["y_sd"] / np.array(fit["x_sd"])
    if not fit.get("PG"):
        assert_close(model.coef_std_[support], std[support])
        return
    last = model.estimators_[0]._fitted.result.moments  # of the last E-step, with the working weights
    assert_close(np.sqrt(last.variance[support]) / np.array(fit["x_sd"])[support], std[support])
    assert np.all(model.coef_std_[support] > 0.999 * std[support])  # the expected information is less


@pytest.mark.parametrize("case", CASES)
def test_plain_em_takes_as_many_iterations(case):
    X, y, fit = load(case)
    result = plain(X, y, fit)
    support = np.array(fit["coef"]) != 0
    if not (fit["model"] == "binomial" and fit["approx"]):  # there the reference has no exact iterations
        assert abs(result.n_iter - fit["num_iter"]) <= 1
    assert_close(result.moments.mean[support], np.array(fit["coef_std_unthresholded"])[support])
    assert_close(result.moments.variance[support], np.array(fit["post_var"])[support])
    if fit["model"] != "binomial":
        assert_close(result.moments.expected_rss, fit["E_RSS"])


def test_diabetes_mode():
    X, y = load_diabetes(return_X_y=True, scaled=False)
    coef = HorseshoeRegressor().fit(X, y).coef_
    np.testing.assert_allclose(
        coef, [0, -17.5527, 5.7411, 1.0210, 0, 0, -0.9094, 0, 43.5625, 0], rtol=0, atol=5e-5
    )
    assert np.count_nonzero(coef) == 5
