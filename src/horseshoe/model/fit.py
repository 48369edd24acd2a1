"""From the rows to the posterior mode, in the user's units."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from horseshoe._checks import check_memory
from horseshoe._types import FitResult, Mask, Moments, Scales, Status, Vector
from horseshoe.data.columns import column_label
from horseshoe.data.condensed import shortened
from horseshoe.data.fitted import Fitted, restore
from horseshoe.data.problem import LeastSquares
from horseshoe.data.rows import Rows
from horseshoe.data.ties import Ties, find_near_ties, find_ties, whole_ties
from horseshoe.data.unpenalized import free_level
from horseshoe.em.conjugate_gradient import FEW
from horseshoe.em.likelihood import GaussianLikelihood, Likelihood, WorkingLikelihood
from horseshoe.em.loop import solve
from horseshoe.em.m_step import Hyper
from horseshoe.em.options import Options
from horseshoe.em.result import scatter_result
from horseshoe.em.starts import Begin, earlier_start
from horseshoe.model.final_status import with_final_status
from horseshoe.model.fingerprint import check_fingerprint
from horseshoe.model.spec import ModelSpec, Prepared, known_sigma2, prepare
from horseshoe.model.unpenalized import unshrunk, with_unpenalized
from horseshoe.priors import GlobalPrior, Groups
from horseshoe.threads import one_thread

LINEAR_TOL = 1e-3
"""Of the Gaussian fit that other families start from."""
MATRICES, VECTORS, PROBED = 3.0, 40.0, 80.0
"""So many matrices of the size of the smaller side, rows or columns, are in memory at once, and so many
numbers for each row and column: in exact fits, and with random signs."""


class Earlier(NamedTuple):
    """A fit to start from, in the user's units; ``again`` gives what is zero there a new chance."""

    coef: Vector
    std: Vector
    intercept: float
    sigma2: float
    again: bool = True


def fit(spec: ModelSpec, rows: Rows, options: Options | None = None, start: str | Earlier = "auto") -> Fitted:
    """Find the posterior mode.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.families import Gaussian
    >>> from horseshoe.priors import HalfCauchy, Horseshoe
    >>> y = np.array([1.0, 3.1, 4.9, 7.0, 9.1, 10.9])
    >>> rows = Rows(Dense(np.arange(6.0)[:, None]), y, None, np.zeros(6))
    >>> fit(ModelSpec(Gaussian(), Horseshoe(), HalfCauchy()), rows).coef.round(2)
    array([1.99])
    """
    options = Options() if options is None else options
    given = rows
    if spec.family.constant_weights:
        rows = shortened(rows, spec.fit_intercept, options.section("sums").checkpoint)
    prepared = prepare(spec, rows)
    design, units = prepared.design, prepared.units
    nothing = _nothing_to_fit(spec, rows, prepared)
    if nothing is not None:
        return without_fit(spec, prepared, nothing)
    options = options._replace(sigma2=known_sigma2(spec, units))
    if options.checkpoint is not None:
        check_fingerprint(options, spec, given, design, start)
    likelihood_of = partial(_likelihood, spec, prepared, options.fast)
    begin_of = partial(_begin, prepared, start)
    with one_thread():
        (result,), ties = solve_untied(spec, given, prepared, options, likelihood_of, begin_of)
        fitted = in_units(spec, prepared, result, ties, options)
        return with_final_status(spec, [given], [fitted])[0]


def _refuse_separated(spec: ModelSpec, rows: Rows, error: Exception) -> None:
    """Refuse unpenalised columns with an infinite estimate, which EM has followed out of range."""
    if spec.structure is None or spec.structure.unpenalized is None:
        return
    named = [column_label(rows.columns, int(j)) for j in np.flatnonzero(spec.structure.unpenalized)[:3]]
    raise ValueError(
        f"unpenalized has {', '.join(named)}, and there is no finite estimate: what tells rows apart without "
        "error has a coefficient that nothing holds; take it from unpenalized, so that it is shrunk"
    ) from error


def in_units(
    spec: ModelSpec, prepared: Prepared, result: FitResult, ties: Ties | None, options: Options
) -> Fitted:
    """Return a fit in the user's units, with its unpenalised columns and what was known of the columns."""
    design, units, whole = prepared.design, prepared.units, prepared.all_units
    if not design.kept.any() and result.status is Status.NOTHING_SELECTED:  # of nothing
        result = result.with_status(Status.NO_COLUMNS if design.free is None else Status.CONVERGED)
    if design.free is not None:
        result = with_unpenalized(result, design.free, units.kept[whole.kept])
    aliases, family = None if ties is None else _aliases_of(ties, units.kept), result.family or spec.family
    cutoff = options.zero_threshold
    return _known(spec, restore(result, whole, prepared.all_spread, family, aliases, spec.hyper, cutoff))


