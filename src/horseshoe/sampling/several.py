"""Sweeps for regressions that share the local scales of their columns: several responses, several classes.

In the state of a chain the coefficients are of shape (q, k), the intercepts and the noise variances of shape
(q,); lambda2 and tau2 are those of all. A sweep draws what belongs to each regression given the scales, and
the scales given all coefficients: q of them share a lambda2_j, so that lambda2_j^(-q/2) takes the place of
lambda2_j^(-1/2).

Of classes, what they have in common has its prior as its posterior given the scales. It is drawn anew before
the coefficients of a class are drawn given those of the others (Polya-gamma weights make that a Gaussian),
and integrated out where the scales are drawn: of the q coefficients of a column, q - 1 are then left.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from horseshoe._types import Matrix, Vector
from horseshoe.conditional.base import Drawable, Kernel, condition
from horseshoe.data.dense import Dense
from horseshoe.data.problem import LeastSquares, Targets
from horseshoe.families import Binomial
from horseshoe.sampling.gibbs import Gibbs, Model, SlabKernel, State
from horseshoe.variates import TINY


@dataclass(frozen=True)
class SeveralModel(Model):
    """What is sampled; ``y`` has a column for each regression, and ``known`` the noise variances if known.

    ``level`` is what is explained of each response by what is not shrunk beside the intercept, which was
    taken off it; the rows of the intercepts in the state have its coefficients behind them.
    """

    known: Vector | None = None
    level: Matrix | None = None
    is_softmax: bool = False

    @property
    def size(self) -> float:
        """How many coefficients share a local scale."""
        return float(self.y.shape[1]) - float(self.is_softmax)


class SeveralGibbs(Gibbs):
    """The sweep for several Gaussian responses.

    Parameters
    ----------
    model : SeveralModel
        What is sampled.
    n_warmup : int
        Sweeps that are not kept.
    """

    model: SeveralModel

    def __init__(self, model: SeveralModel, n_warmup: int) -> None:
        super().__init__(model, n_warmup)
        self.collapse = not model.tau_is_known  # q coefficients a column hold tau2 where it is
        root, total = np.sqrt(model.counts), float(model.counts.sum())
        columns, targets = model.columns.reweighted(root), model.y * root[:, None]
        self._over = np.zeros(targets.shape[1])
        if columns.shape[0] > columns.shape[1]:  # as few rows as say the same
            basis, triangle = np.linalg.qr(columns.dense())
            seen = basis.T @ targets
            left = targets - basis @ seen
            self._over = np.einsum("ij,ij->j", left, left)
            columns, targets = Dense(np.asfortranarray(triangle)), seen
        self._targets = targets
        self._problem = LeastSquares(columns, Targets(np.zeros(len(targets)), total))

    def move_chain(self, state: State, chain: int, rng: np.random.Generator) -> None:
        """Draw the noise variances, coefficients and intercepts of one chain, and tau2 where that pays."""
        problem, model = self._problem, self.model
        given = self.given(self.kernel(problem, self.each(state.lambda2[chain])), state, chain, rng)
        mean, quadratic = self._seen(given)
        if model.known is None:
            state.sigma2[chain] = 0.5 * quadratic / rng.standard_gamma(0.5 * self.dof, quadratic.size)
        sigma = np.sqrt(state.sigma2[chain])
        noise = given.draw(1.0, rng, sigma.size)  # the targets of the problem itself are zero
        state.coef[chain] = (mean + noise * sigma).T
        if self.basis is not None and model.level is not None:
            noise = rng.standard_normal((sigma.size, self.basis.shape[1])) / math.sqrt(problem.total_weight)
            state.intercept[chain] = sigma[:, None] * noise
            state.intercept[chain][:, -model.level.shape[1] :] += model.level
        elif model.center:
            state.intercept[chain] = sigma * rng.standard_normal(sigma.size) / math.sqrt(problem.total_weight)
        self.record(state, chain, problem)

    def _seen(self, given: Drawable) -> tuple[Matrix, Vector]:
        """Return the means of the coefficients, and z' M^-1 z of each response."""
        mean = given.mean_of(self._targets)
        left = self._targets - self._problem.weighted.matvec(mean)
        quadratic = np.einsum("ij,ij->j", left, self._targets) + self._over
        return mean, np.asarray(np.maximum(quadratic, TINY))

    def misfit(
        self, scaled: Kernel | SlabKernel, there: Drawable, tau2: float, sigma2: float | None
    ) -> float:
        """Return -2 log of the likelihood of the scales, all below them integrated out."""
        q = self._targets.shape[1]
        slab = scaled.log_share(tau2) if isinstance(scaled, SlabKernel) else 0.0
        quadratic = self._seen(there)[1]
        known = self.model.known
        fit = self.dof * np.log(quadratic) if known is None else quadratic / known
        return float(q * (there.log_det + slab) + fit.sum())

    def half_squares(self, state: State) -> Matrix:
        """Return b_j^2 / (2 sigma2), summed over the regressions."""
        return np.asarray(0.5 * np.einsum("cqk,cq->ck", state.coef**2, 1.0 / state.sigma2))


class SoftmaxGibbs(SeveralGibbs):
    """The sweep for several classes.

    The coefficients in the state add up to zero over the classes, and so do the intercepts.
    """

    def __init__(self, model: SeveralModel, n_warmup: int) -> None:
        Gibbs.__init__(self, model, n_warmup)
        self.collapse = False

    def move_chain(self, state: State, chain: int, rng: np.random.Generator) -> None:
        """Draw what the classes have in common, then the coefficients and the intercept of each in turn."""
        # 1. What the classes have in common, from its prior: the likelihood does not depend on it.
        model, (q, k) = self.model, state.coef[chain].shape
        d = self.prior_variance(state, chain)
        common = np.sqrt(d / q) * rng.standard_normal(k)
        coef, level = state.coef[chain] + common, state.intercept[chain].copy()
        eta = np.asarray(
            model.columns.matvec(coef.T) + (level if self.basis is None else self.basis @ level.T)
        )
        # 2. Each class against the others: Polya-gamma weights make the likelihood of its eta Gaussian.
        for j in range(q):
            others = logsumexp(np.delete(eta, j, axis=1), axis=1)
            y = model.y[:, j]
            weights, targets = Binomial().augment(y, eta[:, j] - others, 1.0, model.counts, rng)
            rows = Targets(targets + others, float(model.counts.sum()), weights, model.center)
            problem = self.least_squares(rows)
            coef[j] = condition(problem, d).draw(1.0, rng)
            if model.center or self.basis is not None:
                level[j] = self.flat(problem, coef[j], 1.0, rng)
            own = level[j] if self.basis is None else self.basis @ level[j]
            eta[:, j] = model.columns.matvec(coef[j]) + own
        # 3. The common part is taken out again.
        state.coef[chain] = coef - coef.mean(axis=0)
        state.intercept[chain] = level - level.mean(axis=0)
        self.record(state, chain, problem)
