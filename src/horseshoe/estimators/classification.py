"""What classifiers are asked: labels in, probabilities out; and the labels and weights of a fit, checked."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from horseshoe._checks import check_choice, check_number
from horseshoe._types import Matrix, MatrixLike, PerRow, Vector, VectorLike
from horseshoe.data.offsets import check_known
from horseshoe.data.rows import Rows, known_rows
from horseshoe.data.validation import check_labels, check_weights, check_x
from horseshoe.data.view import View
from horseshoe.estimators.base import Estimator, check_new
from horseshoe.estimators.convergence import weigh
from horseshoe.families import Family
from horseshoe.families.deviance import Deviance
from horseshoe.report.statistics import FitStatistics
from horseshoe.threads import one_thread


class ClassData(NamedTuple):
    """Rows that count, whose y are the numbers of their ``classes``; and the ``labels`` of all rows."""

    rows: Rows
    classes: Any
    labels: Any

    def against_rest(self, code: int) -> Rows:
        """Return the rows with 1 where they are of a class and 0 elsewhere."""
        return self.rows._replace(y=(self.rows.y == code).astype(float))

    @property
    def targets(self) -> list[int]:
        """The classes that are fitted against the rest: of two the second, otherwise all."""
        return [1] if self.classes.size == 2 else list(range(self.classes.size))


@dataclass(eq=False, repr=False, kw_only=True)
class Classification(ClassifierMixin, Estimator):
    """Classes and their probabilities: one binomial regression for two, for more one for each of them.

    Examples
    --------
    >>> from horseshoe import HorseshoeClassifier
    >>> model = HorseshoeClassifier().fit([[k / 10.0] for k in range(20)], list("aaaaaaababababbbbbbb"))
    >>> model.predict([[2.0]]).tolist(), bool(model.predict_proba([[2.0]])[0, 1] > 0.5)
    (['b'], True)
    """

    class_weight: Any = None
    multi_class: str = "one_vs_rest"
    _of_parts_only = frozenset({"sigma2_", "cv_prediction_"})

    @property
    def _is_joint(self) -> bool:
        return self._is_softmax

    @property
    def _is_softmax(self) -> bool:
        """Whether all classes are fitted together."""
        choice = check_choice("multi_class", self.multi_class, ("one_vs_rest", "multinomial"))
        return choice == "multinomial"

    def _check_offset(self, offset: Any, classes: Any) -> None:
        if offset is not None and self._is_softmax:
            raise ValueError(
                "offset does not go with multi_class='multinomial': added to every class it changes nothing, "
                "so leave it out, or fit the classes on their own"
            )
        if offset is not None and classes.size > 2:
            raise ValueError(
                f"offset is for two classes, but y has {classes.size}: fit each class on its own"
            )

    def _check_data(
        self, X: Any, y: Any, sample_weight: Any, offset: Any, family: Family
    ) -> tuple[View, ClassData]:
        """Return the columns of X and the rows that count; ``family`` is that of two classes."""
        columns = check_x(X)
        n = columns.shape[0]
        labels = labels_of(y, n)
        weights = check_weights(sample_weight, n, self.weight_type == "precision")
        classes, codes = encode_labels(labels, weights)
        self._check_offset(offset, classes)
        weights = weigh(self._class_weights(classes, codes, weights), n, self.weight_type)
        known = check_known(offset, None, n, family)
        family.check_offset(np.asarray(known))
        rows = known_rows(columns, codes.astype(float), weights, known)
        return columns, ClassData(rows, classes, labels)

    def decision_function(self, X: MatrixLike, offset: PerRow = None) -> Any:
        """Return the linear predictor: log odds of the second class, or of each against the rest.

        With "multinomial", of more than two classes, against the geometric mean of all.

        Parameters
        ----------
        X : array-like of shape (m, p)
            New rows.
        offset : float or array-like of shape (m,), optional
            Added to the linear predictor; only for two classes.

        Returns
        -------
        array of shape (m,), or (m, n_classes) for more than two
        """
        matrix = self._check_new(X, offset)
        if self._is_softmax:
            each = np.column_stack([model._fitted.linear_predictor(matrix) for model in self.estimators_])
            return each[:, 1] - each[:, 0] if each.shape[1] == 2 else each
        eta = [model.linear_predictor(matrix, offset=offset) for model in self.estimators_]
        return eta[0] if len(eta) == 1 else np.column_stack(eta)

    def predict_proba(self, X: MatrixLike, offset: PerRow = None) -> Matrix:
        """Return the probability of each class.

        For more than two classes those of the separate regressions, scaled to add up to 1.

        Parameters
        ----------
        X, offset
            As in `decision_function`.

        Returns
        -------
        array of shape (m, n_classes)
        """
        return np.exp(self.predict_log_proba(X, offset))

    def predict_log_proba(self, X: MatrixLike, offset: PerRow = None) -> Matrix:
        """Return the logarithm of `predict_proba`, finite where that underflows.

        Parameters
        ----------
        X, offset
            As in `decision_function`.

        Returns
        -------
        array of shape (m, n_classes)
        """
        eta = self.decision_function(X, offset)
        if eta.ndim == 1:
            return np.column_stack([-np.logaddexp(0.0, eta), -np.logaddexp(0.0, -eta)])
        log_proba = eta if self._is_softmax else -np.logaddexp(0.0, -eta)
        return np.asarray(log_proba - logsumexp(log_proba, axis=1, keepdims=True))

    def predict(self, X: MatrixLike, offset: PerRow = None) -> Any:
        """Return the most probable class of each row.

        Parameters
        ----------
        X, offset
            As in `decision_function`.

        Returns
        -------
        array of shape (m,)
        """
        eta = self.decision_function(X, offset)
        best = (eta > 0.0).astype(int) if eta.ndim == 1 else eta.argmax(axis=1)
        return self.classes_[best]

    @one_thread()
    def score(
        self, X: MatrixLike, y: VectorLike, sample_weight: PerRow = None, offset: PerRow = None
    ) -> float:
        """Return the share of rows whose class is predicted.

        Parameters
        ----------
        X : array-like of shape (m, p)
            Rows.
        y : array-like of shape (m,)
            Their labels.
        sample_weight, offset : array-like of shape (m,), optional
            As in `fit`.

        Returns
        -------
        float
        """
        predicted = self.predict(X, offset)
        right = np.asarray(predicted == check_labels(y, len(predicted)), dtype=np.float64)
        return float(np.average(right, weights=weigh(sample_weight, len(predicted), self.weight_type)))

    @one_thread()
    def log_likelihood(
        self, X: MatrixLike, y: VectorLike, sample_weight: PerRow = None, offset: PerRow = None
    ) -> float:
        """Return the log-likelihood of the labels, as `predict_log_proba` has it.

        Parameters
        ----------
        X, y, sample_weight, offset
            As in `score`; the labels must be among ``classes_``.

        Returns
        -------
        float
        """
        log_proba = self.predict_log_proba(X, offset)
        labels = check_labels(y, len(log_proba))
        known = {label: code for code, label in enumerate(self.classes_.tolist())}
        for row, label in enumerate(labels.tolist()):
            if label not in known:
                raise ValueError(f"y in row {row} is {label!r}, which is not among classes_: {list(known)}")
        codes = np.array([known[label] for label in labels.tolist()], dtype=int)
        weights = weigh(sample_weight, len(log_proba), self.weight_type)
        picked = log_proba[np.arange(labels.size), codes]
        return float(picked.sum() if weights is None else weights @ picked)

    def _class_weights(self, classes: Any, codes: Any, weights: Vector | None) -> Vector | None:
        if self.class_weight is None:
            return weights
        rows = np.ones(codes.size) if weights is None else weights
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            counts = np.bincount(codes, weights=rows, minlength=classes.size)
            per_class = rows.sum() / (classes.size * counts)
        else:
            if not isinstance(self.class_weight, dict):
                raise ValueError(f"class_weight={self.class_weight!r} must be a dict, 'balanced' or None")
            per_class = self._given_weights(classes.tolist())
        return check_weights(rows * per_class[codes], codes.size, self.weight_type == "precision")

    def _given_weights(self, classes: list[Any]) -> Vector:
        """Return the weight of each class; 1 for those that are not named."""
        given = self.class_weight
        if not set(given) <= set(classes):
            raise ValueError(f"class_weight is for the classes {list(given)}, but y has {classes}")
        values = [
            check_number(f"class_weight of class {label!r}", given.get(label, 1.0), low_allowed=True)
            for label in classes
        ]
        if sum(value > 0.0 for value in values) < 2:
            raise ValueError(f"class_weight={given!r} leaves one class only: at least 2 classes need one")
        return np.array(values)

    def _check_new(self, X: Any, offset: Any) -> View:
        check_is_fitted(self)
        self._check_offset(offset, self.classes_)
        return check_new(self, X)

    def statistics(self) -> FitStatistics:
        """Return the fit in a few numbers, as `HorseshoeRegressor.statistics` does: of all classes together.

        Returns
        -------
        FitStatistics
        """
        found = super().statistics()
        return replace(found, family="Multinomial") if self._is_softmax else found


def softmax_deviance(eta: Matrix, codes: Vector, counts: Vector) -> Deviance:
    """Return the deviance of classes at their linear predictors, and at the shares of the classes.

    Examples
    --------
    >>> found = softmax_deviance(np.zeros((4, 2)), np.array([0.0, 1.0, 0.0, 1.0]), np.ones(4))
    >>> found.explained
    0.0
    """
    places = codes.astype(int)
    own = eta[np.arange(codes.size), places] - logsumexp(eta, axis=1)
    share = np.bincount(places, weights=counts, minlength=eta.shape[1]) / counts.sum()
    return Deviance(-2.0 * float(counts @ own), -2.0 * float(counts @ np.log(share[places])))


def encode_labels(labels: Any, weights: Vector | None) -> tuple[Any, Any]:
    """Return the classes of the rows that count, and the class of each row.

    Examples
    --------
    >>> encode_labels(np.array(["b", "a", "b"]), None)[1]
    array([1, 0, 1])
    """
    counted = labels if weights is None else labels[weights > 0.0]
    classes = np.unique(counted)
    if classes.size < 2:
        where = "" if weights is None else " among the rows with a positive sample_weight"
        only = repr(classes[0].item() if hasattr(classes[0], "item") else classes[0])
        raise ValueError(
            f"y has one class only, {only}{where}, but a classifier needs samples of at least 2 classes: "
            "look at how the labels were made"
        )
    return classes, np.searchsorted(classes, labels).clip(max=classes.size - 1)


def labels_of(y: Any, n_rows: int) -> Any:
    """Return y as labels, or say that it holds none.

    Examples
    --------
    >>> labels_of(["b", "a"], 2)
    array(['b', 'a'], dtype='<U1')
    """
    labels = check_labels(y, n_rows)
    with np.errstate(invalid="ignore"):  # of numbers too large to be whole numbers there
        kind = type_of_target(labels, input_name="y")
    if kind not in ("binary", "multiclass"):
        raise ValueError(
            f"y does not hold labels (Unknown label type: {kind}): HorseshoeRegressor explains numbers"
        )
    return labels
