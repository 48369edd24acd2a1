"""What a fitted survival model says of times: chances to have no event, and cumulative hazards."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from horseshoe._types import Vector
from horseshoe.data.view import View
from horseshoe.estimators.baseline import Baseline, StepFunction, hazards, on_grid
from horseshoe.estimators.lifetimes import check_strata
from horseshoe.estimators.selector import check_new


class Hazards:
    """Functions of time, for an estimator with a linear predictor and a baseline hazard.

    Examples
    --------
    >>> from horseshoe import HorseshoeSurvival
    >>> x = np.arange(20.0)
    >>> model = HorseshoeSurvival().fit(np.cos(x)[:, None], np.column_stack([x + 1.0, x % 3 > 0]))
    >>> model.predict_survival_function([[0.0]])[0]([0.0, 10.0]).round(2)
    array([1.  , 0.67])
    """

    unique_times_: Vector
    n_events_: float
    strata_: Any
    _baseline: Baseline

    if TYPE_CHECKING:

        def _eta(self, matrix: View, offset: Any, exposure: Any) -> Vector: ...

    def predict_survival_function(
        self, X: Any, return_array: bool = False, offset: Any = None, strata: Any = None
    ) -> Any:
        """Predict the chance to have no event up to each time: exp(-cumulative hazard).

        Parameters
        ----------
        X : array-like of shape (m, p)
            New rows.
        return_array : bool, default=False
            Whether to return the values at ``unique_times_`` rather than functions.
        offset : float or array-like of shape (m,), optional
            As in `fit`.
        strata : array-like of shape (m,), optional
            The stratum of each row; needed if the model was fitted with strata.

        Returns
        -------
        array of m step functions, which are called with times; or an array of shape (m, n_times)
        """
        found = self._hazards(X, offset, strata)
        for one in found:
            one.y, one.before = np.exp(-one.y), 1.0
        return self._as_asked(found, return_array)

    def predict_cumulative_hazard_function(
        self, X: Any, return_array: bool = False, offset: Any = None, strata: Any = None
    ) -> Any:
        """Predict the cumulative hazard: Breslow's estimate of the baseline, times exp(X b + offset).

        With Efron's ties the baseline has his correction, as in R; scikit-survival leaves it out.

        Parameters
        ----------
        X, return_array, offset, strata
            As in `predict_survival_function`.

        Returns
        -------
        array of m step functions, which are called with times; or an array of shape (m, n_times)
        """
        return self._as_asked(self._hazards(X, offset, strata), return_array)

    def _keep_baseline(self, found: Baseline, strata: Any) -> None:
        self._baseline = found
        self.unique_times_ = np.unique(found.times)
        self.n_events_ = found.n_events
        self.__dict__.pop("strata_", None)
        if strata is not None:
            self.strata_ = strata

    def _hazards(self, X: Any, offset: Any, strata: Any) -> list[StepFunction]:
        """Return the cumulative hazard of each row."""
        matrix = check_new(self, X)
        eta = self._eta(matrix, offset, None)
        known = self.__dict__.get("strata_")
        return hazards(self._baseline, eta, check_strata(strata, known, matrix.shape[0]))

    def _as_asked(self, found: list[StepFunction], return_array: bool) -> Any:
        if return_array:
            return on_grid(found, self.unique_times_)
        out = np.empty(len(found), dtype=object)
        out[:] = found
        return out
