"""Running the chains: in pieces, here or in processes of their own, with a word on how they are doing.

The draws depend on the seed alone: not on the number of processes, nor on where the pieces begin and end, nor
on whether the run was broken off and taken up again in between.
"""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from horseshoe.sampling.diagnostics import ess_bulk, rhat
from horseshoe.sampling.gibbs import Gibbs, Model, State, join
from horseshoe.sampling.metropolis import sampler
from horseshoe.sampling.several import SeveralGibbs, SeveralModel, SoftmaxGibbs
from horseshoe.threads import one_thread

# Arrays by name, with the chain first and the draw second.
Draws = dict[str, Any]

# How long a piece takes, about: this much is lost when a run is broken off.
PIECE_SECONDS = 0.5
# Seconds of work left that make it worth while to start processes.
WORTH_PROCESSES = 8.0
# Of the time, at most, goes into looking how the chains are doing.
LOOK_SHARE = 0.05


class Plan(NamedTuple):
    """How much is drawn, and what of it is kept."""

    n_chains: int
    n_warmup: int
    n_draws: int
    thin: int
    store_lambda2: bool

    @property
    def sweeps(self) -> int:
        """Sweeps of each chain in all."""
        return self.n_warmup + self.n_draws * self.thin

    def kept(self, sweeps: int) -> int:
        """Return how many draws there are after so many sweeps."""
        return max(0, sweeps - self.n_warmup) // self.thin

    def bytes(self, n_columns: int, n_shapes: int = 0) -> int:
        """Return the size of what is kept; ``n_shapes`` are what the prior leaves to be estimated."""
        numbers = n_columns * (2 if self.store_lambda2 else 1) + 4 + n_shapes
        return 8 * self.n_chains * self.n_draws * numbers


class Progress(NamedTuple):
    """How a run is doing; ``rhat`` and ``ess`` are the worst of the coefficients, NaN during the warm-up."""

    sweeps: int
    n_sweeps: int
    n_draws: int
    rhat: float
    ess: float
    seconds: float
    seconds_left: float
    bytes: int

    def __str__(self) -> str:
        doing = "warm-up" if self.n_draws == 0 else f"{self.n_draws} draws a chain"
        judged = f", R-hat {self.rhat:.3f}, ESS {self.ess:.0f}" if np.isfinite(self.ess) else ""
        return f"{100 * self.sweeps // self.n_sweeps:3d} % {doing}{judged}, {self.seconds_left:.0f} s left"


class Outcome(NamedTuple):
    """What a run has drawn: fewer draws than planned if it was broken off."""

    draws: Draws
    state: State
    complete: bool


# From the scale on which the prior acts to the user's.
Keep = Callable[[Draws], Draws]


