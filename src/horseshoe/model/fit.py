"""From the rows to the posterior mode of one regression, or of several, in the user's units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from horseshoe._checks import check_memory
from horseshoe._types import FitResult, Mask, Matrix, Moments, Scales, Start, Status, Vector
from horseshoe.data.columns import column_label
from horseshoe.data.compressed import shortened
from horseshoe.data.fitted import Fitted, restore
from horseshoe.data.problem import LeastSquares
from horseshoe.data.rows import Rows
from horseshoe.data.standardise import Standardised
from horseshoe.data.ties import Ties, find_near_ties, find_ties, whole_ties
from horseshoe.data.unpenalized import unpenalized_coef
from horseshoe.em.conjugate_gradient import FEW
from horseshoe.em.likelihood import GaussianLikelihood, Likelihood, WorkingLikelihood
from horseshoe.em.loop import solve
from horseshoe.em.m_step import Hyper
from horseshoe.em.multinomial import MultinomialLikelihood
from horseshoe.em.result import scatter_result
from horseshoe.em.starts import Begin, earlier_start
from horseshoe.em.state import Options
from horseshoe.families import Binomial
from horseshoe.families.multinomial import center_over_classes
from horseshoe.model.final_status import with_final_status
from horseshoe.model.spec import ModelSpec, Prepared, check_rows_fingerprint, known_sigma2, prepare
from horseshoe.model.unpenalized import with_unpenalized
from horseshoe.priors import GlobalPrior, Groups
from horseshoe.threads import one_thread

# Of the Gaussian fit that other families start from.
LINEAR_TOL = 1e-3
# So many matrices of the size of the smaller side, rows or columns, are in memory at once, and so many
# numbers for each row and column: in exact fits, and with random signs.
MATRICES, VECTORS, PROBED = 3.0, 40.0, 80.0
# The options that decide the way of the loop.
SETTINGS = ("expectation", "tol", "max_iter", "zero_threshold", "fast")


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
    return fit_several(spec, (rows,), options, (start,) if isinstance(start, Earlier) else start)[0]


def fit_several(
    spec: ModelSpec,
    rows: Sequence[Rows],
    options: Options | None = None,
    start: str | Sequence[Earlier] = "auto",
) -> tuple[Fitted, ...]:
    """Find the posterior mode of regressions that share their local scales, one fit for each.

    ``rows`` are the same but for y: several Gaussian responses, or one indicator for each class, with the
    family `Binomial`. A response that is constant does not enter, and has coefficients of zero.

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
    options, given, several = options or Options(), rows, len(rows) > 1
    # 1. Columns and responses on the scale on which the prior acts.
    if not several and spec.family.constant_weights:
        rows = (shortened(rows[0], spec.fit_intercept, options.section("sums").checkpoint),)
    prepared = prepare(spec, rows)
    # 2. Responses that have nothing to fit.
    results = [_nothing_to_fit(spec, own, one, several) for own, one in zip(rows, prepared, strict=True)]
    varying = [k for k, result in enumerate(results) if result is None]
    ties = None
    with one_thread():
        if varying:
            # 3. The mode that the others share.
            if options.checkpoint is not None:
                _check_fingerprint(options, spec, given, prepared[0].design, start)
            if several:  # of several classes the sum of the coefficients is free
                spec = replace(spec, size=float(len(varying)) - float(spec.family.is_binary))
            some = [prepared[k] for k in varying]
            earlier = start if isinstance(start, str) else [start[k] for k in varying]
            found, ties = _solve_untied(spec, given[0], some, options, earlier, several)
            for k, result in zip(varying, found, strict=True):
                results[k] = replace(result, family=None) if several else result
        # 4. The user's units, and what noise alone would have selected.
        pairs = zip(prepared, results, strict=True)
        fitted = [_in_units(spec, one, result, ties, options) for one, result in pairs if result is not None]
        return with_final_status(spec, given, fitted, varying)


def _check_fingerprint(
    options: Options, spec: ModelSpec, rows: Sequence[Rows], design: Standardised, start: Any
) -> None:
    """Refuse a checkpoint of another fit: of other options, or of other data."""
    assert options.checkpoint is not None
    settings = {**vars(spec), **{name: getattr(options, name) for name in SETTINGS}, "start": start}
    responses = () if len(rows) == 1 else (np.column_stack([one.y for one in rows]),)
    check_rows_fingerprint(options.checkpoint, settings, rows[0], design, *responses)


def _refuse_separated(spec: ModelSpec, rows: Rows, error: Exception) -> None:
    """Refuse unpenalised columns with an infinite estimate, which EM has followed out of range."""
    if spec.structure is None or spec.structure.unpenalized is None:
        return
    named = [column_label(rows.columns, int(j)) for j in np.flatnonzero(spec.structure.unpenalized)[:3]]
    raise ValueError(
        f"unpenalized has {', '.join(named)}, and there is no finite estimate: what tells rows apart without "
        "error has a coefficient that nothing holds; take it from unpenalized, so that it is shrunk"
    ) from error


