"""The classifier that adapts to the unknown sparsity."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from horseshoe._checks import check_level
from horseshoe._types import Mask, Matrix, Status, Vector
from horseshoe.average.fit_classes import fit_class_average
from horseshoe.average.folds import check_classes
from horseshoe.average.result import AverageFit
from horseshoe.average.sets import Fold
from horseshoe.data.offsets import check_known
from horseshoe.data.rows import Rows, known_rows
from horseshoe.data.validation import check_weights, check_x
from horseshoe.estimators.average import AverageMixin
from horseshoe.estimators.classes import Classes, encode_labels, labels_of
from horseshoe.estimators.cv import AdaptiveRegressor
from horseshoe.estimators.described import Described
from horseshoe.estimators.ending import weigh
from horseshoe.estimators.saving import Saved
from horseshoe.estimators.selector import hand_down_names, remember_columns
from horseshoe.families import Binomial, Family
from horseshoe.model.spec import Prepared
from horseshoe.store.checkpoint import CheckpointSection, open_checkpoint
from horseshoe.threads import one_thread

OF_ALL_CLASSES = (
    "inclusion_",
    "components_",
    "component_weights_",
    "cv_error_",
    "path_",
    "calibration_slope_",
    "status_",
)
"""What classes that are fitted together share."""


class AdaptiveClassifier(Saved, Classes, AverageMixin, ClassifierMixin, Described):
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

    coef_: Vector
    intercept_: Any
    sparse_coef_: Vector
    sparse_intercept_: Any
    support_: Mask
    inclusion_: Vector
    components_: Any
    component_weights_: Any
    cv_error_: Any
    path_: Any
    calibration_slope_: Any
    scale_: Vector
    cv_prediction_: Matrix
    family_: Family
    status_: Status | tuple[Status, ...]
    estimators_: list[AdaptiveRegressor]
    n_features_in_: int

    def __init__(
        self,
        components: Any = "default",
        cv: Any = 10,
        selection: str = "1se",
        fit_intercept: bool = True,
        standardize: bool = True,
        weight_type: str = "count",
        class_weight: Any = None,
        n_jobs: int | None = None,
        callback: Any = None,
        random_state: int | np.random.Generator | np.random.RandomState | None = None,
        feature_groups: Any = None,
        unpenalized: Any = None,
        prior_scale: Any = None,
        multi_class: str = "one_vs_rest",
    ) -> None:
        self.components = components
        self.cv = cv
        self.selection = selection
        self.fit_intercept = fit_intercept
        self.standardize = standardize
        self.weight_type = weight_type
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.callback = callback
        self.random_state = random_state
        self.feature_groups = feature_groups
        self.unpenalized = unpenalized
        self.prior_scale = prior_scale
        self.multi_class = multi_class

    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        offset: Any = None,
        groups: Any = None,
        checkpoint: Any = None,
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
            self._fit(X, y, sample_weight, offset, groups, section)
        return self

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        offset: Any,
        groups: Any,
        checkpoint: CheckpointSection | None,
    ) -> None:
        family, columns = Binomial(), check_x(X)
        n, p = columns.shape
        labels = labels_of(y, n)
        weights = check_weights(sample_weight, n, self.weight_type == "precision")
        classes, codes = encode_labels(labels, weights)
        self._check_offset(offset, classes)
        weights = weigh(self._class_weights(classes, codes, weights), n, self.weight_type)
        known = check_known(offset, None, n, family)
        family.check_offset(np.asarray(known))
        rows = known_rows(columns, codes.astype(float), weights, known)
        folds = self._folds(rows, X, labels, groups, classes=True)
        targets = [1] if classes.size == 2 else range(classes.size)
        inside = slice(None) if rows.number is None else rows.number

        def make(prepared: Prepared) -> tuple[Fold, ...]:
            return check_classes(folds(prepared) if callable(folds) else folds, codes[inside], classes)

        if self._is_softmax:
            fitted = self._adapt_classes(rows, classes.size, make, checkpoint)
        else:
            found = []
            for target in targets:
                binary = rows._replace(y=(codes[inside] == target).astype(float))
                mine = None if checkpoint is None else checkpoint.section(f"class {target}")
                found.append(self._adapt(binary, family, make, mine))
            fitted = tuple(found)
        self.classes_, self.estimators_ = classes, [self._part() for _ in fitted]
        for part, one in zip(self.estimators_, fitted, strict=True):
            remember_columns(part, X, p)
            part._store(one)
        remember_columns(self, X, p)
        hand_down_names(self, self.estimators_)
        self._gather()

    def _adapt_classes(
        self, rows: Rows, n_classes: int, folds: Any, checkpoint: CheckpointSection | None
    ) -> tuple[AverageFit, ...]:
        """Average for all classes together."""
        return fit_class_average(rows, n_classes, folds, checkpoint=checkpoint, **self._options(rows))

    def coef_interval(self, level: float = 0.95) -> Any:
        """Return the interval of each coefficient.

        Parameters
        ----------
        level : float, default=0.95
            The coverage.

        Returns
        -------
        array of shape (n_features, 2), or (n_classes, n_features, 2) for more than two
        """
        check_is_fitted(self)
        level = check_level(level)
        return self._stack([model.coef_interval(level) for model in self.estimators_])

    def summary(
        self, level: float = 0.95, exponentiate: bool = False, by: str = "column", style: str = "frame"
    ) -> Any:
        """Return a data frame as `AdaptiveRegressor.summary`; of several classes, the class in front.

        Parameters
        ----------
        level : float, default=0.95
            The coverage of the interval.
        exponentiate : bool, default=False
            As in `HorseshoeClassifier.summary`.
        by : {"column", "group"}, default="column"
            As in `AdaptiveRegressor.summary`.
        style : {"frame", "text", "markdown", "latex", "html"}, default="frame"
            A data frame, for which pandas is needed, or a text with the numbers of the fit below.

        Returns
        -------
        pandas.DataFrame or str
        """
        from horseshoe.report.summaries import summarize

        check_is_fitted(self)
        return summarize(self, style, level, exponentiate, by)

    def _part(self) -> AdaptiveRegressor:
        """Return a regression for one class that is to be given its fit."""
        return AdaptiveRegressor(family=Binomial(), fit_intercept=self.fit_intercept)

    def _gather(self) -> None:
        models = self.estimators_
        for name in ("coef_", "sparse_coef_", "support_", "inclusion_"):
            setattr(self, name, self._stack([getattr(model, name) for model in models]))
        for name in ("intercept_", "sparse_intercept_", "cv_error_", "calibration_slope_"):
            values = [getattr(model, name) for model in models]
            setattr(self, name, values[0] if len(values) == 1 else np.array(values))
        for name in ("components_", "component_weights_", "path_", "status_"):
            found = tuple(getattr(model, name) for model in models)
            setattr(self, name, found[0] if len(found) == 1 else found)
        self.family_, self.scale_ = models[0].family_, models[0].scale_
        if self._is_softmax:
            for name in OF_ALL_CLASSES:
                setattr(self, name, getattr(models[0], name))
            self.support_ = np.any([model.support_ for model in models], axis=0)
        if not hasattr(models[0], "cv_prediction_"):  # as of a model from a file, which holds no rows
            return
        second = np.column_stack([model.cv_prediction_ for model in models])
        both = np.hstack([1.0 - second, second]) if len(models) == 1 else second
        self.cv_prediction_ = both / both.sum(axis=1, keepdims=True)
