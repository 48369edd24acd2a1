"""The samplers of regressions that share their scales: they leave the joint distribution as it is."""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import stats

from horseshoe.data.dense import Dense
from horseshoe.families import Binomial, Gaussian
from horseshoe.priors import FixedScale, HalfCauchy, Horseshoe, Ridge
from horseshoe.sampling.gibbs import State
from horseshoe.sampling.several import SeveralGibbs, SeveralModel, SoftmaxGibbs
from horseshoe.sampling.streams import Streams
from registry import LOCAL_PRIORS, name
from sampling.test_joint import TAU_MAX, standardised_gap
from sampling.truths import draw_lambda2, draw_tau


@dataclass(frozen=True)
class Joint:
    """A model on the scale on which the prior acts, with everything drawn from its prior."""

    prior: object
    n: int
    p: int
    q: int
    softmax: bool
    slab2: float = np.inf

    def start(self, rng):
        """A slab multiplies the density of all by exp(-b^2 / (2 slab2)): that is rejection."""
        square = -1.0
        while square < 0.0 or rng.random() >= np.exp(-0.5 * square / self.slab2):
            tau2 = draw_tau(TAU_MAX, 1.0, rng) ** 2 * np.ones(1)
            lambda2 = draw_lambda2(self.prior, (1, self.p), rng)
            coef = np.sqrt(tau2 * lambda2)[:, None] * rng.standard_normal((1, self.q, self.p))
            if self.softmax:
                coef -= coef.mean(axis=1, keepdims=True)
            square = (coef**2).sum() if np.isfinite(self.slab2) else 0.0
        none, flat = np.zeros((1, 0)), np.zeros((1, self.q))
        zero = np.zeros(1)
        shrinkage = np.zeros((1, self.p))
        return State(
            coef,
            flat,
            lambda2,
            tau2,
            flat + 1.0,
            zero,
            shrinkage,
            zero,
            zero,
            none,
            none,
            none,
            Streams([rng]),
        )

    def data(self, X, state, rng):
        eta = X @ state.coef[0].T + state.intercept[0]
        if self.softmax:
            return np.eye(self.q)[(eta + rng.gumbel(size=eta.shape)).argmax(axis=1)]
        return eta + np.sqrt(state.sigma2[0]) * rng.standard_normal(eta.shape)

    def sweep(self, X, y, state):
        free = not self.softmax  # a flat intercept of classes is no distribution to start from
        level = y.mean(axis=0) if free else 0.0
        family, known = (Binomial(), np.ones(self.q)) if self.softmax else (Gaussian(), None)
        zero, one = np.zeros(self.n), np.ones(self.n)
        model = SeveralModel(
            *(Dense(X), y - level, zero, one, family, self.prior, HalfCauchy(TAU_MAX), None, free),
            slab2=self.slab2,
            known=known,
            is_softmax=self.softmax,
        )
        (SoftmaxGibbs if self.softmax else SeveralGibbs)(model, 0).sweep(state)
        state.intercept += level

    def columns(self, rng):
        X = rng.standard_normal((self.n, self.p)) / np.sqrt(self.p)
        return np.asfortranarray(X if self.softmax else X - X.mean(axis=0))

    def bounded(self, X, y, state):
        """Return bounded functions of parameters and data that neither shifts nor scales of y change."""
        sigma = np.sqrt(state.sigma2[0])
        coef = state.coef[0] / sigma[:, None]
        eta = X @ state.coef[0].T + state.intercept[0]
        rest = (eta - eta.mean(axis=1, keepdims=True)) * y if self.softmax else (y - eta) / sigma
        first, other = np.tanh(coef[0, 0]), np.tanh(coef[1, 0])
        wide, tau = np.arctan(np.log(state.lambda2[0, 0]) / 3.0), np.arctan(np.log(state.tau2[0]))
        left = np.tanh(np.abs(rest).mean())
        many = np.tanh(np.abs(coef).sum())
        return np.array(
            [
                *(first, first**2, first * other, many, tau, wide, wide * tau, wide * first**2, left),
                *(left * tau, left * many, other**2 * wide, first * np.tanh(rest[0, 0])),
                other * np.tanh(rest[1, 1]),
            ]
        )


