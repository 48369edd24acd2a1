"""The posterior mode of a sparse regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from horseshoe._checks import check_level
from horseshoe._types import FilePath, Matrix, MatrixLike, PerRow, VectorLike
from horseshoe.data.compressed import condensed
from horseshoe.data.rows import Rows
from horseshoe.estimators.base import Header, by_part, check_new, read_header
from horseshoe.estimators.checked_data import RegressionData, check_regression
from horseshoe.estimators.convergence import warn_unfinished
from horseshoe.estimators.mode import Mode, normal_interval
from horseshoe.estimators.partial_fit import FoldSums
from horseshoe.estimators.regression import Regression
from horseshoe.families import Ordered, resolve_family
from horseshoe.model.fit import fit_several
from horseshoe.model.spec import ModelSpec
from horseshoe.posterior.predictive import predictive_interval, predictive_std
from horseshoe.store.checkpoint import CheckpointSection, open_checkpoint
from horseshoe.threads import one_thread


@dataclass(eq=False, repr=False, kw_only=True)
class HorseshoeRegressor(Mode, Regression):
    """Sparse regression: the posterior mode under a global-local shrinkage prior, by EM.

    Few coefficients are not zero; those are hardly shrunk, and come with standard deviations. Nothing is
    tuned by cross-validation. It selects columns too: `transform` keeps those whose coefficient is not zero.

    Parameters
    ----------
    family : str or Family, default="gaussian"
        The distribution of y: "gaussian"; "poisson" or "negative_binomial" (counts, log link);
        "gamma" (positive amounts) or "tweedie" (amounts and zeros), both with a log link; "student_t",
        "laplace" or "huber" (heavy-tailed noise, so that outliers count little); "quantile" (the median, or
        with ``Quantile(level=0.9)`` another quantile); "binomial" (0 and 1, or shares of trials; labels are
        for `HorseshoeClassifier`); "ordinal" (ordered levels: numbers, an ordered categorical of pandas, or
        labels whose order ``Ordinal(levels=[...])`` says); or an object of `horseshoe.families`, where sizes,
        degrees of freedom, powers, levels and thresholds can be chosen.
    prior : str or LocalPrior, default="horseshoe"
        The prior of the local scales: "horseshoe", "strawderman_berger", "horseshoe_like", "lasso",
        "normal_gamma", "student_t", "ridge", or an object of `horseshoe.priors`.
    lambda_power : float, default=2.0
        In (0, 2]: the mode is that of the density of lambda**lambda_power. 2 is the paper; lower values
        are less sparse, and 1 or less is slow.
    tau : "estimate", float or GlobalPrior, default="estimate"
        The global scale: a number fixes it. With a horseshoe in lambda power 2 the estimate always stands
        at its upper bound ``tau_max`` (see `tau_at_bound_`), so it is a dial rather than an estimate.
    tau_max : float, default=1.0
        Upper bound of tau when it is estimated.
    slab : float, optional
        Holds large coefficients: a precision of 1 / slab^2 is added to the prior's, on the scale on which it
        acts and in units of the noise (of log odds, for classes). None: the horseshoe's own heavy tail.
    sigma2 : "estimate", "exact" or float, default="estimate"
        The noise variance: E[RSS]/n as in the paper; a number if it is known, in the units of y squared;
        or "exact", the conditional minimiser, which inflates the noise and warns. Families without a
        noise variance take no number.
    expectation : {"exact", "approximate", "stochastic", "conjugate_gradient"}, default="exact"
        How E[b^2] is found: exactly; by nine exact iterations and then diagonal variances, Eqs. (11)-(12);
        by averages of seeded draws; or, where rows and columns are both too many to factorise anything, by
        conjugate gradients and seeded random signs while more than 3,000 columns are left (docs/scale.md).
    fit_intercept : bool, default=True
        Whether to centre X and y; the intercept is not penalised. Of ordered levels always.
    standardize : bool, default=True
        Whether the prior acts on columns of unit variance.
    weight_type : {"count", "precision"}, default="count"
        What ``sample_weight`` means: numbers of rows; or only which rows tell more than others, so that the
        weights are scaled to a mean of 1 over the rows whose weight is positive.
    tol : float, default=1e-5
        Stop when sum |change of coef| / (1 + sum |coef|) is below this, on the standardised scale (whatever
        ``standardize`` is).
    max_iter : int, default=10_000
        The most iterations.
    zero_threshold : "auto" or float, default="auto"
        Coefficients below it on the standardised scale are set to exactly zero; "auto" is 1/(5 sqrt n),
        0 keeps everything. Priors that never select (ridge, student_t) keep everything by default.
    start : str or a fitted HorseshoeRegressor, default="auto"
        Where EM starts, which decides the mode it finds: at an earlier fit, or by name. Gaussian data:
        "paper" ("auto") as in Algorithm 1, "variance" at sigma2 = var(y). "student_t" and "laplace": at
        marginal fits around the median, whatever the name. Counts and classes: "paper" at a ridge with
        precision 1, which finds nothing where columns are very many; "linear" ("auto" for classes) at the
        mode of a Gaussian fit to the working response; "marginal" ("auto" for counts) at what each column
        explains alone.
    warm_start : bool, default=False
        Whether ``fit`` starts at this estimator's own last fit.
    callback : callable, optional
        Called with each `Iteration`, a `Step` that also has its ``number``, the ``passes`` over data in
        parts, ``seconds``, and a guess of ``seconds_left`` or None; returning False stops the fit.
    random_state : int, numpy.random.Generator or RandomState, optional
        Seed of the draws when ``expectation`` is "stochastic", and of the signs when it is
        "conjugate_gradient".
    feature_groups : sequence of labels, or dict of lists of columns, optional
        Columns that belong together, such as those of one factor: each group has one local scale, and is in
        or out as a whole. A label for each column, or the columns of each group by name or number; None: each
        column is its own.
    unpenalized : list of columns, optional
        Names or numbers of columns that are never shrunk and never zero: they are projected out, as the
        intercept is.
    prior_scale : array-like of shape (n_features,) or dict of numbers by column, optional
        Positive numbers that multiply the prior standard deviations: above 1 where an effect is likely, below
        where it is not. 1 where nothing is said.

    Attributes
    ----------
    coef_, coef_std_ : arrays of shape (n_features,)
        The posterior mode and the standard deviations, in the user's units; exact zeros. Of several responses
        of shape (n_outputs, n_features), as ``kappa_``, and a column is zero in all of them or in none.
        With ``expectation="conjugate_gradient"`` and more than 3,000 columns, or more than rows, left at the
        end, the variances are estimates: ``trace_[-1].error`` is then not None but their error, root mean
        square and in units of the prior variances.
    intercept_ : float
        Of several responses an array, as ``sigma2_``.
    sigma2_ : float
        The noise variance, in the units of y squared; the squared scale for "student_t" and "laplace",
        1 for families that have none.
    family_ : Family
        The family, with what it estimates (``family_.size_``, ``family_.df_``) filled in.
    levels_, thresholds_, thresholds_std_ : arrays
        Of ordered levels: the levels, and the thresholds between them in the place of the intercept.
    lambda2_ : array of shape (n_features,)
    tau2_ : float
        The scales, on the standardised scale on which the prior acts.
    support_ : bool array of shape (n_features,)
        Which coefficients are not zero.
    expected_by_chance_ : float
        How many columns would be selected if none had an effect, at this n, p and tau; for columns that are
        orthogonal, and for those that are not a guide.
    aliases_ : dict
        Which column stands for which tied ones, by name or number: columns that are the same up to their unit
        and sign, where the prior selects. The first has the effect, the others are exactly zero.
    scale_ : array of shape (n_features,)
        The standard deviations of the columns; zero where a column is constant.
    kappa_ : array of shape (n_features,)
        kappa = 1 / (1 + n w tau2 lambda2), w the mean of the working weights (1 for Gaussian data):
        near 0 where the data speak, 1 where the prior does.
    n_iter_ : int
    status_ : Status
        How the fit ended, and what to try next.
    tau_at_bound_ : bool
    trace_ : tuple of Iteration
    estimators_ : list of HorseshoeRegressor
        Only of several responses: each of them, as a regression.
    outputs_ : array of str
        Only of several responses: the names of the columns of y, or y0, y1, ...
    n_features_in_ : int
    feature_names_in_ : array of str
        Only when X has column names.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from horseshoe import HorseshoeRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> model = HorseshoeRegressor().fit(X, y)
    >>> dict(zip(X.columns[model.support_], model.coef_[model.support_].round(2).tolist()))
    {'sex': -17.55, 'bmi': 5.74, 'bp': 1.02, 's3': -0.91, 's5': 43.56}
    """

    sigma2: str | float = "estimate"
    fit_intercept: bool = True

    def fit(
        self,
        X: MatrixLike,
        y: VectorLike,
        sample_weight: PerRow = None,
        offset: PerRow = None,
        exposure: PerRow = None,
        checkpoint: FilePath | None = None,
    ) -> HorseshoeRegressor:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            NumPy, pandas, polars, scipy.sparse or Dask, a memory map, or what bed-reader opens; never
            modified. What is sparse stays sparse.
        y : array-like of shape (n,) or (n, n_outputs)
            The response; counts for "poisson" and "negative_binomial", amounts for "gamma" and "tweedie",
            levels for "ordinal". Several responses are for the Gaussian family: they share the local scales
            of the columns, so that a column is in all or in none, and have a noise variance each.
        sample_weight : array-like of shape (n,), optional
            Weight 2 counts a row twice; weight 0 leaves it out; see ``weight_type``.
        offset : float or array-like of shape (n,), optional
            A known part of the linear predictor, with coefficient 1.
        exposure : float or array-like of shape (n,), optional
            What the mean is proportional to, such as time or area, for families with a log link: its
            logarithm is added to the offset.
        checkpoint : str or path-like, optional
            A file that the state of the fit is kept in, every few seconds. A fit that was broken off goes on
            from there to the same answer, bit for bit: call this again with the same data, the same options
            and the same file (docs/scale.md).

        Returns
        -------
        HorseshoeRegressor
            Itself.

        Warns
        -----
        ConvergenceWarning
            If ``max_iter`` was reached.
        """
        with one_thread(), open_checkpoint(checkpoint) as section:
            # 1. Check the data and the parameters.
            columns, data = check_regression(
                X, y, self.family, self.weight_type, sample_weight, offset, exposure
            )
            header, spec = read_header(X, columns), self._spec(data.family, data.rows.columns)
            # 2. and 3. Find the mode of one response or of several, and keep it.
            if data.outputs:
                self._fit_outputs(header, spec, data, section)
            else:
                self._fit_rows(header, spec, data.rows, section)
        warn_unfinished(self.status_)
        return self

    def _fit_outputs(
        self, header: Header, spec: ModelSpec, data: RegressionData, checkpoint: CheckpointSection | None
    ) -> None:
        """Fit several responses, which share their scales."""
        refusal = (
            f"is for one response, but y has {len(data.outputs)} columns: use 'exact', which shares one "
            "factor among all of them, or 'approximate'"
        )
        parts = self._find_joint_modes(
            header, spec, data.each, data.outputs, fit_several, checkpoint, refusal
        )
        self._keep_parts(header, parts, outputs_=np.array(data.outputs, dtype=object))

    def _fit_rows(
        self, header: Header, spec: ModelSpec, rows: Rows, checkpoint: CheckpointSection | None = None
    ) -> None:
        """Fit one response."""
        (start,) = self._starts(header.n_columns, 1)
        fitted = self._find_mode(spec, rows, start, checkpoint)
        self._keep_fit(header, fitted, self._own_training(header, spec, rows, fitted))

    def _fit_sums(self, header: Header, sums: FoldSums) -> None:
        (products,) = sums.scaled(self.weight_type, header.names)
        rows = condensed(products, self.fit_intercept).rows
        rows.columns.names = header.names
        self._fit_rows(header, self._spec(resolve_family(self.family), rows.columns), rows)
        self._sums = sums
        warn_unfinished(self.status_)

    def _part(self) -> HorseshoeRegressor:
        return type(self)(**{**self.get_params(deep=False), "start": "auto", "warm_start": False})

    @by_part(axis=1)
    def predict(
        self, X: MatrixLike, return_std: bool = False, offset: PerRow = None, exposure: PerRow = None
    ) -> Any:
        """Predict the response: its mean, on the scale of y; of ordered levels the median level.

        Parameters
        ----------
        X : array-like of shape (m, p)
            New rows.
        return_std : bool, default=False
            Whether to return the standard deviation of the predictive distribution too: the noise and
            the uncertainty of the coefficients and of the intercept. It is infinite where there is none, as
            of t noise with at most 2 degrees of freedom, and where counts are known so badly that it is too
            large to be computed. Labels count as 0, 1, 2 and so on.
        offset, exposure : float or array-like of shape (m,), optional
            As in `fit`; a row without them has an offset of 0 and an exposure of 1.

        Returns
        -------
        array of shape (m,), or (m, n_outputs) for several responses; or a pair of them
        """
        matrix = check_new(self, X)
        eta = self._eta(matrix, offset, exposure)
        found = self.family_.named(self.family_.predicted(eta))
        if not return_std:
            return found
        spread = np.sqrt(self._fitted.predictor_variance(matrix))
        return found, predictive_std(self.family_, eta, spread, self.sigma2_)

    @by_part(axis=1)
    def predict_interval(
        self,
        X: MatrixLike,
        level: float = 0.95,
        offset: PerRow = None,
        method: str = "auto",
        exposure: PerRow = None,
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
        return np.asarray(normal_interval(family.thresholds_, family.thresholds_std_, level))
