"""Draws from the posterior of regressions that share their scales: several responses, or several classes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.special import logsumexp

from horseshoe._checks import check_jobs, check_level
from horseshoe._extras import require
from horseshoe._types import Matrix, Vector
from horseshoe.data.fitted import Fitted
from horseshoe.data.rows import Rows
from horseshoe.data.standardise import Units
from horseshoe.posterior.draws import Posterior
from horseshoe.posterior.given import new_rows
from horseshoe.posterior.run import (
    GOOD_RHAT,
    Extras,
    at_mode,
    entropy,
    in_units,
    refuse_memory,
    reporter,
    run_chains,
    scales_at_mode,
)
from horseshoe.sampling import diagnostics
from horseshoe.sampling.chains import Draws, Outcome, Plan, Run
from horseshoe.sampling.gibbs import SHRINKAGE_EVERY, State
from horseshoe.sampling.several import SeveralModel
from horseshoe.sampling.streams import Streams


@dataclass(frozen=True)
class SeveralPosterior:
    """Draws from the joint posterior of several regressions; each of them is a `Posterior` of its own.

    Attributes
    ----------
    parts : tuple of Posterior
        One for each response or class; ``posterior[k]`` is the k-th. They share ``lambda2`` and ``tau2``.
    labels : tuple
        The names of the responses, or the classes.
    is_softmax : bool
        Whether these are classes: then coefficients and intercepts add up to zero over them, and
        probabilities come from all of them together.

    Examples
    --------
    >>> from horseshoe import sample_posterior
    >>> x = np.arange(12.0)
    >>> y = np.column_stack([3.0 * x + np.sin(7.0 * x), x + np.cos(5.0 * x)])
    >>> posterior = sample_posterior(x[:, None], y, n_draws=500, random_state=1)
    >>> posterior.coef.shape, posterior.mean().round(0)
    ((4, 500, 2, 1), array([[3.],
           [1.]]))
    """

    parts: tuple[Posterior, ...]
    labels: tuple[Any, ...]
    is_softmax: bool = False

    def __len__(self) -> int:
        return len(self.parts)

    def __getitem__(self, k: int) -> Posterior:
        return self.parts[k]

    def __repr__(self) -> str:
        chains, draws, q, p = self.coef.shape
        kind = "classes" if self.is_softmax else "responses"
        return f"SeveralPosterior({chains} chains of {draws} draws, {q} {kind}, {p} coefficients each)"

    @property
    def coef(self) -> Any:
        """Draws of shape (chains, draws, n_outputs, p)."""
        return np.stack([part.coef for part in self.parts], axis=2)

    @property
    def intercept(self) -> Any:
        """Draws of shape (chains, draws, n_outputs)."""
        return np.stack([part.intercept for part in self.parts], axis=2)

    @property
    def sigma2(self) -> Any:
        """Draws of shape (chains, draws, n_outputs)."""
        return np.stack([part.sigma2 for part in self.parts], axis=2)

    @property
    def tau2(self) -> Any:
        """Draws of shape (chains, draws)."""
        return self.parts[0].tau2

    @property
    def lambda2(self) -> Any:
        """Draws of shape (chains, draws, p), or None."""
        return self.parts[0].lambda2

    def mean(self, of: str = "coef") -> Any:
        """Return the posterior means, a row for each regression."""
        return np.stack([part.mean(of) for part in self.parts])

    def std(self, of: str = "coef") -> Any:
        """Return the posterior standard deviations, a row for each regression."""
        return np.stack([part.std(of) for part in self.parts])

    def interval(self, level: float = 0.95, kind: str = "equal_tailed", of: str = "coef") -> Any:
        """Return credible intervals, a row for each regression, (lower, upper) in the last axis."""
        return np.stack([part.interval(level, kind, of) for part in self.parts])

    def rhat(self, of: str = "coef") -> Any:
        """Return R-hat, a row for each regression: below 1.01 the chains agree."""
        return np.stack([part.rhat(of) for part in self.parts])

    def ess(self, kind: str = "bulk", of: str = "coef") -> Any:
        """Return the effective sample sizes, a row for each regression."""
        return np.stack([part.ess(kind, of) for part in self.parts])

    def summary(self, level: float = 0.95, kind: str = "equal_tailed") -> Any:
        """Return a data frame as `Posterior.summary`, the response or the class in front.

        Needs pandas, which the extra ``horseshoe[pandas]`` installs.
        """
        pandas = require("pandas", extra="pandas")
        tables = [part.summary(level, kind) for part in self.parts]
        for label, table in zip(self.labels, tables, strict=True):
            table.insert(0, "class" if self.is_softmax else "output", [label] * len(table))
        return pandas.concat(tables, ignore_index=True)

    def predict(self, X: Any, return_std: bool = False, offset: Any = None) -> Any:
        """Return the posterior means of new responses, or of the probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (m, p)
            New rows.
        return_std : bool, default=False
            Whether to return the standard deviations of the predictive distributions too; not for classes.
        offset : float or array-like of shape (m,), optional
            Added to every response; not for classes.

        Returns
        -------
        array of shape (m, n_outputs), or a pair of them
        """
        if self.is_softmax:
            if return_std or offset is not None:
                raise ValueError(
                    "return_std and offset are for responses, and these are classes: leave them out"
                )
            return np.vstack([share.mean(axis=0) for share in self._shares(X)])
        found = [part.predict(X, return_std, offset) for part in self.parts]
        if return_std:
            return tuple(np.column_stack(one) for one in zip(*found, strict=True))
        return np.column_stack(found)

    def predict_interval(
        self, X: Any, level: float = 0.95, kind: str = "predictive", offset: Any = None
    ) -> Any:
        """Return intervals of new responses, or of the probabilities of the classes.

        Parameters
        ----------
        X, offset
            As in `predict`.
        level : float, default=0.95
            The probability in the intervals.
        kind : {"predictive", "credible"}, default="predictive"
            Of a new y, or of its mean; of classes always the latter.

        Returns
        -------
        array of shape (m, n_outputs, 2)
        """
        if not self.is_softmax:
            found = [part.predict_interval(X, level, kind, offset) for part in self.parts]
            return np.stack(found, axis=1)
        level = check_level(level)
        return np.concatenate([diagnostics.equal_tailed(share[None], level) for share in self._shares(X)])

    def _shares(self, X: Any) -> Any:
        """Yield the probabilities of the classes of a few rows at a time, one line for each draw."""
        matrix, known = new_rows(self.parts[0], X, None, None)
        pieces = zip(*(part._etas(matrix, known) for part in self.parts), strict=True)
        for piece in pieces:
            eta = np.stack([one for _, one in piece], axis=2)
            yield np.exp(eta - logsumexp(eta, axis=2, keepdims=True))


def draw_several(
    model: SeveralModel,
    units: tuple[tuple[Units, Units | None], ...],
    rows: tuple[Rows, ...],
    modes: tuple[Fitted, ...],
    plan: Plan,
    extras: Extras,
    spec: dict[str, Any],
    labels: tuple[Any, ...],
    names: Any = None,
) -> SeveralPosterior:
    """Run the chains; ``spec`` is what decides the draws beside the data, by name.

    ``units`` are, of each regression, those of the columns that are shrunk, and of all if some are not.
    """
    p, q = units[0][0].kept.size, len(rows)
    need = plan.bytes(p * q)
    refuse_memory(need, extras.max_memory)
    together = rows[0]._replace(y=np.column_stack([one.y for one in rows]))
    report, jobs = reporter(extras.progress, need), check_jobs(extras.n_jobs)
    run = Run(model, plan, lambda piece: _in_units(piece, model, units), jobs, report)
    start = partial(_start, model, modes, plan.n_chains, extras, units)
    outcome = run_chains(run, together, extras, spec, start)
    parts = tuple(
        _part(outcome, model, units[k][0], one, modes[k], plan, k, names) for k, one in enumerate(rows)
    )
    found = SeveralPosterior(parts, labels, model.is_softmax)
    _judge(found, outcome, plan)
    return found


def _start(
    model: SeveralModel, modes: tuple[Fitted, ...], n_chains: int, extras: Extras, units: Any
) -> State:
    """Return starts around the mode, farther apart than the posterior is wide."""
    seeds = np.random.SeedSequence(entropy(extras.random_state)).spawn(n_chains)
    rng = [np.random.Generator(np.random.PCG64(seed)) for seed in seeds]
    size, q, k = float(model.counts.sum()), model.y.shape[1], model.columns.shape[1]
    results = [mode.result for mode in modes]
    low, high = model.tau.bounds
    normal = np.array([r.standard_normal(k + q * k + q + 1) for r in rng])
    lambda2 = np.maximum(scales_at_mode(modes[0], *units[0]), 1.0 / size) * np.exp(normal[:, :k])
    if model.groups is not None:
        lambda2 = lambda2[:, np.unique(model.groups.label, return_index=True)[1]]
    found = [at_mode(model, mode, *own) for mode, own in zip(modes, units, strict=True)]
    away = normal[:, k : k + q * k].reshape(-1, q, k) / np.sqrt(size * k)
    coef = np.array([start for start, _, _ in found]) + away
    level = np.array([np.array([flat for _, flat, _ in found])] * n_chains)
    sigma2 = np.array([max(one.scales.sigma2, 1e-8) for one in results]) * np.exp(
        0.5 * normal[:, -q - 1 : -1]
    )
    if model.known is not None:
        sigma2 = np.tile(model.known, (n_chains, 1))
    if model.is_softmax:
        coef = coef - coef.mean(axis=1, keepdims=True)
    none = np.zeros((n_chains, 0))
    return State(
        coef=coef,
        intercept=level,
        lambda2=lambda2,
        tau2=np.clip(np.exp(2.0 * normal[:, -1]) / size, low, high),
        sigma2=sigma2,
        nuisance=np.zeros(n_chains),
        kappa=np.zeros((n_chains, k)),
        angle=np.zeros(n_chains),
        accepted=np.zeros(n_chains),
        reference=none,
        eta_sum=none,
        shapes=none,
        source=Streams(rng),
    )


def _in_units(piece: Draws, model: SeveralModel, units: Any) -> Draws:
    """Return draws in the user's units, with zeros for the constant columns."""
    own, shared = ("coef", "intercept", "sigma2"), {name: piece[name] for name in piece if name == "lambda2"}
    each = [
        in_units({name: piece[name][:, :, k] for name in own} | shared, model, *units[k])
        for k in range(len(units))
    ]
    stacked = {name: np.stack([one[name] for one in each], axis=2) for name in own}
    return dict(piece) | stacked | {name: each[0][name] for name in shared}


