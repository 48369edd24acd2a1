"""What the adaptive estimators share: the options of an average, and what is said of one that is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from horseshoe._checks import check_choice, check_jobs, check_level, check_random_state
from horseshoe._types import Mask, Matrix, Status, Vector
from horseshoe.average.components import COMPONENTS
from horseshoe.average.fit import RULES, fit_average
from horseshoe.average.folds import fair_codes, given_folds, own_folds
from horseshoe.average.held_out import LeftOut
from horseshoe.average.result import AverageFit, ComponentRow
from horseshoe.average.sets import Fold
from horseshoe.data.dense import Dense
from horseshoe.data.rows import Rows
from horseshoe.data.structure import check_structure
from horseshoe.estimators.outputs import by_output, forget_outputs, outputs_of
from horseshoe.estimators.selector import Selector
from horseshoe.families import Family
from horseshoe.model.spec import Prepared
from horseshoe.store.checkpoint import CheckpointSection

if TYPE_CHECKING:
    from horseshoe.report.statistics import FitStatistics

SEED = 0
"""Of the folds where no random_state is given: the same data then have the same answer."""


class AverageMixin(Selector):
    """What the adaptive estimators share: the options, and the sparse answer beside the average.

    Examples
    --------
    >>> from horseshoe import AdaptiveRegressor
    >>> isinstance(AdaptiveRegressor(), AverageMixin)
    True
    """

    components: Any
    cv: Any
    selection: str
    callback: Any
    n_jobs: int | None
    random_state: Any
    fit_intercept: bool
    standardize: bool
    feature_groups: Any
    unpenalized: Any
    prior_scale: Any

    def _names(self) -> tuple[str, ...] | None:
        """Return the names of the components; None if it is left to the data which."""
        if isinstance(self.components, str) and self.components == "default":
            return None
        if isinstance(self.components, str):
            given = [self.components]
        elif hasattr(self.components, "__iter__"):
            given = list(self.components)
        else:
            raise TypeError(f"components={self.components!r} must be 'default' or a list of names")
        for name in given:
            if not isinstance(name, str) or name not in COMPONENTS:
                raise ValueError(
                    f"components has {name!r}: the components are {', '.join(map(repr, COMPONENTS))}"
                )
        if not given or len(set(given)) < len(given):
            raise ValueError(f"components={self.components!r} must name one or more different components")
        return tuple(given)

    def _folds(self, rows: Rows, X: Any, labels: Any, groups: Any, classes: bool = False) -> Any:
        """Return the folds, or what makes them once the columns are standardised.

        ``classes`` says that ``rows.y`` are classes, whose order means nothing.
        """
        if isinstance(self.cv, bool) or not isinstance(self.cv, int | np.integer):
            return given_folds(self.cv, rows, X, labels, groups)
        if self.cv < 2:
            raise ValueError(f"cv={self.cv} must be at least 2: the number of folds")
        if groups is not None:
            raise ValueError("groups go with a splitter: give cv=GroupKFold(), for one")
        seed = SEED if self.random_state is None else check_random_state(self.random_state)
        known = seed if isinstance(seed, int) else int(seed.integers(2**63))

        def make(prepared: Prepared) -> tuple[Fold, ...]:
            columns, free = prepared.design.columns, prepared.design.free
            if free is not None and not columns.shape[1]:  # every column is always in
                columns = Dense(free.basis)
            y = fair_codes(rows.y, rows.counts, columns) if classes else rows.y
            return own_folds(rows._replace(y=y), columns, int(self.cv), known)

        return make

    def _adapt(
        self, rows: Rows, family: Family, folds: Any, checkpoint: CheckpointSection | None = None
    ) -> AverageFit:
        return fit_average(rows, family, folds, checkpoint=checkpoint, **self._options(rows))

    def _options(self, rows: Rows) -> dict[str, Any]:
        """Return what the user has asked for, checked."""
        if self.callback is not None and not callable(self.callback):
            raise TypeError(f"callback={self.callback!r} must be callable: it is given each Progress")
        return {
            "names": self._names(),
            "rule": check_choice("selection", self.selection, RULES),
            "fit_intercept": bool(self.fit_intercept),
            "standardize": bool(self.standardize),
            "callback": self.callback,
            "n_jobs": check_jobs(self.n_jobs),
            "structure": check_structure(
                self.feature_groups, self.unpenalized, self.prior_scale, rows.columns
            ),
        }


class Averaged(AverageMixin):
    """An estimator that is one average: its answers, from what `fit_average` has found.

    Examples
    --------
    >>> from horseshoe import AdaptiveRegressor
    >>> isinstance(AdaptiveRegressor(), Averaged)
    True
    """

    coef_: Vector
    intercept_: float
    sparse_coef_: Vector
    sparse_intercept_: float
    support_: Mask
    inclusion_: Vector
    components_: tuple[ComponentRow, ...]
    component_weights_: Vector
    cv_error_: float
    path_: tuple[tuple[Any, float], ...]
    calibration_slope_: float
    sigma2_: float
    scale_: Vector
    cv_prediction_: Vector
    family_: Family
    status_: Status
    n_features_in_: int

    @by_output()
    def coef_interval(self, level: float = 0.95) -> Matrix:
        """Return the interval of each coefficient.

        It is wide enough for the shrinkage of the average: its coverage of effects that are there is in
        experiments/results/adaptive.md.

        Parameters
        ----------
        level : float, default=0.95
            The coverage.

        Returns
        -------
        array of shape (n_features, 2)
        """
        check_is_fitted(self)
        return np.asarray(self._fitted.coef_interval(check_level(level)))

    def summary(
        self, level: float = 0.95, exponentiate: bool = False, by: str = "column", style: str = "frame"
    ) -> Any:
        """Return a data frame: feature, coef, lower, upper, per_sd, inclusion, sparse_coef, selected.

        The first row is the intercept, which is never "selected" and has no interval. ``per_sd`` is the
        effect of one standard deviation of the column. The weights of the components are in
        ``attrs["component_weights"]``. Needs pandas, which the extra ``horseshoe[pandas]`` installs.

        Parameters
        ----------
        level : float, default=0.95
            The coverage of the interval.
        exponentiate : bool, default=False
            Whether to add ``odds_ratio`` or ``rate_ratio``, the exponential of ``coef``, and to give
            ``lower``, ``upper`` and ``per_sd`` as ratios too; for log odds and logarithms of means.
        by : {"column", "group"}, default="column"
            As in `HorseshoeRegressor.summary`; with the inclusion of each group.
        style : {"frame", "text", "markdown", "latex", "html"}, default="frame"
            A data frame, for which pandas is needed, or a text with the numbers of the fit below.

        Returns
        -------
        pandas.DataFrame or str
        """
        from horseshoe.report.summaries import summarize

        check_is_fitted(self)
        return summarize(self, style, level, exponentiate, by)

    def left_out(self) -> LeftOut:
        """Return the rows of the fit that were left out at least once, and what was predicted of them then.

        Returns
        -------
        LeftOut
            ``y``, ``prediction`` on the scale of y, and ``weights``. A model that was loaded has none, and
            says so.
        """
        check_is_fitted(self)
        if outputs_of(self):
            raise ValueError(
                f"the model has {len(self.outputs_)} responses: ask one of them, as in "
                "estimators_[0].left_out()"
            )
        record = self._fitted.record
        if not record.has_rows:
            raise ValueError(
                "models from files, and those of partial_fit, do not hold the rows that were left out: give "
                "rows, X and y"
            )
        found: LeftOut = record.left_out()
        return found

    def _statistics(self) -> FitStatistics:
        from horseshoe.report.statistics import FitStatistics, all_outputs

        if outputs_of(self):
            found = [part.statistics() for part in outputs_of(self)]
            return all_outputs(found, int(self.support_.sum()))
        record = self._fitted.record
        return FitStatistics(
            n=record.n,
            p=self.n_features_in_,
            n_selected=int(self.support_.sum()),
            family=type(self.family_).__name__,
            has_noise=self.family_.squared_error,
            deviance=record.deviance,
            status=self.status_,
            cv_deviance=record.cv_deviance,
            cv_error=self.cv_error_,
            n_events=getattr(self, "n_events_", None),
            cv_concordance=getattr(self.__dict__.get("_baseline"), "concordance", None),
            noise_sd=float(np.sqrt(self.sigma2_)) if self.family_.is_location else None,
        )

    def _store(self, fitted: AverageFit) -> None:
        forget_outputs(self)
        self._fitted = fitted
        self.family_, self.status_, self.sigma2_ = fitted.family, fitted.status, fitted.sigma2
        self.coef_, self.intercept_ = fitted.coef, fitted.intercept
        self.sparse_coef_, self.sparse_intercept_ = fitted.sparse_coef, fitted.sparse_intercept
        self.support_, self.inclusion_ = fitted.support, fitted.inclusion
        self.components_, self.cv_error_ = fitted.components, fitted.cv_error
        self.component_weights_ = np.array([row.weight for row in fitted.components])
        names = self.__dict__.get("feature_names_in_")
        self.path_ = tuple((j if names is None else names[j], left) for j, left in fitted.path)
        self.calibration_slope_ = 0.0 if fitted.average is None else fitted.average.slope
        self.scale_ = fitted.scale
        self.__dict__.pop("cv_prediction_", None)
        if fitted.record.has_rows:
            self.cv_prediction_ = fitted.record.everywhere(fitted.record.prediction)
