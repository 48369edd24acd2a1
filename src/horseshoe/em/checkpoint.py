"""The state of the loop as a tree of arrays, and back: all that the next iteration hangs on.

It is taken at the top of the loop, where the weights are about to be taken anew: of the least-squares problem
only what was computed of it is kept, since its columns are those of the data. Where one Gram matrix serves
several iterations, the state is kept when it is done with.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Iteration, Mask, Moments, Scales
from horseshoe.data.columns import Columns
from horseshoe.data.problem import LeastSquares, Targets
from horseshoe.data.products import CrossProducts
from horseshoe.em.fast.fading import Effect, GramFading, MatrixFading, Weight
from horseshoe.em.fast.pace import Pace
from horseshoe.em.fast.resting import RestingDual
from horseshoe.em.schedule import Schedule
from horseshoe.em.state import Place, State
from horseshoe.em.trace import Trace
from horseshoe.em.weights import Weights
from horseshoe.priors import Groups
from horseshoe.store.checkpoint import CheckpointSection, changed, with_changes

COMPUTED = ("x_mean", "xz", "squares", "diagonal", "gram", "loads", "triangle", "_sums")
"""What a least-squares problem may know of itself; which of it, its next sums may hang on."""
CLASSES = (State, Place, Scales, Moments, Iteration, Pace, RestingDual, CrossProducts)
FADING = (MatrixFading, GramFading, Weight, Effect)


class LoopPosition(NamedTuple):
    """Where the loop goes on: after how many rounds, and in which state."""

    number: int
    state: State


def save_loop(
    checkpoint: CheckpointSection, here: LoopPosition, weights: Weights, schedule: Schedule, trace: Trace
) -> None:
    """Offer the state before the next round, unless its weights are still in use."""
    state = here.state
    if state.place.waiting or not _is_plain(state.place.ahead):
        return
    pace = state.pace
    resting = None if pace is None else pace.resting
    if pace is not None and resting is not None:
        bare = resting._replace(columns=None, part=None, dtype=np.dtype(resting.dtype).name)  # type: ignore[arg-type]
        pace = pace._replace(resting=bare)
    bare_state = state._replace(
        problem=None,  # type: ignore[arg-type]
        spread_problem=None,
        groups=None,
        pace=pace,
        place=state.place._replace(family=None, ahead=None),
    )
    checkpoint.save(
        {
            "round": here.number,
            "state": bare_state,
            "family": changed(state.place.family, weights.family),
            "groups": label_of(state.groups),
            "full": cached(weights.full),
            "problem": cached(state.problem) if weights.constant else {},
            "spread": None if state.spread_problem is None else cached(state.spread_problem),
            "ahead": _foreseen(state),
            "schedule": schedule.state_dict(),
            "trace": tuple(trace.lines),
        }
    )


def load_loop(
    checkpoint: CheckpointSection, weights: Weights, schedule: Schedule, trace: Trace
) -> LoopPosition | None:
    """Return where the loop goes on, if it was broken off; schedule and trace remember what was before."""
    found = checkpoint.load(*CLASSES, *FADING)
    if found is None:
        return None
    state, full = found["state"], weights.full
    restore_cache(full, found["full"])
    problem = weights.bare(state.active)
    if problem is not full:
        restore_cache(problem, found["problem"])
    spread = None
    if found["spread"] is not None:
        spread = part_of(full, state.active)
        if spread is not full:
            restore_cache(spread, found["spread"])
    family = with_changes(weights.family, found["family"])
    schedule.load_state_dict(found["schedule"])
    trace.lines[:] = found["trace"]
    state = state._replace(
        problem=problem,
        spread_problem=spread,
        groups=groups_with(found["groups"]),
        place=state.place._replace(family=family, ahead=_ahead(found["ahead"], problem)),
        pace=_awake(state.pace, problem.columns),
    )
    return LoopPosition(found["round"], state)


def cached(problem: LeastSquares) -> dict[str, Any]:
    """Return what a problem knows of itself.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> problem = plain(np.eye(2), np.ones(2))
    >>> _ = problem.xz
    >>> sorted(cached(problem))
    ['_sums', 'xz']
    """
    known = problem.__dict__
    return {name: known[name] for name in COMPUTED if name in known}


def restore_cache(problem: LeastSquares, found: dict[str, Any]) -> None:
    """Let a problem know what it knew of itself when the fit was broken off, and no more.

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


def part_of(problem: LeastSquares, active: Mask) -> LeastSquares:
    """Return the problem with the active columns: itself, if all are.

    Examples
    --------
    >>> from horseshoe.data.problem import plain
    >>> part_of(plain(np.eye(2), np.ones(2)), np.array([True, False])).shape
    (2, 1)
    """
    return problem if active.all() else problem.take(active)


def label_of(groups: Groups | None) -> Any:
    """Return groups as an array.

    Examples
    --------
    >>> label_of(Groups(np.array([0, 0, 1])))
    array([0, 0, 1])
    """
    return None if groups is None else groups.label


def groups_with(label: Any) -> Groups | None:
    """Return them again.

    Examples
    --------
    >>> groups_with(np.array([0, 0, 1])).size
    array([2., 1.])
    """
    return None if label is None else Groups(label)


def _is_plain(ahead: LeastSquares | None) -> bool:
    """Tell whether the problem that is known ahead is one that can be kept: only that of a start is not."""
    return ahead is None or (type(ahead) is LeastSquares and type(ahead.targets) is Targets)


def _foreseen(state: State) -> dict[str, Any] | None:
    """Return what is known ahead of the next problem, if it is of these columns."""
    ahead = state.place.ahead
    if ahead is None or ahead.columns is not state.problem.columns:
        return None
    targets = ahead.targets
    kept = {
        name: getattr(targets, name) for name in ("values", "total_weight", "weights", "center", "careful")
    }
    return {"targets": kept, "computed": cached(ahead)}


def _ahead(found: dict[str, Any] | None, problem: LeastSquares) -> LeastSquares | None:
    """Return it again."""
    if found is None:
        return None
    ahead = LeastSquares(problem.columns, Targets(**found["targets"]))
    restore_cache(ahead, found["computed"])
    return ahead


def _awake(pace: Pace | None, columns: Columns) -> Pace | None:
    """Return what the fast path remembers, with the columns that it works on."""
    if pace is None or pace.resting is None:
        return pace
    resting = pace.resting
    dtype: Any = getattr(np, resting.dtype)
    columns = columns.single() if dtype is np.float32 else columns
    part = columns if resting.awake.all() else columns.take(resting.awake)
    return pace._replace(resting=resting._replace(columns=columns, part=part, dtype=dtype))
