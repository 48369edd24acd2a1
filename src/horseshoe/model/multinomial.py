"""From the rows to the mode of a softmax regression, in the user's units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count

import numpy as np

from horseshoe._types import FitResult, Matrix
from horseshoe.data.fitted import Fitted
from horseshoe.data.rows import Rows
from horseshoe.data.ties import Ties
from horseshoe.data.unpenalized import free_level
from horseshoe.em.multinomial import solve_multinomial
from horseshoe.em.options import Options
from horseshoe.em.result import scatter_result
from horseshoe.em.softmax import Place
from horseshoe.families import Binomial
from horseshoe.model.fingerprint import check_fingerprint
from horseshoe.model.fit import Earlier, groups_of, in_units, near_ties_of, ties_of
from horseshoe.model.several import remarked
from horseshoe.model.spec import ModelSpec, Prepared, prepare
from horseshoe.threads import one_thread


def fit_multinomial(
    spec: ModelSpec,
    rows: Sequence[Rows],
    options: Options | None = None,
    start: str | Sequence[Earlier] = "auto",
) -> tuple[Fitted, ...]:
    """Find the posterior mode of several classes that share the scales of the columns, one fit for each.

    ``rows`` are the same but for y, which is 1 where a row is of the class and 0 elsewhere; the family of
    ``spec`` is `Binomial`, whose weights the fit takes.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.priors import HalfCauchy, Horseshoe
    >>> x = np.arange(30.0) + 3.0 * np.sin(np.arange(30.0))
    >>> codes = np.repeat([0, 1, 2], 10)
    >>> rows = [Rows(Dense(x[:, None]), 1.0 * (codes == k), None, np.zeros(30)) for k in range(3)]
    >>> found = fit_multinomial(ModelSpec(Binomial(), Horseshoe(), HalfCauchy()), rows)
    >>> bool(found[0].coef[0] < found[1].coef[0] < found[2].coef[0])
    True
    """
    options = Options() if options is None else options
    spec = replace(spec, size=len(rows) - 1.0)
    prepared = prepare(spec, rows[0])
    chosen = np.column_stack([one.y for one in rows])
    if options.checkpoint is not None:
        check_fingerprint(options, spec, rows[0], prepared.design, start, chosen)
    with one_thread():
        results, ties = _solve(spec, prepared, chosen, options, start)
    fitted = [in_units(spec, prepared, one, ties, options) for one in results]
    return remarked(spec, rows, fitted, list(range(len(fitted))))


def _solve(
    spec: ModelSpec, prepared: Prepared, chosen: Matrix, options: Options, start: str | Sequence[Earlier]
) -> tuple[tuple[FitResult, ...], Ties | None]:
    """Find the mode, with one column for each set of tied ones where the prior selects."""
    hyper, family = spec.hyper, spec.family
    assert isinstance(family, Binomial)
    ties = ties_of(spec, prepared)
    for number in count():
        part = prepared.design if ties is None else prepared.design.take(ties.keep)
        begin, groups = _begin(prepared, start, ties), groups_of(prepared, ties)
        here = options.section(f"round {number}")
        results = solve_multinomial(
            part, chosen, hyper, here, spec.fit_intercept, family.augmentation, begin, groups
        )
        problem = prepared.problem if ties is None else prepared.problem.take(ties.keep)
        more = near_ties_of(spec, problem, results[0].coef, groups)
        if more is None:
            break
        ties = more if ties is None else ties.then(more)
    return results if ties is None else tuple(scatter_result(one, ties.keep) for one in results), ties


def _begin(prepared: Prepared, start: str | Sequence[Earlier], ties: Ties | None) -> str | Place:
    """Return where to begin: at an earlier fit, or by name."""
    if isinstance(start, str):
        return "marginal" if start == "auto" else start
    units, whole, free = prepared.units, prepared.all_units, prepared.design.free
    columns, shrunk = prepared.design.columns, units.kept[whole.kept]
    coef = np.column_stack([units.from_coef(one.coef) for one in start])
    flat = np.array([[whole.from_intercept(one.intercept, one.coef) for one in start]])
    basis = np.ones((columns.shape[0], 1))
    if free is not None:
        basis = free.with_ones(units.has_intercept)
        own = [whole.from_coef(one.coef)[~shrunk] for one in start]
        each = zip(flat[0], coef.T, own, strict=True)
        flat = np.column_stack([free_level(free, *one, units.has_intercept) for one in each])
    elif not units.has_intercept:
        basis, flat = basis[:, :0], flat[:0]
    if ties is not None:
        coef = np.column_stack([ties.fold(one) for one in coef.T])
        columns = columns.take(ties.keep)
    coef, flat = coef - coef.mean(axis=1, keepdims=True), flat - flat.mean(axis=1, keepdims=True)
    return Place(coef, flat, np.asarray(columns.matvec(coef) + basis @ flat))
