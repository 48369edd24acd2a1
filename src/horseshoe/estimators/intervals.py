"""How sure a fit is: intervals at the mode or from draws of the posterior, and the draws themselves."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from horseshoe._checks import check_choice, check_level
from horseshoe._types import Matrix, Status, Vector
from horseshoe.data.fitted import Fitted
from horseshoe.data.rows import Rows
from horseshoe.data.view import View
from horseshoe.estimators.outputs import Joint, by_output, outputs_of
from horseshoe.estimators.selector import check_new
from horseshoe.families import Family, Ordered
from horseshoe.families.deviance import Deviance, deviance
from horseshoe.model.spec import ModelSpec
from horseshoe.posterior.predictive import half_width, predictive_interval

if TYPE_CHECKING:
    from horseshoe.posterior.draws import Posterior

ROUGH_RHAT = 1.05
"""Above it the ends of intervals are not to be trusted."""


@dataclass(frozen=True, eq=False)
class Training:
    """What a model was fitted to, for those who ask for the whole posterior."""

    rows: Rows
    spec: ModelSpec
    joint: Joint | None = None
    place: int = 0
    """Of regressions that share their scales: all of them, and which of them this is."""


class Kept(NamedTuple):
    """What copies keep of the training data: how many rows count, and what the fit leaves of them."""

    n: int
    deviance: Deviance


class IntervalMixin:
    """What a regressor says of its own certainty, by the mode or by the whole posterior.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> x = np.arange(20.0)
    >>> model = HorseshoeRegressor().fit(x[:, None], 3.0 * x + np.cos(x))
    >>> model.coef_interval().round(1)
    array([[2.9, 3.1]])
    """

    coef_: Vector
    coef_std_: Vector
    family_: Family
    sigma2_: float
    status_: Status
    random_state: Any
    intercept_: float
    _fitted: Fitted
    _training: Training

    if TYPE_CHECKING:

        def _eta(self, matrix: View, offset: Any, exposure: Any) -> Vector: ...

    @by_output(axis=1)
    def predict_interval(
        self,
        X: Any,
        level: float = 0.95,
        offset: Any = None,
        method: str = "auto",
        exposure: Any = None,
        **options: Any,
    ) -> Matrix:
        """Return the central interval of the predictive distribution, one row (lower, upper) for each of X.

        Parameters
        ----------
        X, offset, exposure
            As in `predict`.
        level : float, default=0.95
            The coverage.
        method : {"auto", "mode", "posterior"}, default="auto"
            "mode": given the selection, and Gaussian at the mode. "posterior": from draws of the whole
            posterior. "auto" is the latter for classes, survival, "ordinal", "negative_binomial", "laplace"
            and "quantile", whose intervals at the mode are too narrow (docs/families.md), if there is a
            sampler for the prior and the weights.
        **options
            Of `sample_posterior`, where draws are taken.

        Returns
        -------
        array of shape (m, 2), or (m, n_outputs, 2) for several responses
        """
        level = check_level(level)
        matrix = check_new(self, X)
        if self._by_posterior(method, options):
            draws = self._interval_draws(options)
            found = draws.predict_interval(matrix, level, offset=offset, exposure=exposure)
            return np.asarray(self.family_.named(found))
        eta = self._eta(matrix, offset, exposure)
        spread = np.sqrt(self._fitted.predictor_variance(matrix))
        found = predictive_interval(self.family_, eta, spread, self.sigma2_, level)
        return np.asarray(self.family_.named(found))

    @by_output()
    def coef_interval(self, level: float = 0.95, method: str = "auto", **options: Any) -> Matrix:
        """Return the interval of each coefficient.

        Parameters
        ----------
        level : float, default=0.95
            The coverage.
        method : {"auto", "mode", "posterior"}, default="auto"
            "mode": Gaussian at the mode, where a zero is a zero. "posterior": from draws of the whole
            posterior, which also say how sure the zeros are. "auto": as in `predict_interval`.
        **options
            Of `sample_posterior`, where draws are taken.

        Returns
        -------
        array of shape (n_features, 2), or (n_outputs, n_features, 2) for several responses
        """
        check_is_fitted(self)
        level = check_level(level)
        if self._by_posterior(method, options):
            return self._interval_draws(options).interval(level)
        z = half_width(level)
        return np.column_stack([self.coef_ - z * self.coef_std_, self.coef_ + z * self.coef_std_])

    @by_output()
    def intercept_interval(self, level: float = 0.95, method: str = "auto", **options: Any) -> Vector:
        """Return the interval of the intercept: of the linear predictor where every column is zero.

        Parameters
        ----------
        level, method, **options
            As in `coef_interval`.

        Returns
        -------
        array of shape (2,), or (n_outputs, 2) for several responses
        """
        check_is_fitted(self)
        level = check_level(level)
        if self._by_posterior(method, options):
            return self._interval_draws(options).interval(level, of="intercept")
        reach = half_width(level) * self.intercept_std_
        return np.array([self.intercept_ - reach, self.intercept_ + reach])

    def thresholds_interval(self, level: float = 0.95, method: str = "auto", **options: Any) -> Matrix:
        """Return the interval of each threshold between ordered levels; for ``family="ordinal"``.

        Parameters
        ----------
        level, method, **options
            As in `coef_interval`.

        Returns
        -------
        array of shape (n_levels - 1, 2)
        """
        check_is_fitted(self)
        level = check_level(level)
        family = self.family_
        if not isinstance(family, Ordered):
            raise ValueError("thresholds are between ordered levels: they come with family='ordinal'")
        if self._by_posterior(method, options):
            return self._interval_draws(options).interval(level, of="nuisance")
        if family.continuous:
            raise ValueError(
                "no two rows of y are the same: thresholds have intervals with method='posterior'"
            )
        reach = half_width(level) * family.thresholds_std_
        return np.column_stack([family.thresholds_ - reach, family.thresholds_ + reach])

    @property
    @by_output()
    def intercept_std_(self) -> Any:
        """The standard deviation of the intercept, given the selection as those of the coefficients."""
        if "_fitted" not in self.__dict__:
            raise AttributeError("intercept_std_ is there after fit")
        return self._fitted.intercept_std

    def sample_posterior(self, **options: Any) -> Any:
        """Draw from the posterior of which this fit is the mode, with the same prior, for the same data.

        The data must not have been changed since `fit`. Asked again with the same options, it returns the
        same draws.

        Parameters
        ----------
        **options
            n_draws, n_warmup, n_chains, thin, store_lambda2, n_jobs, progress, checkpoint, max_memory and
            random_state (the estimator's own if left out), as in `horseshoe.sample_posterior`.

        Returns
        -------
        Posterior, or SeveralPosterior for several responses
        """
        from horseshoe.estimators.sample import sample_fitted

        check_is_fitted(self)
        parts = outputs_of(self)
        training = self.__dict__.get("_training") if not parts else parts[0].__dict__.get("_training")
        if training is not None and training.joint is not None:
            drawn = training.joint.draw(options)
            return drawn if parts else drawn[training.place]
        known = self.__dict__.get("_sampled")
        if known is None or known[0] != options:
            known = self._sampled = (options, sample_fitted(self, options))
        return known[1]

    def __getstate__(self) -> Any:
        """Leave the training data and the draws out of copies: they are large, and seldom needed."""
        state: Any = super().__getstate__()
        kept = {"_kept": self._keep()} if "_training" in state else {}
        return {name: state[name] for name in state if name not in ("_training", "_sampled")} | kept

    def _keep(self) -> Kept | None:
        """Return what is kept of the training data, computed when it is first asked for."""
        training, known = self.__dict__.get("_training"), self.__dict__.get("_kept")
        if training is None or (training.joint is not None and known is not None):
            return known
        rows = training.rows
        eta = self._fitted.linear_predictor(rows.columns) + rows.offset
        return Kept(rows.n_seen, deviance(self.family_, rows.y, eta, rows.counts, rows.offset))

    def _by_posterior(self, method: Any, options: dict[str, Any]) -> bool:
        """Tell whether draws are to be taken; options without them are a mistake."""
        choice = check_choice("method", method, ("auto", "mode", "posterior"))
        if choice == "auto":
            choice = self.family_.interval if self._has_sampler() else "mode"
        if choice == "mode" and options:
            raise TypeError(f"{', '.join(options)}: options of sample_posterior go with method='posterior'")
        return choice == "posterior"

    def _interval_draws(self, options: dict[str, Any]) -> Posterior:
        """Return draws that are the same whenever intervals are asked for, seed or none.

        The ends of intervals ask less of the chains than the last digit of a mean does.
        """
        seed = {} if self.random_state is not None else {"random_state": 0}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="R-hat is not below")
            draws: Posterior = self.sample_posterior(**{**seed, **options})
        worst = float(np.nanmax(draws.rhat(), initial=1.0))
        if worst > ROUGH_RHAT:
            warnings.warn(
                f"R-hat is {worst:.2f}: the chains behind these intervals do not agree yet; ask for more "
                "n_draws, or for method='mode'",
                stacklevel=3,
            )
        return draws

    def _has_sampler(self) -> bool:
        """Tell whether there is a posterior to draw from; of a copy without its data, that there would be."""
        from horseshoe.model.sample import can_sample  # imported here: most fits are never sampled from

        training = self.__dict__.get("_training")
        return training is None or can_sample(training.spec, training.rows, self.status_)
