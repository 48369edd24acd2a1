"""From X, y to draws: what users call. Here the input is checked, `horseshoe.model` does the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from horseshoe._checks import check_number
from horseshoe._types import (
    FeatureGroups,
    FilePath,
    MatrixLike,
    PerRow,
    PriorScale,
    Seed,
    VariableList,
    VectorLike,
)
from horseshoe.data.structure import check_structure
from horseshoe.estimators.base import read_header
from horseshoe.estimators.checked_data import check_regression
from horseshoe.estimators.convergence import remark_weights, warn_unfinished_mode, weigh
from horseshoe.estimators.parameters import check_sigma2, check_slab
from horseshoe.estimators.training import FittedModes
from horseshoe.families import Family
from horseshoe.model.fit import fit, fit_several
from horseshoe.model.sample import refuse_fractions, sample, sample_several
from horseshoe.model.spec import ModelSpec
from horseshoe.posterior.draws import Posterior
from horseshoe.posterior.run import MAX_MEMORY, RunOptions
from horseshoe.posterior.several import SeveralPosterior
from horseshoe.priors import GlobalPrior, HalfCauchy, LocalPrior, resolve_global, resolve_local, settled
from horseshoe.sampling.chains import Plan, Progress


def sample_posterior(
    X: MatrixLike,
    y: VectorLike,
    family: str | Family = "gaussian",
    prior: str | LocalPrior = "horseshoe",
    n_draws: int = 1000,
    n_warmup: int = 1000,
    n_chains: int = 4,
    random_state: Seed = None,
    progress: bool | Callable[[Progress], Any] = False,
    *,
    tau: str | float | GlobalPrior = "estimate",
    tau_max: float | None = None,
    sigma2: str | float = "estimate",
    fit_intercept: bool = True,
    standardize: bool = True,
    slab: float | None = None,
    feature_groups: FeatureGroups | None = None,
    unpenalized: VariableList | None = None,
    prior_scale: PriorScale | None = None,
    sample_weight: PerRow = None,
    offset: PerRow = None,
    exposure: PerRow = None,
    weight_type: str = "count",
    thin: int = 1,
    store_lambda2: bool = False,
    n_jobs: int | None = None,
    checkpoint: FilePath | None = None,
    max_memory: float = MAX_MEMORY,
) -> Any:
    """Draw from the posterior distribution of which the estimators find the mode.

    Gibbs sampling; Poisson counts, amounts, Huber's noise and families of your own by Gaussian proposals that
    are corrected.
    "binomial" and "negative_binomial" need the package polyagamma, which the extra ``horseshoe[posterior]``
    installs.

    Parameters
    ----------
    X, y : array-like
        As in `HorseshoeRegressor`; for "binomial" y is 0 or 1, a proportion, or one of two labels. Several
        columns of y share the local scales; more than two classes do in
        ``HorseshoeClassifier(multi_class="multinomial").fit(X, y).sample_posterior()``.
    family : str or Family, default="gaussian"
        Also "student_t", "laplace", "huber", "quantile", "poisson", "negative_binomial", "gamma", "tweedie",
        "binomial", or an object of `horseshoe.families`.
    prior : str or LocalPrior, default="horseshoe"
        As in `HorseshoeRegressor`. ``InvertedBeta(a="estimate", b="estimate")`` (or one of the two) draws the
        shapes of the prior too, so that the posterior mean adapts to how sparse the truth is; the mode,
        around which the chains start, is that of 1/2 for each.
    n_draws, n_warmup, n_chains : int
        Draws that are kept of each chain, sweeps before them that are not, and chains.
    random_state : int, numpy.random.Generator or RandomState, optional
        The same seed gives the same draws, whatever ``n_jobs`` is.
    progress : bool or callable, default=False
        True writes to standard error how far the run is, with R-hat and the effective sample size; a function
        is called with each `Progress`.
    tau : "estimate", float or GlobalPrior, default="estimate"
        The global scale; a number fixes it.
    tau_max : float, optional
        None: tau is half-Cauchy on (0, infinity) for columns of unit length, as in bayesreg. A number: it is
        half-Cauchy(0, 1) on (0, tau_max) for columns of unit variance, as where the mode is found.
    sigma2 : "estimate" or float
        The noise variance, if it is known.
    fit_intercept, standardize : bool
    slab, feature_groups, unpenalized, prior_scale : optional
        As in `HorseshoeRegressor`; the columns that are always in have a flat prior.
    sample_weight, offset, exposure : array-like of shape (n,), optional
        As in ``HorseshoeRegressor.fit``.
    weight_type : {"count", "precision"}, default="count"
        As in `HorseshoeRegressor`.
    thin : int, default=1
        Keep every so-manieth sweep.
    store_lambda2 : bool, default=False
        Whether to keep the draws of the local scales, which doubles the memory.
    n_jobs : int, optional
        Processes; -1 is one for each core, None starts them only where there is work enough.
    checkpoint : path, optional
        A file to which the run is written as it goes. If it is there already, the run goes on from it, to the
        same draws as if it had never stopped; more ``n_draws`` than before are added to those that are there.
    max_memory : float, default=2 GiB
        Bytes that the draws may take; more are refused before anything is drawn.

    Returns
    -------
    Posterior, or SeveralPosterior
        The latter where y has several columns. With fewer draws than asked for after Ctrl-C, and a warning.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from horseshoe import sample_posterior
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> posterior = sample_posterior(X, y, random_state=0)
    >>> posterior.coef.shape
    (4, 1000, 10)
    >>> abs(posterior.mean()[2] - 5.77) < 0.1  # bmi
    np.True_
    """
    columns, data = check_regression(
        X, y, family, weight_type, sample_weight, offset, exposure, two_labels=True
    )
    kind, rows, header = data.family, data.rows, read_header(X, columns)
    refuse_fractions(weigh(sample_weight, columns.shape[0], weight_type), kind)
    plan = _plan(n_chains, n_warmup, n_draws, thin, store_lambda2)
    top = 1.0 if tau_max is None else check_number("tau_max", tau_max)
    wanted = resolve_local(prior)
    spec = ModelSpec(
        kind,
        settled(wanted),
        resolve_global(tau, top),
        sigma2=check_sigma2(sigma2, kind.has_dispersion, exact=False),
        fit_intercept=fit_intercept,
        standardize=standardize,
        slab=check_slab(slab),
        structure=check_structure(feature_groups, unpenalized, prior_scale, columns),
    )
    run_options = RunOptions(random_state, n_jobs, progress, checkpoint, max_memory)
    drawn = replace(spec, prior=wanted)
    if isinstance(tau, str) and tau_max is None:
        drawn = replace(drawn, tau=HalfCauchy(np.inf, float(rows.counts.sum()) ** -0.5))
    each = data.each if data.outputs else (rows,)
    found = fit_several(spec, each) if data.outputs else (fit(spec, rows),)
    modes = tuple(remark_weights(one, rows) for one in found)
    warn_unfinished_mode(modes[0].result.status)
    if data.outputs:
        return sample_several(drawn, each, modes, plan, run_options, data.outputs, header.names)
    labels = data.labels if kind.is_binary else None
    return sample(drawn, rows, modes[0], plan, run_options, header.names, labels)


def sample_modes(modes: FittedModes, options: dict[str, Any]) -> Posterior | SeveralPosterior:
    """Draw from the posterior of what was fitted; ``options`` are those of `sample_posterior`.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> x = np.arange(10.0)
    >>> model = HorseshoeRegressor(random_state=1).fit(x[:, None], 3.0 * x + np.sin(7.0 * x))
    >>> sample_modes(model._training.modes, {"random_state": 1, "n_draws": 500, "n_chains": 2}).coef.shape
    (2, 500, 1)
    """
    chosen = dict(options)
    run_options = RunOptions(**{name: chosen.pop(name) for name in RunOptions._fields if name in chosen})
    defaults = {"n_chains": 4, "n_warmup": 1000, "n_draws": 1000, "thin": 1, "store_lambda2": False}
    unknown = [name for name in chosen if name not in defaults]
    if unknown:
        known = ", ".join([*defaults, *RunOptions._fields])
        raise TypeError(f"{', '.join(unknown)}: not among the options of sample_posterior here: {known}")
    plan = _plan(**{**defaults, **chosen})
    if modes.labels:
        return sample_several(
            modes.spec, modes.rows, modes.fitted, plan, run_options, modes.labels, modes.names
        )
    return sample(modes.spec, modes.rows[0], modes.fitted[0], plan, run_options, modes.names)


def _plan(n_chains: Any, n_warmup: Any, n_draws: Any, thin: Any, store_lambda2: Any) -> Plan:
    for name, value, least in (
        ("n_draws", n_draws, 1),
        ("n_warmup", n_warmup, 0),
        ("n_chains", n_chains, 1),
        ("thin", thin, 1),
    ):
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not whole:
            raise TypeError(f"{name}={value!r} must be a whole number of at least {least}")
        if value < least:
            raise ValueError(f"{name}={value!r} must be a whole number of at least {least}")
    return Plan(int(n_chains), int(n_warmup), int(n_draws), int(thin), bool(store_lambda2))
