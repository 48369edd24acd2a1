"""From the rows to the mode of several regressions that share their local scales, in the user's units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from horseshoe._types import FitResult, Start, Status
from horseshoe.data.fitted import Fitted
from horseshoe.data.problem import LeastSquares
from horseshoe.data.rows import Rows
from horseshoe.data.ties import Ties
from horseshoe.em.likelihood import GaussianLikelihood
from horseshoe.em.m_step import Hyper
from horseshoe.em.options import Options
from horseshoe.em.starts import Begin, earlier_start
from horseshoe.model.final_status import with_final_status
from horseshoe.model.fingerprint import check_fingerprint
from horseshoe.model.fit import (
    Earlier,
    empty_result,
    in_units,
    solve_untied,
    start_in_units,
    without_fit,
)
from horseshoe.model.spec import ModelSpec, Prepared, known_sigma2, prepare_several
from horseshoe.priors import Groups
from horseshoe.threads import one_thread


def fit_several(
    spec: ModelSpec,
    rows: Sequence[Rows],
    options: Options | None = None,
    start: str | Sequence[Earlier] = "auto",
) -> tuple[Fitted, ...]:
    """Find the posterior mode of several Gaussian responses to the same columns, one fit for each.

    ``rows`` are the same but for y. A response that is constant has no say, and coefficients of zero.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.families import Gaussian
    >>> from horseshoe.priors import HalfCauchy, Horseshoe
    >>> x, y = np.arange(6.0), np.array([1.0, 3.1, 4.9, 7.0, 9.1, 10.9])
    >>> rows = [Rows(Dense(x[:, None]), k * y, None, np.zeros(6)) for k in (1.0, -2.0)]
    >>> [one.coef.round(2) for one in fit_several(ModelSpec(Gaussian(), Horseshoe(), HalfCauchy()), rows)]
    [array([1.99]), array([-3.98])]
    """
    options = Options() if options is None else options
    prepared = prepare_several(spec, rows)
    if options.checkpoint is not None:
        every = np.column_stack([one.y for one in rows])
        check_fingerprint(options, spec, rows[0], prepared[0].design, start, every)
    varying = [k for k, one in enumerate(prepared) if one.units.unit > 0.0]
    design = prepared[0].design
    results: dict[int, FitResult] = {}
    ties = None
    if varying:
        shared = replace(spec, size=float(len(varying)))
        with one_thread():
            chosen = [prepared[k] for k in varying]
            earlier = start if isinstance(start, str) else [start[k] for k in varying]
            found, ties = _solve(shared, rows[0], chosen, options, earlier)
        results = dict(zip(varying, found, strict=True))
        spec = shared
    k, n = int(prepared[0].all_units.kept.sum()), design.total_weight
    nothing = empty_result(Status.CONSTANT_RESPONSE, k, n, spec.tau)
    fitted = [
        in_units(spec, one, results[k], ties, options) if k in results else without_fit(spec, one, nothing)
        for k, one in enumerate(prepared)
    ]
    return with_final_status(spec, rows, fitted, varying)


def _solve(
    spec: ModelSpec,
    rows: Rows,
    prepared: Sequence[Prepared],
    options: Options,
    start: str | list[Earlier],
) -> tuple[tuple[FitResult, ...], Ties | None]:
    """Find the mode that the responses share."""
    known = [known_sigma2(spec, one.units) for one in prepared]
    sigma2 = known[0] if isinstance(known[0], str) else np.array(known, dtype=np.float64)
    likelihood_of, begin_of = partial(_likelihood, prepared), partial(_begin, prepared, start)
    return solve_untied(spec, rows, prepared[0], options._replace(sigma2=sigma2), likelihood_of, begin_of)


def _likelihood(prepared: Sequence[Prepared], ties: Ties | None) -> GaussianLikelihood:
    first, targets = prepared[0], np.column_stack([one.problem.z for one in prepared])
    design = first.design if ties is None else first.design.take(ties.keep)
    problem = first.problem if ties is None else first.problem.take(ties.keep)
    return GaussianLikelihood(problem, design.unit, design.free, targets)


def _begin(
    prepared: Sequence[Prepared],
    start: str | list[Earlier],
    likelihood: GaussianLikelihood,
    hyper: Hyper,
    options: Options,
    ties: Ties | None,
    groups: Groups | None,
) -> Begin:
    """Return where to begin: at an earlier fit, or by name."""
    if isinstance(start, str) or not prepared[0].units.kept.any():
        return likelihood.begin_variance() if start == "variance" else likelihood.begin()
    found = []
    for one, earlier in zip(prepared, start, strict=True):
        coef, std, _ = start_in_units(one, earlier, ties)
        alone = LeastSquares(likelihood.full.columns, one.problem.targets)
        sigma2 = one.units.from_sigma2(earlier.sigma2)
        found.append(earlier_start(alone, coef, std**2, sigma2, earlier.again))
    mean, second, rss = zip(*found, strict=True)
    return likelihood.begin_from(Start(np.column_stack(mean), np.column_stack(second), np.array(rss)))
