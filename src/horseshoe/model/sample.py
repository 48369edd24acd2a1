"""From the rows and the mode to draws from the posterior."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import signature
from typing import Any

import numpy as np

from horseshoe._types import Status, Vector
from horseshoe.data.fitted import Fitted
from horseshoe.data.rows import Rows
from horseshoe.families import Family, Ordered
from horseshoe.model.spec import ModelSpec, Prepared, known_sigma2, prepare
from horseshoe.posterior.draws import Posterior
from horseshoe.posterior.run import RunOptions, draw
from horseshoe.posterior.several import SeveralPosterior
from horseshoe.priors import GlobalSampler, LocalSampler, estimated
from horseshoe.sampling.chains import Plan
from horseshoe.sampling.gibbs import Model
from horseshoe.sampling.several import SeveralModel

# Of X with its rows repeated: about a gigabyte, and 10 million rows of few columns.
MOST_ENTRIES = 1e8
# Of sigma2: with fewer degrees of freedom some draws of it are beyond the range of floats.
LEAST_DOF = 0.1


def sample(
    spec: ModelSpec,
    rows: Rows,
    mode: Fitted,
    plan: Plan,
    run_options: RunOptions,
    names: Any = None,
    classes: Any = None,
) -> Posterior:
    """Draw from the posterior, from chains that start around the mode.

    ``names`` are those of the columns, ``classes`` the labels of y, if there are any.
    """
    _refuse_no_posterior(spec, rows, [mode.result.status], mode.scale > 0.0)
    if spec.family.latent_rows:
        rows = rows.repeated()
    (prepared,) = _prepare(spec, [rows], mode)
    noise = known_sigma2(spec, prepared.units)
    model = Model(
        **_shared_arguments(spec, rows, prepared),
        y=prepared.response.values,
        sigma2=None if isinstance(noise, str) else noise,
        center=spec.fit_intercept and not isinstance(spec.family, Ordered),
    )
    units = ((prepared.units, prepared.all_units),)
    return draw(model, units, [rows], [mode], plan, run_options, _settings(spec), names, classes)[0]


def sample_several(
    spec: ModelSpec,
    rows: tuple[Rows, ...],
    modes: tuple[Fitted, ...],
    plan: Plan,
    run_options: RunOptions,
    labels: tuple[Any, ...],
    names: Any = None,
) -> SeveralPosterior:
    """Draw from the joint posterior of several responses, or of classes if the family is that of two.

    ``rows`` are the same but for y, a class has 1 in its own rows; ``labels`` name responses or classes.
    """
    _refuse_no_posterior(spec, rows[0], [mode.result.status for mode in modes], modes[0].scale > 0.0)
    _refuse_sharing(spec)
    prepared = _prepare(spec, rows, modes[0])
    units = tuple((one.units, one.all_units) for one in prepared)
    known = [known_sigma2(spec, one.units) for one in prepared]
    levels = [one.design.free.level for one in prepared if one.design.free is not None]
    model = SeveralModel(
        **_shared_arguments(spec, rows[0], prepared[0]),
        y=np.column_stack([one.response.values for one in prepared]),
        sigma2=None if isinstance(known[0], str) else 1.0,
        center=spec.fit_intercept,
        level=np.array(levels) if levels else None,
        known=None if isinstance(known[0], str) else np.array(known, dtype=np.float64),
        is_softmax=spec.family.is_binary,
    )
    parts = draw(model, units, rows, modes, plan, run_options, _settings(spec), names, labels=labels)
    return SeveralPosterior(parts, labels, model.is_softmax)


def _settings(spec: ModelSpec) -> dict[str, Any]:
    """Return what decides the draws beside the data, by name."""
    return {name: value for name, value in vars(spec).items() if value is not None}


def _prepare(spec: ModelSpec, rows: Sequence[Rows], mode: Fitted) -> tuple[Prepared, ...]:
    """Return the data of each regression on the scale on which the prior acts; they are those of the fit."""
    prepared = prepare(spec, rows)
    spread = prepared[0].all_units.places(prepared[0].all_spread)
    if not np.allclose(spread, mode.scale, rtol=1e-9, atol=0.0):
        raise ValueError("X was changed since the fit: fit again before you sample from the posterior")
    return prepared


def _refuse_no_posterior(spec: ModelSpec, rows: Rows, statuses: Sequence[Status], vary: Any = True) -> None:
    """Refuse what has no sampler, and fits of which there is nothing to draw; some columns ``vary``."""
    _refuse_without_sampler(spec)
    _refuse_nothing_shrunk(spec, vary)
    for status in statuses:
        if status in (Status.CONSTANT_RESPONSE, Status.BOUNDARY, Status.NO_COLUMNS):
            raise ValueError(f"there is no posterior to sample with these data: {status}")
    refuse_fractions(rows.weights, spec.family)
    _refuse_many_rows(spec, rows)
    _refuse_light_rows(spec, rows)


def _shared_arguments(spec: ModelSpec, rows: Rows, prepared: Prepared) -> dict[str, Any]:
    """Return the arguments that the models of one and of several regressions share."""
    return {
        "columns": prepared.design.columns,
        "offset": prepared.offset,
        "counts": rows.counts,
        "family": spec.family,
        "prior": spec.prior,
        "tau": spec.tau,
        "slab2": spec.slab2,
        "groups": prepared.groups,
        "free": prepared.design.free,
    }


def _refuse_sharing(spec: ModelSpec) -> None:
    """Refuse priors that cannot draw a scale that several coefficients share."""
    if estimated(spec.prior):
        names = " and ".join(estimated(spec.prior))
        raise ValueError(
            f"prior={spec.prior!r}: {names} cannot be estimated where several regressions share their "
            "scales: give numbers"
        )
    if not _takes_size(spec.prior):
        local = getattr(spec.prior, "prior", spec.prior)  # within a slab
        raise ValueError(
            f"{type(local).__name__} has no sampler for scales that several regressions share: give its "
            "method draw a fourth argument, size=1.0, as those of horseshoe.priors have"
        )


def can_sample(spec: ModelSpec, rows: Rows, status: Status) -> bool:
    """Tell whether there is a posterior that the sampler can draw from.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.families import Gaussian
    >>> from horseshoe.priors import HalfCauchy, Horseshoe
    >>> rows = Rows(Dense(np.eye(2)), np.ones(2), None, np.zeros(2))
    >>> can_sample(ModelSpec(Gaussian(), Horseshoe(), HalfCauchy()), rows, Status.CONSTANT_RESPONSE)
    False
    """
    try:
        _refuse_no_posterior(spec, rows, [status])
    except ValueError:
        return False
    return True


def refuse_fractions(weights: Vector | None, family: Family) -> None:
    """Refuse weights that are not whole for families in which each row has a latent weight of its own.

    Examples
    --------
    >>> from horseshoe.families import Gaussian
    >>> refuse_fractions(np.array([1.0, 0.5]), Gaussian())
    """
    if weights is None or not family.latent_rows:
        return
    fractional = np.round(weights) != weights
    if fractional.any():
        row = int(np.argmax(fractional))
        raise ValueError(
            f"sample_weight in row {row} is {weights[row]:g}: with {type(family).__name__} noise "
            "only whole weights can be sampled with; round them, or use the Gaussian family"
        )


def _refuse_nothing_shrunk(spec: ModelSpec, vary: Any) -> None:
    """Refuse where all columns, or all that vary, are unpenalised."""
    unpenalized = spec.unpenalized
    if unpenalized is not None and np.all(unpenalized | ~np.asarray(vary)):
        raise ValueError(
            "unpenalized has every column: nothing is shrunk, and there are no scales to draw; leave one out "
            "of unpenalized, or use intervals with method='mode', which are those of an ordinary regression"
        )


def _refuse_without_sampler(spec: ModelSpec) -> None:
    family, prior, tau = spec.family, spec.prior, spec.tau
    if not family.has_density:
        raise ValueError(
            f"family={family} has no sampler: weights and targets alone are no density of y; use intervals "
            "with method='mode', or parameters that have one (for Tweedie, a power above 1)"
        )
    if not isinstance(prior, LocalSampler):
        raise ValueError(
            f"{type(prior).__name__} has no sampler: give it a method draw(w, lambda2, rng), as those of "
            "horseshoe.priors have"
        )
    if spec.structure is not None and spec.structure.feature_groups is not None and not _takes_size(prior):
        raise ValueError(
            f"{type(prior).__name__} has no sampler for groups: its method draw(w, lambda2, rng, size) must "
            "take how many coefficients share a scale, as those of horseshoe.priors do"
        )
    if not isinstance(tau, GlobalSampler):
        raise ValueError(
            f"{type(tau).__name__} has no sampler: give it methods log_density(log_tau) and "
            "draw(n, s, tau2, rng), as in horseshoe.priors"
        )


def _takes_size(prior: Any) -> bool:
    """Tell whether a prior can draw the scale of several coefficients."""
    inner = getattr(prior, "prior", prior)  # within a slab
    return "size" in signature(inner.draw).parameters


def _refuse_many_rows(spec: ModelSpec, rows: Rows) -> None:
    """Refuse weights that repeat rows until they fill the memory: each row has a latent weight of its own."""
    total, columns = float(rows.counts.sum()), rows.columns.shape[1]
    most = MOST_ENTRIES / max(columns, 10)
    if spec.family.latent_rows and rows.weights is not None and total > most:
        row = int(np.argmax(rows.weights))
        raise ValueError(
            f"sample_weight adds up to {total:g} (it is {rows.weights[row]:g} in row "
            f"{row if rows.number is None else rows.number[row]}), and {type(spec.family).__name__} noise is "
            f"sampled with each row repeated as often as its weight says: at most {most:g} rows with so many "
            "columns; use smaller whole weights, or the Gaussian family"
        )


def _refuse_light_rows(spec: ModelSpec, rows: Rows) -> None:
    total = float(rows.counts.sum())
    unpenalized = spec.unpenalized
    flat = float(spec.fit_intercept) + (0.0 if unpenalized is None else float(unpenalized.sum()))
    unknown = spec.family.has_dispersion and isinstance(spec.sigma2, str)
    if unknown and total - flat < LEAST_DOF:
        raise ValueError(
            f"sample_weight adds up to {total:g}, which is too little to estimate sigma2 from: weights count "
            "rows; if only their proportions matter, use weight_type='precision', or give sigma2"
        )
