"""The classifier that adapts to the unknown sparsity."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from horseshoe._types import FilePath, MatrixLike, PerRow, VectorLike
from horseshoe.average.fit_classes import fit_class_average
from horseshoe.average.folds import check_classes, fair_codes
from horseshoe.estimators.adaptive import Adaptive
from horseshoe.estimators.adaptive_regressor import AdaptiveRegressor
from horseshoe.estimators.base import Header, read_header
from horseshoe.estimators.classification import Classification
from horseshoe.families import Binomial
from horseshoe.store.checkpoint import open_checkpoint
from horseshoe.threads import one_thread

# What classes that are fitted together have in common.
SHARED = frozenset(
    {
        *("inclusion_", "components_", "component_weights_", "cv_error_", "path_"),
        *("calibration_slope_", "status_"),
    }
)


@dataclass(eq=False, repr=False, kw_only=True)
class AdaptiveClassifier(Adaptive, Classification):
    """Classification that adapts to the unknown sparsity: `AdaptiveRegressor` for classes.

    Two classes are one binomial regression. More are fitted one against the rest, on the same folds, or all
    together (``multi_class="multinomial"``). The average is shrunk by how well it predicts rows that it has
    not seen, so that its probabilities are calibrated.

    Parameters
    ----------
    components, cv, selection, fit_intercept, standardize, weight_type, n_jobs, callback, random_state
        As in `AdaptiveRegressor`; folds have the classes in equal shares.
    feature_groups, unpenalized, prior_scale
        As in `AdaptiveRegressor`.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply those of the rows.
    multi_class : {"one_vs_rest", "multinomial"}, default="one_vs_rest"
        How more than two classes are fitted. "multinomial" is softmax regression: coefficients and intercepts
        of all classes, which add up to zero, columns that are in for all classes or for none, and components
        that are weighed by the likelihood of all classes together (docs/several.md). Without offsets.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels, sorted; of two, the second is the one whose probability is modelled.
    coef_, sparse_coef_, support_, inclusion_ : arrays of shape (n_features,)
        As in `AdaptiveRegressor`; of shape (n_classes, n_features) for more than two classes. With
        "multinomial" ``support_`` and ``inclusion_``, which classes share, have shape (n_features,), and the
        others have a row for each class even of two.
    intercept_, sparse_intercept_, cv_error_, components_, component_weights_, path_, calibration_slope_, \
status_
        As in `AdaptiveRegressor`; one for each class where there are more than two. With "multinomial"
        only the intercepts are.
    scale_ : array of shape (n_features,)
        As in `AdaptiveRegressor`.
    cv_prediction_ : array of shape (n, n_classes)
        The probabilities of the classes of each row of the data by fits that have not seen it; not a number
        where a row was never left out.
    estimators_ : list of AdaptiveRegressor
        The binomial regressions.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only when X has column names.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from horseshoe import AdaptiveClassifier
    >>> data = load_breast_cancer(as_frame=True)
    >>> model = AdaptiveClassifier().fit(data.data, data.target_names[data.target])
    >>> model.predict(data.data.head(2)).tolist()
    ['malignant', 'malignant']
    """

    fit_intercept: bool = True

    @property
    def _shared(self) -> frozenset[str]:
        return super()._shared | (SHARED if self._is_joint else frozenset())

    def fit(
        self,
        X: MatrixLike,
        y: VectorLike,
        sample_weight: PerRow = None,
        offset: PerRow = None,
        groups: PerRow = None,
        checkpoint: FilePath | None = None,
    ) -> AdaptiveClassifier:
        """Fit every component to every training set, and average.

        Parameters
        ----------
        X, y, sample_weight, offset, checkpoint
            As in `HorseshoeClassifier.fit`; what a checkpoint keeps are the components that are done.
        groups : array-like of shape (n,), optional
            For a splitter that keeps groups of rows together.

        Returns
        -------
        AdaptiveClassifier
            Itself.
        """
        with one_thread(), open_checkpoint(checkpoint) as section:
            family = Binomial()
            columns, data = self._check_data(X, y, sample_weight, offset, family)
            header, rows, classes = read_header(X, columns), data.rows, data.classes
            codes = rows.y.astype(int)
            folds = self._folds(
                rows, X, data.labels, groups, fair_codes, lambda found: check_classes(found, codes, classes)
            )
            if self._is_softmax:
                found = list(
                    fit_class_average(rows, classes.size, folds, checkpoint=section, **self._options(rows))
                )
            else:
                found = []
                for target in data.targets:
                    mine = None if section is None else section.section(f"class {target}")
                    found.append(self._average(data.against_rest(target), family, folds, mine))
            parts = [self._part()._keep_fit(header, one) for one in found]
            self._keep_parts(header, parts, classes_=classes)
        return self

    def _keep_parts(self, header: Header, parts: list[Any], **labels: Any) -> Self:
        super()._keep_parts(header, parts, **labels)
        if "cv_prediction_" in vars(self):
            found = self.cv_prediction_
            proba = np.hstack([1.0 - found, found]) if len(parts) == 1 else found
            self.cv_prediction_ = proba / proba.sum(axis=1, keepdims=True)
        return self

    def _part(self) -> AdaptiveRegressor:
        """Return an estimator of one class, without a fit."""
        return AdaptiveRegressor(family=Binomial(), fit_intercept=self.fit_intercept)
