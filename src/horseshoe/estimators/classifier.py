"""Classification: a binomial regression for two classes, one against the rest for more."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from horseshoe._checks import check_choice, check_level
from horseshoe._types import Callback, Iteration, Mask, Status, Vector
from horseshoe.data.rows import known_rows
from horseshoe.data.validation import check_weights, check_x
from horseshoe.data.view import View
from horseshoe.estimators.chance import ChanceMixin
from horseshoe.estimators.classes import Classes, encode_labels, labels_of, softmax_deviance
from horseshoe.estimators.described import Described
from horseshoe.estimators.ending import first_remark, remark_weights, warn_unfinished, weigh
from horseshoe.estimators.fitting import OF_ALL
from horseshoe.estimators.intervals import Kept, Training
from horseshoe.estimators.outputs import Joint, gather
from horseshoe.estimators.regressor import HorseshoeRegressor
from horseshoe.estimators.saving import Saved
from horseshoe.estimators.selector import Selector, hand_down_names, named_aliases, remember_columns
from horseshoe.estimators.settings import em_options
from horseshoe.families import Binomial, Family
from horseshoe.model.fit import Earlier, fit_several
from horseshoe.posterior.predictive import half_width
from horseshoe.priors import GlobalPrior, LocalPrior
from horseshoe.store.checkpoint import CheckpointSection, open_checkpoint
from horseshoe.threads import one_thread

if TYPE_CHECKING:
    pass


class HorseshoeClassifier(ChanceMixin, Saved, Classes, Selector, ClassifierMixin, Described):
    """Sparse logistic regression: the posterior mode under a global-local shrinkage prior, by EM.

    Two classes are one binomial regression. More are fitted one against the rest, and each class then has
    coefficients, scales and a status of its own; or all together (``multi_class="multinomial"``), and then
    they share the scales, so that a column is in for all classes or for none. It selects columns too:
    `transform` keeps those that have a coefficient other than zero in any class.

    Parameters
    ----------
    augmentation : {"polya_gamma", "irls"}, default="polya_gamma"
        The working weights of the Gaussian approximation: those of the Polya-gamma scale mixture, as in the
        paper, or those of Newton's method, whose standard deviations are wider where probabilities are near
        0 or 1.
    prior, lambda_power, tau, tau_max, slab, expectation, fit_intercept, standardize
        As in `HorseshoeRegressor`.
    weight_type : {"count", "precision"}, default="count"
        As in `HorseshoeRegressor`; what it scales are the weights of the rows times those of the classes.
    tol, max_iter, zero_threshold
        As in `HorseshoeRegressor`.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply those of the rows.
    start : "auto", "linear", "marginal", "paper" or a fitted HorseshoeClassifier, default="auto"
        Where EM starts: as in `HorseshoeRegressor`, where "auto" is "linear" for classes, or at an earlier
        fit to the same classes.
    warm_start, callback, random_state, feature_groups, unpenalized, prior_scale
        As in `HorseshoeRegressor`.
    multi_class : {"one_vs_rest", "multinomial"}, default="one_vs_rest"
        How more than two classes are fitted. "multinomial" is softmax regression: coefficients and intercepts
        of all classes, which add up to zero over them, and scales that they share. It starts at "marginal".
        Of two classes it makes a pair of opposite coefficients, half of those of a binomial regression with
        twice the prior variance.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted; of two, the second is the one whose probability is modelled.
    coef_, coef_std_, lambda2_, kappa_, support_ : arrays of shape (n_features,)
        As in `HorseshoeRegressor`; of shape (n_classes, n_features) for more than two classes. With
        "multinomial" ``lambda2_`` and ``support_``, which classes share, have shape (n_features,), and the
        others have a row for each class, also of two.
    intercept_, tau2_, n_iter_, status_, tau_at_bound_, trace_, expected_by_chance_
        As in `HorseshoeRegressor`; one for each class where there are more than two. With "multinomial" only
        ``intercept_`` is.
    aliases_ : dict
        As in `HorseshoeRegressor`; of all classes together.
    family_ : Binomial
    estimators_ : list of HorseshoeRegressor
        The binomial regressions: one for two classes, otherwise one for each class.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only when X has column names.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from horseshoe import HorseshoeClassifier
    >>> data = load_breast_cancer(as_frame=True)
    >>> model = HorseshoeClassifier().fit(data.data, data.target_names[data.target])
    >>> model.classes_.tolist(), int(model.support_.sum())
    (['benign', 'malignant'], 4)
    >>> model.predict(data.data.head(2)).tolist()
    ['malignant', 'malignant']
    """

    classes_: Any
    coef_: Vector
    coef_std_: Vector
    intercept_: Any
    lambda2_: Vector
    tau2_: Any
    support_: Mask
    aliases_: dict[Any, tuple[Any, ...]]
    scale_: Vector
    family_: Family
    kappa_: Vector
    n_iter_: Any
    status_: Status | tuple[Status, ...]
    tau_at_bound_: Any
    trace_: tuple[Iteration, ...] | tuple[tuple[Iteration, ...], ...]
    estimators_: list[HorseshoeRegressor]
    n_features_in_: int

    def __init__(
        self,
        augmentation: str = "polya_gamma",
        prior: str | LocalPrior = "horseshoe",
        lambda_power: float = 2.0,
        tau: str | float | GlobalPrior = "estimate",
        tau_max: float = 1.0,
        expectation: str = "exact",
        fit_intercept: bool = True,
        standardize: bool = True,
        weight_type: str = "count",
        tol: float = 1e-5,
        max_iter: int = 10_000,
        zero_threshold: str | float = "auto",
        class_weight: Any = None,
        start: Any = "auto",
        warm_start: bool = False,
        callback: Callback | None = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        slab: float | None = None,
        feature_groups: Any = None,
        unpenalized: Any = None,
        prior_scale: Any = None,
        multi_class: str = "one_vs_rest",
    ) -> None:
        self.augmentation = augmentation
        self.prior = prior
        self.lambda_power = lambda_power
        self.tau = tau
        self.tau_max = tau_max
        self.expectation = expectation
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.weight_type = weight_type
        self.tol = tol
        self.max_iter = max_iter
        self.zero_threshold = zero_threshold
        self.class_weight = class_weight
        self.start = start
        self.warm_start = warm_start
        self.callback = callback
        self.random_state = random_state
        self.slab = slab
        self.feature_groups = feature_groups
        self.unpenalized = unpenalized
        self.prior_scale = prior_scale
        self.multi_class = multi_class

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None, checkpoint: Any = None
    ) -> HorseshoeClassifier:
        """Fit the model.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, p)
            NumPy, pandas, polars, scipy.sparse or Dask, a memory map, or what bed-reader opens; never
            modified. What is sparse stays sparse.
        y : array-like of shape (n,)
            The labels: numbers, strings, booleans or anything else that can be sorted.
        sample_weight : array-like of shape (n,), optional
            Weight 2 counts a row twice; weight 0 leaves it out; see ``weight_type``.
        offset : float or array-like of shape (n,), optional
            A known part of the linear predictor; only for two classes.
        checkpoint : str or path-like, optional
            A file that the state of the fit is kept in, every few seconds. A fit that was broken off goes on
            from there to the same answer, bit for bit: call this again with the same data, the same options
            and the same file (docs/scale.md).

        Returns
        -------
        HorseshoeClassifier
            Itself.

        Warns
        -----
        ConvergenceWarning
            If ``max_iter`` was reached; of more than two classes it says for which.
        """
        with one_thread(), open_checkpoint(checkpoint) as section:
            self._fit(X, y, sample_weight, offset, section)
        named = () if isinstance(self.status_, Status) else self.classes_.tolist()
        warn_unfinished(self.status_, named)
        return self

    def _fit(
        self, X: Any, y: Any, sample_weight: Any, offset: Any, checkpoint: CheckpointSection | None
    ) -> None:
        """Fit one class against the rest after the other, or all together."""
        family = Binomial(self.augmentation)
        matrix = check_x(X)
        labels = labels_of(y, matrix.shape[0])
        weights = check_weights(sample_weight, matrix.shape[0], self.weight_type == "precision")
        classes, codes = encode_labels(labels, weights)
        self._check_offset(offset, classes)
        weights = self._class_weights(classes, codes, weights)
        starts = self._starts(classes, matrix.shape[1])
        if self._is_softmax:
            self._fit_softmax(X, matrix, classes, codes, weights, starts, checkpoint)
            return
        targets = [1] if classes.size == 2 else range(classes.size)
        estimators = []
        for target, start in zip(targets, starts, strict=True):
            part = None if checkpoint is None else checkpoint.section(f"class {target}")
            y = (codes == target).astype(float)
            estimators.append(self._regressor(family, start)._fit(matrix, y, weights, offset, None, part))
        remember_columns(self, X, matrix.shape[1])
        hand_down_names(self, estimators)
        self.classes_, self.estimators_ = classes, estimators
        self._gather()

    def _fit_softmax(
        self,
        X: Any,
        matrix: View,
        classes: Any,
        codes: Any,
        sample_weight: Vector | None,
        start: Any,
        checkpoint: CheckpointSection | None,
    ) -> None:
        """Fit all classes together."""
        n, p = matrix.shape
        rows = known_rows(matrix, codes.astype(float), weigh(sample_weight, n, self.weight_type), 0.0)
        part = self._part()
        options, spec = em_options(self, checkpoint), part._spec(Binomial(self.augmentation), rows)
        if options.expectation not in ("exact", "approximate"):
            raise ValueError(
                f"expectation={options.expectation!r} does not go with multi_class='multinomial': use "
                "'exact' or 'approximate'"
            )
        each = tuple(rows._replace(y=(rows.y == k).astype(float)) for k in range(classes.size))
        fitted = tuple(remark_weights(one, rows) for one in fit_several(spec, each, options, start))
        remember_columns(self, X, p)
        names = self.__dict__.get("feature_names_in_")
        joint = Joint(each, spec, fitted, tuple(classes.tolist()), names, self.random_state)
        self.classes_, self.estimators_ = classes, [self._part() for _ in fitted]
        for k, (one, found) in enumerate(zip(self.estimators_, fitted, strict=True)):
            one.n_features_in_ = p
            one._store(found)
            one._training = Training(each[k], spec, joint, k)
        eta = np.column_stack([one._fitted.linear_predictor(rows.columns) for one in self.estimators_])
        left = softmax_deviance(eta, rows.y, rows.counts)
        for one in self.estimators_:
            one._kept = Kept(rows.y.size, left)
        hand_down_names(self, self.estimators_)
        self._gather()

    def predict_interval(
        self, X: Any, level: float = 0.95, offset: Any = None, method: str = "auto", **options: Any
    ) -> Any:
        """Return the interval of the probability of the second class, or of each against the rest.

        With "multinomial" at the mode, the odds of the other classes among each other are taken as they are.

        Parameters
        ----------
        X, offset
            As in `decision_function`.
        level, method, **options
            As in `HorseshoeRegressor.predict_interval`.

        Returns
        -------
        array of shape (m, 2), or (m, n_classes, 2) for more than two
        """
        matrix = self._check_new(X, offset)
        if self._is_softmax:
            return self._softmax_interval(matrix, level, method, options)
        found = [m.predict_interval(matrix, level, offset, method, **options) for m in self.estimators_]
        return self._stack(found, axis=1)

    def coef_interval(self, level: float = 0.95, method: str = "auto", **options: Any) -> Any:
        """Return the interval of each coefficient.

        Parameters
        ----------
        level, method, **options
            As in `HorseshoeRegressor.coef_interval`.

        Returns
        -------
        array of shape (n_features, 2), or (n_classes, n_features, 2) for more than two
        """
        check_is_fitted(self)
        return self._stack([model.coef_interval(level, method, **options) for model in self.estimators_])

    def sample_posterior(self, **options: Any) -> Any:
        """Draw from the posterior of which this fit is the mode; for two classes, or with "multinomial".

        Parameters
        ----------
        **options
            As in `HorseshoeRegressor.sample_posterior`.

        Returns
        -------
        Posterior
            Of the second class against the first; a SeveralPosterior with "multinomial".
        """
        check_is_fitted(self)
        if self._is_softmax:
            return self._joint().draw(options)
        if len(self.estimators_) > 1:
            raise ValueError(
                f"the model has {len(self.estimators_)} classes, one against the rest: "
                "ask one of them, as in estimators_[0].sample_posterior()"
            )
        return replace(self.estimators_[0].sample_posterior(**options), classes=self.classes_)

    def summary(
        self,
        level: float = 0.95,
        exponentiate: bool = False,
        method: str = "auto",
        by: str = "column",
        style: str = "frame",
    ) -> Any:
        """Return a data frame as `HorseshoeRegressor.summary`; of several classes, the class in front.

        Parameters
        ----------
        level : float, default=0.95
            The coverage of the interval.
        exponentiate : bool, default=False
            Whether to add ``odds_ratio``, the exponential of ``coef``, and to give ``lower``, ``upper`` and
            ``per_sd`` as odds ratios too.
        method : {"auto", "mode", "posterior"}, default="auto"
            Of the interval, as in `HorseshoeRegressor.coef_interval`: for classes, from draws.
        by : {"column", "group"}, default="column"
            As in `HorseshoeRegressor.summary`.
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
        """How many columns would be selected if none had an effect; one number for each class of several."""
        if "estimators_" not in self.__dict__:
            raise AttributeError("expected_by_chance_ is there after fit")
        found = [model.expected_by_chance_ for model in self.estimators_]
        if self._is_softmax:
            return found[0]
        return found[0] if len(found) == 1 else np.array(found)

    def _part(self) -> HorseshoeRegressor:
        """Return a regression for one class that is to be given its fit."""
        return self._regressor(Binomial(self.augmentation), "auto")

    def _regressor(self, family: Binomial, start: Any) -> HorseshoeRegressor:
        shared = {
            k: v
            for k, v in self.get_params(deep=False).items()
            if k not in ("augmentation", "class_weight", "multi_class")
        }
        return HorseshoeRegressor(family=family, **{**shared, "start": start, "warm_start": False})

    def _starts(self, classes: Any, n_columns: int) -> Any:
        """Return where each regression starts."""
        warm = self.warm_start and hasattr(self, "estimators_")
        earlier = self if warm else self.start
        if isinstance(earlier, tuple) and earlier and all(isinstance(one, Earlier) for one in earlier):
            return list(earlier)
        if not isinstance(earlier, HorseshoeClassifier):
            check_choice(
                "start", earlier, ("auto", "linear", "marginal", "paper"), " or a fitted HorseshoeClassifier"
            )
            return earlier if self._is_softmax else [earlier] * (1 if classes.size == 2 else classes.size)
        check_is_fitted(earlier, msg="start is a %(name)s that is not fitted: fit it before")
        what = "the earlier fit that warm_start=True starts from" if warm else "start"
        if earlier.n_features_in_ != n_columns:
            raise ValueError(f"{what} has {earlier.n_features_in_} columns, but X has {n_columns}")
        if not np.array_equal(earlier.classes_, classes):
            raise ValueError(f"{what} was fitted to the classes {earlier.classes_}, but y has {classes}")
        if earlier._is_softmax != self._is_softmax:
            raise ValueError(f"{what} has multi_class={earlier.multi_class!r}, not {self.multi_class!r}")
        if self._is_softmax:
            parts = earlier.estimators_
            return [Earlier(one.coef_, one.coef_std_, one.intercept_, one.sigma2_) for one in parts]
        return list(earlier.estimators_)

    def _softmax_interval(self, matrix: View, level: float, method: str, options: dict[str, Any]) -> Any:
        """Return intervals of the probabilities, from draws or at the mode."""
        level = check_level(level)
        if self.estimators_[0]._by_posterior(method, options):
            self.estimators_[0]._interval_draws(options)  # which warns where the chains do not agree
            return self._joint().drawn_last.predict_interval(matrix, level)
        log_proba = self.predict_log_proba(matrix)
        odds = log_proba - np.log(-np.expm1(np.minimum(log_proba, -1e-300)))
        q = len(self.estimators_)
        spread = np.sqrt([one._fitted.predictor_variance(matrix) for one in self.estimators_]).T
        reach = half_width(level) * q / (q - 1.0) * spread
        return np.stack([expit(odds - reach), expit(odds + reach)], axis=2)

    def _joint(self) -> Joint:
        training = self.estimators_[0].__dict__.get("_training")
        if training is None or training.joint is None:
            raise ValueError(
                "copies of a fit, and models from files, do not hold its data: fit again; intervals with "
                "method='mode' need none"
            )
        joint: Joint = training.joint
        return joint

    def _gather(self) -> None:
        models = self.estimators_
        if self._is_softmax:
            gather(self, ("coef_", "coef_std_", "kappa_", "intercept_", "support_"), OF_ALL)
            self.support_ = np.asarray(self.support_.any(axis=0))
            self.status_ = first_remark([model.status_ for model in models])
            return
        for name in ("coef_", "coef_std_", "lambda2_", "support_", "kappa_"):
            setattr(self, name, self._stack([getattr(model, name) for model in models]))
        for name in ("intercept_", "tau2_", "n_iter_", "tau_at_bound_"):
            values = [getattr(model, name) for model in models]
            setattr(self, name, values[0] if len(values) == 1 else np.array(values))
        self.status_ = models[0].status_ if len(models) == 1 else tuple(m.status_ for m in models)
        self.trace_ = models[0].trace_ if len(models) == 1 else tuple(m.trace_ for m in models)
        self.scale_, self.family_ = models[0].scale_, models[0].family_
        aliases = {first: tied for model in models for first, tied in model._fitted.aliases.items()}
        self.aliases_ = named_aliases(self, aliases)
