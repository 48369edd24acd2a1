"""The posterior mode of a sparse Cox model, with what scikit-survival's tools ask for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from horseshoe._checks import check_choice, check_level
from horseshoe._types import FilePath, Matrix, MatrixLike, PerRow, VectorLike
from horseshoe.data.dense import Dense
from horseshoe.data.offsets import check_known
from horseshoe.data.validation import check_x
from horseshoe.estimators.base import check_new, read_header
from horseshoe.estimators.convergence import warn_unfinished
from horseshoe.estimators.event_times import refuse_no_events
from horseshoe.estimators.mode import Mode
from horseshoe.estimators.survival_curves import SurvivalModel
from horseshoe.families.cox import Cox
from horseshoe.posterior.predictive import predictive_interval
from horseshoe.report.statistics import FitStatistics
from horseshoe.store.checkpoint import open_checkpoint
from horseshoe.threads import one_thread

EXPECTATIONS = ("exact", "approximate")


@dataclass(eq=False, repr=False, kw_only=True)
class HorseshoeSurvival(Mode, SurvivalModel):
    """Sparse proportional hazards: the posterior mode of Cox's partial likelihood under a shrinkage prior.

    Few coefficients, logarithms of hazard ratios, are not zero; those are hardly shrunk, and come with
    standard deviations. Nothing is tuned by cross-validation. Times may be censored on the right and
    truncated on the left (``entry``), strata have a baseline hazard each, and only the order of the times
    matters.

    Parameters
    ----------
    prior : str or LocalPrior, default="horseshoe"
    lambda_power : float, default=2.0
    tau : "estimate", float or GlobalPrior, default="estimate"
    tau_max : float, default=1.0
    slab : float, optional
        As in `HorseshoeRegressor`; the prior acts on log hazard ratios of one standard deviation.
    ties : {"efron", "breslow"}, default="efron"
        What becomes of events at the same time: each leaves the risk set before the next, on average over
        their orders (Efron), or all stay in it (Breslow). Without ties both are the same.
    expectation : {"exact", "approximate"}, default="exact"
        As in `HorseshoeRegressor`.
    standardize : bool, default=True
        Whether the prior acts on columns of unit variance.
    weight_type : {"count", "precision"}, default="count"
        What ``sample_weight`` means. "count": numbers of rows, so that with Efron's ties an event of weight
        2 is a tie of two. "precision": only which rows tell more than others, scaled to a mean of 1; an event
        is one event whatever its weight, as in R and lifelines. With Breslow's ties both have the same mode.
    tol : float, default=1e-5
    max_iter : int, default=10_000
        As in `HorseshoeRegressor`.
    zero_threshold : "auto" or float, default="auto"
        Coefficients below it on the standardised scale are set to exactly zero; "auto" is 1/(5 sqrt d) with
        d events, which is a fifth of a standard error.
    start : str or a fitted HorseshoeSurvival, default="auto"
        Where EM starts: "marginal" ("auto") at what each column explains alone; "paper" at a ridge with
        precision 1; "linear" at the mode of a Gaussian fit to the likelihood near no effect at all; or at
        an earlier fit.
    warm_start : bool, default=False
    callback : callable, optional
    random_state : int, numpy.random.Generator or RandomState, optional
    feature_groups : sequence of labels, or dict of lists of columns, optional
    unpenalized : list of columns, optional
    prior_scale : array-like of shape (n_features,) or dict of numbers by column, optional
        As in `HorseshoeRegressor`.

    Attributes
    ----------
    coef_, coef_std_ : arrays of shape (n_features,)
        The posterior mode, logarithms of hazard ratios for one unit of each column, and the standard
        deviations, from the exact information at the mode; exact zeros.
    unique_times_ : array of shape (n_times,)
        The times of `predict_survival_function` with ``return_array=True``: all that were seen.
    n_events_ : float
        The number of events, each with its weight: the n of this model.
    strata_ : array
        The labels of the strata; only if there are any.
    lambda2_, tau2_, support_, aliases_, scale_, kappa_, expected_by_chance_, n_iter_, status_, \
