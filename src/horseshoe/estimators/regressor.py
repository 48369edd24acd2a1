"""The scikit-learn surface: validate, fit, and answer in the user's units."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from horseshoe._types import Callback
from horseshoe.estimators.chance import ChanceMixin
from horseshoe.estimators.described import Described
from horseshoe.estimators.ending import warn_unfinished
from horseshoe.estimators.fitting import FittingMixin
from horseshoe.estimators.intervals import IntervalMixin
from horseshoe.estimators.levels import LevelsMixin
from horseshoe.estimators.outputs import by_output, outputs_of
from horseshoe.estimators.saving import Saved
from horseshoe.estimators.scored import Scored
from horseshoe.estimators.selector import Selector, check_new
from horseshoe.families import Family
from horseshoe.model.final_status import expected_by_chance
from horseshoe.posterior.predictive import predictive_std
from horseshoe.priors import GlobalPrior, LocalPrior
from horseshoe.store.checkpoint import open_checkpoint
from horseshoe.threads import one_thread

if TYPE_CHECKING:
    from horseshoe.report.statistics import FitStatistics


class HorseshoeRegressor(
    FittingMixin, IntervalMixin, ChanceMixin, Saved, LevelsMixin, Scored, Selector, RegressorMixin, Described
):
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

    def __init__(
        self,
        family: str | Family = "gaussian",
        prior: str | LocalPrior = "horseshoe",
        lambda_power: float = 2.0,
        tau: str | float | GlobalPrior = "estimate",
        tau_max: float = 1.0,
        sigma2: str | float = "estimate",
        expectation: str = "exact",
        fit_intercept: bool = True,
        standardize: bool = True,
        weight_type: str = "count",
        tol: float = 1e-5,
        max_iter: int = 10_000,
        zero_threshold: str | float = "auto",
        start: Any = "auto",
        warm_start: bool = False,
        callback: Callback | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        slab: float | None = None,
        feature_groups: Any = None,
        unpenalized: Any = None,
        prior_scale: Any = None,
    ) -> None:
        self.family = family
        self.prior = prior
        self.lambda_power = lambda_power
        self.tau = tau
        self.tau_max = tau_max
        self.sigma2 = sigma2
        self.expectation = expectation
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.weight_type = weight_type
        self.tol = tol
        self.max_iter = max_iter
        self.zero_threshold = zero_threshold
        self.start = start
        self.warm_start = warm_start
        self.callback = callback
        self.random_state = random_state
        self.slab = slab
        self.feature_groups = feature_groups
        self.unpenalized = unpenalized
        self.prior_scale = prior_scale

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        offset: Any = None,
        exposure: Any = None,
        checkpoint: Any = None,
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
            self._fit(X, y, sample_weight, offset, exposure, section)
        warn_unfinished(self.status_)
        return self

    @by_output(axis=1)
    def predict(self, X: Any, return_std: bool = False, offset: Any = None, exposure: Any = None) -> Any:
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

    def summary(
        self,
        level: float = 0.95,
        exponentiate: bool = False,
        method: str = "auto",
        by: str = "column",
        style: str = "frame",
    ) -> Any:
        """Return a data frame: feature, coef, std, lower, upper, per_sd, shrinkage, selected.

        The first row is the intercept, which is never "selected". ``per_sd`` is the effect of one standard
        deviation of the column. Where it was known, there is the ``group`` of each column too, and whether
        it is unpenalised. Needs pandas, which the extra ``horseshoe[pandas]`` installs.

        Parameters
        ----------
        level : float, default=0.95
            The coverage of the interval.
        exponentiate : bool, default=False
            Whether to add ``odds_ratio`` or ``rate_ratio``, the exponential of ``coef``, and to give
            ``lower``, ``upper`` and ``per_sd`` as ratios too; for log odds and logarithms of means.
        method : {"auto", "mode", "posterior"}, default="auto"
            Of the interval, as in `coef_interval`.
        by : {"column", "group"}, default="column"
            "group" returns a row for each group instead: group, size, norm (the root of the sum of squares of
            ``per_sd``) and selected.
        style : {"frame", "text", "markdown", "latex", "html"}, default="frame"
            A data frame, for which pandas is needed, or a text with the numbers of the fit below.

        Returns
        -------
        pandas.DataFrame or str
        """
        from horseshoe.report.summaries import summarize

        check_is_fitted(self)
        return summarize(self, style, level, exponentiate, by, method=method)

    @property
    def expected_by_chance_(self) -> Any:
        """How many columns would be selected if none had an effect."""
        for part in outputs_of(self):
            if part._fitted.hyper is not None:  # they share their columns; a constant one has no say
                return part.expected_by_chance_
        if "coef_" not in self.__dict__:
            raise AttributeError("expected_by_chance_ is there after fit")
        return 0.0 if outputs_of(self) else expected_by_chance(self._fitted)

    def _statistics(self) -> FitStatistics:
        from horseshoe.report.statistics import FitStatistics, all_outputs

        if outputs_of(self):
            found = [part.statistics() for part in outputs_of(self)]
            return all_outputs(found, int(self.support_.sum()))
        kept = self._keep()
        return FitStatistics(
            n=0 if kept is None else kept.n,
            p=self.n_features_in_,
            n_selected=int(self.support_.sum()),
            family=type(self.family_).__name__,
            has_noise=self.family_.squared_error,
            deviance=None if kept is None else kept.deviance,
            status=self.status_,
            noise_sd=float(np.sqrt(self.sigma2_)) if self.family_.is_location else None,
            n_iter=self.n_iter_,
            expected_by_chance=self.expected_by_chance_,
            n_events=getattr(self, "n_events_", None),
            concordance=getattr(self.__dict__.get("_baseline"), "concordance", None),
        )
