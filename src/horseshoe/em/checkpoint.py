"""The state of the loop as a tree of arrays, and back: all that the next iteration depends on.

It is taken at the top of the loop, where the weights are about to be updated: of the least-squares problem
only what was computed of it is saved, since its columns are those of the data. Where one Gram matrix serves
several iterations, the state is saved once it is done with.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Iteration, Moments, Scales
from horseshoe.data.problem import LeastSquares, Targets
from horseshoe.data.products import CrossProducts
from horseshoe.data.view import View
from horseshoe.em.fast.fading import Effect, GramFading, MatrixFading, Weight
from horseshoe.em.fast.resting import RestingDual
from horseshoe.em.likelihood import Likelihood
from horseshoe.em.result import ProgressReporter
from horseshoe.em.schedule import Schedule
from horseshoe.em.state import FastState, State, WorkingPoint
from horseshoe.priors import Groups
from horseshoe.store.checkpoint import CheckpointSection, changed_attributes, with_changes

# What a least-squares problem may have computed of itself, and its next sums may depend on.
COMPUTED = ("x_mean", "xz", "squares", "diagonal", "gram", "loads", "triangle", "_sums")
TARGETS = ("values", "total_weight", "weights", "center", "careful")
CLASSES = (State, WorkingPoint, Scales, Moments, Iteration, FastState, RestingDual, CrossProducts)
FADING = (MatrixFading, GramFading, Weight, Effect)


class LoopPosition(NamedTuple):
    """Where the loop goes on: after how many iterations, and in which state."""

    number: int
    state: State


def save(
    checkpoint: CheckpointSection,
    position: LoopPosition,
    likelihood: Likelihood,
    schedule: Schedule,
    progress: ProgressReporter,
) -> None:
    """Offer the state before the next iteration, unless its weights are still in use."""
    state = position.state
    point, fast, known = state.point, state.fast, state.point.next_problem
    if point.keeps_weights or not (known is None or _is_plain(known)):
        return
    if fast is not None and fast.resting is not None:
        dtype: Any = np.dtype(fast.resting.dtype).name
        fast = fast._replace(resting=fast.resting._replace(columns=None, part=None, dtype=dtype))  # type: ignore[arg-type]
    bare = state._replace(
        problem=None,  # type: ignore[arg-type]
        spread_problem=None,
        groups=None,
        fast=fast,
        point=point._replace(family=None, next_problem=None),
    )
    next_problem = None
    if known is not None and known.columns is state.problem.columns:
        targets = {name: getattr(known.targets, name) for name in TARGETS}
        next_problem = {"targets": targets, "computed": cache_of(known)}
    checkpoint.save(
        {
            "round": position.number,
            "state": bare,
            "family": changed_attributes(point.family, likelihood.family),
            "groups": None if state.groups is None else state.groups.label,
            "full": cache_of(likelihood.full),
            "problem": cache_of(state.problem) if likelihood.constant else {},
            "spread": None if state.spread_problem is None else cache_of(state.spread_problem),
            "next_problem": next_problem,
            "schedule": schedule.state_dict(),
            "trace": tuple(progress.lines),
        }
    )


def restore(
    checkpoint: CheckpointSection,
    likelihood: Likelihood,
    schedule: Schedule,
    progress: ProgressReporter,
) -> LoopPosition | None:
    """Return where the loop goes on, if it was interrupted; restore the schedule and the trace."""
    found = checkpoint.load(*CLASSES, *FADING)
    if found is None:
        return None
    state, full = found["state"], likelihood.full
    restore_cache(full, found["full"])
    problem = likelihood.bare(state.active)
    if problem is not full:
        restore_cache(problem, found["problem"])
    spread = None
    if found["spread"] is not None:
        spread = full if state.active.all() else full.take(state.active)
        if spread is not full:
            restore_cache(spread, found["spread"])
    known = None
    if found["next_problem"] is not None:
        known = LeastSquares(problem.columns, Targets(**found["next_problem"]["targets"]))
        restore_cache(known, found["next_problem"]["computed"])
    schedule.load_state_dict(found["schedule"])
    progress.lines[:] = found["trace"]
    family = with_changes(likelihood.family, found["family"])
    state = state._replace(
        problem=problem,
        spread_problem=spread,
        groups=None if found["groups"] is None else Groups(found["groups"]),
        point=state.point._replace(family=family, next_problem=known),
        fast=_with_columns(state.fast, problem.columns),
    )
    return LoopPosition(found["round"], state)


def cache_of(problem: LeastSquares) -> dict[str, Any]:
    """Return what a problem has computed of itself.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> problem = plain(np.eye(2), np.ones(2))
    >>> _ = problem.xz
    >>> sorted(cache_of(problem))
    ['_sums', 'xz']
    """
    known = problem.__dict__
    return {name: known[name] for name in COMPUTED if name in known}


def restore_cache(problem: LeastSquares, found: dict[str, Any]) -> None:
    """Restore what a problem had computed of itself when the fit was interrupted, and no more.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> problem = plain(np.eye(2), np.ones(2))
    >>> restore_cache(problem, {"xz": np.array([1.0, 1.5])})
    >>> problem.xz
    array([1. , 1.5])
    """
    for name in COMPUTED:
        problem.__dict__.pop(name, None)
    problem.__dict__.update(found)


def _is_plain(problem: LeastSquares) -> bool:
    """Tell whether the next problem is one that can be saved: only that of a start is not."""
    return type(problem) is LeastSquares and type(problem.targets) is Targets


def _with_columns(fast: FastState | None, columns: View) -> FastState | None:
    """Return what the fast path remembers, with the columns that it works on."""
    if fast is None or fast.resting is None:
        return fast
    resting = fast.resting
    dtype: Any = getattr(np, resting.dtype)
    columns = columns.single() if dtype is np.float32 else columns
    part = columns if resting.awake.all() else columns.take(resting.awake)
    return fast._replace(resting=resting._replace(columns=columns, part=part, dtype=dtype))
