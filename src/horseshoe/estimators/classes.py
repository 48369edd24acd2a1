"""What classifiers made of binomial regressions share: labels in, probabilities out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import logsumexp
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from horseshoe._checks import check_choice, check_number
from horseshoe._types import Mask, Matrix, Vector
from horseshoe.data.validation import check_labels, check_weights
from horseshoe.data.view import View
from horseshoe.estimators.ending import weigh
from horseshoe.estimators.selector import check_new
from horseshoe.families.deviance import Deviance
from horseshoe.threads import one_thread

if TYPE_CHECKING:
    from horseshoe.report.statistics import FitStatistics


class Classes:
    """Classes and their probabilities: one binomial regression for two, for more one for each of them.

    Examples
    --------
    >>> from horseshoe import HorseshoeClassifier
    >>> model = HorseshoeClassifier().fit([[k / 10.0] for k in range(20)], list("aaaaaaababababbbbbbb"))
    >>> model.predict([[2.0]]).tolist(), bool(model.predict_proba([[2.0]])[0, 1] > 0.5)
    (['b'], True)
    """

    classes_: Any
    estimators_: list[Any]
    support_: Mask
    class_weight: Any
    weight_type: str
    multi_class: str = "one_vs_rest"

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
        check_two(offset, classes)

    def decision_function(self, X: Any, offset: Any = None) -> Any:
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
            all_ = np.column_stack([model._fitted.linear_predictor(matrix) for model in self.estimators_])
            return all_[:, 1] - all_[:, 0] if all_.shape[1] == 2 else all_
        eta = [model.linear_predictor(matrix, offset=offset) for model in self.estimators_]
        return eta[0] if len(eta) == 1 else np.column_stack(eta)

    def predict_proba(self, X: Any, offset: Any = None) -> Matrix:
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

    def predict_log_proba(self, X: Any, offset: Any = None) -> Matrix:
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

    def predict(self, X: Any, offset: Any = None) -> Any:
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
    def score(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
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
    def log_likelihood(self, X: Any, y: Any, sample_weight: Any = None, offset: Any = None) -> float:
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

    def _statistics(self) -> FitStatistics:
        from horseshoe.report.statistics import all_classes, all_outputs

        selected = int(np.atleast_2d(self.support_).any(axis=0).sum())
        if self._is_softmax:
            found = all_outputs([model.statistics() for model in self.estimators_], selected)
            return replace(found, family="Multinomial")
        return all_classes([model.statistics() for model in self.estimators_], selected)

    def _stack(self, values: list[Any], axis: int = 0) -> Any:
        return values[0] if len(values) == 1 else np.stack(values, axis=axis)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags


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


def check_two(offset: Any, classes: Any) -> None:
    """Refuse an offset for more than two classes.

    Examples
    --------
    >>> check_two(None, np.arange(3))
    """
    if offset is not None and classes.size > 2:
        raise ValueError(f"offset is for two classes, but y has {classes.size}: fit each class on its own")


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
