"""From X, y to draws: check, find the mode, start the chains around it, run them."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import _get_feature_names

from farrier import em
from farrier._design import Standardised, spread
from farrier._types import Status, Vector
from farrier._validation import check_labels, check_number, check_offset, check_weights, check_x, check_y
from farrier.chains import Draws, Outcome, Plan, Progress, Run, spread_draws
from farrier.checkpoint import Checkpoint, digest_of
from farrier.fitting import (
    Fitted,
    Rows,
    Settings,
    Target,
    fit_rows,
    known_rows,
    known_variance,
    prepare,
)
from farrier.gibbs import SHRINKAGE_EVERY, Model, State
from farrier.likelihoods import Binomial, Gaussian, Likelihood, Location, resolve_family
from farrier.posterior import Posterior
from farrier.priors import (
    GlobalPrior,
    GlobalSampler,
    HalfCauchy,
    LocalPrior,
    LocalSampler,
    resolve_global,
    resolve_local,
)
from farrier.variates import Streams

MAX_MEMORY = 2 << 30
GOOD_RHAT = 1.01


class Extras(NamedTuple):
    """How the run is to be gone about."""

    random_state: Any = None
    n_jobs: int | None = None
    progress: bool | Callable[[Progress], Any] = False
    checkpoint: Any = None
    max_memory: float = MAX_MEMORY


def sample_posterior(
    X: Any,
    y: Any,
    family: str | Likelihood = "gaussian",
    prior: str | LocalPrior = "horseshoe",
    n_draws: int = 1000,
    n_warmup: int = 1000,
    n_chains: int = 4,
    random_state: int | np.random.Generator | None = None,
    progress: bool | Callable[[Progress], Any] = False,
    *,
    tau: str | float | GlobalPrior = "estimate",
    tau_max: float | None = None,
    sigma2: str | float = "estimate",
    fit_intercept: bool = True,
    standardize: bool = True,
    sample_weight: Any = None,
    offset: Any = None,
    thin: int = 1,
    store_lambda2: bool = False,
    n_jobs: int | None = None,
    checkpoint: Any = None,
    max_memory: float = MAX_MEMORY,
) -> Posterior:
    """Draw from the posterior distribution of which the estimators find the mode.

    Gibbs sampling; Poisson counts and families of your own by Gaussian proposals that are corrected.
    "binomial" and "negative_binomial" need the package polyagamma, which the extra ``farrier[posterior]``
    installs.

    Parameters
    ----------
    X, y : array-like
        As in `HorseshoeRegressor`; for "binomial" y is 0 or 1, a proportion, or one of two labels.
    family : str or Likelihood, default="gaussian"
        Also "student_t", "laplace", "poisson", "negative_binomial", "binomial", or an object of
        `farrier.likelihoods`.
    prior : str or LocalPrior, default="horseshoe"
        As in `HorseshoeRegressor`.
    n_draws, n_warmup, n_chains : int
        Draws that are kept of each chain, sweeps before them that are not, and chains.
    random_state : int or numpy.random.Generator, optional
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
        As in `HorseshoeRegressor`.
    sample_weight, offset : array-like of shape (n,), optional
        As in ``HorseshoeRegressor.fit``; "student_t" and "laplace" take whole weights only.
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
    Posterior
        With fewer draws than asked for after Ctrl-C, and a warning.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from farrier import sample_posterior
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    >>> posterior = sample_posterior(X, y, random_state=0)
    >>> posterior.coef.shape
    (4, 1000, 10)
    >>> abs(posterior.mean()[2] - 5.77) < 0.1  # bmi
    np.True_
    """
    likelihood = _family(family)
    matrix = check_x(X)
    response, classes = _response(y, len(matrix), likelihood)
    weights, known = check_weights(sample_weight, len(matrix)), check_offset(offset, len(matrix))
    rows = known_rows(matrix, response, weights, known, likelihood)
    plan = _plan(n_chains, n_warmup, n_draws, thin, store_lambda2)
    options = em.Options(sigma2=_variance(sigma2, likelihood))
    local = resolve_local(prior)
    top = 1.0 if tau_max is None else tau_max
    settings = Settings(likelihood, local, resolve_global(tau, top), options, fit_intercept, standardize)
    free = isinstance(tau, str) and tau_max is None
    mode = fit_rows(rows, settings, "paper")
    sampled = HalfCauchy(np.inf, float(rows.counts.sum()) ** -0.5) if free else settings.tau
    extras = Extras(random_state, n_jobs, progress, checkpoint, max_memory)
    names = _get_feature_names(X)
    names = [f"x{j}" for j in range(matrix.shape[1])] if names is None else [str(name) for name in names]
    return sample_rows(rows, settings._replace(tau=sampled), mode, plan, extras, names, classes)


def sample_fitted(model: Any, options: dict[str, Any]) -> Posterior:
    """Draw from the posterior of a fitted `HorseshoeRegressor`; what its `sample_posterior` does.

    Examples
    --------
    >>> from farrier import HorseshoeRegressor
    >>> x = np.arange(10.0)
    >>> model = HorseshoeRegressor(random_state=1).fit(x[:, None], 3.0 * x + np.sin(7.0 * x))
    >>> sample_fitted(model, {"n_draws": 500, "n_chains": 2}).coef.shape
    (2, 500, 1)
    """
    training = getattr(model, "_training", None)
    if training is None:
        raise ValueError("copies of a fit do not hold its data: fit again, or call farrier.sample_posterior")
    names = model.__dict__.get("feature_names_in_", [f"x{j}" for j in range(model.n_features_in_)])
    chosen = {"random_state": model.random_state, **options}
    extras = Extras(**{name: chosen.pop(name) for name in Extras._fields if name in chosen})
    defaults = {"n_chains": 4, "n_warmup": 1000, "n_draws": 1000, "thin": 1, "store_lambda2": False}
    unknown = [name for name in chosen if name not in defaults]
    if unknown:
        known = ", ".join([*defaults, *Extras._fields])
        raise TypeError(f"{', '.join(unknown)}: not among the options of sample_posterior here: {known}")
    plan = _plan(**{**defaults, **chosen})
    names = [str(name) for name in names]
    return sample_rows(training.rows, training.settings, model._fitted, plan, extras, names)


def sample_rows(
    rows: Rows,
    settings: Settings,
    mode: Fitted,
    plan: Plan,
    extras: Extras,
    names: list[str],
    classes: Any = None,
) -> Posterior:
    """Draw from the posterior given the mode; what `sample_posterior` does once the input is checked."""
    _refuse_without_sampler(settings)
    _refuse_nothing_to_sample(mode)
    rows = _repeat(rows, settings.likelihood)
    need, room = plan.bytes(rows.x.shape[1]), check_number("max_memory", extras.max_memory)
    if need > room:
        raise ValueError(
            f"the draws would take {need / 2**20:.0f} MiB, and max_memory allows {room / 2**20:.0f} MiB: "
            "raise thin and lower n_draws, leave out store_lambda2, or raise max_memory"
        )
    design, target = prepare(rows, settings)
    if not np.array_equal(spread(design.columns, design.spread), mode.scale):
        raise ValueError("X was changed since the fit: fit again before you sample from the posterior")
    model = _model(rows, design, target, settings)
    file = None
    if extras.checkpoint is not None:
        file = Checkpoint(extras.checkpoint, _describe(settings, plan, extras), model.token)
    before = file.load() if file is not None else None
    state, drawn = before if before is not None else (_start(model, mode, plan.n_chains, extras), None)
    report = _reporter(extras.progress, need)
    run = Run(
        model,
        plan,
        lambda piece: _in_units(piece, design, target, settings.fit_intercept),
        _check_jobs(extras.n_jobs),
        report,
        file.save if file is not None else None,
    )
    outcome = run.go(state, drawn)
    if file is not None:
        file.save(outcome.state, outcome.draws, now=True)
    posterior = _posterior(outcome, rows, settings, mode, plan, design, names, classes)
    _judge(posterior, outcome, plan)
    return posterior


def _family(family: Any) -> Likelihood:
    if isinstance(family, str) and family == "binomial":
        return Binomial()
    return resolve_family(family)


def _response(y: Any, n_rows: int, likelihood: Likelihood) -> tuple[Vector, Any]:
    """Return the response as numbers, and the two labels if it was given as such."""
    if isinstance(likelihood, Binomial):
        labels = np.asarray(y)
        if labels.dtype.kind in "OUSb":
            found, codes = np.unique(check_labels(y, n_rows), return_inverse=True)
            if found.size != 2:
                raise ValueError(f"y has {found.size} different labels, but two are needed for 'binomial'")
            return codes.astype(np.float64), found
    response = check_y(y, n_rows)
    likelihood.check(response)
    return response, None


def _repeat(rows: Rows, likelihood: Likelihood) -> Rows:
    """Repeat rows with whole weights for families in which each row has a latent weight of its own."""
    if rows.weights is None or not isinstance(likelihood, Location) or isinstance(likelihood, Gaussian):
        return rows
    whole = np.round(rows.weights)
    if (whole != rows.weights).any():
        row = int(np.argmax(whole != rows.weights))
        raise ValueError(
            f"sample_weight in row {row} is {rows.weights[row]:g}: with {type(likelihood).__name__} noise "
            "only whole weights can be sampled with; round them, or use the Gaussian family"
        )
    again = np.repeat(np.arange(rows.y.size), whole.astype(int))
    return Rows(rows.x[again], rows.y[again], None, rows.offset[again])


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


def _variance(sigma2: Any, likelihood: Likelihood) -> str | float:
    if isinstance(sigma2, str) and sigma2 == "estimate":
        return sigma2
    if not likelihood.has_dispersion:
        raise ValueError(
            f"sigma2={sigma2!r} has no meaning for a family without a noise variance: leave it out"
        )
    return check_number("sigma2", sigma2, instead=" or 'estimate'")


def _check_jobs(n_jobs: Any) -> int | None:
    if n_jobs is not None and (not isinstance(n_jobs, int | np.integer) or n_jobs == 0):
        raise ValueError(f"n_jobs={n_jobs!r} must be a whole number other than 0, or None")
    return None if n_jobs is None else int(n_jobs)


def _refuse_without_sampler(settings: Settings) -> None:
    family, prior, tau = settings.likelihood, settings.prior, settings.tau
    if family.has_dispersion and type(family).augment is Likelihood.augment:
        raise ValueError(
            f"{type(family).__name__} has no sampler: a family with a noise variance needs a method "
            "augment(y, eta, sigma2, counts, rng), which draws the weights that make y Gaussian"
        )
    if not isinstance(prior, LocalSampler):
        raise ValueError(
            f"{type(prior).__name__} has no sampler: give it a method draw(w, lambda2, rng), as those of "
            "farrier.priors have"
        )
    if not isinstance(tau, GlobalSampler):
        raise ValueError(
            f"{type(tau).__name__} has no sampler: give it methods log_density(log_tau) and "
            "draw(n, s, tau2, rng), as in farrier.priors"
        )


def _refuse_nothing_to_sample(mode: Fitted) -> None:
    status = mode.result.status
    if status in (Status.CONSTANT_RESPONSE, Status.BOUNDARY, Status.NO_COLUMNS):
        raise ValueError(f"there is no posterior to sample: {status}")


def _model(rows: Rows, design: Standardised, target: Target, settings: Settings) -> Model:
    likelihood = settings.likelihood
    known = known_variance(settings, target.scale) if likelihood.has_dispersion else 1.0
    assert isinstance(settings.prior, LocalSampler)
    assert isinstance(settings.tau, GlobalSampler)
    return Model(
        x=design.x,
        y=target.values,
        offset=np.zeros_like(rows.offset) if isinstance(likelihood, Location) else rows.offset,
        counts=rows.counts,
        likelihood=likelihood,
        prior=settings.prior,
        tau=settings.tau,
        sigma2=None if isinstance(known, str) else known,
        center=settings.fit_intercept,
        token=digest_of(rows.x, rows.y, rows.counts, rows.offset),
    )


def _describe(settings: Settings, plan: Plan, extras: Extras) -> dict[str, str]:
    """Return what decides the draws beside the data; more draws can be added to fewer."""
    values = {
        "family": settings.likelihood,
        "prior": settings.prior,
        "tau": settings.tau,
        "sigma2": settings.options.sigma2,
        "fit_intercept": settings.fit_intercept,
        "standardize": settings.standardize,
        "n_chains": plan.n_chains,
        "n_warmup": plan.n_warmup,
        "thin": plan.thin,
        "store_lambda2": plan.store_lambda2,
    }
    if isinstance(extras.random_state, int | np.integer):
        values["random_state"] = int(extras.random_state)
    return {name: _text(value) for name, value in values.items()}


def _text(value: Any) -> str:
    """Return a representation that is the same in every process."""
    text = repr(value)
    return f"{type(value).__qualname__}({vars(value)})" if " object at 0x" in text else text


def _start(model: Model, mode: Fitted, n_chains: int, extras: Extras) -> State:
    """Return starts around the mode, farther apart than the posterior is wide."""
    seeds = np.random.SeedSequence(_entropy(extras.random_state)).spawn(n_chains)
    rng = [np.random.Generator(np.random.PCG64(seed)) for seed in seeds]
    result, size = mode.result, float(model.counts.sum())
    k = model.x.shape[1]
    low, high = model.tau.bounds
    normal = np.array([r.standard_normal(2 * k + 2) for r in rng])
    lambda2 = np.maximum(result.scales.lambda2, 1.0 / size) * np.exp(normal[:, :k])
    coef = result.coef + normal[:, k : 2 * k] / np.sqrt(size * k)
    tau2 = np.clip(np.exp(2.0 * normal[:, -1]) / size, low, high)
    sigma2 = np.maximum(result.scales.sigma2, 1e-8) * np.exp(0.5 * normal[:, -2])
    if model.sigma2 is not None:
        sigma2 = np.full(n_chains, model.sigma2)
    family = mode.likelihood
    nuisance = getattr(family, family.nuisance) if family.nuisance is not None else 0.0
    eta = model.x @ result.coef + result.intercept + model.offset
    return State(
        coef=coef,
        intercept=np.full(n_chains, result.intercept),
        lambda2=lambda2,
        tau2=tau2,
        sigma2=sigma2,
        nuisance=np.full(n_chains, float(nuisance)),
        shrinkage=np.zeros((n_chains, k)),
        angle=np.full(n_chains, 0.5),
        accepted=np.zeros(n_chains),
        reference=np.tile(eta, (n_chains, 1)),
        eta_sum=np.zeros((n_chains, eta.size)),
        source=Streams(rng),
    )


def _entropy(random_state: Any) -> int | None:
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if random_state is None or (isinstance(random_state, int | np.integer) and random_state >= 0):
        return None if random_state is None else int(random_state)
    raise ValueError(
        f"random_state={random_state!r} must be a whole number of at least 0, a Generator of NumPy or None"
    )


def _in_units(piece: Draws, design: Standardised, target: Target, has_intercept: bool) -> Draws:
    """Return draws in the user's units, with zeros for the constant columns."""
    unit = target.scale / design.scale
    coef = piece["coef"] * unit
    intercept = target.level + target.scale * piece["intercept"] - coef @ design.mean
    out = dict(piece)
    out["coef"] = spread_draws(coef, design.columns)
    out["intercept"] = intercept if has_intercept else np.zeros_like(intercept)
    out["sigma2"] = piece["sigma2"] * target.scale**2
    if "lambda2" in piece:
        out["lambda2"] = spread_draws(piece["lambda2"], design.columns)
    return out


