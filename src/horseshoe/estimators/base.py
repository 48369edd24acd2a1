"""What all estimators share: the variables they select, tables and pictures of a fit, and files."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from types import MethodType
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import _safe_indexing
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import (
    _check_feature_names_in,
    _get_feature_names,
    check_is_fitted,
    validate_data,
)

from horseshoe._checks import check_choice, check_level
from horseshoe._types import FilePath, Mask, Matrix, MatrixLike, Status, VariableList, Vector, VectorLike
from horseshoe.data.sources.tables import header_of, own_names
from horseshoe.data.validation import check_x
from horseshoe.data.view import View
from horseshoe.estimators.convergence import first_remark
from horseshoe.report.statistics import FitStatistics, all_classes, all_outputs

# What a fit leaves behind beside the attributes that end in an underscore.
PRIVATE = ("_fitted", "_training", "_kept", "_sums", "_baseline")
KINDS_OF_PLOT = (
    *("coefficients", "inclusion", "shrinkage", "components", "convergence", "observed", "residuals"),
    *("calibration", "roc", "rootogram", "levels"),
)
Method = TypeVar("Method", bound=Callable[..., Any])


class Header(NamedTuple):
    """How many columns X has, and what they are called if they have names."""

    n_columns: int
    names: Any = None


def read_header(X: Any, columns: View) -> Header:
    """Return the number and the names of the columns of X, of which ``columns`` were made.

    Examples
    --------
    >>> read_header([[1.0, 2.0]], check_x([[1.0, 2.0]]))
    Header(n_columns=2, names=None)
    """
    if X is columns:
        names = columns.names
    elif isinstance(X, np.ndarray):  # the common case, without the cost of looking for names
        names = None
    else:
        names = own_names(X)
        names = _get_feature_names(header_of(X)) if names is None else names
    return Header(columns.shape[1], names)


class OnlyIf:
    """A method that an estimator has only where ``refusal(model)`` is None; else asking for it says why.

    Examples
    --------
    >>> class Model:
    ...     draws = OnlyIf(lambda model: "an average has no draws")(lambda model: "drawn")
    >>> hasattr(Model(), "draws")
    False
    """

    def __init__(self, refusal: Callable[[Any], str | None]) -> None:
        self._refusal = refusal

    def __call__(self, method: Callable[..., Any]) -> Self:
        """Take the method."""
        self._method, self.__doc__ = method, method.__doc__
        return self

    def __get__(self, model: Any, owner: Any = None) -> Any:
        """Return the method, or refuse."""
        if model is None:
            return self._method
        refusal = self._refusal(model)
        if refusal is not None:
            raise AttributeError(refusal)
        return MethodType(self._method, model)


def by_part(axis: int = 0) -> Callable[[Method], Method]:
    """Let a method of one regression answer for all: the answers stand side by side along ``axis``.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> whole = SimpleNamespace(_parts=[SimpleNamespace(coef=1.0), SimpleNamespace(coef=2.0)])
    >>> by_part()(lambda model: model.coef)(whole)
    array([1., 2.])
    """

    def wrap(method: Any) -> Any:
        @wraps(method)
        def asked(self: Any, *args: Any, **options: Any) -> Any:
            found = [method(part, *args, **options) for part in self._parts]
            if len(found) == 1:
                return found[0]
            if isinstance(found[0], tuple):
                return tuple(np.stack(one, axis=axis) for one in zip(*found, strict=True))
            return np.stack(found, axis=axis)

        return asked

    return wrap


class Estimator(TransformerMixin, BaseEstimator):
    """An estimator of one regression, or of several with the same X: one for each response, or each class.

    A fit goes three steps: the data are checked (`horseshoe.estimators.training_data`), fitted, and what was
    found is kept (`_keep_fit`, `_keep_parts`). The regressions are the ``_parts``: the estimator itself, or
    those in ``estimators_``. It also does what scikit-learn's `SelectorMixin` does, without the time that its
    import takes.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> X = np.random.default_rng(0).normal(size=(50, 3))
    >>> model = HorseshoeRegressor().fit(X, X[:, 1] + 0.1 * X[:, 0] * X[:, 2])
    >>> model.get_support(), model.get_feature_names_out().tolist(), model.transform(X).shape
    (array([False,  True, False]), ['x1'], (50, 1))
    """

    n_features_in_: int
    coef_: Vector
    scale_: Vector
    support_: Mask
    estimators_: list[Any]
    outputs_: Any
    _fitted: Any
    # What the regressions have, and the whole not, or not side by side.
    _of_parts_only = frozenset({"cv_prediction_"})
    # Read by scikit-learn's `SelectFromModel` alone: of an estimator that says so it takes what is not zero
    # (1e-5 or more), of any other what is above the mean, in units that differ from column to column.
    penalty = "l1"

    @property
    def _parts(self) -> list[Any]:
        """The regressions: the estimator itself, or one for each response or class."""
        return list(vars(self).get("estimators_", (self,)))

    @property
    def _is_joint(self) -> bool:
        """Whether several regressions are fitted together, so that they select the same variables."""
        return "outputs_" in vars(self)

    @property
    def _shared(self) -> frozenset[str]:
        """The names of what the regressions have in common."""
        return frozenset({"family_", "scale_"})

    def _answers(self, fitted: Any) -> dict[str, Any]:
        """Return what a fit says, by the name of the attribute."""
        raise NotImplementedError

    def _forget(self) -> None:
        """Delete what an earlier fit has left."""
        for name in (*PRIVATE, *fitted_attributes(self)):
            self.__dict__.pop(name, None)

    def _keep_header(self, header: Header) -> None:
        self._forget()
        self.n_features_in_ = header.n_columns
        if header.names is not None:
            self.feature_names_in_ = header.names

    def _keep_fit(self, header: Header, fitted: Any, training: Any = None, kept: Any = None) -> Self:
        """Keep the fit of one regression, with its training data if they are at hand."""
        self._keep_header(header)
        self._fitted = fitted
        self.__dict__.update(self._answers(fitted))
        for name, value in (("_training", training), ("_kept", kept)):
            if value is not None:
                self.__dict__[name] = value
        return self

    def _keep_parts(self, header: Header, parts: list[Any], **labels: Any) -> Self:
        """Keep several regressions with the ``outputs_`` or the ``classes_`` that they are for."""
        self._keep_header(header)
        self.estimators_ = parts
        self.__dict__.update(labels)
        for name in fitted_attributes(parts[0]):
            if name not in self._of_parts_only and name not in vars(self):
                values = [getattr(part, name) for part in parts]
                setattr(self, name, values[0] if name in self._shared else side_by_side(name, values))
        if self._is_joint:
            self.support_ = np.any([part.support_ for part in parts], axis=0)
            self.__dict__["status_"] = first_remark([part.status_ for part in parts])
        return self

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

    def transform(self, X: MatrixLike) -> Any:
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

    def coef_interval(
        self,
        level: float = 0.95,
        *,
        variables: VariableList | None = None,
        method: str = "auto",
        robust: bool | None = None,
        **options: Any,
    ) -> Matrix:
        """Return the interval of each coefficient.

        Parameters
        ----------
        level : float, default=0.95
            The coverage.
        variables : list of columns, optional
            The names or numbers of the columns that are asked for; all if left out.
        method : {"auto", "mode", "posterior"}, default="auto"
            Of a single mode. "mode": Gaussian at the mode, where a zero is a zero. "posterior": from draws of
            the whole posterior, which also say how sure the zeros are. "auto": as in
            `HorseshoeRegressor.predict_interval`. An average has one kind of interval, "auto", which is wide
            enough for its shrinkage.
        robust : None
            Intervals by the sandwich estimator are not there yet.
        **options
            Of `sample_posterior`, where draws are taken.

        Returns
        -------
        array of shape (n_features, 2), or (n_outputs, n_features, 2) or (n_classes, n_features, 2)
        """
        check_is_fitted(self)
        if robust:
            raise ValueError(
                f"robust={robust!r}: intervals by the sandwich estimator are not there yet; leave it out, or "
                "use method='posterior' of a Horseshoe estimator"
            )
        places = None if variables is None else self._places(variables)
        level = check_level(level)
        found = [part._interval(level, method, options) for part in self._parts]
        every: Matrix = found[0] if len(found) == 1 else np.stack(found)
        return every if places is None else every[..., places, :]

    def _places(self, variables: VariableList) -> list[int]:
        """Return the numbers of columns that are given by number or by name."""
        names = getattr(self, "feature_names_in_", None)
        known: dict[Any, int] = {} if names is None else {name: j for j, name in enumerate(names)}
        known |= {j: j for j in range(self.n_features_in_)}
        for variable in variables:
            if variable not in known:
                raise ValueError(f"variables has {variable!r}, and there is no such column in the fit")
        return [known[variable] for variable in variables]

    def _interval(self, level: float, method: str, options: dict[str, Any]) -> Matrix:
        """Return the interval of each coefficient of one regression."""
        raise NotImplementedError

    def summary(
        self,
        level: float = 0.95,
        exponentiate: bool = False,
        *,
        style: str = "frame",
        method: str = "auto",
        by: str = "column",
    ) -> Any:
        """Return the table of the fit: the intercept, and a row for each column of X.

        Of a single mode it has feature, coef, std, lower, upper, per_sd, shrinkage and selected; of an
        average feature, coef, lower, upper, per_sd, inclusion, sparse_coef and selected, and the weights of
        the components in ``attrs["component_weights"]``. ``per_sd`` is the effect of one standard deviation
        of the column; where it was known, there is the ``group`` of each column too, and whether it is
        unpenalised. The intercept is never "selected". Of several responses or classes, each has such rows,
        with its name in front.

        Parameters
        ----------
        level : float, default=0.95
            The coverage of the interval.
        exponentiate : bool, default=False
            Whether to add ``odds_ratio``, ``rate_ratio`` or ``hazard_ratio``, the exponential of ``coef``,
            and to give ``lower``, ``upper`` and ``per_sd`` as ratios too; for log odds, logarithms of means
            and of hazards.
        style : {"frame", "text", "html", "latex", "markdown"}, default="frame"
            "frame" is a data frame of pandas, which the extra ``horseshoe[pandas]`` installs. The others are
            texts for people, which need no pandas, with the numbers of `statistics` below the table.
        method : {"auto", "mode", "posterior"}, default="auto"
            Of the interval, as in `coef_interval`.
        by : {"column", "group"}, default="column"
            "group" returns a frame with a row for each group instead: group, size, norm (the root of the sum
            of squares of ``per_sd``), the inclusion of an average, and selected.

        Returns
        -------
        pandas.DataFrame or str
        """
        from horseshoe.report.summaries import summarize

        check_is_fitted(self)
        return summarize(self, style, level, exponentiate, by, method=method)

    def statistics(self) -> FitStatistics:
        """Return the fit in a few numbers: rows, columns, selected, explained, error of rows left out.

        Returns
        -------
        FitStatistics
            Numbers by name; ``lines()`` are the same as pairs of texts.
        """
        check_is_fitted(self)
        found: list[FitStatistics] = [part._statistics() for part in self._parts]
        if len(found) == 1:
            return found[0]
        return (all_outputs if self._is_joint else all_classes)(found, int(self.get_support().sum()))

    def _statistics(self) -> FitStatistics:
        """Return the numbers of one regression."""
        raise NotImplementedError

    def plot(self, kind: str = "coefficients", *rows: Any, **options: Any) -> Any:
        """Draw the fit; the same as ``horseshoe.plots.plot_<kind>``, which says what it shows.

        Parameters
        ----------
        kind : str, default="coefficients"
            "coefficients", "inclusion", "shrinkage", "components", "convergence", "observed", "residuals",
            "calibration", "roc", "rootogram" or "levels".
        *rows
            X and y, for pictures of rows; an average has predictions of its own rows by fits that have not
            seen them.
        **options
            Of the picture, such as ``ax``.

        Returns
        -------
        matplotlib.axes.Axes
        """
        from horseshoe import plots

        check_is_fitted(self)
        return getattr(plots, f"plot_{check_choice('kind', kind, KINDS_OF_PLOT)}")(self, *rows, **options)

    def report(
        self,
        path: FilePath,
        X: MatrixLike,
        y: VectorLike,
        *,
        level: float = 0.95,
        method: str = "auto",
        **details: Any,
    ) -> None:
        """Write a report of the fit to an HTML file: the answer in words, the table, and pictures.

        Parameters
        ----------
        path : str or path-like
            Where; the folder must be there.
        X, y
            The data of the fit, for the pictures of rows.
        level : float, default=0.95
            The coverage of the intervals.
        method : {"auto", "mode", "posterior"}, default="auto"
            Of the intervals, as in `coef_interval`.
        **details
            Of `horseshoe.report.page.build.ReportInput`: ``target``, the name of y; ``sample_weight``,
            ``offset``, ``exposure``, ``entry`` and ``strata`` of the fit; ``source``, ``title``, and others.
        """
        from horseshoe.files import write_text
        from horseshoe.report.page.build import ReportInput, build_page
        from horseshoe.report.page.html import render

        check_is_fitted(self)
        write_text(Path(path), render(build_page(self, ReportInput(X, y, **details), level, method)))

    def save(self, path: FilePath) -> None:
        """Write the fitted model to a file, which `horseshoe.load_model` reads.

        The file is JSON, exact to the last bit, without the training data. What was under this name stays
        until the new file is whole.

        Parameters
        ----------
        path : str or path-like
            Where; the folder must be there.
        """
        from horseshoe.estimators.saving import save_model

        save_model(self, path)

    def __getstate__(self) -> Any:
        """Leave the training data out of copies: they are large, and seldom needed."""
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_training"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _html_repr(self) -> str:
        """Return scikit-learn's diagram, and once fitted the selected columns below it."""
        from horseshoe.report.summaries import selected_table

        diagram = str(super()._html_repr())
        return diagram + selected_table(self) if "coef_" in vars(self) else diagram