class Run:
    """The chains of one model.

    Parameters
    ----------
    model : Model
        What is sampled.
    plan : Plan
        How much is drawn.
    keep : callable
        Turns a piece of draws into what is stored.
    n_jobs : int or None
        Processes; None starts them only where there is work enough.
    report : callable, optional
        Called with `Progress` now and then.
    save : callable, optional
        Called with the state and the draws whenever a piece is done.
    """

    def __init__(
        self,
        model: Model,
        plan: Plan,
        keep: Keep,
        n_jobs: int | None = 1,
        report: Callable[[Progress], Any] | None = None,
        save: Callable[[State, Draws], Any] | None = None,
    ) -> None:
        self.model, self.plan, self.keep = model, plan, keep
        self.n_jobs, self.report, self.save = n_jobs, report, save
        self.draws: Draws = {}
        self._pace = 0.0  # seconds a sweep
        self._start = self._looked = time.perf_counter()
        self._look_cost = 0.0

    def go(self, state: State, draws: Draws | None = None) -> Outcome:
        """Draw until the plan is fulfilled, or until Ctrl-C; ``draws`` are those of before ``state``."""
        self._allocate(draws or {}, self.plan.kept(state.sweeps))
        first = state.sweeps
        try:
            with one_thread(strict=True):  # in this process as in each of several
                while state.sweeps < self.plan.sweeps:
                    after, piece = self._advance(state, first)
                    self._store(piece, self.plan.kept(after.sweeps))
                    state = after  # only now: Ctrl-C may come at any moment
                    if self.save is not None:
                        self.save(state, self.so_far(state))
                    self._tell(state, first)
        except KeyboardInterrupt:
            if self.plan.kept(state.sweeps) == 0:
                raise
            return Outcome(self.so_far(state), state, complete=False)
        return Outcome(self.so_far(state), state, complete=True)

    def so_far(self, state: State) -> Draws:
        """Return the draws up to a state."""
        kept = self.plan.kept(state.sweeps)
        return {name: value[:, :kept] for name, value in self.draws.items()}

    def _advance(self, state: State, first: int) -> tuple[State, Draws]:
        """Return the state after the next piece, and what was drawn in it."""
        left = self.plan.sweeps - state.sweeps
        jobs = self._jobs(left)
        seconds = PIECE_SECONDS if jobs == 1 else 4.0 * PIECE_SECONDS
        size = min(left, max(1, int(seconds / self._pace)) if self._pace else 10)
        start = time.perf_counter()
        if jobs == 1:
            state, piece = advance(self.model, self.plan, state, size)
        else:
            state, piece = self._spread(state, size, jobs)
        self._pace = (time.perf_counter() - start) / size
        return state, piece

    def _jobs(self, left: int) -> int:
        from joblib import cpu_count  # comes with scikit-learn

        chains = self.plan.n_chains
        if self.n_jobs is not None:
            return min(cpu_count() if self.n_jobs < 0 else self.n_jobs, chains)
        return min(cpu_count(), chains) if self._pace * left > WORTH_PROCESSES else 1

    def _spread(self, state: State, size: int, jobs: int) -> tuple[State, Draws]:
        """Let processes of their own advance some chains each."""
        from joblib import Parallel, delayed  # comes with scikit-learn

        ends = np.linspace(0, self.plan.n_chains, jobs + 1).astype(int)
        parts = [state.take(slice(low, high)) for low, high in pairwise(ends)]
        done = Parallel(n_jobs=jobs, backend="loky")(
            delayed(advance)(self.model, self.plan, part, size) for part in parts
        )
        pieces = [piece for _, piece in done]
        together = {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}
        return join([part for part, _ in done]), together

    def _allocate(self, before: Draws, kept: int) -> None:
        for name, value in before.items():
            room = np.empty((value.shape[0], self.plan.n_draws, *value.shape[2:]))
            room[:, :kept] = value[:, : self.plan.n_draws]
            self.draws[name] = room

    def _store(self, piece: Draws, kept: int) -> None:
        """Put a piece behind the draws that there are."""
        for name, value in self.keep(piece).items():
            if name not in self.draws:
                self.draws[name] = np.empty((value.shape[0], self.plan.n_draws, *value.shape[2:]))
            self.draws[name][:, kept - value.shape[1] : kept] = value

    def _tell(self, state: State, first: int) -> None:
        """Say how the chains are doing, unless that would take too large a share of the time."""
        now = time.perf_counter()
        finished = state.sweeps == self.plan.sweeps
        if self.report is None or (now - self._looked < self._look_cost / LOOK_SHARE and not finished):
            return
        worst, least = float("nan"), float("nan")
        kept = self.plan.kept(state.sweeps)
        if kept >= 4:
            coef = self.draws["coef"][:, :kept]
            worst, least = float(np.nanmax(rhat(coef))), float(np.nanmin(ess_bulk(coef)))
        done, seconds = state.sweeps - first, now - self._start
        left = seconds / max(done, 1) * (self.plan.sweeps - state.sweeps)
        size = self.plan.bytes(math.prod(self.draws["coef"].shape[2:]), state.shapes.shape[1])
        self.report(Progress(state.sweeps, self.plan.sweeps, kept, worst, least, seconds, left, size))
        self._looked = time.perf_counter()
        self._look_cost = self._looked - now


# The sampler of the model that was advanced last in this process.
_latest: dict[str, Any] = {}


def advance(model: Model, plan: Plan, state: State, sweeps: int) -> tuple[State, Draws]:
    """Return the state after some more sweeps, and what is to be kept of them; ``state`` stays as it is."""
    state = copy.deepcopy(state)
    count = plan.kept(state.sweeps + sweeps) - plan.kept(state.sweeps)
    draws = _room(state, count, plan.store_lambda2)
    kept = 0
    with one_thread(strict=True):
        sweep = _sampler(model, plan.n_warmup)
        for _ in range(sweeps):
            sweep.sweep(state)
            after = state.sweeps - plan.n_warmup
            if after > 0 and after % plan.thin == 0:
                for name, value in draws.items():
                    value[:, kept] = getattr(state, name)
                kept += 1
    return state, draws


def _sampler(model: Model, n_warmup: int) -> Gibbs:
    """Return the sampler, the same as last time if the model is the same."""
    known = _latest.get("model")
    if (known is not model and not _same(known, model)) or _latest.get("n_warmup") != n_warmup:
        _latest.update(model=model, n_warmup=n_warmup, sampler=_made(model, n_warmup))
    known_sampler: Gibbs = _latest["sampler"]
    return known_sampler


def _made(model: Model, n_warmup: int) -> Gibbs:
    if isinstance(model, SeveralModel):
        return (SoftmaxGibbs if model.is_softmax else SeveralGibbs)(model, n_warmup)
    return sampler(model, n_warmup)


def _same(one: Model | None, other: Model) -> bool:
    return one is not None and one.token == other.token


def _room(state: State, count: int, store_lambda2: bool) -> Draws:
    names = ["coef", "intercept", "tau2", "sigma2", "nuisance"] + ["lambda2"] * store_lambda2
    names += ["shapes"] * (state.shapes.shape[1] > 0)
    return {name: np.empty((len(state.rng), count, *getattr(state, name).shape[1:])) for name in names}