def _in_units(
    spec: ModelSpec, prepared: Prepared, result: FitResult, ties: Ties | None, options: Options
) -> Fitted:
    """Return a fit in the user's units, with its unpenalised columns and what was known of the columns."""
    design, units, whole = prepared.design, prepared.units, prepared.all_units
    aliases, hyper, cutoff = None, None, None
    if result.status not in (Status.CONSTANT_RESPONSE, Status.BOUNDARY):  # in which nothing was fitted
        if not design.kept.any() and result.status is Status.NOTHING_SELECTED:  # of nothing
            result = result.with_status(Status.NO_COLUMNS if design.free is None else Status.CONVERGED)
        if design.free is not None:
            result = with_unpenalized(result, design.free, units.kept[whole.kept])
        aliases = None if ties is None else _aliases_of(ties, units.kept)
        hyper, cutoff = spec.hyper, options.zero_threshold
    family = result.family or spec.family
    fitted = restore(result, whole, prepared.all_spread, family, aliases, hyper, cutoff)
    if spec.structure is None:
        return fitted
    free = False if spec.unpenalized is None else spec.unpenalized  # the prior of these is flat
    lambda2, kappa = np.where(free, np.inf, fitted.lambda2), np.where(free, 0.0, fitted.kappa)
    return replace(fitted, structure=spec.structure, lambda2=lambda2, kappa=kappa)


def _solve_untied(
    spec: ModelSpec,
    rows: Rows,
    prepared: Sequence[Prepared],
    options: Options,
    start: str | Sequence[Earlier],
    several: bool,
) -> tuple[tuple[FitResult, ...], Ties | None]:
    """Find the mode, with one column for each set of tied ones where the prior selects.

    Refuse a fit that has no room in memory, and unpenalised columns that separate the rows completely.
    """
    first, hyper = prepared[0], spec.hyper
    _refuse_memory(spec, first.design.columns.shape, options)
    known = [known_sigma2(spec, one.units) for one in prepared]
    one_variance = not several or spec.family.is_binary or isinstance(known[0], str)
    options = options._replace(sigma2=known[0] if one_variance else np.array(known, dtype=np.float64))
    ties = _of_whole_groups(find_ties(first.problem) if hyper.sparse else None, first.groups)
    for number in count():
        likelihood = _likelihood(spec, prepared, options.fast, ties, several)
        groups = first.groups if first.groups is None or ties is None else first.groups.take(ties.keep)
        part = options.section(f"round {number}")
        begin = partial(_begin, prepared, start, likelihood, hyper, part, ties, groups)
        try:
            found = solve(likelihood, hyper, part, begin, groups)
        except np.linalg.LinAlgError as error:
            _refuse_separated(spec, rows, error)
            raise
        if not hyper.sparse:
            break
        problem = likelihood.full
        if likelihood.is_multivariate:
            problem = first.problem if ties is None else first.problem.take(ties.keep)
        more = _of_whole_groups(find_near_ties(problem, found[0].coef), groups)
        if more is None:
            break
        ties = more if ties is None else ties.then(more)
    return found if ties is None else tuple(scatter_result(one, ties.keep) for one in found), ties


def _of_whole_groups(ties: Ties | None, groups: Groups | None) -> Ties | None:
    """Return which columns are the same; where they come in groups, which groups are."""
    return ties if groups is None else whole_ties(ties, groups.label)


def _refuse_memory(spec: ModelSpec, shape: tuple[int, int], options: Options) -> None:
    """Refuse a fit whose matrices and vectors have no room in memory, and name what has."""
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


def _aliases_of(ties: Ties, kept: Mask) -> dict[int, tuple[int, ...]]:
    """Return the copies of each of the user's columns that was fitted."""
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


def _nothing_to_fit(spec: ModelSpec, rows: Rows, prepared: Prepared, several: bool) -> FitResult | None:
    """Return the fit where y is constant, or has no finite intercept; otherwise None."""
    k, n = int(prepared.all_units.kept.sum()), prepared.design.total_weight
    if prepared.units.unit == 0.0:
        return empty_result(Status.CONSTANT_RESPONSE, k, n, spec.tau)
    if several or not spec.fit_intercept:
        return None
    level = spec.family.boundary(rows.y, rows.counts, rows.offset)
    return None if level is None else replace(empty_result(Status.BOUNDARY, k, n, spec.tau), intercept=level)