def _reporter(progress: Any, need: int) -> Callable[[Progress], Any] | None:
    if callable(progress):
        report: Callable[[Progress], Any] = progress
        return report
    if not progress:
        return None
    print(f"the draws take {need / 2**20:.1f} MiB", file=sys.stderr, flush=True)
    return lambda news: print(news, file=sys.stderr, flush=True)


def _posterior(
    outcome: Outcome,
    rows: Rows,
    settings: Settings,
    mode: Fitted,
    plan: Plan,
    design: Standardised,
    names: list[str],
    classes: Any,
) -> Posterior:
    state, draws = outcome.state, outcome.draws
    first = -(-plan.n_warmup // SHRINKAGE_EVERY)
    counted = max(1, -(-state.sweeps // SHRINKAGE_EVERY) - first)
    shrinkage = np.ones(design.columns.size)
    shrinkage[design.columns] = state.shrinkage.mean(axis=0) / counted
    after = max(1, state.sweeps - plan.n_warmup)
    return Posterior(
        coef=draws["coef"],
        intercept=draws["intercept"],
        tau2=draws["tau2"],
        sigma2=draws["sigma2"],
        lambda2=draws.get("lambda2"),
        nuisance=draws["nuisance"] if settings.likelihood.nuisance is not None else None,
        shrinkage=shrinkage,
        acceptance=state.accepted / after,
        family=settings.likelihood,
        feature_names=tuple(names),
        mode=mode,
        rows=rows,
        classes=classes,
    )


def _judge(posterior: Posterior, outcome: Outcome, plan: Plan) -> None:
    """Warn of draws that are too few."""
    kept = posterior.coef.shape[1]
    if not outcome.complete:
        warnings.warn(f"interrupted: {kept} of {plan.n_draws} draws of each chain are returned", stacklevel=4)
    found = posterior.rhat()
    with np.errstate(invalid="ignore"):
        bad = np.flatnonzero(~(found < GOOD_RHAT))
    if bad.size == 0:
        return
    order = bad[np.argsort(-found[bad])]
    shown = ", ".join(f"{posterior.feature_names[j]} {found[j]:.3f}" for j in order[:5])
    more = f" and {order.size - 5} more" if order.size > 5 else ""
    worst = float(found[order[0]])
    factor = max((worst - 1.0) / (GOOD_RHAT - 1.0), 1.0) * 1.5 if np.isfinite(worst) else 10.0
    ask = int(np.ceil(kept * factor / 500.0) * 500)
    warnings.warn(
        f"R-hat is not below {GOOD_RHAT} for {order.size} of {found.size} coefficients ({shown}{more}): the "
        f"chains do not agree well enough on them yet; ask for about n_draws={ask}",
        stacklevel=4,
    )
