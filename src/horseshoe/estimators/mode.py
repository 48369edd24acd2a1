"""A single posterior mode, of one regression or of several: how it is found, its intervals, its posterior."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from horseshoe._checks import check_choice, check_level, check_number
from horseshoe._types import Matrix, MatrixLike, Seed, Vector, VectorLike
from horseshoe.data.fitted import Fitted
from horseshoe.data.rows import Rows
from horseshoe.data.structure import check_structure
from horseshoe.data.view import View
from horseshoe.estimators.base import Estimator, Header, by_part, named_aliases
from horseshoe.estimators.convergence import remark_weights
from horseshoe.estimators.parameters import ModeParameters, check_sigma2, check_slab, em_options
from horseshoe.estimators.permutation import ChanceSelection, compare_with_shuffled
from horseshoe.estimators.training import FittedModes, Kept, Training
from horseshoe.families import Family
from horseshoe.families.deviance import deviance
from horseshoe.model.final_status import expected_by_chance
from horseshoe.model.fit import Earlier, fit
from horseshoe.model.spec import ModelSpec
from horseshoe.posterior.draws import Posterior
from horseshoe.posterior.predictive import half_width
from horseshoe.priors import resolve_global, resolve_known
from horseshoe.report.statistics import FitStatistics
from horseshoe.store.checkpoint import CheckpointSection

# Above it the ends of intervals are not to be trusted.
ROUGH_RHAT = 1.05
# What regressions that are fitted together have in common.
SHARED = frozenset({"lambda2_", "tau2_", "n_iter_", "tau_at_bound_", "trace_", "aliases_"})


class Mode(ModeParameters, Estimator):
    """What `HorseshoeRegressor`, `HorseshoeClassifier` and `HorseshoeSurvival` have in common.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> x = np.arange(20.0)
    >>> model = HorseshoeRegressor().fit(x[:, None], 3.0 * x + np.cos(x))
    >>> model.coef_interval().round(1), model.intercept_interval().round(1)
    (array([[2.9, 3.1]]), array([-0.6,  0.7]))
    """

    fit_intercept: bool
    sigma2: str | float
    coef_std_: Vector
    intercept_: Any
    sigma2_: Any
    family_: Family
    lambda2_: Vector
    tau2_: Any
    aliases_: dict[Any, tuple[Any, ...]]
    kappa_: Vector
    n_iter_: Any
    status_: Any
    tau_at_bound_: Any
    trace_: tuple[Any, ...]
    _fitted: Fitted
    _training: Training
    _start_names: tuple[str, ...] = ("auto", "paper", "variance", "linear", "marginal")

    @property
    def _shared(self) -> frozenset[str]:
        """What the regressions have in common."""
        return super()._shared | (SHARED if self._is_joint else frozenset())

    def _spec(self, family: Family, columns: View) -> ModelSpec:
        """Return the model, from parameters that are checked here."""
        return ModelSpec(
            family,
            resolve_known(self.prior),
            resolve_global(self.tau, self.tau_max),
            check_number("lambda_power", self.lambda_power, high=2.0),
            check_sigma2(self.sigma2, family.has_dispersion),
            self.fit_intercept,
            self.standardize,
            check_slab(self.slab),
            check_structure(self.feature_groups, self.unpenalized, self.prior_scale, columns),
        )

    @property
    def _earlier(self) -> tuple[bool, Any]:
        """Whether the fit starts at the estimator's own last fit, and where it starts."""
        warm = bool(self.warm_start) and "coef_" in vars(self)
        return warm, self if warm else self.start

    def _starts(self, n_columns: int, n_parts: int) -> list[str] | list[Earlier]:
        """Return where each regression starts: the name of a start, or an earlier fit."""
        warm, earlier = self._earlier
        what = "the earlier fit that warm_start=True starts from" if warm else "start"
        starts: Any = [earlier] if isinstance(earlier, Earlier) else earlier
        if isinstance(earlier, Mode) and self._takes_start(earlier):
            check_is_fitted(earlier, msg="start is a %(name)s that is not fitted: fit it before")
            if earlier.n_features_in_ != n_columns:
                found = f"{earlier.n_features_in_} coefficients, but X has {n_columns} columns"
                raise ValueError(f"{what} has {found}")
            starts = earlier_fits(earlier)
        given = isinstance(starts, tuple | list) and len(starts) > 0
        if not given or not all(isinstance(one, Earlier) for one in starts):
            kind = type(self).__name__
            return [check_choice("start", earlier, self._start_names, f" or a fitted {kind}")] * n_parts
        if len(starts) != n_parts:
            raise ValueError(f"{what} has {len(starts)} responses, but y has {n_parts}")
        return list(starts)

    def _takes_start(self, earlier: Mode) -> bool:
        """Tell whether a fit may start at one of this kind."""
        return not hasattr(earlier, "decision_function")

    def _find_mode(
        self, spec: ModelSpec, rows: Rows, start: Any, checkpoint: CheckpointSection | None = None
    ) -> Fitted:
        """Return the mode of one regression."""
        return remark_weights(fit(spec, rows, em_options(self, checkpoint), start), rows)

    def _own_training(self, header: Header, spec: ModelSpec, rows: Rows, fitted: Fitted) -> Training:
        """Return a copy of what was fitted, which the user's y does not change."""
        rows = rows._replace(y=rows.y + rows.level, level=0.0)
        return Training(rows, FittedModes((rows,), spec, (fitted,), header.names))

    def _find_joint_modes(
        self,
        header: Header,
        spec: ModelSpec,
        rows: tuple[Rows, ...],
        labels: tuple[Any, ...],
        solve: Any,
        checkpoint: CheckpointSection | None,
        refusal: str,
    ) -> list[Any]:
        """Return a regression for each of ``rows``, which differ in y alone: they share their scales.

        ``refusal`` says why not every kind of expectation will do.
        """
        options = em_options(self, checkpoint)
        starts = self._starts(header.n_columns, len(rows))
        if options.expectation not in ("exact", "approximate"):
            raise ValueError(f"expectation={options.expectation!r} {refusal}")
        start = starts[0] if isinstance(starts[0], str) else tuple(starts)
        found = tuple(remark_weights(one, rows[0]) for one in solve(spec, rows, options, start))
        modes = FittedModes(rows, spec, found, header.names, labels)
        trainings = [Training(one, modes, place) for place, one in enumerate(rows)]
        return [self._part()._keep_fit(header, *one) for one in zip(found, trainings, strict=True)]

    def _part(self) -> Any:
        """Return an estimator of one of several regressions, without a fit."""
        raise NotImplementedError

    @by_part()
    def intercept_interval(self, level: float = 0.95, method: str = "auto", **options: Any) -> Vector:
        """Return the interval of the intercept: of the linear predictor where every column is zero.

        Parameters
        ----------
        level, method, **options
            As in `coef_interval`.

        Returns
        -------
        array of shape (2,), or (n_outputs, 2) for several responses
        """
        check_is_fitted(self)
        level = check_level(level)
        if self._by_posterior(method, options):
            return self._interval_draws(options).interval(level, of="intercept")
        return np.asarray(normal_interval(self.intercept_, self.intercept_std_, level))

    @property
    @by_part()
    def intercept_std_(self) -> Any:
        """The standard deviation of the intercept, given the selection as those of the coefficients."""
        if "_fitted" not in vars(self):
            raise AttributeError("intercept_std_ is there after fit")
        return self._fitted.intercept_std

    @property
    def expected_by_chance_(self) -> Any:
        """How many columns would be selected if none had an effect; one number for each class of several."""
        if "coef_" not in vars(self):
            raise AttributeError("expected_by_chance_ is there after fit")
        parts = self._parts
        if not self._is_joint:
            found = [expected_by_chance(part._fitted) for part in parts]
            return found[0] if len(found) == 1 else np.array(found)
        varying = (part._fitted for part in parts if part._fitted.hyper is not None)  # they share columns
        return next((expected_by_chance(fitted) for fitted in varying), 0.0)

    def sample_posterior(self, **options: Any) -> Any:
        """Draw from the posterior of which this fit is the mode, with the same prior, for the same data.

        The data must not have been changed since `fit`. Asked again with the same options, it returns the
        same draws.

        Parameters
        ----------
        **options
            n_draws, n_warmup, n_chains, thin, store_lambda2, n_jobs, progress, checkpoint, max_memory and
            random_state (the estimator's own if left out), as in `horseshoe.sample_posterior`.

        Returns
        -------
        Posterior, or SeveralPosterior for several responses, and for classes with "multinomial"
            Of two classes, that of the second against the first.
        """
        check_is_fitted(self)
        parts = self._parts
        if len(parts) > 1 and not self._is_joint:
            raise ValueError(
                f"the model has {len(parts)} classes, one against the rest: "
                "ask one of them, as in estimators_[0].sample_posterior()"
            )
        training = vars(parts[0]).get("_training")
        if training is None:
            raise ValueError(
                "copies of a fit, and models from files, do not hold its data: fit again, or call "
                "horseshoe.sample_posterior; intervals with method='mode' need none"
            )
        draws = training.modes.draw({"random_state": self.random_state, **options})
        return draws[self._training.place] if parts == [self] and training.is_joint else draws

    def chance_selection(
        self,
        X: MatrixLike,
        y: VectorLike,
        n_permutations: int = 20,
        n_jobs: int | None = None,
        random_state: Seed = 0,
        **fit_params: Any,
    ) -> ChanceSelection:
        """Fit to the data and, as often as asked, to data whose rows of X are shuffled against y.

        View keep their correlations, and y its weights and offsets; only what X has to do with y is lost.
        The estimator itself is not changed.

        Parameters
        ----------
        X, y
            As in `fit`.
        n_permutations : int, default=20
            How often.
        n_jobs : int, optional
            Processes; -1 is one for each core.
        random_state : int, numpy.random.Generator or RandomState, default=0
            Seed of the shuffles.
        **fit_params
            ``sample_weight`` and what else `fit` takes.

        Returns
        -------
        ChanceSelection
            Its ``is_noise`` is the verdict.

        Examples
        --------
        >>> from horseshoe import HorseshoeRegressor
        >>> X = np.random.default_rng(0).standard_normal((50, 200))
        >>> HorseshoeRegressor().chance_selection(X, X[:, 0] + X[:, 1], n_permutations=5).is_noise
        False
        """
        return compare_with_shuffled(self, X, y, n_permutations, n_jobs, random_state, fit_params)

    def _answers(self, fitted: Fitted) -> dict[str, Any]:
        result = fitted.result
        return {
            "family_": fitted.family,
            "coef_": fitted.coef,
            "coef_std_": fitted.std,
            "intercept_": fitted.intercept,
            "support_": fitted.coef != 0.0,
            "aliases_": named_aliases(vars(self).get("feature_names_in_"), fitted.aliases),
            "sigma2_": fitted.sigma2,
            "lambda2_": fitted.lambda2,
            "tau2_": result.scales.tau2,
            "kappa_": fitted.kappa,
            "scale_": fitted.scale,
            "n_iter_": result.n_iter,
            "status_": result.status,
            "trace_": result.trace,
            "tau_at_bound_": result.tau_at_bound,
        }

    def _interval(self, level: float, method: str, options: dict[str, Any]) -> Matrix:
        if self._by_posterior(method, options):
            return self._interval_draws(options).interval(level)
        return np.asarray(normal_interval(self.coef_, self.coef_std_, level))

    def _by_posterior(self, method: Any, options: dict[str, Any]) -> bool:
        """Tell whether draws are to be taken; options without them are a mistake."""
        choice = check_choice("method", method, ("auto", "mode", "posterior"))
        if choice == "auto":
            choice = self.family_.interval if self._has_sampler() else "mode"
        if choice == "mode" and options:
            raise TypeError(f"{', '.join(options)}: options of sample_posterior go with method='posterior'")
        return choice == "posterior"

    def _has_sampler(self) -> bool:
        """Tell whether there is a posterior to draw from; of a copy without its data, that there would be."""
        from horseshoe.model.sample import can_sample  # imported here: most fits are never sampled from

        training = vars(self).get("_training")
        return training is None or can_sample(training.spec, training.rows, self.status_)

    def _interval_draws(self, options: dict[str, Any]) -> Posterior:
        """Return draws that are the same whenever intervals are asked for, seed or none.

        The ends of intervals ask less of the chains than the last digit of a mean does.
        """
        seed = {} if self.random_state is not None else {"random_state": 0}
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="R-hat is not below")
            draws: Posterior = self.sample_posterior(**{**seed, **options})
        worst = float(np.nanmax(draws.rhat(), initial=1.0))
        if worst > ROUGH_RHAT:
            warnings.warn(
                f"R-hat is {worst:.2f}: the chains behind these intervals do not agree yet; ask for more "
                "n_draws, or for method='mode'",
                stacklevel=3,
            )
        return draws

    def __getstate__(self) -> Any:
        """Leave the training data out of copies, but for a few numbers."""
        state: Any = super().__getstate__()
        return state | {"_kept": self._keep()} if "_fitted" in state else state

    def _keep(self) -> Kept | None:
        """Return what is kept of the training data, computed when it is first asked for."""
        training, known = vars(self).get("_training"), vars(self).get("_kept")
        if training is None or known is not None:
            return known
        rows, family = training.rows, self._likelihood
        eta = self._fitted.linear_predictor(rows.columns) + rows.offset
        return Kept(rows.n_seen, deviance(family, rows.y, eta, rows.counts, rows.offset))

    @property
    def _likelihood(self) -> Family:
        """The family that knows the training rows."""
        return self.family_

    def _statistics(self) -> FitStatistics:
        kept = self._keep()
        return FitStatistics(
            n=0 if kept is None else kept.n,
            p=self.n_features_in_,
            n_selected=int(self.support_.sum()),
            family=type(self.family_).__name__,
            has_noise=self.family_.squared_error,
            deviance=None if kept is None else kept.deviance,
            status=self.status_,
            noise_sd=float(np.sqrt(self.sigma2_)) if self.family_.is_location else None,
            n_iter=self.n_iter_,
            expected_by_chance=self.expected_by_chance_,
        )


def earlier_fits(model: Mode) -> tuple[Earlier, ...]:
    """Return the regressions of a fitted model as what other fits start from.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> earlier_fits(HorseshoeRegressor().fit([[1.0], [2.0], [3.0]], [1.0, 2.0, 2.5]))[0].coef
    array([0.])
    """
    return tuple(Earlier(one.coef_, one.coef_std_, one.intercept_, one.sigma2_) for one in model._parts)


def normal_interval(mean: Any, std: Any, level: float) -> Any:
    """Return the central intervals of normal distributions, (lower, upper) along the last axis.

    Examples
    --------
    >>> normal_interval(np.array([1.0, 2.0]), np.array([1.0, 0.0]), 0.95).round(2)
    array([[-0.96,  2.96],
           [ 2.  ,  2.  ]])
    """
    reach = half_width(level) * std
    return np.stack([mean - reach, mean + reach], axis=-1)
