"""The peer of our sampler: NUTS of NumPyro for the horseshoe, one chain at a turn.

The model is that of our default. The columns and the response have mean 0 and standard deviation 1 (1/n).
Coefficients are ``sigma * tau * lambda_j * z_j`` with ``z_j`` standard normal (the non-centred form, which
NUTS needs), ``lambda_j`` is half-Cauchy(0, 1) and so is ``sqrt(n) * tau``, the global scale for columns of
unit length; the density of sigma^2 is 1 / sigma^2. The flat intercept integrates out, as the data are
centred, and leaves the power n - 1 of sigma in the likelihood.

NumPyro's own loop compiles on the way. Here one step of its kernel is compiled first, so that a turn times
a chain without compilation; otherwise every setting is the default, but for double precision.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.arrays import Array
from benchmarks.peers.pins import NUMPYRO
from benchmarks.peers.samplers import Drawn, Sample, Sampler

DEPTH = 10
"""Doublings of a trajectory at most, the default."""


def horseshoe(Z: Array, response: Array) -> Callable[[], None]:
    """Return the model of standardised data."""
    jnp, numpyro = import_module("jax.numpy"), import_module("numpyro")
    dist = import_module("numpyro.distributions")
    n, p = Z.shape
    design, target = jnp.asarray(Z), jnp.asarray(response)

    def model() -> None:
        log_sigma = numpyro.sample("log_sigma", dist.ImproperUniform(dist.constraints.real, (), ()))
        tau = numpyro.sample("tau", dist.HalfCauchy(n**-0.5))
        local = numpyro.sample("lambda", dist.HalfCauchy(jnp.ones(p)))
        z = numpyro.sample("z", dist.Normal(jnp.zeros(p), 1.0))
        coef = numpyro.deterministic("coef", jnp.exp(log_sigma) * tau * local * z)
        residual = target - design @ coef
        square = jnp.exp(-2.0 * log_sigma) * (residual @ residual)
        numpyro.factor("likelihood", -(n - 1) * log_sigma - 0.5 * square)

    return model


def _compiled(kernel: Any, state: Any) -> Callable[[Any], Any]:
    """Compile one step: from a state to the next one and its coefficients."""
    coefficients = kernel.postprocess_fn((), {})

    def step(state: Any) -> Any:
        state = kernel.sample(state, (), {})
        return state, coefficients(state.z)["coef"]

    compiled: Callable[[Any], Any] = import_module("jax").jit(step).lower(state).compile()
    return compiled


def prepare(X: Array, y: Array, warmup: int, draws: int) -> Sample:
    """Compile everything; return a function that draws one chain."""
    import_module("numpyro").enable_x64()
    random, infer = import_module("jax.random"), import_module("numpyro.infer")
    scale = X.std(axis=0)
    model = horseshoe((X - X.mean(axis=0)) / scale, (y - y.mean()) / y.std())
    kernel = infer.NUTS(model, max_tree_depth=DEPTH)

    def start(seed: int) -> Any:
        return kernel.init(random.PRNGKey(seed), warmup, None, model_args=(), model_kwargs={})

    step = _compiled(kernel, start(0))

    def chain(seed: int) -> Drawn:
        state = start(seed)
        for _ in range(warmup):
            state, _ = step(state)
        kept = []
        for _ in range(draws):
            state, coef = step(state)
            kept.append((coef, state.diverging, state.num_steps))
        coefs, diverging, steps = (np.stack(part) for part in zip(*kept, strict=True))
        counts = {"divergences": int(diverging.sum()), "deepest": int((steps >= 2**DEPTH - 1).sum())}
        return Drawn(coefs[None] * (y.std() / scale), counts)

    return chain


def nuts(chains: int, warmup: int, draws: int) -> Sampler:
    """Return the sampler of one run."""
    preparation = partial(prepare, warmup=warmup, draws=draws)
    modules = ("numpyro", "numpyro.infer")
    return Sampler(NUMPYRO, "NumPyro NUTS", NUMPYRO, modules, chains, warmup, draws, True, preparation)