def scores(joint, n_chains, n_sweeps, seed):
    """Many short chains that start from the prior: before and after a sweep all is the same."""
    rng = np.random.default_rng(seed)
    gaps = []
    for _ in range(n_chains):
        X, state, gap = joint.columns(rng), joint.start(rng), 0.0
        for _ in range(n_sweeps):
            y = joint.data(X, state, rng)
            before = joint.bounded(X, y, state)
            joint.sweep(X, y, state)
            gap = gap + joint.bounded(X, y, state) - before
        gaps.append(gap)
    gaps = np.array(gaps)
    return standardised_gap(gaps.mean(axis=0), gaps.std(axis=0) / np.sqrt(n_chains))


@pytest.mark.slow
@pytest.mark.parametrize(
    "joint",
    [
        Joint(Horseshoe(), 6, 3, 2, softmax=False),
        Joint(Horseshoe(), 4, 6, 3, softmax=False),
        Joint(Horseshoe(), 6, 3, 3, softmax=False, slab2=2.0),
        Joint(Horseshoe(), 10, 3, 3, softmax=True),
        Joint(Horseshoe(), 5, 7, 3, softmax=True),
        Joint(Horseshoe(), 8, 3, 2, softmax=True),
        Joint(Horseshoe(), 10, 3, 4, softmax=True, slab2=2.0),
    ],
    ids=lambda joint: f"{joint.n}x{joint.p}x{joint.q}-{joint.softmax}-{joint.slab2}",
)
def test_parameters_and_data_in_turn_stay_with_their_prior(joint):
    """Geweke's test; 7 cases of 14 functions: one set of seeds in twenty has some |z| above 3.5 by chance."""
    assert np.abs(scores(joint, 1500, 5, [80, joint.n, joint.q])).max() < 3.5


@pytest.mark.slow
@pytest.mark.parametrize("prior", [prior for prior, _ in LOCAL_PRIORS], ids=name)
def test_sweeps_leave_the_joint_distribution_as_it_is_for_every_prior(prior):
    """11 priors of 14 functions: one set of seeds in fifteen has some |z| above 3.5 by chance."""
    assert np.abs(scores(Joint(prior, 6, 3, 3, softmax=False), 1200, 6, [81])).max() < 3.5


def test_the_ridge_posterior_of_several_responses_is_its_closed_form():
    """With lambda2, tau2 and sigma2 known the draws are independent, of a known normal distribution."""
    rng = np.random.default_rng(0)
    x, y, known = rng.standard_normal((12, 3)), rng.standard_normal((12, 2)), np.array([0.5, 2.0])
    one, zero = np.ones(12), np.zeros(12)
    model = SeveralModel(
        *(Dense(x), y, zero, one, Gaussian(), Ridge(), FixedScale(0.7), None, False), known=known
    )
    flat, none = np.zeros((400, 2)), np.zeros((400, 0))
    many = np.zeros(400)
    state = State(
        *(np.zeros((400, 2, 3)), flat, np.ones((400, 3)), np.full(400, 0.7), flat + known, many),
        *(np.zeros((400, 3)), many, many, none, none, none),
        Streams([np.random.default_rng([1, k]) for k in range(400)]),
    )
    SeveralGibbs(model, 0).sweep(state)
    inverse = np.linalg.inv(x.T @ x + np.eye(3) / 0.7)
    for k in range(2):
        gap = np.linalg.solve(
            np.linalg.cholesky(known[k] * inverse), (state.coef[:, k] - inverse @ x.T @ y[:, k]).T
        )
        assert stats.kstest(gap.ravel(), "norm").pvalue > 1e-3
