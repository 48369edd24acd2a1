"""How often intervals of an unpenalised covariate cover its effect, beside the mode and statsmodels.

``python -m benchmarks.unpenalised`` draws 200 rows of ten independent variables, of which one is unpenalised
and two others have an effect, with noise of three sizes, and prints for each family the coverage of 95 %
intervals with its standard error, and their mean length over that of statsmodels, which is told which
variables have an effect. A hazard model has strata, and a covariate that is far from zero. The mode has fewer
data sets: some of its intervals come from draws, which take seconds.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from io import StringIO
from typing import Any, NamedTuple

import numpy as np
import statsmodels.api as sm
from sksurv.util import Surv
from statsmodels.duration.hazard_regression import PHReg
from statsmodels.miscmodels.tmodel import TLinearModel

from horseshoe import AdaptiveRegressor, AdaptiveSurvival, HorseshoeRegressor, HorseshoeSurvival
from horseshoe.families import Quantile, Tweedie

FIRST = 7000
"""The seed of the first data set."""
N, P, LEVEL, STRATA = 200, 10, 0.95, 4
EFFECTS = np.array([0.5, -0.6, 0.4])
NOISES = (0.3, 1.0, 2.0)
NORMAL = 1.959963984540054
WAYS = ("average", "mode", "statsmodels")


class Data(NamedTuple):
    """Variables, a response, and the strata of a hazard model."""

    X: Any
    y: Any
    strata: Any


Draw = Callable[[np.random.Generator, Any, float], Any]
DRAWS: dict[str, Draw] = {
    "gaussian": lambda rng, eta, noise: eta + noise * rng.standard_normal(N),
    "student_t": lambda rng, eta, noise: eta + noise * rng.standard_t(4.0, N),
    "laplace": lambda rng, eta, noise: eta + noise * rng.laplace(size=N),
    "quantile": lambda rng, eta, noise: eta + noise * rng.laplace(size=N),
    "huber": lambda rng, eta, noise: eta + noise * rng.standard_t(5.0, N),
    "gamma": lambda rng, eta, noise: np.maximum(
        np.exp(eta) * rng.gamma(noise**-2, noise**2, N), np.finfo(float).tiny
    ),
    "tweedie": lambda rng, eta, noise: Tweedie(power=1.5, unit=1.0).simulate(eta, noise**2, rng),
    "survival": lambda rng, eta, noise: eta,
}
GIVEN = {"quantile": Quantile(level=0.6), "tweedie": Tweedie(power=1.5)}


def draw(family: str, noise: float, seed: int) -> Data:
    """Return one data set; the noise of hazards is how far apart their strata are."""
    rng = np.random.default_rng([seed, round(100 * noise), list(DRAWS).index(family)])
    X = rng.standard_normal((N, P))
    eta, strata = X[:, :3] @ EFFECTS, rng.integers(0, STRATA, N)
    if family != "survival":
        return Data(X, DRAWS[family](rng, eta, noise), None)
    life = rng.exponential(np.exp(noise * strata - eta))
    followed = rng.exponential(2.0 * np.exp(noise * strata))
    X[:, 0] += 60.0 + noise * strata
    return Data(X, Surv.from_arrays(life <= followed, np.minimum(life, followed)), strata)


def ours(family: str, data: Data, average: bool) -> tuple[float, float]:
    """Return the interval of the unpenalised covariate."""
    options: dict[str, Any] = {"cv": 5} if average else {}
    if family == "survival":
        survival: Any = AdaptiveSurvival if average else HorseshoeSurvival
        model = survival(unpenalized=[0], **options).fit(data.X, data.y, strata=data.strata)
    else:
        regressor: Any = AdaptiveRegressor if average else HorseshoeRegressor
        model = regressor(GIVEN.get(family, family), unpenalized=[0], **options).fit(data.X, data.y)
    low, high = model.coef_interval(LEVEL)[0]
    return float(low), float(high)


def theirs(family: str, data: Data) -> tuple[float, float]:
    """Return the interval of statsmodels, with the three variables that have an effect."""
    X = data.X[:, :3]
    if family == "survival":
        found = PHReg(data.y["time"], X, status=data.y["event"], strata=data.strata, ties="efron").fit()
        return _around(found.params[0], found.bse[0])
    X = sm.add_constant(X)
    if family in ("laplace", "quantile"):
        found = sm.QuantReg(data.y, X).fit(q=0.6 if family == "quantile" else 0.5)
    elif family == "student_t":
        found = TLinearModel(data.y, X).fit(disp=False)
    elif family == "huber":
        found = sm.RLM(data.y, X, M=sm.robust.norms.HuberT()).fit()
    elif family == "gaussian":
        found = sm.OLS(data.y, X).fit()
    else:
        log = sm.families.links.Log()
        given = sm.families.Gamma(log) if family == "gamma" else sm.families.Tweedie(log, var_power=1.5)
        found = sm.GLM(data.y, X, family=given).fit()
    return _around(found.params[1], found.bse[1])


def _around(middle: float, error: float) -> tuple[float, float]:
    return float(middle - NORMAL * error), float(middle + NORMAL * error)


def intervals(family: str, noise: float, seed: int, mode: bool = True) -> Any:
    """Return the intervals of `WAYS` for one data set, of shape (3, 2); that of the mode may be missing."""
    data, missing = draw(family, noise, seed), (np.nan, np.nan)
    with (
        warnings.catch_warnings(),
        redirect_stdout(StringIO()),
    ):  # of statsmodels: ours are tested not to warn
        warnings.simplefilter("ignore")
        single = ours(family, data, False) if mode else missing
        return np.array([ours(family, data, True), single, theirs(family, data)])


class Cell(NamedTuple):
    """How often each of `WAYS` covers, of how many data sets, and its length over that of statsmodels."""

    covered: Any
    tried: Any
    length: Any


def cell(family: str, noise: float, replicates: int, modes: int, first: int = FIRST) -> Cell:
    """Return a cell of the table; the first ``modes`` data sets have intervals of the mode."""
    found = np.array([intervals(family, noise, first + k, k < modes) for k in range(replicates)])
    covered = (found[..., 0] <= EFFECTS[0]) & (EFFECTS[0] <= found[..., 1])
    length, known = found[..., 1] - found[..., 0], np.isfinite(found[..., 0])
    relative = [np.nanmean(length[k, way] / length[k, 2]) for way, k in enumerate(known.T)]
    return Cell(covered.sum(axis=0), known.sum(axis=0), np.array(relative))


def main() -> None:
    """Run, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replicates", type=int, default=200)
    parser.add_argument("--modes", type=int, default=40)
    given = parser.parse_args()
    print("| family | noise | " + " | ".join(f"{way} | length" for way in WAYS[:2]) + " | statsmodels |")
    print("|---|---|---|---|---|---|---|")
    for family in DRAWS:
        for noise in NOISES:
            found = cell(family, noise, given.replicates, given.modes)
            shares = found.covered / found.tried
            errors = np.sqrt(shares * (1.0 - shares) / found.tried)
            said = [f"{share:.3f} ({error:.3f})" for share, error in zip(shares, errors, strict=True)]
            row = [said[0], f"{found.length[0]:.2f}", said[1], f"{found.length[1]:.2f}", said[2]]
            print(f"| {family} | {noise:g} | " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