def _part(
    outcome: Outcome,
    model: SeveralModel,
    units: Units,
    rows: Rows,
    mode: Fitted,
    plan: Plan,
    k: int,
    names: Any,
) -> Posterior:
    """Return the draws of one regression."""
    state, draws = outcome.state, outcome.draws
    counted = -(-max(1, state.sweeps - plan.n_warmup) // SHRINKAGE_EVERY)
    kappa: Vector = np.ones(units.kept.size)
    kappa[units.kept] = state.kappa.mean(axis=0) / counted
    if mode.unpenalized is not None:
        kappa[mode.unpenalized] = 0.0
    unnamed = [f"x{j}" for j in range(units.kept.size)]
    return Posterior(
        coef=draws["coef"][:, :, k],
        intercept=draws["intercept"][:, :, k],
        tau2=draws["tau2"],
        sigma2=draws["sigma2"][:, :, k],
        lambda2=draws.get("lambda2"),
        nuisance=None,
        kappa=kappa,
        acceptance=np.zeros(plan.n_chains),
        family=model.family,
        feature_names=tuple(map(str, unnamed if names is None else names)),
        mode=mode,
        rows=rows,
        has_names=names is not None,
    )


def _judge(posterior: SeveralPosterior, outcome: Outcome, plan: Plan) -> None:
    """Warn of draws that are too few."""
    found: Matrix = posterior.rhat()
    kept = posterior.parts[0].coef.shape[1]
    if not outcome.complete:
        warnings.warn(f"interrupted: {kept} of {plan.n_draws} draws of each chain are returned", stacklevel=5)
    with np.errstate(invalid="ignore"):
        bad = ~(found < GOOD_RHAT)
    if bad.any():
        worst = np.unravel_index(int(np.argmax(np.where(np.isnan(found), np.inf, found))), found.shape)
        name = posterior.parts[0].feature_names[int(worst[1])]
        warnings.warn(
            f"R-hat is not below {GOOD_RHAT} for {int(bad.sum())} of {found.size} coefficients (that of "
            f"{name} for {posterior.labels[int(worst[0])]!r} is {found[worst]:.3f}): the chains do not "
            "agree well enough on them yet; ask for more n_draws",
            stacklevel=5,
        )
