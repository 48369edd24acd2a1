"""From the rows to the mode of several regressions that share their local scales, in the user's units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

import numpy as np

from horseshoe._types import FitResult, Matrix, Status
from horseshoe.data.fitted import Fitted
from horseshoe.data.problem import LeastSquares
from horseshoe.data.rows import Rows
from horseshoe.data.ties import Ties
from horseshoe.em.options import Options
from horseshoe.em.result import scatter_result
from horseshoe.em.several import Start, paper_start, solve_several
from horseshoe.em.starts import earlier_start
from horseshoe.model.chance import remark
from horseshoe.model.fingerprint import check_fingerprint
from horseshoe.model.fit import (
    Earlier,
    empty_result,
    groups_of,
    in_units,
    near_ties_of,
    remarked_exact,
    ties_of,
    without_fit,
)
from horseshoe.model.spec import ModelSpec, Prepared, known_sigma2, prepare_several
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
            found, ties = _solve(shared, chosen, options, earlier)
        results = dict(zip(varying, found, strict=True))
        spec = shared
    k, n = int(prepared[0].all_units.kept.sum()), design.total_weight
    nothing = empty_result(Status.CONSTANT_RESPONSE, k, n, spec.tau)
    fitted = [
        in_units(spec, one, results[k], ties, options) if k in results else without_fit(spec, one, nothing)
        for k, one in enumerate(prepared)
    ]
    return remarked(spec, rows, fitted, varying)


def _solve(
    spec: ModelSpec, prepared: Sequence[Prepared], options: Options, start: str | list[Earlier]
) -> tuple[tuple[FitResult, ...], Ties | None]:
    """Find the mode, with one column for each set of tied ones where the prior selects."""
    hyper, design = spec.hyper, prepared[0].design
    ties = ties_of(spec, prepared[0])
    targets = np.column_stack([one.problem.z for one in prepared])
    known = [known_sigma2(spec, one.units) for one in prepared]
    variances = None if isinstance(known[0], str) else np.array(known, dtype=np.float64)
    options = options._replace(sigma2=known[0])
    for number in count():
        part = design if ties is None else design.take(ties.keep)
        problem = prepared[0].problem if ties is None else prepared[0].problem.take(ties.keep)
        begin = _begin(problem, targets, prepared, start, ties)
        groups, here = groups_of(prepared[0], ties), options.section(f"round {number}")
        results = solve_several(problem, targets, hyper, here, part.unit, begin, variances, groups, part.free)
        more = near_ties_of(spec, problem, results[0].coef, groups)
        if more is None:
            break
        ties = more if ties is None else ties.then(more)
    return results if ties is None else tuple(scatter_result(one, ties.keep) for one in results), ties


def _begin(
    problem: LeastSquares,
    targets: Matrix,
    prepared: Sequence[Prepared],
    start: str | list[Earlier],
    ties: Ties | None,
) -> Start:
    """Return where to begin: at an earlier fit, or by name."""
    if isinstance(start, str) or not prepared[0].units.kept.any():
        begin = paper_start(problem, targets)
        squares = np.einsum("ij,ij->j", targets, targets)
        return begin._replace(expected_rss=squares) if start == "variance" else begin
    found = []
    for one, earlier in zip(prepared, start, strict=True):
        coef, std = one.units.from_coef(earlier.coef), one.units.from_coef(earlier.std)
        if ties is not None:
            coef, std = ties.fold(coef), ties.fold(ties.sign * std)
        alone = problem if one is prepared[0] else _with_targets(problem, one)
        found.append(earlier_start(alone, coef, std**2, one.units.from_sigma2(earlier.sigma2), earlier.again))
    mean, second, rss = zip(*found, strict=True)
    return Start(np.column_stack(mean), np.column_stack(second), np.array(rss))


def _with_targets(problem: LeastSquares, other: Prepared) -> LeastSquares:
    """Return the columns of one problem with the response of another."""
    return LeastSquares(problem.columns, other.problem.targets)


def remarked(
    spec: ModelSpec, rows: Sequence[Rows], fitted: list[Fitted], varying: list[int]
) -> tuple[Fitted, ...]:
    """Return the fits with a word on columns that reproduce y, or on selections no clearer than noise."""
    fitted = [remarked_exact(spec, rows[k], one) or one for k, one in enumerate(fitted)]
    remarks = {k: remark(spec, rows[k], fitted[k]) for k in varying}
    if not remarks or None in remarks.values():
        return tuple(fitted)
    said = {k: status for k, status in remarks.items() if status is not None}
    return tuple(
        replace(one, result=one.result.with_status(said[k])) if k in said else one
        for k, one in enumerate(fitted)
    )