def without_fit(spec: ModelSpec, prepared: Prepared, result: FitResult) -> Fitted:
    """Return the fit in the user's units where nothing was fitted."""
    return _known(spec, restore(result, prepared.all_units, prepared.all_spread, spec.family))


def _known(spec: ModelSpec, fitted: Fitted) -> Fitted:
    """Return the fit with what was known of the columns."""
    if spec.structure is None:
        return fitted
    fitted = replace(fitted, structure=spec.structure)
    return fitted if fitted.unpenalized is None else unshrunk(fitted, fitted.unpenalized)


def solve_untied(
    spec: ModelSpec,
    rows: Rows,
    prepared: Prepared,
    options: Options,
    likelihood_of: Callable[[Ties | None], Any],
    begin_of: Callable[[Any, Hyper, Options, Ties | None, Groups | None], Begin],
) -> tuple[tuple[FitResult, ...], Ties | None]:
    """Find the mode, with one column for each set of tied ones where the prior selects.

    Refuse a fit that has no room in memory, and unpenalised columns that separate the rows completely.
    """
    _refuse_memory(spec, prepared.design.columns.shape, options)
    ties = ties_of(spec, prepared)
    for number in count():
        likelihood, groups = likelihood_of(ties), groups_of(prepared, ties)
        part = options.section(f"round {number}")
        begin = partial(begin_of, likelihood, spec.hyper, part, ties, groups)
        try:
            found = solve(likelihood, spec.hyper, part, begin, groups)
        except np.linalg.LinAlgError as error:
            _refuse_separated(spec, rows, error)
            raise
        problem = prepared.problem if likelihood.is_multivariate else likelihood.full
        problem = problem if ties is None or problem is likelihood.full else problem.take(ties.keep)
        more = near_ties_of(spec, problem, found[0].coef, groups)
        if more is None:
            break
        ties = more if ties is None else ties.then(more)
    return found if ties is None else tuple(scatter_result(one, ties.keep) for one in found), ties


def _refuse_memory(spec: ModelSpec, shape: tuple[int, int], options: Options) -> None:
    """Refuse a fit whose matrices and vectors have no room in memory, and say what has."""
    n, p = shape
    side, vectors, what = min(n, p), VECTORS, "an exact fit"
    instead = "fit some of the columns, or on a machine that has more"
    factorises = spec.size > 1.0 and not spec.family.constant_weights  # several classes, whatever is asked
    if options.expectation == "conjugate_gradient" and not factorises:
        side, vectors, what = min(side, FEW), PROBED, "a fit by conjugate gradients"
    elif not factorises:
        instead = "use expectation='conjugate_gradient', which factorises nothing"
    need = 8.0 * (MATRICES * side**2 + vectors * (n + p))
    check_memory(need, f"{what} of {n:,} rows and {p:,} columns", instead)


def ties_of(spec: ModelSpec, prepared: Prepared) -> Ties | None:
    """Return which columns are the same; a prior that does not select lets them share."""
    ties = find_ties(prepared.problem) if spec.hyper.sparse else None
    return ties if prepared.groups is None else whole_ties(ties, prepared.groups.label)


def near_ties_of(spec: ModelSpec, problem: LeastSquares, coef: Vector, groups: Groups | None) -> Ties | None:
    """Return which of the selected columns are as good as the same; of groups, which groups."""
    more = find_near_ties(problem, coef) if spec.hyper.sparse else None
    return more if groups is None else whole_ties(more, groups.label)


def groups_of(prepared: Prepared, ties: Ties | None) -> Groups | None:
    """Return the groups of the columns that are fitted."""
    groups = prepared.groups
    return groups if groups is None or ties is None else groups.take(ties.keep)


def _aliases_of(ties: Ties, kept: Mask) -> dict[int, tuple[int, ...]]:
    """Return which of the user's columns stand for which others."""
    places = np.flatnonzero(kept)
    found: dict[int, tuple[int, ...]] = {}
    for later in np.flatnonzero(~ties.keep):
        lead = int(places[ties.first[later]])
        found[lead] = (*found.get(lead, ()), int(places[later]))
    return found


def empty_result(status: Status, n_columns: int, total_weight: float, tau: GlobalPrior) -> FitResult:
    """Return the fit with no variables.

    Examples
    --------
    >>> from horseshoe.priors import HalfCauchy
    >>> empty_result(Status.NO_COLUMNS, 0, 5.0, HalfCauchy()).n_iter
    0
    """
    zero = np.zeros(n_columns)
    return FitResult(
        coef=zero,
        intercept=0.0,
        scales=Scales(zero, tau.bounds[1], 1.0),
        moments=Moments(zero, zero, 1.0, 0.0, 0.0),
        active=np.zeros(n_columns, dtype=np.bool_),
        status=status,
        tau_at_bound=False,
        n_iter=0,
        trace=(),
        covariance=None,
        center=zero,
        intercept_variance=1.0 / total_weight,
    )