def _likelihood(
    spec: ModelSpec, prepared: Sequence[Prepared], fast: bool, ties: Ties | None, several: bool
) -> Any:
    """Return the likelihood of the columns that are fitted, one for each set of tied ones."""
    first, family = prepared[0], spec.family
    design = first.design if ties is None else first.design.take(ties.keep)
    if family.constant_weights:
        targets = np.column_stack([one.problem.z for one in prepared]) if several else None
        problem = first.problem if ties is None else first.problem.take(ties.keep)
        return GaussianLikelihood(problem, design.unit, design.free, targets)
    if several:
        assert isinstance(family, Binomial)
        chosen = np.column_stack([one.response.values for one in prepared])
        return MultinomialLikelihood(design, chosen, spec.fit_intercept, family.augmentation)
    return WorkingLikelihood(design, first.response.values, first.offset, family, spec.fit_intercept, fast)


def _begin(
    prepared: Sequence[Prepared],
    start: str | Sequence[Earlier],
    likelihood: Any,
    hyper: Hyper,
    options: Options,
    ties: Ties | None,
    groups: Groups | None,
) -> Begin:
    """Return where to begin: at an earlier fit, or by name."""
    if isinstance(likelihood, MultinomialLikelihood):
        return _begin_classes(prepared, start, likelihood, hyper, options, ties, groups)
    if isinstance(start, str) or not prepared[0].units.kept.any():
        name = start if isinstance(start, str) else "paper"
        return _begin_named(likelihood, hyper, options, name, groups)
    found = []
    for one, earlier in zip(prepared, start, strict=True):
        coef, std, intercept = _start_in_units(one, earlier, ties)
        sigma2 = one.units.from_sigma2(earlier.sigma2)
        if not likelihood.is_multivariate:
            begin: Begin = likelihood.begin_at(coef, intercept, sigma2)
            return begin._replace(start=earlier_start(begin.problem, coef, std**2, sigma2, earlier.again))
        alone = LeastSquares(likelihood.full.columns, one.problem.targets)
        found.append(earlier_start(alone, coef, std**2, sigma2, earlier.again))
    mean, second, rss = zip(*found, strict=True)
    joint: Begin = likelihood.begin_from(Start(np.column_stack(mean), np.column_stack(second), np.array(rss)))
    return joint


def _begin_classes(
    prepared: Sequence[Prepared],
    start: str | Sequence[Earlier],
    likelihood: MultinomialLikelihood,
    hyper: Hyper,
    options: Options,
    ties: Ties | None,
    groups: Groups | None,
) -> Begin:
    """Return where several classes begin: at an earlier fit, or by name."""
    if not isinstance(start, str):
        each = [_start_in_units(own, one, ties) for own, one in zip(prepared, start, strict=True)]
        coef = np.column_stack([coef for coef, _, _ in each])
        level = np.column_stack([np.atleast_1d(level) for _, _, level in each])
        if prepared[0].design.free is None and not prepared[0].units.has_intercept:
            level = level[:0]
        coef, level = center_over_classes(coef), center_over_classes(level)
        return likelihood.begin_earlier(likelihood.point_at(coef, level), np.zeros(len(coef)))
    if not hyper.sparse or start == "paper" or not likelihood.full.n_columns:
        return likelihood.begin()
    if start in ("auto", "marginal"):
        return likelihood.begin_marginal()

    def fit_targets(problem: LeastSquares, targets: Matrix) -> tuple[Matrix, Matrix]:
        gaussian = GaussianLikelihood(problem, likelihood.unit, targets=targets)
        found = solve(gaussian, hyper, _quick_options(options), groups=groups)
        return np.array([one.coef for one in found]), np.array([one.moments.variance for one in found])

    return likelihood.linear_start(fit_targets)


def _start_in_units(prepared: Prepared, start: Earlier, ties: Ties | None) -> tuple[Vector, Vector, Any]:
    """Return coefficients, their deviations and the intercept of an earlier fit on the prior's scale."""
    units, whole, free = prepared.units, prepared.all_units, prepared.design.free
    coef, std = units.from_coef(start.coef), units.from_coef(start.std)
    intercept: Any = whole.from_intercept(start.intercept, start.coef)
    if free is not None:
        own = whole.from_coef(start.coef)[~units.kept[whole.kept]]
        intercept = unpenalized_coef(free, intercept, coef, own, units.has_intercept)
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
    (found,) = solve(gaussian, hyper, _quick_options(options), groups=groups)
    begin = likelihood.begin_at(found.coef, problem.intercept(found.coef), 1.0)
    variance = np.where(found.support, found.moments.variance, 0.0)
    return begin._replace(start=earlier_start(begin.problem, found.coef, variance, 1.0))


def _quick_options(options: Options) -> Options:
    """Return the options of a Gaussian fit that another fit starts from."""
    quick = Options(tol=LINEAR_TOL, max_iter=options.max_iter, fast=options.fast)
    if options.expectation == "conjugate_gradient":  # then nothing may be factorised here either
        quick = quick._replace(expectation=options.expectation, random_state=options.random_state)
    return quick._replace(checkpoint=options.section("start").checkpoint)
