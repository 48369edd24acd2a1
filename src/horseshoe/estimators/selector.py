"""Columns in and out: the names and the number of X's columns, and which of them a fit keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils import _safe_indexing
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from horseshoe._types import Mask
from horseshoe.data.sources.tables import header_of, own_names
from horseshoe.data.validation import check_x
from horseshoe.data.view import View


class Selector(TransformerMixin):
    """What scikit-learn's `SelectorMixin` does, without the time that its import takes.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> model = HorseshoeRegressor().fit(X, X[:, 1] + 0.1 * X[:, 0] * X[:, 2])
    >>> model.get_support(), model.get_feature_names_out().tolist(), model.transform(X).shape
    (array([False,  True, False]), ['x1'], (50, 1))
    """

    support_: Mask
    penalty = "l1"
    """Read by scikit-learn's `SelectFromModel` alone: of an estimator that says so it takes what is not zero
    (1e-5 or more), of any other what is above the mean, in units that differ from column to column."""

    def get_support(self, indices: bool = False) -> Any:
        """Return which columns of X are selected.

        Parameters
        ----------
        indices : bool, default=False
            Whether to return their places rather than a mask.

        Returns
        -------
        bool array of shape (n_features,), or an array of int
        """
        check_is_fitted(self)
        mask = self.support_ if self.support_.ndim == 1 else self.support_.any(axis=0)
        return np.flatnonzero(mask) if indices else mask

    def transform(self, X: Any) -> Any:
        """Return the selected columns of X, as they are.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (m, p)
            Rows.

        Returns
        -------
        array of shape (m, number selected)
            Perhaps none is left: ``status_`` then says why. A data frame after
            ``set_output(transform="pandas")``, and sparse where X is.
        """
        mask = self.get_support()
        frames = _get_output_config("transform", estimator=self)["dense"] != "default"
        as_it_is = frames and hasattr(X, "iloc")  # columns of several kinds keep them
        given = validate_data(
            self,
            X,
            reset=False,
            dtype=None,
            accept_sparse=("csr", "csc"),
            skip_check_array=as_it_is,
        )
        return _safe_indexing(given, mask, axis=1)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the selected columns.

        Parameters
        ----------
        input_features : array-like of str, optional
            The names of all columns; those of the data that were fitted, or x0, x1, ..., if left out.

        Returns
        -------
        array of str
        """
        check_is_fitted(self)
        return _check_feature_names_in(self, input_features)[self.get_support()]


def check_new(model: Any, X: Any) -> View:
    """Return new rows for a fitted model, with the columns it was fitted to.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> check_new(HorseshoeRegressor().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5]), [[4]]).dense()
    array([[4.]])
    """
    check_is_fitted(model)
    matrix = check_x(X)
    if matrix is not X:  # else whoever checked it knows the names
        same_columns(model, X, matrix)
    return matrix


def same_columns(model: Any, X: Any, columns: View) -> None:
    """Refuse an X that has not the columns of the fit, in number and by name.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> model = HorseshoeRegressor().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5])
    >>> same_columns(model, np.eye(2), check_x(np.eye(2)))
    Traceback (most recent call last):
    ValueError: X has 2 features, but HorseshoeRegressor is expecting 1 features as input.
    """
    names, known = own_names(X), model.__dict__.get("feature_names_in_")
    if names is None or known is None or columns.shape[1] != known.size:
        validate_data(model, header_of(X), reset=False, skip_check_array=True)
    elif not np.array_equal(names, known):
        j = int(np.argmax(names != known))
        raise ValueError(
            f"column {j} of X is {names[j]!r}, and was {known[j]!r} in the fit: the feature names should "
            "match those that were passed during fit"
        )


def remember_columns(model: Any, X: Any, n_columns: int) -> None:
    """Set n_features_in_, and feature_names_in_ if X has names; forget how a table was made of an older X.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> remember_columns(model := HorseshoeRegressor(), np.eye(3), 3)
    >>> model.n_features_in_
    3
    """
    model.__dict__.pop("recipe_", None)
    if isinstance(X, np.ndarray):  # the common case, without the cost of looking for names
        model.__dict__.pop("feature_names_in_", None)
        model.n_features_in_ = n_columns
    else:
        validate_data(model, header_of(X), reset=True, skip_check_array=True)
        names = own_names(X)
        if names is not None:
            model.feature_names_in_ = names


def hand_down_names(model: Any, parts: list[Any]) -> None:
    """Give the models that another one is made of the names of its columns, which they never saw.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> whole, part = HorseshoeRegressor(), HorseshoeRegressor()
    >>> whole.feature_names_in_ = np.array(["age"])
    >>> hand_down_names(whole, [part])
    >>> part.feature_names_in_
    array(['age'], dtype='<U3')
    """
    names = getattr(model, "feature_names_in_", None)
    for part in parts:
        if names is not None:
            part.feature_names_in_ = names
        if hasattr(part, "aliases_"):
            part.aliases_ = named_aliases(part, part._fitted.aliases)


def named_aliases(model: Any, aliases: dict[int, tuple[int, ...]]) -> dict[Any, tuple[Any, ...]]:
    """Return which column stands for which, by the names of the columns if they have any.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> named_aliases(HorseshoeRegressor(), {0: (2, 3)})
    {0: (2, 3)}
    """
    names = model.__dict__.get("feature_names_in_")
    if names is None:
        return aliases
    return {names[first]: tuple(names[j] for j in tied) for first, tied in aliases.items()}
