"""Geweke's test: parameters and data that are drawn in turn stay with the distribution they started from."""

from dataclasses import dataclass

import numpy as np
import pytest

from horseshoe.data.dense import Dense
from horseshoe.families import (
    Binomial,
    Gaussian,
    Huber,
    Laplace,
    NegativeBinomial,
    Poisson,
    Quantile,
    StudentT,
)
from horseshoe.priors import HalfCauchy, Horseshoe, InvertedBeta, NormalGamma, StrawdermanBerger, estimated
from horseshoe.sampling.gibbs import Model, State
from horseshoe.sampling.metropolis import sampler
from horseshoe.sampling.streams import Streams
from registry import ESTIMATING, LOCAL_PRIORS, name
from sampling.truths import LOCATION, draw_lambda2, draw_nuisance, draw_shapes, draw_tau, draw_y

pytest.importorskip("polyagamma")
pytestmark = pytest.mark.slow

SHAPES = InvertedBeta(a="estimate", b="estimate")
TAU_MAX = 1.0


@dataclass(frozen=True)
class Joint:
    """A model on the scale on which the prior acts, for tests of `horseshoe.sampling.gibbs` itself.

    With ``proper`` sigma2 is known to be 1 and there is no intercept; otherwise a location family has both,
    with their improper priors.
    """

    family: str
    likelihood: object
    prior: object
    n: int
    p: int
    proper: bool = False

    @property
    def name(self):
        tail = "-proper" * self.proper + "-shapes" * bool(estimated(self.prior))
        return f"{self.family}-{self.n}x{self.p}{tail}"

    @property
    def free(self):
        return self.family in LOCATION and not self.proper

    def start(self, rng):
        """Draw the parameters from the prior, where it is one."""
        one = np.ones(1)
        tau2 = draw_tau(TAU_MAX, 1.0, rng) ** 2 * one
        shapes = draw_shapes(self.prior, rng)
        lambda2 = draw_lambda2(self.prior, (1, self.p), rng, shapes)
        nuisance = draw_nuisance(self.family, rng)
        return State(
            coef=np.sqrt(tau2 * lambda2) * rng.standard_normal((1, self.p)),
            intercept=0.0 * one,
            lambda2=lambda2,
            tau2=tau2,
            sigma2=1.0 * one,
            nuisance=np.nan_to_num(nuisance) * one,
            kappa=np.zeros((1, self.p)),
            angle=1.0 * one,
            accepted=0.0 * one,
            reference=np.zeros((1, self.n)),
            eta_sum=np.zeros((1, self.n)),
            shapes=np.array([list(shapes.values())]),
            source=Streams([rng]),
        )

    def data(self, X, state, rng):
        """Draw y given the parameters."""
        eta = X @ state.coef[0] + state.intercept[0]
        if self.family not in LOCATION:
            return draw_y(self.family, eta, state.nuisance[0], rng)
        return eta + np.sqrt(state.sigma2[0]) * draw_y(self.family, np.zeros(self.n), state.nuisance[0], rng)

    def sweep(self, X, y, state):
        """Move the parameters by one sweep given y: of a new sampler, for it holds what depends on y."""
        level = y.mean() if self.free and self.family == "gaussian" else 0.0  # which wants centred data
        zero, one = np.zeros(self.n), np.ones(self.n)
        known = None if self.free else 1.0
        tau = HalfCauchy(TAU_MAX)
        columns, center = Dense(X), self.free
        model = Model(columns, y - level, zero, one, self.likelihood, self.prior, tau, known, center)
        sampler(model, n_warmup=0).sweep(state)
        state.intercept += level

    def columns(self, rng):
        """Draw X, centred where there is an intercept."""
        X = rng.standard_normal((self.n, self.p)) / np.sqrt(self.p)
        return np.asfortranarray(X - X.mean(axis=0) if self.free else X)

    def seen(self, X, y, state):
        """Return the parameters in units of sigma, and the residuals or what takes their place."""
        sigma = np.sqrt(state.sigma2[0])
        eta = X @ state.coef[0] + state.intercept[0]
        rest = (y - eta) / sigma if self.family in LOCATION else eta * (2.0 * (y > 0.0) - 1.0)
        shapes = np.append(state.shapes[0], np.ones(2))[:2]
        values = (state.coef[0] / sigma, state.lambda2[0], state.tau2, state.nuisance, shapes, rest)
        return np.concatenate(values)

    def bounded(self, seen):
        """Return bounded functions of what is seen, one a column."""
        ends = np.cumsum([self.p, self.p, 1, 1, 2])
        coef, lambda2, tau2, nuisance, shapes, rest = np.split(seen, ends, axis=-1)
        log_shapes = np.arctan(np.log(shapes))
        first, wide = np.tanh(coef[..., 0]), np.arctan(np.log(lambda2[..., 0]) / 3.0)
        residual = np.tanh(0.5 * np.abs(rest).mean(axis=-1))
        return np.stack(
            [
                first,
                first**2,
                np.tanh(np.abs(coef).sum(axis=-1)),
                np.arctan(np.log(tau2[..., 0])),
                wide,
                wide * np.tanh(lambda2[..., 1]),
                wide * np.sqrt(tau2[..., 0]),
                np.arctan(np.log1p(nuisance[..., 0]) - 1.0),
                first * np.tanh(rest[..., 0]),
                residual,
                residual * np.sqrt(tau2[..., 0]),
                residual * first**2,
                log_shapes[..., 0],
                log_shapes[..., 1],
                log_shapes[..., 0] * wide,
                log_shapes[..., -1] * np.arctan(np.log(tau2[..., 0])),
            ],
            axis=-1,
        )


