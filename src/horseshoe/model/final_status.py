"""The status of fits that have converged, if their selection reproduces y, or is no clearer than noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from horseshoe._types import Status
from horseshoe.data.fitted import Fitted
from horseshoe.data.rows import Rows
from horseshoe.model.chance import chance_status
from horseshoe.model.exact import REPLACEABLE, reproduces
from horseshoe.model.spec import ModelSpec


def with_final_status(
    spec: ModelSpec, rows: Sequence[Rows], fitted: Sequence[Fitted], varying: Sequence[int] = (0,)
) -> tuple[Fitted, ...]:
    """Return fits that share their scales, with the status of selections that need a word of caution.

    ``varying`` are the regressions whose y is not constant. Noise is blamed only where it may have made the
    selection of each of them: one that is clear vouches for the columns that they share.
    """
    # 1. columns that reproduce a response to rounding
    found = {k: Status.REPRODUCED for k, one in enumerate(fitted) if _is_reproduced(spec, rows[k], one)}
    # 2. selections that noise could have made
    if not found:
        statuses = {k: chance_status(spec, rows[k], fitted[k]) for k in varying}
        by_chance = {k: status for k, status in statuses.items() if status is not None}
        found = by_chance if len(by_chance) == len(statuses) else {}
    return tuple(
        replace(one, result=one.result.with_status(found[k])) if k in found else one
        for k, one in enumerate(fitted)
    )


def _is_reproduced(spec: ModelSpec, rows: Rows, fitted: Fitted) -> bool:
    """Tell whether the selected columns reproduce y to rounding, of fits that nothing else is said of."""
    if not spec.family.is_location or fitted.result.status not in REPLACEABLE:
        return False
    noise = fitted.sigma2 if spec.sigma2 == "estimate" else 0.0
    return reproduces(rows, fitted.coef, spec.fit_intercept, noise)
