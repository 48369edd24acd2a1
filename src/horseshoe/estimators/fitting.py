"""How a regressor is fitted: rows checked, the mode found, one response or several, and the answer kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from horseshoe._checks import check_choice, check_number
from horseshoe._types import Iteration, Mask, Status, Vector
from horseshoe.data.compressed import condensed
from horseshoe.data.fitted import Fitted
from horseshoe.data.offsets import check_known
from horseshoe.data.responses import Responses, check_responses, refuse_several_responses
from horseshoe.data.rows import Rows, known_rows
from horseshoe.data.structure import check_structure
from horseshoe.data.validation import check_x
from horseshoe.estimators.ending import WEIGHT_TYPES, first_remark, remark_weights, warn_unfinished, weigh
from horseshoe.estimators.intervals import Training
from horseshoe.estimators.outputs import Joint, forget_outputs, gather, outputs_of
from horseshoe.estimators.response import learned
from horseshoe.estimators.selector import hand_down_names, named_aliases, remember_columns
from horseshoe.estimators.settings import STARTS, check_sigma2, check_slab, em_options
from horseshoe.estimators.streamed import Chunk, Streamed, Sums, check_sums, products_of
from horseshoe.families import Family, resolve_family
from horseshoe.model.fit import Earlier, fit, fit_several
from horseshoe.model.spec import ModelSpec
from horseshoe.priors import resolve_global, resolve_known
from horseshoe.store.checkpoint import CheckpointSection

OF_EACH = ("coef_", "coef_std_", "intercept_", "sigma2_", "kappa_", "support_")
OF_ALL = ("family_", "lambda2_", "tau2_", "scale_", "aliases_", "n_iter_", "tau_at_bound_", "trace_")
"""What several responses have each, and what they share."""


class FittingMixin(Streamed):
    """The fit of `HorseshoeRegressor`, whose parameters it reads.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> model = HorseshoeRegressor()._fit([[1.0], [2.0], [3.0], [4.0]], [1.0, 2.1, 2.9, 4.0], None, None)
    >>> model.coef_.round(2), model.status_.name
    (array([0.98]), 'CONVERGED')
    """

    coef_: Vector
    coef_std_: Vector
    intercept_: float
    sigma2_: float
    family_: Family
    lambda2_: Vector
    tau2_: float
    support_: Mask
    aliases_: dict[Any, tuple[Any, ...]]
    scale_: Vector
    kappa_: Vector
    n_iter_: int
    status_: Status
    tau_at_bound_: bool
    trace_: tuple[Iteration, ...]
    n_features_in_: int
    estimators_: list[Any]
    outputs_: Any

    if TYPE_CHECKING:
        prior: Any
        tau: Any
        tau_max: Any
        lambda_power: Any
        sigma2: Any
        fit_intercept: bool
        standardize: bool
        slab: Any
        feature_groups: Any
        unpenalized: Any
        prior_scale: Any
        warm_start: bool
        start: Any
        random_state: Any

        get_params: Callable[..., dict[str, Any]]

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        offset: Any,
        exposure: Any = None,
        checkpoint: CheckpointSection | None = None,
    ) -> Self:
        """Fit without a warning, for those who fit several."""
        family = resolve_family(self.family)
        columns = check_x(X)
        n, p = columns.shape
        several = check_responses(y, n)
        if several is not None and not family.constant_weights:
            refuse_several_responses(y, n, f"the family {type(family).__name__}", family.several)
        weights = weigh(sample_weight, n, self.weight_type)
        first = y if several is None else several.values[:, 0]
        family, (response, _) = learned(family, first, n, weights)
        known = check_known(offset, exposure, n, family)
        family.check_offset(np.asarray(known))
        rows = known_rows(columns, response, weights, known)
        family = family.adapt_to(rows.y, rows.counts, rows.offset)
        self.__dict__.pop("_sums", None)
        if several is not None:
            self._fit_outputs(X, rows, family, several, checkpoint)
            return self
        return self._fit_rows(rows, family, lambda: remember_columns(self, X, p), checkpoint)

    def _fit_rows(
        self,
        rows: Rows,
        family: Family,
        remember: Callable[[], None],
        checkpoint: CheckpointSection | None = None,
    ) -> Self:
        """Find the mode of checked rows, and store it."""
        options, spec = em_options(self, checkpoint), self._spec(family, rows)
        fitted = remark_weights(fit(spec, rows, options, self._start(rows.columns.shape[1])), rows)
        remember()
        self._store(fitted)
        self._training = Training(rows._replace(y=rows.y + rows.level, level=0.0), spec)
        return self

    def _fit_outputs(
        self, X: Any, rows: Rows, family: Family, several: Responses, checkpoint: CheckpointSection | None
    ) -> None:
        """Fit several responses that share their scales."""
        options, spec = em_options(self, checkpoint), self._spec(family, rows)
        start = self._start(rows.columns.shape[1], len(several.names))
        if options.expectation not in ("exact", "approximate"):
            raise ValueError(
                f"expectation={options.expectation!r} is for one response, but y has {len(several.names)} "
                "columns: use 'exact', which shares one factor among all of them, or 'approximate'"
            )
        values = several.values if rows.number is None else several.values[rows.number]
        each = tuple(rows._replace(y=one.copy(), level=0.0) for one in values.T)
        fitted = tuple(remark_weights(one, rows) for one in fit_several(spec, each, options, start))
        remember_columns(self, X, rows.columns.shape[1])
        names = self.__dict__.get("feature_names_in_")
        joint = Joint(each, spec, fitted, several.names, names, self.random_state)
        parts = [self._part() for _ in fitted]
        for k, (part, one) in enumerate(zip(parts, fitted, strict=True)):
            part.n_features_in_ = self.n_features_in_
            part._store(one)
            part._training = Training(each[k], spec, joint, k)
        self._store_outputs(parts, several.names)

    def _part(self) -> Self:
        """Return a regression for one response of several that is to be given its fit."""
        return type(self)(**{**self.get_params(deep=False), "start": "auto", "warm_start": False})

    def _store_outputs(self, parts: list[Self], names: tuple[str, ...]) -> None:
        for name in ("_fitted", "_training", "_kept", "_sampled"):
            self.__dict__.pop(name, None)
        self.estimators_, self.outputs_ = parts, np.array(names, dtype=object)
        hand_down_names(self, parts)
        gather(self, OF_EACH, OF_ALL)
        self.support_ = np.asarray(self.support_.any(axis=0))
        self.status_ = first_remark([part.status_ for part in parts])

    def _spec(self, family: Family, rows: Rows) -> ModelSpec:
        return ModelSpec(
            family,
            resolve_known(self.prior),
            resolve_global(self.tau, self.tau_max),
            check_number("lambda_power", self.lambda_power, high=2.0),
            check_sigma2(self.sigma2, family.has_dispersion),
            self.fit_intercept,
            self.standardize,
            check_slab(self.slab),
            check_structure(self.feature_groups, self.unpenalized, self.prior_scale, rows.columns),
        )

    def _summed(self, sums: Sums | None, chunk: Chunk) -> Sums:
        more = products_of(chunk.columns, chunk.y, chunk.weights)
        return Sums((more,)) if sums is None else sums.plus(0, more)

    def _fit_sums(self) -> None:
        (products,) = self._sums.scaled(check_choice("weight_type", self.weight_type, WEIGHT_TYPES))
        check_sums(products, self.__dict__.get("feature_names_in_"))
        rows = condensed(products, self.fit_intercept).rows
        rows.columns.names = self.__dict__.get("feature_names_in_")
        self._fit_rows(rows, resolve_family(self.family), lambda: None)
        warn_unfinished(self.status_)

    def _start(self, n_columns: int, n_outputs: int = 1) -> Any:
        warm = self.warm_start and hasattr(self, "coef_")
        earlier = self if warm else self.start
        if isinstance(earlier, Earlier):
            return earlier
        if isinstance(earlier, tuple) and earlier and all(isinstance(one, Earlier) for one in earlier):
            if len(earlier) != n_outputs:
                raise ValueError(f"start has {len(earlier)} responses, but y has {n_outputs}")
            return earlier
        if not isinstance(earlier, FittingMixin):
            return check_choice("start", earlier, STARTS, " or a fitted HorseshoeRegressor")
        check_is_fitted(earlier, msg="start is a %(name)s that is not fitted: fit it before")
        what = "the earlier fit that warm_start=True starts from" if warm else "start"
        if earlier.n_features_in_ != n_columns:
            raise ValueError(
                f"{what} has {earlier.n_features_in_} coefficients, but X has {n_columns} columns"
            )
        parts = outputs_of(earlier) or [earlier]
        if len(parts) != n_outputs:
            raise ValueError(f"{what} has {len(parts)} responses, but y has {n_outputs}")
        starts = tuple(Earlier(one.coef_, one.coef_std_, one.intercept_, one.sigma2_) for one in parts)
        return starts if n_outputs > 1 else starts[0]

    def _store(self, fitted: Fitted) -> None:
        result = fitted.result
        forget_outputs(self)
        self._fitted = fitted
        self.__dict__.pop("_sampled", None)
        self.family_ = fitted.family
        self.coef_, self.coef_std_, self.intercept_ = fitted.coef, fitted.std, fitted.intercept
        self.support_ = self.coef_ != 0.0
        self.aliases_ = named_aliases(self, fitted.aliases)
        self.sigma2_, self.lambda2_, self.tau2_ = fitted.sigma2, fitted.lambda2, result.scales.tau2
        self.kappa_, self.scale_ = fitted.kappa, fitted.scale
        self.n_iter_, self.status_, self.trace_ = result.n_iter, result.status, result.trace
        self.tau_at_bound_ = result.tau_at_bound
