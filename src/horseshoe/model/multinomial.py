"""From the rows to the mode of a softmax regression, in the user's units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from horseshoe._types import Matrix
from horseshoe.data.fitted import Fitted
from horseshoe.data.problem import LeastSquares
from horseshoe.data.rows import Rows
from horseshoe.data.ties import Ties
from horseshoe.em.likelihood import GaussianLikelihood
from horseshoe.em.loop import solve
from horseshoe.em.m_step import Hyper
from horseshoe.em.multinomial import MultinomialLikelihood
from horseshoe.em.options import Options
from horseshoe.em.starts import Begin
from horseshoe.families import Binomial
from horseshoe.families.multinomial import center_over_classes
from horseshoe.model.final_status import with_final_status
from horseshoe.model.fingerprint import check_fingerprint
from horseshoe.model.fit import Earlier, in_units, quick_options, solve_untied, start_in_units
from horseshoe.model.spec import ModelSpec, Prepared, known_sigma2, prepare
from horseshoe.priors import Groups
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
    options = options._replace(sigma2=known_sigma2(spec, prepared.units))
    likelihood_of, begin_of = partial(_likelihood, spec, prepared, chosen), partial(_begin, prepared, start)
    with one_thread():
        results, ties = solve_untied(spec, rows[0], prepared, options, likelihood_of, begin_of)
    fitted = [in_units(spec, prepared, replace(one, family=None), ties, options) for one in results]
    return with_final_status(spec, rows, fitted, list(range(len(fitted))))


def _likelihood(spec: ModelSpec, prepared: Prepared, chosen: Matrix, ties: Ties | None) -> Any:
    assert isinstance(spec.family, Binomial)
    design = prepared.design if ties is None else prepared.design.take(ties.keep)
    return MultinomialLikelihood(design, chosen, spec.fit_intercept, spec.family.augmentation)


def _begin(
    prepared: Prepared,
    start: str | Sequence[Earlier],
    likelihood: MultinomialLikelihood,
    hyper: Hyper,
    options: Options,
    ties: Ties | None,
    groups: Groups | None,
) -> Begin:
    """Return where to begin: at an earlier fit, or by name."""
    if not isinstance(start, str):
        each = [start_in_units(prepared, one, ties) for one in start]
        coef = np.column_stack([coef for coef, _, _ in each])
        level = np.column_stack([np.atleast_1d(level) for _, _, level in each])
        if prepared.design.free is None and not prepared.units.has_intercept:
            level = level[:0]
        coef, level = center_over_classes(coef), center_over_classes(level)
        return likelihood.begin_earlier(likelihood.point_at(coef, level), np.zeros(len(coef)))
    if not hyper.sparse or start == "paper" or not likelihood.full.n_columns:
        return likelihood.begin()
    if start in ("auto", "marginal"):
        return likelihood.begin_marginal()

    def fit(problem: LeastSquares, targets: Matrix) -> tuple[Matrix, Matrix]:
        gaussian = GaussianLikelihood(problem, likelihood.unit, targets=targets)
        found = solve(gaussian, hyper, quick_options(options), groups=groups)
        return np.array([one.coef for one in found]), np.array([one.moments.variance for one in found])

    return likelihood.linear_start(fit)
