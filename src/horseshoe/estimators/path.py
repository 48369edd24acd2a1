"""Fits along a grid of one parameter, each started at the one before."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from horseshoe._types import Matrix, MatrixLike, PerRow, Status, Vector, VectorLike
from horseshoe.data.validation import check_x
from horseshoe.estimators.base import read_header
from horseshoe.estimators.mode import Mode, earlier_fits
from horseshoe.estimators.path_grid import Grid, check_grid
from horseshoe.estimators.regressor import HorseshoeRegressor
from horseshoe.report.parts import feature_names
from horseshoe.report.tables import path_frame


@dataclass(frozen=True, eq=False)
class Path:
    """The fits along a grid, from the richest to the sparsest; `horseshoe.plots.plot_path` draws it.

    Attributes
    ----------
    over : str
        The parameter that changes.
    values : array of shape (k,)
        Its values, in the order in which they were fitted.
    estimators : tuple of HorseshoeRegressor or HorseshoeClassifier
        The fit at each of them.
    coef : array of shape (k, n_features)
        Their coefficients, in the user's units; (k, n_classes, n_features) for more than two classes.
    n_selected : int array of shape (k,)
        How many columns each selects; of more than two classes, in any of them.
    status : tuple
        The ``status_`` of each.
    feature_names : tuple of str
        The names of the columns; x0, x1, ... if they have none.
    warm_start : bool
        Whether each fit started at the one before.

    Examples
    --------
    >>> from horseshoe import horseshoe_path
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((100, 20))
    >>> path = horseshoe_path(X, 2.0 * X[:, 3] + rng.standard_normal(100), values=[0.001, 1.0])
    >>> path.values, path.coef.shape, path.estimators[1].get_feature_names_out().tolist()
    (array([1.   , 0.001]), (2, 20), ['x3'])
    """

    over: str
    values: Vector
    estimators: tuple[Mode, ...]
    coef: Matrix
    n_selected: NDArray[np.intp]
    status: tuple[Status | tuple[Status, ...], ...]
    feature_names: tuple[str, ...]
    warm_start: bool

    def summary(self) -> Any:
        """Return a data frame with a row for each value; of more than two classes, for each of them too.

        Its columns are the parameter, n_selected, expected_by_chance, n_iter and status. Needs pandas, which
        the extra ``horseshoe[pandas]`` installs.

        Returns
        -------
        pandas.DataFrame
        """
        return path_frame(self)


def horseshoe_path(
    X: MatrixLike,
    y: VectorLike,
    over: str = "tau",
    values: Any = None,
    estimator: Mode | None = None,
    sample_weight: PerRow = None,
    offset: PerRow = None,
    exposure: PerRow = None,
    warm_start: bool = True,
    **fit_params: Any,
) -> Path:
    """Fit along a grid of one parameter, from the richest fit to the sparsest, each started at the last.

    Which mode EM finds depends on where it starts. A column that was in the last fit starts with the effect
    that it had there; one that went does not come back, if the prior selects. So the order matters, and
    with many columns the fits are not those that each value gives on its own.

    Parameters
    ----------
    X, y
        As in `fit` of the estimator.
    over : str, default="tau"
        The parameter: "tau", "tau_max", "lambda_power", "slab", "sigma2", or one of the prior's own, such as
        "a" and "b" of `InvertedBeta`.
    values : array-like of numbers, optional
        In any order: they are sorted from rich to sparse, which is downwards for "tau", "tau_max" and "slab",
        upwards for "lambda_power" and "sigma2". Parameters of the prior are taken in the order given. If left
        out: 31 values of "tau" and of "tau_max" from the estimator's ``tau_max`` to a thousandth of it; 21
        values of "slab" from 10 to 0.1; the lambda powers from 1.25 to 2, an eighth apart, in which the
        prior selects. "sigma2" and parameters of the prior need values.
    estimator : HorseshoeRegressor, HorseshoeClassifier or HorseshoeSurvival, optional
        Has all other parameters, and is not changed; if it is fitted, that fit has no say.
        `HorseshoeRegressor()` if left out. The first fit starts at its ``start``; its ``callback`` is given
        the iterations of every fit.
    sample_weight, offset, exposure
        As in `fit` of the estimator.
    warm_start : bool, default=True
        Whether each fit starts at the one before. If not, all start at the estimator's ``start``.
    **fit_params
        ``entry`` and ``strata``, of `HorseshoeSurvival`.

    Returns
    -------
    Path

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` was reached; it says where.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from horseshoe import horseshoe_path
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> path = horseshoe_path(X, y, values=[1.0, 0.1, 0.01, 0.001])
    >>> path.n_selected
    array([5, 5, 3, 3])
    """
    base = _check_estimator(estimator)
    grid = check_grid(base, over, values)
    known = {"sample_weight": sample_weight, "offset": offset, **fit_params}
    if type(base) is HorseshoeRegressor:
        known["exposure"] = exposure
    elif exposure is not None:
        name = type(base).__name__
        raise ValueError(f"exposure is for counts, and a {name} takes none: leave it out")
    if not isinstance(warm_start, bool | np.bool_):
        raise TypeError(f"warm_start={warm_start!r} must be True or False")
    models = _fits(base, grid, X, y, known, bool(warm_start))
    _warn_unfinished(grid, models)
    return Path(
        over,
        grid.values,
        models,
        np.stack([model.coef_ for model in models]),
        np.array([int(model.get_support().sum()) for model in models]),
        tuple(model.status_ for model in models),
        tuple(feature_names(models[0])),
        bool(warm_start),
    )


def _check_estimator(estimator: Any) -> Mode:
    if estimator is None:
        return HorseshoeRegressor()
    if isinstance(estimator, type) and issubclass(estimator, Mode):
        name = estimator.__name__
        raise TypeError(f"estimator={name} is a class: hand in one of its kind, such as {name}()")
    if not isinstance(estimator, Mode):
        raise TypeError(
            f"estimator={estimator!r} must be a HorseshoeRegressor, a HorseshoeClassifier or a "
            "HorseshoeSurvival, or None"
        )
    return estimator


def _fits(base: Mode, grid: Grid, X: Any, y: Any, known: Any, warm_start: bool) -> tuple[Mode, ...]:
    """Return the fits, which share the columns of X."""
    from sklearn.exceptions import ConvergenceWarning

    columns, start = check_x(X), base.start
    read_header(X, columns)  # which refuses names of several types
    models: list[Mode] = []
    for settings in grid.settings:
        given = {**base.get_params(deep=False), **settings, "start": start, "warm_start": False}
        model = type(base)(**given)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(columns, y, **known)
        if warm_start:  # what is zero here is not tried again
            earlier = tuple(one._replace(again=False) for one in earlier_fits(model))
            start = earlier[0] if len(earlier) == 1 else earlier
        model.start = base.start  # where it goes if it is fitted again
        models.append(model)
    return tuple(models)


def _warn_unfinished(grid: Grid, models: tuple[Mode, ...]) -> None:
    """Warn the caller of the caller, once, if fits reached ``max_iter``."""
    from sklearn.exceptions import ConvergenceWarning

    places = [
        f"{value:g}"
        for value, model in zip(grid.values, models, strict=True)
        if Status.MAX_ITER in np.ravel(np.array(model.status_, dtype=object))
    ]
    if places:
        few = ", ".join(places[:5]) + (", ..." if len(places) > 5 else "")
        where = f"{len(places)} of {len(models)} fits, at {grid.over} = {few}"
        warnings.warn(f"{Status.MAX_ITER} ({where})", ConvergenceWarning, stacklevel=3)
