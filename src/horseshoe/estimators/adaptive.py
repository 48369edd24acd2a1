"""The average that adapts to the unknown sparsity: its parameters, its folds, and what it says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from horseshoe._checks import check_choice, check_jobs, check_random_state
from horseshoe._types import FeatureGroups, Matrix, PriorScale, Seed, VariableList, Vector
from horseshoe.average.components import COMPONENTS
from horseshoe.average.fit import RULES, fit_average
from horseshoe.average.folds import given_folds, own_folds
from horseshoe.average.held_out import LeftOut
from horseshoe.average.result import AverageFit, ComponentRow
from horseshoe.average.sets import Fold
from horseshoe.data.dense import Dense
from horseshoe.data.rows import Rows
from horseshoe.data.structure import check_structure
from horseshoe.data.view import View
from horseshoe.estimators.base import Estimator, Header, OnlyIf
from horseshoe.families import Family
from horseshoe.model.spec import Prepared
from horseshoe.report.statistics import FitStatistics
from horseshoe.store.checkpoint import CheckpointSection

# Of the folds where no random_state is given: the same data then have the same answer.
SEED = 0
Folds = tuple[Fold, ...]


def _no_posterior(model: Any) -> str:
    kind = type(model).__name__.replace("Adaptive", "Horseshoe")
    return f"an average has no posterior to draw from, and no selection by chance: use {kind}"


@dataclass(eq=False, repr=False, kw_only=True)
class AdaptiveParameters:
    """What all averages are made with; `AdaptiveRegressor` says what each means.

    Examples
    --------
    >>> AdaptiveParameters().cv
    10
    """

    components: Any = "default"
    cv: Any = 10
    selection: str = "1se"
    standardize: bool = True
    weight_type: str = "count"
    n_jobs: int | None = None
    callback: Callable[..., Any] | None = None
    random_state: Seed = None
    feature_groups: FeatureGroups | None = None
    unpenalized: VariableList | None = None
    prior_scale: PriorScale | None = None


class Adaptive(AdaptiveParameters, Estimator):
    """What `AdaptiveRegressor`, `AdaptiveClassifier` and `AdaptiveSurvival` have in common.

    Examples
    --------
    >>> from horseshoe import AdaptiveRegressor
    >>> isinstance(AdaptiveRegressor(), Adaptive)
    True
    """

    fit_intercept: bool
    intercept_: Any
    sparse_coef_: Vector
    sparse_intercept_: Any
    inclusion_: Vector
    components_: tuple[ComponentRow, ...]
    component_weights_: Any
    cv_error_: Any
    path_: tuple[Any, ...]
    calibration_slope_: Any
    sigma2_: Any
    cv_prediction_: Matrix
    family_: Family
    status_: Any
    _fitted: AverageFit

    def _component_names(self) -> tuple[str, ...] | None:
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

    def _folds(
        self,
        rows: Rows,
        X: Any,
        labels: Any,
        groups: Any,
        spread: Callable[[Vector, Vector, View], Vector] | None = None,
        check: Callable[[Folds], Folds] | None = None,
    ) -> Callable[[Prepared], Folds]:
        """Return what makes the folds once the columns are standardised.

        ``rows.y`` is spread evenly over the folds, or what ``spread`` makes of it, its weights and the
        columns. A splitter is given ``X`` and ``labels`` of all rows. ``check`` mends or refuses the folds.
        """
        whole = isinstance(self.cv, int | np.integer) and not isinstance(self.cv, bool)
        given = None if whole else given_folds(self.cv, rows, X, labels, groups)
        if whole and self.cv < 2:
            raise ValueError(f"cv={self.cv} must be at least 2: the number of folds")
        if whole and groups is not None:
            raise ValueError("groups go with a splitter: give cv=GroupKFold(), for one")
        seed = SEED if self.random_state is None or not whole else check_random_state(self.random_state)
        known = seed if isinstance(seed, int) else int(seed.integers(2**63))

        def make(prepared: Prepared) -> Folds:
            columns, free = prepared.design.columns, prepared.design.free
            if free is not None and not columns.shape[1]:  # every column is unpenalised
                columns = Dense(free.basis)
            y = rows.y if spread is None else spread(rows.y, rows.counts, columns)
            folds = own_folds(rows._replace(y=y), columns, int(self.cv), known) if given is None else given
            return folds if check is None else check(folds)

        return make

    def _average(
        self, rows: Rows, family: Family, folds: Any, checkpoint: CheckpointSection | None = None
    ) -> AverageFit:
        """Return the average of one regression."""
        return fit_average(rows, family, folds, checkpoint=checkpoint, **self._options(rows))

    def _options(self, rows: Rows) -> dict[str, Any]:
        """Return what the user has asked for, checked."""
        if self.callback is not None and not callable(self.callback):
            raise TypeError(f"callback={self.callback!r} must be callable: it is given each Progress")
        return {
            "names": self._component_names(),
            "rule": check_choice("selection", self.selection, RULES),
            "fit_intercept": bool(self.fit_intercept),
            "standardize": bool(self.standardize),
            "callback": self.callback,
            "n_jobs": check_jobs(self.n_jobs),
            "structure": check_structure(
                self.feature_groups, self.unpenalized, self.prior_scale, rows.columns
            ),
        }

    def _answers(self, fitted: AverageFit) -> dict[str, Any]:
        names = vars(self).get("feature_names_in_")
        found = {
            "family_": fitted.family,
            "status_": fitted.status,
            "sigma2_": fitted.sigma2,
            "coef_": fitted.coef,
            "intercept_": fitted.intercept,
            "sparse_coef_": fitted.sparse_coef,
            "sparse_intercept_": fitted.sparse_intercept,
            "support_": fitted.support,
            "inclusion_": fitted.inclusion,
            "components_": fitted.components,
            "component_weights_": np.array([row.weight for row in fitted.components]),
            "cv_error_": fitted.cv_error,
            "path_": tuple((j if names is None else names[j], left) for j, left in fitted.path),
            "calibration_slope_": 0.0 if fitted.average is None else fitted.average.slope,
            "scale_": fitted.scale,
        }
        if fitted.record.has_rows:
            found["cv_prediction_"] = fitted.record.everywhere(fitted.record.prediction)
        return found

    def _keep_parts(self, header: Header, parts: list[Any], **labels: Any) -> Self:
        super()._keep_parts(header, parts, **labels)
        if all("cv_prediction_" in vars(part) for part in parts):  # models from files hold no rows
            self.cv_prediction_ = np.column_stack([part.cv_prediction_ for part in parts])
        return self

    def _interval(self, level: float, method: str, options: dict[str, Any]) -> Matrix:
        check_choice("method", method, ("auto",))
        if options:
            raise TypeError(f"{', '.join(options)}: an average has intervals without options")
        return np.asarray(self._fitted.coef_interval(level))

    def _statistics(self) -> FitStatistics:
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
            noise_sd=float(np.sqrt(self.sigma2_)) if self.family_.is_location else None,
        )

    def left_out(self) -> LeftOut:
        """Return the rows of the fit that were left out at least once, and what was predicted of them then.

        Returns
        -------
        LeftOut
            ``y``, ``prediction`` on the scale of y, and ``weights``. A model that was loaded has none, and
            says so.
        """
        check_is_fitted(self)
        if "outputs_" in vars(self):
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

    @OnlyIf(_no_posterior)
    def sample_posterior(self, **options: Any) -> Any:
        """Refuse: an average has no posterior. Draw from that of a single mode."""

    @OnlyIf(_no_posterior)
    def chance_selection(self, *args: Any, **options: Any) -> Any:
        """Refuse: ask a single mode what it selects by chance."""