def standardised_gap(gap, error):
    """Return gaps in standard errors; what cannot vary (lambda2 of ridge) must not."""
    varies = error > 1e-12
    np.testing.assert_allclose(gap[~varies], 0.0, atol=1e-12)
    return gap[varies] / error[varies]


def restart_scores(joint, n_chains, n_sweeps, seed):
    """Many short chains of the same kind, each from the prior: before and after a sweep all is the same.

    This holds for the improper priors too, for functions that neither shifts nor scales of y change.
    """
    rng = np.random.default_rng(seed)
    before = np.empty((n_chains, n_sweeps, 2 * joint.p + 4 + joint.n))
    after = np.empty_like(before)
    for chain in range(n_chains):
        X, state = joint.columns(rng), joint.start(rng)
        for sweep in range(n_sweeps):
            y = joint.data(X, state, rng)
            before[chain, sweep] = joint.seen(X, y, state)
            joint.sweep(X, y, state)
            after[chain, sweep] = joint.seen(X, y, state)
    gap = (joint.bounded(after) - joint.bounded(before)).sum(axis=1)
    return standardised_gap(gap.mean(axis=0), gap.std(axis=0) / np.sqrt(n_chains))


@pytest.mark.parametrize(
    "joint",
    [
        Joint("gaussian", Gaussian(), StrawdermanBerger(), 6, 3, proper=True),
        Joint("gaussian", Gaussian(), Horseshoe(), 3, 5, proper=True),
        Joint("gaussian", Gaussian(), Horseshoe(), 6, 3),
        Joint("gaussian", Gaussian(), Horseshoe(), 4, 6),
        Joint("binomial", Binomial(), Horseshoe(), 8, 3),
        Joint("binomial", Binomial(), Horseshoe(), 4, 6),
        Joint("student_t", StudentT(), Horseshoe(), 6, 3),
        Joint("student_t", StudentT(), Horseshoe(), 4, 6),
        Joint("laplace", Laplace(), Horseshoe(), 6, 3),
        Joint("laplace", Laplace(), Horseshoe(), 4, 6),
        Joint("quantile", Quantile(level=0.8), Horseshoe(), 6, 3),
        Joint("quantile", Quantile(level=0.8), Horseshoe(), 4, 6),
        Joint("huber", Huber(), Horseshoe(), 6, 3),
        Joint("gaussian", Gaussian(), SHAPES, 4, 6),
        Joint("student_t", StudentT(), SHAPES, 6, 3),
        Joint("binomial", Binomial(), SHAPES, 4, 6),
    ],
    ids=lambda joint: joint.name,
)
def test_parameters_and_data_in_turn_stay_with_their_prior(joint):
    """Geweke's test of the joint distribution, in many chains that start from it: none has to forget.

    16 cases of 11 to 15 functions: one set of seeds in fifteen has some |z| above 3.5 by chance.
    """
    assert np.abs(restart_scores(joint, 2000, 5, [50, joint.n, joint.p])).max() < 3.5


@pytest.mark.parametrize("prior", [*(prior for prior, _ in LOCAL_PRIORS), *ESTIMATING], ids=name)
def test_sweeps_leave_the_joint_distribution_as_it_is_for_every_prior(prior):
    """14 priors of 11 to 15 functions: one set of seeds in fifteen has some |z| above 3.5 by chance."""
    joint = Joint("gaussian", Gaussian(), prior, 6, 3)
    assert np.abs(restart_scores(joint, 1500, 6, [60])).max() < 3.5


@pytest.mark.parametrize(
    "joint",
    [
        Joint("gaussian", Gaussian(), Horseshoe(), 4, 6),
        Joint("student_t", StudentT(), Horseshoe(), 10, 3),
        Joint("laplace", Laplace(), Horseshoe(), 10, 3),
        Joint("quantile", Quantile(level=0.8), Horseshoe(), 10, 3),
        Joint("huber", Huber(), NormalGamma(), 10, 3),
        Joint("binomial", Binomial(), Horseshoe(), 10, 3),
        Joint("negative_binomial", NegativeBinomial(), NormalGamma(), 10, 3),
        Joint("poisson", Poisson(), NormalGamma(), 10, 3),
        Joint("poisson", Poisson(), InvertedBeta(a="estimate", b=20.0), 10, 3),
    ],
    ids=lambda joint: joint.name,
)
def test_sweeps_leave_the_joint_distribution_as_it_is_for_every_family(joint):
    """9 cases of 11 to 15 functions: one set of seeds in twenty-five has some |z| above 3.5 by chance."""
    assert np.abs(restart_scores(joint, 1500, 6, [70])).max() < 3.5
