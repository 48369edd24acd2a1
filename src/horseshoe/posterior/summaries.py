"""Summaries of the draws of the parameters: means, intervals, and whether the chains agree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from horseshoe._checks import check_choice, check_level
from horseshoe._extras import data_frame
from horseshoe._types import Matrix, Vector
from horseshoe.data.columns import extreme_units
from horseshoe.data.fitted import Fitted
from horseshoe.data.rows import Rows
from horseshoe.families import Family
from horseshoe.sampling import diagnostics

# Why there are no draws of a quantity.
INTERVALS = {"equal_tailed": diagnostics.equal_tailed, "highest_density": diagnostics.highest_density}
QUANTITIES = ("coef", "intercept", "tau2", "sigma2", "lambda2", "nuisance", "a", "b")
MISSING = {
    "lambda2": "ask for store_lambda2=True",
    "nuisance": "this family has none",
    "a": "the prior has a number for it, or none at all",
    "b": "the prior has a number for it, or none at all",
}


@dataclass(frozen=True)
class Summaries:
    """The draws of each parameter, and their summaries: see `horseshoe.Posterior`."""

    coef: Any
    intercept: Any
    tau2: Any
    sigma2: Any
    lambda2: Any
    nuisance: Any
    kappa: Vector
    acceptance: Vector
    family: Family
    feature_names: tuple[str, ...]
    mode: Fitted = field(repr=False)
    rows: Rows = field(repr=False)
    classes: Any = None
    has_names: bool = False
    a: Any = None
    b: Any = None

    def draws(self, of: str = "coef") -> Any:
        """Return the draws of one quantity.

        Parameters
        ----------
        of : {"coef", "intercept", "tau2", "sigma2", "lambda2", "nuisance", "a", "b"}, default="coef"
            Which.
        """
        found = getattr(self, check_choice("of", of, QUANTITIES))
        if found is None:
            raise ValueError(f"there are no draws of {of}: {MISSING[of]}")
        return found

    def mean(self, of: str = "coef") -> Any:
        """Return the posterior mean."""
        return self.draws(of).mean(axis=(0, 1))

    def median(self, of: str = "coef") -> Any:
        """Return the posterior median."""
        return np.median(self.draws(of), axis=(0, 1))

    def std(self, of: str = "coef") -> Any:
        """Return the posterior standard deviation."""
        draws, axes = self.draws(of), (0, 1)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            spread = draws.std(axis=axes)
            powers = extreme_units(spread, lambda: np.abs(draws).max(axis=axes))
        if powers is None:
            return spread
        return np.ldexp(np.ldexp(draws, -powers).std(axis=axes), powers)

    def interval(self, level: float = 0.95, kind: str = "equal_tailed", of: str = "coef") -> Matrix:
        """Return credible intervals, (lower, upper) in the last axis.

        Parameters
        ----------
        level : float, default=0.95
            The probability in the interval.
        kind : {"equal_tailed", "highest_density"}, default="equal_tailed"
            With the same probability on either side, or the shortest.
        of : str, default="coef"
            As in `draws`.
        """
        check_choice("kind", kind, tuple(INTERVALS))
        return INTERVALS[kind](self.draws(of), check_level(level))

    def rhat(self, of: str = "coef") -> Any:
        """Return the rank-normalised split R-hat: below 1.01 the chains agree."""
        return diagnostics.rhat(self.draws(of))

    def ess(self, kind: str = "bulk", of: str = "coef") -> Any:
        """Return the effective sample size, of the "bulk" or of the "tail"."""
        measure = {"bulk": diagnostics.ess_bulk, "tail": diagnostics.ess_tail}
        return measure[check_choice("kind", kind, tuple(measure))](self.draws(of))

    def mcse(self, of: str = "coef") -> Any:
        """Return the Monte Carlo standard error of the posterior mean."""
        return diagnostics.mcse_mean(self.draws(of))

    def sign_probability(self) -> Vector:
        """Return the posterior probability of the more probable sign of each coefficient."""
        positive = (self.coef > 0.0).mean(axis=(0, 1))
        negative = (self.coef < 0.0).mean(axis=(0, 1))
        return np.asarray(np.maximum(positive, negative))

    def summary(self, level: float = 0.95, kind: str = "equal_tailed") -> Any:
        """Return a data frame with one row for each column of X, the mode beside the posterior.

        Needs pandas, which the extra ``horseshoe[pandas]`` installs.

        Parameters
        ----------
        level : float, default=0.95
            The probability in the intervals.
        kind : {"equal_tailed", "highest_density"}, default="equal_tailed"
            Which intervals.

        Returns
        -------
        pandas.DataFrame
        """
        return data_frame([self.summary_columns(level, kind)])

    def summary_columns(self, level: float = 0.95, kind: str = "equal_tailed") -> dict[str, Any]:
        """Return the columns of `summary` by name."""
        lower, upper = self.interval(level, kind).T
        return {
            "feature": np.array(self.feature_names, dtype=object),
            "mode": self.mode.coef,
            "mean": self.mean(),
            "median": self.median(),
            "std": self.std(),
            "lower": lower,
            "upper": upper,
            "sign_probability": self.sign_probability(),
            "shrinkage": self.kappa,
            "mcse": self.mcse(),
            "ess_bulk": self.ess("bulk"),
            "ess_tail": self.ess("tail"),
            "rhat": self.rhat(),
        }