tau_at_bound_, trace_, n_features_in_, feature_names_in_
        As in `HorseshoeRegressor`; ``intercept_`` is 0 and ``sigma2_`` 1.

    Examples
    --------
    >>> import numpy as np
    >>> from horseshoe import HorseshoeSurvival
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((200, 50))
    >>> time, censored = rng.exponential(np.exp(-X[:, 3])), rng.exponential(2.0, 200)
    >>> y = np.column_stack([np.minimum(time, censored), time <= censored])
    >>> model = HorseshoeSurvival().fit(X, y)
    >>> np.flatnonzero(model.support_), model.coef_[3].round(1)
    (array([3]), np.float64(1.2))
    """

    sigma2 = "estimate"

    def fit(
        self,
        X: MatrixLike,
        y: VectorLike,
        sample_weight: PerRow = None,
        offset: PerRow = None,
        entry: PerRow = None,
        strata: PerRow = None,
        checkpoint: FilePath | None = None,
    ) -> HorseshoeSurvival:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            NumPy, pandas, polars or scipy.sparse; never modified.
        y : structured array of shape (n,), or array-like or data frame of shape (n, 2)
            A field of bool, whether the event was seen, and one of times, as scikit-survival has it; or two
            columns: time, then event (True or 1 if it was seen, False or 0 if the row is censored). One
            column of times alone says that every row has its event.
        sample_weight : array-like of shape (n,), optional
            Weight 2 counts a row twice; weight 0 leaves it out; see ``weight_type``.
        offset : float or array-like of shape (n,), optional
            A known part of the linear predictor: the logarithm of a known hazard ratio.
        entry : array-like of shape (n,), optional
            From when on each row is at risk (left truncation): at times t with entry < t <= time.
        strata : array-like of shape (n,), optional
            Labels: each stratum has its own baseline hazard, and rows are compared within it only.
        checkpoint : str or path-like, optional
            A file that the state of the fit is kept in, every few seconds. A fit that was broken off goes on
            from there to the same answer, bit for bit: call this again with the same data, the same options
            and the same file (docs/scale.md).

        Returns
        -------
        HorseshoeSurvival
            Itself.

        Warns
        -----
        ConvergenceWarning
            If ``max_iter`` was reached.
        """
        with one_thread(), open_checkpoint(checkpoint) as section:
            columns = check_x(X)
            data = self._check_data(columns, y, sample_weight, offset, entry, strata)
            refuse_no_events(data.seen, data.strata)
            check_choice("expectation", self.expectation, EXPECTATIONS)
            header, spec = read_header(X, columns), self._spec(data.family, columns)
            (start,) = self._starts(header.n_columns, 1)
            found = self._find_mode(spec, data.rows, start, section)
            bare = Cox(self.ties)  # which knows no times
            fitted = replace(found, family=bare, result=replace(found.result, family=bare))
            self._keep_fit(header, fitted, self._own_training(header, spec, data.rows, fitted))
            self._keep_hazard(data, fitted.linear_predictor(data.rows.columns) + data.rows.offset)
        warn_unfinished(self.status_)
        return self

    @property
    def _likelihood(self) -> Any:
        return self._training.spec.family

    def _statistics(self) -> FitStatistics:
        found = super()._statistics()
        return replace(found, n_events=self.n_events_, concordance=self._baseline.concordance)

    def predict(self, X: MatrixLike, return_std: bool = False, offset: PerRow = None) -> Any:
        """Predict the risk: the linear predictor X b + offset, the logarithm of a hazard ratio.

        Parameters
        ----------
        X : array-like of shape (m, p)
            New rows.
        return_std : bool, default=False
            Whether to return the standard deviation of its distance from that of the average row too.
        offset : float or array-like of shape (m,), optional
            As in `fit`.

        Returns
        -------
        array of shape (m,), or a pair of them
        """
        matrix = check_new(self, X)
        eta = self._eta(matrix, offset)
        return (eta, np.sqrt(self._fitted.predictor_variance(matrix))) if return_std else eta

    def predict_interval(
        self, X: MatrixLike, level: float = 0.95, offset: PerRow = None, method: str = "auto", **options: Any
    ) -> Matrix:
        """Return the interval of the risk of each row, compared with that of the average row.

        Parameters
        ----------
        X, offset
            As in `predict`.
        level : float, default=0.95
            The coverage.
        method : {"auto", "mode", "posterior"}, default="auto"
            "mode": given the selection, and Gaussian at the mode. "posterior": from draws of the whole
            posterior. "auto" is the latter, since intervals at the mode are too narrow (docs/families.md).
        **options
            Of `sample_posterior`, where draws are taken.

        Returns
        -------
        array of shape (m, 2)
        """
        level, matrix = check_level(level), check_new(self, X)
        if not self._by_posterior(method, options):
            eta, spread = self._eta(matrix, offset), np.sqrt(self._fitted.predictor_variance(matrix))
            return predictive_interval(self.family_, eta, spread, self.sigma2_, level)
        center = self._fitted.center
        known = check_known(offset, None, matrix.shape[0], self.family_) + float(center @ self.coef_)
        away = Dense(matrix.dense() - center)
        return self._interval_draws(options).predict_interval(away, level, offset=known)
