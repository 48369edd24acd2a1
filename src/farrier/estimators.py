"""The scikit-learn surface: validate, standardise, solve, and back to the user's units."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from farrier import em
from farrier._design import Identity, Standardised, System, mean_square, standardise, weighted_mean
from farrier._types import (
    Callback,
    Covariance,
    FitResult,
    Iteration,
    Mask,
    Matrix,
    Moments,
    Scales,
    Status,
    Vector,
)
from farrier._validation import (
    check_choice,
    check_level,
    check_number,
    check_offset,
    check_weights,
    check_x,
    check_y,
)
from farrier.mstep import SIGMA2_FLOOR
from farrier.priors import GlobalPrior, LocalPrior, resolve_global, resolve_local

EXPECTATIONS = ("exact", "approximate", "stochastic")
STARTS = ("paper", "variance")
FAMILIES = ("gaussian",)


class HorseshoeRegressor(RegressorMixin, BaseEstimator):
    """Sparse linear regression: the posterior mode under a global-local shrinkage prior, by EM.

    Few coefficients are not zero; those are hardly shrunk, and come with standard deviations. Nothing is
    tuned by cross-validation.

    Parameters
    ----------
    family : {"gaussian"}, default="gaussian"
        The likelihood.
    prior : str or LocalPrior, default="horseshoe"
        The prior of the local scales: "horseshoe", "strawderman_berger", "lasso", "normal_gamma",
        "student_t", "ridge", or an object of `farrier.priors`.
    coordinate : float, default=2.0
        In (0, 2]: the mode is that of the density of lambda**coordinate. 2 is the paper; lower values
        are less sparse, and 1 or less is slow.
    tau : "estimate", float or GlobalPrior, default="estimate"
        The global scale: a number fixes it. With a horseshoe in coordinate 2 the estimate always stands
        at its upper bound ``tau_max`` (see `tau_at_bound_`), so it is a dial rather than an estimate.
    tau_max : float, default=1.0
        Upper bound of tau when it is estimated.
    sigma2 : "estimate", "exact" or float, default="estimate"
        The noise variance: E[RSS]/n as in the paper; a number if it is known, in the units of y squared;
        or "exact", the conditional minimiser, which inflates the noise and warns.
    expectation : {"exact", "approximate", "stochastic"}, default="exact"
        How E[b^2] is found: exactly; by nine exact iterations and then diagonal variances, Eqs. (11)-(12);
        or by averages of seeded draws.
    fit_intercept : bool, default=True
        Whether to centre X and y; the intercept is not penalised.
    standardize : bool, default=True
        Whether the prior acts on columns of unit variance.
    tol : float, default=1e-5
        Stop when sum |change of coef| / (1 + sum |coef|) is below this, on the standardised scale.
    max_iter : int, default=10_000
        The most iterations.
    zero_threshold : "auto" or float, default="auto"
        Coefficients below it on the standardised scale are set to exactly zero; "auto" is 1/(5 sqrt n),
        0 keeps everything. Priors that never select (ridge, student_t) keep everything by default.
    start : "paper", "variance" or a fitted HorseshoeRegressor, default="paper"
        Where EM starts, which decides the mode it finds: as in Algorithm 1, or with sigma2 = var(y), or
        at an earlier fit.
    warm_start : bool, default=False
        Whether ``fit`` starts at this estimator's own last fit.
    callback : callable, optional
        Called with each `Iteration`; returning False stops the fit.
    random_state : int or numpy.random.Generator, optional
        Seed of the draws when ``expectation="stochastic"``.

    Attributes
    ----------
    coef_, coef_std_ : arrays of shape (n_features,)
        The posterior mode and the standard deviations, in the user's units; exact zeros.
    intercept_ : float
    sigma2_ : float
        The noise variance, in the units of y squared.
    lambda2_ : array of shape (n_features,)
    tau2_ : float
        The scales, on the standardised scale on which the prior acts.
    support_ : bool array of shape (n_features,)
        Which coefficients are not zero.
    scale_ : array of shape (n_features,)
        The standard deviations of the columns; zero where a column is constant.
    shrinkage_ : array of shape (n_features,)
        kappa = 1 / (1 + n tau2 lambda2): near 0 where the data speak, 1 where the prior does.
    n_iter_ : int
    status_ : Status
        How the fit ended, and what to try next.
    tau_at_bound_ : bool
    trace_ : tuple of Iteration
    n_features_in_ : int
    feature_names_in_ : array of str
        Only when X has column names.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from farrier import HorseshoeRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> model = HorseshoeRegressor().fit(X, y)
    >>> dict(zip(X.columns[model.support_], model.coef_[model.support_].round(2).tolist()))
    {'sex': -17.55, 'bmi': 5.74, 'bp': 1.02, 's3': -0.91, 's5': 43.56}
    """

    coef_: Vector
    coef_std_: Vector
    intercept_: float
    sigma2_: float
    lambda2_: Vector
    tau2_: float
    support_: Mask
    scale_: Vector
    shrinkage_: Vector
    n_iter_: int
    status_: Status
    tau_at_bound_: bool
    trace_: tuple[Iteration, ...]
    n_features_in_: int

    def __init__(
        self,
        family: str = "gaussian",
        prior: str | LocalPrior = "horseshoe",
        coordinate: float = 2.0,
        tau: str | float | GlobalPrior = "estimate",
        tau_max: float = 1.0,
        sigma2: str | float = "estimate",
        expectation: str = "exact",
        fit_intercept: bool = True,
        standardize: bool = True,
        tol: float = 1e-5,
        max_iter: int = 10_000,
        zero_threshold: str | float = "auto",
        start: Any = "paper",
        warm_start: bool = False,
        callback: Callback | None = None,
        random_state: int | np.random.Generator | None = None,
    ) -> None:
        self.family = family
        self.prior = prior
        self.coordinate = coordinate
        self.tau = tau
        self.tau_max = tau_max
        self.sigma2 = sigma2
        self.expectation = expectation
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.tol = tol
        self.max_iter = max_iter
        self.zero_threshold = zero_threshold
        self.start = start
        self.warm_start = warm_start
        self.callback = callback
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> HorseshoeRegressor:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n, p)
            NumPy, pandas or polars; never modified.
        y : array-like of shape (n,)
            The response.
        sample_weight : array-like of shape (n,), optional
            Weight 2 counts a row twice; weight 0 leaves it out.
        offset : array-like of shape (n,), optional
            A known part of the linear predictor, with coefficient 1.

        Returns
        -------
        HorseshoeRegressor
            Itself.
        """
        check_choice("family", self.family, FAMILIES)
        prior, tau = resolve_local(self.prior), resolve_global(self.tau, self.tau_max)
        matrix = check_x(X)
        response = check_y(y, len(matrix)) - check_offset(offset, len(matrix))
        weights = check_weights(sample_weight, len(matrix))
        matrix, response, weights = _drop_weightless(matrix, response, weights)
        design = standardise(matrix, weights, center=self.fit_intercept, scale=self.standardize)
        y_mean, y_scale, targets = _standardise_response(response, weights, self.fit_intercept)
        options = self._options(y_scale)
        if y_scale == 0.0 or not design.columns.any():
            status = Status.CONSTANT_RESPONSE if y_scale == 0.0 else Status.NO_COLUMNS
            result = _empty_result(status, int(design.columns.sum()), 1.0, tau)
        else:
            system = design.system(targets)
            start = self._start(system, design, y_scale)
            result = em.solve(system, prior, tau, options, start)
        _remember_columns(self, X, matrix.shape[1])
        self._store(result, design, y_mean, y_scale)
        return self

    def predict(self, X: Any, return_std: bool = False, offset: Any = None) -> Any:
        """Predict the response.

        Parameters
        ----------
        X : array-like of shape (m, p)
            New rows.
        return_std : bool, default=False
            Whether to return the standard deviation of the predictive distribution too: the noise and
            the uncertainty of the coefficients and of the intercept.
        offset : array-like of shape (m,), optional
            Added to the prediction.

        Returns
        -------
        array of shape (m,), or a pair of them
        """
        matrix = self._check_new(X)
        support = self.support_
        mean = matrix[:, support] @ self.coef_[support] + self.intercept_
        mean += check_offset(offset, len(matrix))
        if not return_std:
            return mean
        variance = np.full(len(matrix), self.sigma2_ * (1.0 + self._intercept_variance))
        if self._covariance is not None:
            variance += self._covariance.quadratic(matrix[:, support] - self._x_mean[support])
        return mean, np.sqrt(np.maximum(variance, 0.0))

    def predict_interval(self, X: Any, level: float = 0.95) -> Matrix:
        """Return the central interval of the predictive distribution, one row (lower, upper) for each of X.

        Parameters
        ----------
        X : array-like of shape (m, p)
            New rows.
        level : float, default=0.95
            The coverage.

        Returns
        -------
        array of shape (m, 2)
        """
        z = float(ndtri(0.5 + check_level(level) / 2.0))
        mean, std = self.predict(X, return_std=True)
        return np.column_stack([mean - z * std, mean + z * std])

    def coef_interval(self, level: float = 0.95) -> Matrix:
        """Return the interval of each coefficient, Gaussian at the mode; a zero is a zero.

        Parameters
        ----------
        level : float, default=0.95
            The coverage.

        Returns
        -------
        array of shape (n_features, 2)
        """
        check_is_fitted(self)
        z = float(ndtri(0.5 + check_level(level) / 2.0))
        return np.column_stack([self.coef_ - z * self.coef_std_, self.coef_ + z * self.coef_std_])

    def summary(self, level: float = 0.95) -> Any:
        """Return a data frame: feature, coef, std, lower, upper, shrinkage, selected.

        Needs pandas, which the extra ``farrier[pandas]`` installs.

        Parameters
        ----------
        level : float, default=0.95
            The coverage of the interval.

        Returns
        -------
        pandas.DataFrame
        """
        from farrier.summary import coefficient_table

        return coefficient_table(self, level)

    def _check_new(self, X: Any) -> Matrix:
        check_is_fitted(self)
        matrix = check_x(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        return matrix

    def _options(self, y_scale: float) -> em.Options:
        sigma2: str | float = self.sigma2
        if isinstance(sigma2, str):
            check_choice("sigma2", sigma2, ("estimate", "exact"), " or a positive number")
        else:
            known = check_number("sigma2", sigma2, instead=", 'estimate' or 'exact'")
            sigma2 = max(known / (y_scale**2 or 1.0), SIGMA2_FLOOR)
        if sigma2 == "exact":
            warnings.warn(
                "sigma2='exact' inflates the noise variance in coordinate 2 and may select nothing: "
                "the default 'estimate' (E[RSS]/n) is what the paper uses",
                stacklevel=3,
            )
        threshold = None
        if self.zero_threshold != "auto":
            threshold = check_number(
                "zero_threshold", self.zero_threshold, low_allowed=True, instead=" or 'auto'"
            )
        if self.callback is not None and not callable(self.callback):
            raise TypeError(f"callback={self.callback!r} must be callable: it is given each Iteration")
        if not isinstance(self.max_iter, int | np.integer) or self.max_iter < 1:
            raise ValueError(f"max_iter={self.max_iter!r} must be a whole number of at least 1")
        return em.Options(
            coordinate=check_number("coordinate", self.coordinate, high=2.0),
            sigma2=sigma2,
            expectation=check_choice("expectation", self.expectation, EXPECTATIONS),
            tol=check_number("tol", self.tol, low_allowed=True),
            max_iter=int(self.max_iter),
            zero_threshold=threshold,
            callback=self.callback,
            random_state=self.random_state,
        )

    def _start(self, system: System, design: Standardised, y_scale: float) -> em.Start:
        earlier = self if self.warm_start and hasattr(self, "coef_") else self.start
        if isinstance(earlier, HorseshoeRegressor):
            check_is_fitted(earlier)
            if earlier.coef_.size != design.columns.size:
                raise ValueError(
                    f"start has {earlier.coef_.size} coefficients, but X has {design.columns.size} columns"
                )
            unit = design.scale / y_scale
            coef, std = earlier.coef_[design.columns] * unit, earlier.coef_std_[design.columns] * unit
            sigma2 = max(earlier.sigma2_ / y_scale**2, 1e-12)
            return em.earlier_start(system, coef, std**2, sigma2)
        check_choice("start", earlier, STARTS)
        return em.paper_start(system) if earlier == "paper" else em.variance_start(system)

    def _store(self, result: FitResult, design: Standardised, y_mean: float, y_scale: float) -> None:
        unit = y_scale / design.scale
        columns = design.columns

        def spread(values: Vector) -> Any:
            out = np.zeros(columns.size, dtype=values.dtype)
            out[columns] = values
            return out

        self.coef_ = spread(result.coef * unit)
        self.support_ = self.coef_ != 0.0
        self.coef_std_ = spread(np.where(result.support, np.sqrt(result.moments.variance) * unit, 0.0))
        self.lambda2_ = spread(result.scales.lambda2)
        self.tau2_ = result.scales.tau2
        self.sigma2_ = result.scales.sigma2 * y_scale**2
        self.shrinkage_ = 1.0 / (1.0 + design.size * self.tau2_ * self.lambda2_)
        self.scale_ = spread(design.spread)
        self._x_mean = spread(design.mean)
        self.intercept_ = float(y_mean - self._x_mean @ self.coef_) if self.fit_intercept else 0.0
        self._intercept_variance = 1.0 / design.size if self.fit_intercept else 0.0
        self._covariance: Covariance | None = None
        if result.covariance is not None:
            self._covariance = result.covariance.rescale(unit[result.support])
        self.n_iter_ = result.n_iter
        self.status_ = result.status
        self.tau_at_bound_ = result.tau_at_bound
        self.trace_ = result.trace


def normal_means(
    y: Any,
    sigma2: str | float = "estimate",
    prior: str | LocalPrior = "horseshoe",
    coordinate: float = 2.0,
    tau: str | float | GlobalPrior = "estimate",
    tau_max: float = 1.0,
    tol: float = 1e-5,
    max_iter: int = 10_000,
    zero_threshold: str | float = "auto",
) -> FitResult:
    """Estimate many means from one observation each: y_i ~ N(b_i, sigma2), appendix A of the paper.

    Parameters
    ----------
    y : array-like of shape (n,)
        The observations.
    sigma2 : "estimate" or float, default="estimate"
        Their variance, if known.
    prior, coordinate, tau, tau_max, tol, max_iter, zero_threshold
        As in `HorseshoeRegressor`; the unit of ``zero_threshold`` is the root mean square of y.

    Returns
    -------
    FitResult
        ``coef`` are the estimated means, in the units of y.

    Examples
    --------
    >>> import numpy as np
    >>> from farrier import normal_means
    >>> normal_means([0.3, -0.2, 8.0, 0.5, -0.1, 0.2], sigma2=1.0).coef.round(2)
    array([0.  , 0.  , 7.49, 0.  , 0.  , 0.  ])
    """
    options = HorseshoeRegressor(
        coordinate=coordinate, sigma2=sigma2, tol=tol, max_iter=max_iter, zero_threshold=zero_threshold
    )
    local, global_ = resolve_local(prior), resolve_global(tau, tau_max)
    vector = np.asarray(None if hasattr(y, "nnz") else y)
    if vector.ndim != 1 or vector.size == 0:
        raise ValueError(
            f"y must be a dense array of one dimension, at least one value long; got shape {vector.shape}"
        )
    vector = check_y(vector, vector.size)
    scale = float(np.sqrt(mean_square(vector[:, None], None)[0]))
    if scale == 0.0:
        return _empty_result(Status.CONSTANT_RESPONSE, vector.size, 1.0, global_)
    result = em.solve(Identity(vector / scale), local, global_, options._options(scale))
    return _rescale(result, scale)


def _rescale(result: FitResult, scale: float) -> FitResult:
    """Return a fit of z as a fit of ``scale * z``."""
    moments, covariance = result.moments, result.covariance
    if covariance is not None:
        covariance = covariance.rescale(np.full(covariance.diagonal.size, scale))
    return FitResult(
        coef=result.coef * scale,
        intercept=result.intercept * scale,
        scales=result.scales._replace(sigma2=result.scales.sigma2 * scale**2),
        moments=moments._replace(
            mean=moments.mean * scale,
            variance=moments.variance * scale**2,
            expected_rss=moments.expected_rss * scale**2,
        ),
        active=result.active,
        status=result.status,
        tau_at_bound=result.tau_at_bound,
        n_iter=result.n_iter,
        trace=result.trace,
        covariance=covariance,
    )


def _empty_result(status: Status, n_columns: int, sigma2: float, tau: GlobalPrior) -> FitResult:
    """Return the fit with no variables."""
    zero = np.zeros(n_columns)
    return FitResult(
        coef=zero,
        intercept=0.0,
        scales=Scales(zero, tau.bounds[1], sigma2),
        moments=Moments(zero, zero, sigma2, 0.0, 0.0),
        active=np.zeros(n_columns, dtype=np.bool_),
        status=status,
        tau_at_bound=False,
        n_iter=0,
        trace=(),
    )


def _remember_columns(model: HorseshoeRegressor, X: Any, n_columns: int) -> None:
    """Set n_features_in_, and feature_names_in_ if X has names."""
    if isinstance(X, np.ndarray):  # the common case, without the cost of looking for names
        model.__dict__.pop("feature_names_in_", None)
        model.n_features_in_ = n_columns
    else:
        validate_data(model, X, reset=True, skip_check_array=True)


def _drop_weightless(
    matrix: Matrix, response: Vector, weights: Vector | None
) -> tuple[Matrix, Vector, Vector | None]:
    if weights is not None and not weights.all():
        rows = weights > 0
        matrix, response, weights = matrix[rows], response[rows], weights[rows]
    if len(matrix) < 2:
        raise ValueError(
            f"Found {len(matrix)} sample (n_samples={len(matrix)}) with a positive weight, "
            "but at least two rows are needed to fit a regression"
        )
    return matrix, response, weights


def _standardise_response(
    response: Vector, weights: Vector | None, center: bool
) -> tuple[float, float, Vector]:
    """Return mean, scale and (y - mean)/scale; the scale is zero when y does not vary."""
    column = standardise(response[:, None], weights, center=center, scale=True)
    if not column.columns[0]:
        return float(weighted_mean(response, weights)) if center else 0.0, 0.0, np.zeros_like(response)
    return float(column.mean[0]), float(column.scale[0]), column.x[:, 0]