def _nothing_to_fit(spec: ModelSpec, rows: Rows, prepared: Prepared) -> FitResult | None:
    """Return the fit where y is constant, or has no finite intercept; otherwise None."""
    k, n = int(prepared.all_units.kept.sum()), prepared.design.total_weight
    if prepared.units.unit == 0.0:
        return empty_result(Status.CONSTANT_RESPONSE, k, n, spec.tau)
    level = spec.family.boundary(rows.y, rows.counts, rows.offset) if spec.fit_intercept else None
    if level is None:
        return None
    return replace(empty_result(Status.BOUNDARY, k, n, spec.tau), intercept=level)


def _likelihood(spec: ModelSpec, prepared: Prepared, fast: bool, ties: Ties | None) -> Likelihood:
    design, values = prepared.design, prepared.response.values
    design = design if ties is None else design.take(ties.keep)
    if spec.family.constant_weights:
        problem = prepared.problem if ties is None else prepared.problem.take(ties.keep)
        return GaussianLikelihood(problem, design.unit, design.free)
    return WorkingLikelihood(design, values, prepared.offset, spec.family, spec.fit_intercept, fast)


def _begin(
    prepared: Prepared,
    start: str | Earlier,
    likelihood: Likelihood,
    hyper: Hyper,
    options: Options,
    ties: Ties | None,
    groups: Groups | None,
) -> Begin:
    """Return where to begin."""
    units = prepared.units
    if not isinstance(start, Earlier) or not units.kept.any():
        name = "paper" if isinstance(start, Earlier) else start
        return _begin_named(likelihood, hyper, options, name, groups)
    coef, std, intercept = start_in_units(prepared, start, ties)
    sigma2 = units.from_sigma2(start.sigma2)
    begin = likelihood.begin_at(coef, intercept, sigma2)
    return begin._replace(start=earlier_start(begin.problem, coef, std**2, sigma2, start.again))


def start_in_units(prepared: Prepared, start: Earlier, ties: Ties | None) -> tuple[Vector, Vector, Any]:
    """Return coefficients, their deviations and the intercept of an earlier fit on the prior's scale."""
    units, whole, free = prepared.units, prepared.all_units, prepared.design.free
    coef, std = units.from_coef(start.coef), units.from_coef(start.std)
    intercept: Any = whole.from_intercept(start.intercept, start.coef)
    if free is not None:
        own = whole.from_coef(start.coef)[~units.kept[whole.kept]]
        intercept = free_level(free, intercept, coef, own, units.has_intercept)
    if ties is not None:
        coef, std = ties.fold(coef), ties.fold(ties.sign * std)
    return coef, std, intercept


def _begin_named(
    likelihood: Likelihood, hyper: Hyper, options: Options, start: str, groups: Groups | None
) -> Begin:
    """Return a start by its name; one for wide data where the family has it and the prior selects."""
    wide = likelihood.family.wide_start if isinstance(likelihood, WorkingLikelihood) else None
    if isinstance(likelihood, WorkingLikelihood) and wide and hyper.sparse and likelihood.full.n_columns:
        name = wide if start == "auto" else start
        if name == "linear":
            return _begin_linear(likelihood, hyper, options, groups)
        if name == "marginal":
            return likelihood.begin_marginal()
    return likelihood.begin_variance() if start == "variance" else likelihood.begin()


def _begin_linear(
    likelihood: WorkingLikelihood, hyper: Hyper, options: Options, groups: Groups | None
) -> Begin:
    """Return the mode of a Gaussian fit to the targets near y; what is zero there starts from what is left.

    A ridge would share an effect among so many columns, where these are many, that none of them keeps enough
    of it. The Gaussian fit starts with a noise variance beyond all bounds, so that the columns do not see
    each other, and lets it fall.
    """
    problem = likelihood.linear()
    gaussian = GaussianLikelihood(problem.alone(), likelihood.unit)
    (found,) = solve(gaussian, hyper, quick_options(options), groups=groups)
    begin = likelihood.begin_at(found.coef, problem.intercept(found.coef), 1.0)
    variance = np.where(found.support, found.moments.variance, 0.0)
    return begin._replace(start=earlier_start(begin.problem, found.coef, variance, 1.0))


def quick_options(options: Options) -> Options:
    """Return the options of a Gaussian fit that another fit starts from."""
    quick = Options(tol=LINEAR_TOL, max_iter=options.max_iter, fast=options.fast)
    if options.expectation == "conjugate_gradient":  # then nothing may be factorised here either
        quick = quick._replace(expectation=options.expectation, random_state=options.random_state)
    return quick._replace(checkpoint=options.section("start").checkpoint)
