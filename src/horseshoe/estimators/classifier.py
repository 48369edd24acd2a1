"""The posterior mode of a sparse classification: a binomial regression for two classes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit

from horseshoe._checks import check_level
from horseshoe._types import FilePath, MatrixLike, PerRow, Status, VectorLike
from horseshoe.data.view import View
from horseshoe.estimators.base import Header, read_header
from horseshoe.estimators.classification import ClassData, Classification, softmax_deviance
from horseshoe.estimators.convergence import warn_unfinished
from horseshoe.estimators.mode import Mode
from horseshoe.estimators.regressor import HorseshoeRegressor
from horseshoe.estimators.training import Kept
from horseshoe.families import Binomial
from horseshoe.model.fit import fit_several
from horseshoe.model.spec import ModelSpec
from horseshoe.posterior.predictive import half_width
from horseshoe.store.checkpoint import CheckpointSection, open_checkpoint
from horseshoe.threads import one_thread


@dataclass(eq=False, repr=False, kw_only=True)
class HorseshoeClassifier(Mode, Classification):
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

    augmentation: str = "polya_gamma"
    fit_intercept: bool = True
    sigma2 = "estimate"
    _start_names = ("auto", "linear", "marginal", "paper")

    def fit(
        self,
        X: MatrixLike,
        y: VectorLike,
        sample_weight: PerRow = None,
        offset: PerRow = None,
        checkpoint: FilePath | None = None,
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
            family = Binomial(self.augmentation)
            columns, data = self._check_data(X, y, sample_weight, offset, family)
            header, spec = read_header(X, columns), self._spec(family, data.rows.columns)
            self._check_classes(data.classes)
            if self._is_softmax:
                parts = self._softmax_parts(header, spec, data, section)
            else:
                parts = []
                starts = self._starts(header.n_columns, len(data.targets))
                for target, start in zip(data.targets, starts, strict=True):
                    mine = None if section is None else section.section(f"class {target}")
                    rows = data.against_rest(target)
                    fitted = self._find_mode(spec, rows, start, mine)
                    training = self._own_training(header, spec, rows, fitted)
                    parts.append(self._part()._keep_fit(header, fitted, training))
            self._keep_parts(header, parts, classes_=data.classes)
        named = () if isinstance(self.status_, Status) else self.classes_.tolist()
        warn_unfinished(self.status_, named)
        return self

    def _softmax_parts(
        self, header: Header, spec: ModelSpec, data: ClassData, checkpoint: CheckpointSection | None
    ) -> list[HorseshoeRegressor]:
        """Return a regression for each class, fitted together."""
        labels = tuple(data.classes.tolist())
        each = tuple(data.against_rest(code) for code in range(len(labels)))
        refusal = "does not go with multi_class='multinomial': use 'exact' or 'approximate'"
        parts = self._find_joint_modes(header, spec, each, labels, fit_several, checkpoint, refusal)
        rows = data.rows
        eta = np.column_stack([one._fitted.linear_predictor(rows.columns) for one in parts])
        kept = Kept(rows.y.size, softmax_deviance(eta, rows.y, rows.counts))
        return [one._keep_fit(header, one._fitted, one._training, kept) for one in parts]

    def _part(self) -> HorseshoeRegressor:
        given = self.get_params(deep=False)
        for name in ("augmentation", "class_weight", "multi_class", "start", "warm_start"):
            del given[name]
        return HorseshoeRegressor(family=Binomial(self.augmentation), **given)

    def _takes_start(self, earlier: Mode) -> bool:
        return isinstance(earlier, HorseshoeClassifier)

    def _check_classes(self, classes: Any) -> None:
        """Refuse to start at a fit to other classes."""
        warm, earlier = self._earlier
        if not isinstance(earlier, HorseshoeClassifier) or not hasattr(earlier, "classes_"):
            return
        what = "the earlier fit that warm_start=True starts from" if warm else "start"
        if not np.array_equal(earlier.classes_, classes):
            raise ValueError(f"{what} was fitted to the classes {earlier.classes_}, but y has {classes}")
        if earlier._is_softmax != self._is_softmax:
            raise ValueError(f"{what} has multi_class={earlier.multi_class!r}, not {self.multi_class!r}")

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
        draws = super().sample_posterior(**options)
        return draws if self._is_softmax else replace(draws, classes=self.classes_)

    def predict_interval(
        self, X: MatrixLike, level: float = 0.95, offset: PerRow = None, method: str = "auto", **options: Any
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
        return found[0] if len(found) == 1 else np.stack(found, axis=1)

    def _softmax_interval(self, matrix: View, level: float, method: str, options: dict[str, Any]) -> Any:
        """Return intervals of the probabilities, from draws or at the mode."""
        level = check_level(level)
        if self.estimators_[0]._by_posterior(method, options):
            return self._interval_draws(options).predict_interval(matrix, level)
        log_proba = self.predict_log_proba(matrix)
        odds = log_proba - np.log(-np.expm1(np.minimum(log_proba, -1e-300)))
        q = len(self.estimators_)
        spread = np.sqrt([one._fitted.predictor_variance(matrix) for one in self.estimators_]).T
        reach = half_width(level) * q / (q - 1.0) * spread
        return np.stack([expit(odds - reach), expit(odds + reach)], axis=2)