def fitted_attributes(model: Any) -> list[str]:
    """Return the names of what a fit has set: they end in an underscore, and begin with none.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> fitted_attributes(SimpleNamespace(coef_=1.0, tau=1.0, _fitted=None))
    ['coef_']
    """
    return [name for name in vars(model) if name.endswith("_") and not name.startswith("_")]


def side_by_side(name: str, values: list[Any]) -> Any:
    """Return the values of one attribute of several regressions as one; of a single one as it is.

    Examples
    --------
    >>> side_by_side("n_iter_", [3, 5]), side_by_side("aliases_", [{0: (1,)}, {2: (3,)}])
    (array([3, 5]), {0: (1,), 2: (3,)})
    """
    first = values[0]
    if len(values) == 1:
        return first
    if isinstance(first, dict):
        return {key: value for one in values for key, value in one.items()}
    if isinstance(first, tuple | Status) or name == "component_weights_":  # of different lengths
        return tuple(values)
    return np.stack(values)


def named_aliases(names: Any, aliases: dict[int, tuple[int, ...]]) -> dict[Any, tuple[Any, ...]]:
    """Return which column stands for which, by the names of the columns if they have any.

    Examples
    --------
    >>> named_aliases(None, {0: (2, 3)}), named_aliases(["a", "b", "c"], {0: (2,)})
    ({0: (2, 3)}, {'a': ('c',)})
    """
    if names is None:
        return aliases
    return {names[first]: tuple(names[j] for j in tied) for first, tied in aliases.items()}


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
    names, known = own_names(X), vars(model).get("feature_names_in_")
    if names is None or known is None or columns.shape[1] != known.size:
        validate_data(model, header_of(X), reset=False, skip_check_array=True)
    elif not np.array_equal(names, known):
        j = int(np.argmax(names != known))
        raise ValueError(
            f"column {j} of X is {names[j]!r}, and was {known[j]!r} in the fit: the feature names should "
            "match those that were passed during fit"
        )
