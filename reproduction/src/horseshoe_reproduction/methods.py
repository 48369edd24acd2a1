"""The methods of the tables, each a few lines: to add one, add an entry to `METHODS`."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from horseshoe import (
    AdaptiveClassifier,
    AdaptiveRegressor,
    HorseshoeClassifier,
    HorseshoeRegressor,
    HorseshoeSurvival,
    normal_means,
    sample_posterior,
)
from horseshoe.families import Quantile
from horseshoe.priors import FixedScale, Horseshoe, InvertedBeta, LocalPrior
from horseshoe_reproduction.arrays import Matrix, Vector
from horseshoe_reproduction.experiment import QUANTILE, Fit, Problem, RequestError
from horseshoe_reproduction.peers.horseshoe_like import horseshoe_like
from horseshoe_reproduction.peers.means_posterior import means_posterior
from horseshoe_reproduction.peers.normal_mixture import normal_mixture
from horseshoe_reproduction.peers.paths import Rule, cross_validate, glmnet, nonconvex
from horseshoe_reproduction.peers.released import released
from horseshoe_reproduction.peers.ridge import ridge
from horseshoe_reproduction.peers.stability import stability
from horseshoe_reproduction.shrinkage import soft_threshold

# Length of the runs behind the posterior mean.
CHAINS, WARMUP, DRAWS = 4, 500, 500
# Of the intervals of the adaptive estimator.
LEVEL = 0.95
# The priors behind the posterior mean.
HORSESHOE, ADAPTIVE = Horseshoe(), InvertedBeta(a="estimate", b="estimate")
# The global scale that gives what the paper prints for the normal means; any of 0.001 to 0.05 does.
SMALL_TAU2 = 0.01

Runner = Callable[[Problem, np.random.Generator], Fit]


@dataclass(frozen=True)
class Method:
    """A way to fit a problem.

    Attributes
    ----------
    label : str
        The heading of its column.
    printed : str or None
        The column of the paper that it is compared with.
    run : callable
        ``run(problem, rng)`` returns a `Fit`; the generator splits the folds, or draws.
    needs : tuple of str
        The modules of the extra "peers" that it cannot do without.
    """

    label: str
    printed: str | None
    run: Runner
    needs: tuple[str, ...] = ()


def _mode(**options: Any) -> Runner:
    """Return our posterior mode with the given options of the estimators."""

    def run(problem: Problem, rng: np.random.Generator) -> Fit:
        if problem.kind == "means":
            return Fit(normal_means(problem.y, sigma2=1.0, **options).coef)
        given = {"start": "paper", **options}
        if problem.kind == "binomial":
            model: Any = HorseshoeClassifier(**given)
        else:
            model = HorseshoeRegressor(family=problem.kind, **given)
        model.fit(problem.design, problem.y)
        return Fit(model.coef_, float(model.intercept_))

    return run


def _adaptive(problem: Problem, rng: np.random.Generator) -> Fit:
    """Return the estimator that adapts to the unknown sparsity, with all that it says of new rows."""
    seed = int(rng.integers(2**31))
    X, classes = problem.design, problem.kind == "binomial"
    new = X if problem.new is None else problem.new
    model: Any
    if classes:
        model = AdaptiveClassifier(random_state=seed)
    else:
        model = AdaptiveRegressor(family=problem.kind, random_state=seed)
    model.fit(X, problem.y)
    of_new = np.empty((0, 2)) if classes else model.predict_interval(new, level=LEVEL)
    return Fit(
        np.ravel(model.coef_),
        float(np.ravel(model.intercept_)[0]),
        (np.reshape(model.coef_interval(level=LEVEL), (-1, 2)), of_new),
        predicted=model.predict_proba(new)[:, 1] if classes else None,
        support=np.ravel(model.support_),
        inclusion=np.ravel(model.inclusion_),
    )


def _level(problem: Problem, rng: np.random.Generator) -> Fit:
    """Predict the mean of the response for every row."""
    mean = float(problem.y.mean())
    if problem.kind == "binomial":
        mean = float(np.log(mean / (1.0 - mean)))
    elif problem.kind == "poisson":
        mean = float(np.log(mean))
    return Fit(np.zeros(problem.design.shape[1]), mean)


def _glmnet(label: str, alpha: float, rule: Rule, printed: str | None) -> Method:
    """Return glmnet's lasso or ridge, its penalty chosen by ten-fold cross-validation."""

    def run(problem: Problem, rng: np.random.Generator) -> Fit:
        solver = glmnet(problem.kind, alpha)
        return cross_validate(solver, problem.kind, problem.design, problem.y, rng)[rule]

    return Method(label, printed, run, needs=("glmnet",))


def _ridge(problem: Problem, rng: np.random.Generator) -> Fit:
    """Return ridge at the best of all penalties by ten-fold cross-validation."""
    return cross_validate(ridge(problem.kind), problem.kind, problem.design, problem.y, rng)["min"]


def _nonconvex(label: str, penalty: str) -> Method:
    """Return skglm's MCP or SCAD, its penalty chosen by ten-fold cross-validation."""

    def run(problem: Problem, rng: np.random.Generator) -> Fit:
        solver, stratify = nonconvex(problem.kind, penalty), problem.kind == "binomial"
        return cross_validate(solver, problem.kind, problem.design, problem.y, rng, stratify)["min"]

    return Method(label, label, run, needs=("skglm",))


def _posterior(
    problem: Problem,
    rng: np.random.Generator,
    chains: int,
    warmup: int,
    draws: int,
    prior: LocalPrior = HORSESHOE,
) -> Any:
    """Sample the posterior; the chains of short runs need not agree to the last digit."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="R-hat is not below")
        return sample_posterior(
            problem.design,
            problem.y,
            family=problem.kind,
            prior=prior,
            n_chains=chains,
            n_warmup=warmup,
            n_draws=draws,
            random_state=int(rng.integers(2**31)),
            n_jobs=1,
        )


def _posterior_mean(problem: Problem, rng: np.random.Generator) -> Fit:
    """Return the mean of the posterior."""
    if problem.kind == "means":
        return Fit(means_posterior(problem.y, WARMUP, DRAWS, rng))
    posterior = _posterior(problem, rng, CHAINS, WARMUP, DRAWS)
    return Fit(posterior.mean(), float(posterior.intercept.mean()))


def _posterior_adaptive(problem: Problem, rng: np.random.Generator) -> Fit:
    """Return the mean of the posterior with the shapes of the prior estimated."""
    if problem.kind == "means":
        raise RequestError("'posterior-adaptive' is for regressions, not for normal means: leave it out")
    posterior = _posterior(problem, rng, CHAINS, WARMUP, DRAWS, ADAPTIVE)
    return Fit(posterior.mean(), float(posterior.intercept.mean()))


def _single_run(statistic: Callable[[Matrix], Vector]) -> Runner:
    """Return a statistic of the draws of one run of bayesreg's default length: 1,000 after 1,000."""

    def run(problem: Problem, rng: np.random.Generator) -> Fit:
        return Fit(statistic(_posterior(problem, rng, 1, 1000, 1000).coef[0]))

    return run


def _visu_shrink(problem: Problem, rng: np.random.Generator) -> Fit:
    """Use Donoho and Johnstone's universal threshold sqrt(2 log n), for unit noise."""
    return Fit(soft_threshold(problem.y, float(np.sqrt(2.0 * np.log(problem.y.size)))))


def _bayes_shrink(problem: Problem, rng: np.random.Generator) -> Fit:
    """Use Chang, Yu and Vetterli's threshold: the noise variance over the means' standard deviation."""
    spread = float(np.sqrt(max(float(np.mean(problem.y**2)) - 1.0, 0.0)))
    return Fit(soft_threshold(problem.y, 1.0 / spread if spread > 0.0 else float(np.abs(problem.y).max())))


def _released(approximate: bool) -> Runner:
    """Return our posterior mode with the faults of the code that was released with the paper."""
    return lambda problem, rng: released(problem.design, problem.y, approximate)


def _conventional(normalised: bool) -> Runner:
    """Return the EM in which the local scales are the missing data."""
    return lambda problem, rng: horseshoe_like(problem.X, problem.y, normalised)


def _mixture(problem: Problem, rng: np.random.Generator) -> Fit:
    """Return the normal-mixture empirical Bayes fit."""
    if problem.kind != "gaussian":
        raise RequestError(f"'mixture' is for Gaussian responses, not {problem.kind}: leave it out")
    return normal_mixture(problem.design, problem.y, rng)


def _interval(method: str) -> Runner:
    """Return our mode with intervals of 95 %, at the mode or from the posterior."""

    def run(problem: Problem, rng: np.random.Generator) -> Fit:
        options: dict[str, Any] = {}
        if method == "posterior":
            seed = int(rng.integers(2**31))
            options = {"n_chains": 2, "n_warmup": WARMUP, "n_draws": DRAWS, "n_jobs": 1, "random_state": seed}
        model = regressor(problem.kind).fit(problem.design, problem.y)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="R-hat is ")
            of_coef = model.coef_interval(method=method, **options)
            new = problem.design if problem.new is None else problem.new
            of_new = model.predict_interval(new, method=method, **options)
        return Fit(model.coef_, float(model.intercept_), (of_coef, of_new))

    return run


def regressor(kind: str, **options: Any) -> Any:
    """Return the mode of a kind of response.

    Examples
    --------
    >>> regressor("survival"), regressor("poisson")
    (HorseshoeSurvival(), HorseshoeRegressor(family='poisson'))
    """
    if kind == "survival":
        return HorseshoeSurvival(**options)
    family = Quantile(level=QUANTILE) if kind == "quantile" else kind
    return HorseshoeRegressor(family=family, **options)


# By name, in the order of the columns.
METHODS = {
    "hs-em": Method("HS-EM", "HS-EM", _mode()),
    "hs-em-small": Method("HS-EM, tau2 = 0.01", "HS-EM", _mode(tau=FixedScale(SMALL_TAU2))),
    "hs-apx": Method("HS-apx", "HS-apx", _mode(expectation="approximate")),
    "hs-em-released": Method("HS-EM, as released", "HS-EM", _released(approximate=False)),
    "hs-apx-released": Method("HS-apx, as released", "HS-apx", _released(approximate=True)),
    "hs-like": Method("HS-like", "HS-like", _conventional(normalised=False)),
    "hs-like-mended": Method("HS-like, mended", None, _conventional(normalised=True)),
    "hs-like-prior": Method("HS-like in our loop", None, _mode(prior="horseshoe_like")),
    "lasso-1se": _glmnet("Lasso", 1.0, "1se", printed="Lasso"),
    "lasso-min": _glmnet("Lasso, least error", 1.0, "min", printed=None),
    "mcp": _nonconvex("MCP", "MCPenalty"),
    "scad": _nonconvex("SCAD", "SCAD"),
    "ridge-1se": _glmnet("Ridge", 0.0, "1se", printed="Ridge"),
    "ridge-min": _glmnet("Ridge, least error", 0.0, "min", printed=None),
    "mixture": Method("Normal mixture", None, _mixture, needs=("glmnet", "numba")),
    "ridge-best": Method("Ridge, longer path", None, _ridge, needs=("glmnet",)),
    "enet-1se": _glmnet("Elastic net", 0.5, "1se", printed=None),
    "enet-min": _glmnet("Elastic net, least error", 0.5, "min", printed=None),
    "adaptive": Method("Adaptive", None, _adaptive),
    "hs-em-auto": Method("HS-EM, default start", None, _mode(start="auto")),
    "mean": Method("Mean", None, _level),
    "stability": Method(
        "Stability selection",
        None,
        lambda problem, rng: stability(problem.kind, problem.design, problem.y, rng),
        needs=("glmnet",),
    ),
    "bayes-shrink": Method("Lasso (BayesShrink)", "Lasso_BS", _bayes_shrink),
    "visu-shrink": Method("Lasso (VisuShrink)", "Lasso_VS", _visu_shrink),
    "run-mean": Method("Mean", "Mean", _single_run(lambda b: b.mean(axis=0))),
    "run-low": Method("2.5 %", "2.5 %", _single_run(lambda b: np.quantile(b, 0.025, axis=0))),
    "run-high": Method("97.5 %", "97.5 %", _single_run(lambda b: np.quantile(b, 0.975, axis=0))),
    "posterior-mean": Method("Posterior mean", None, _posterior_mean, needs=("polyagamma",)),
    "posterior-adaptive": Method(
        "Posterior mean, shapes estimated", None, _posterior_adaptive, needs=("polyagamma",)
    ),
    "interval-mode": Method("At the mode", None, _interval("mode")),
    "interval-posterior": Method("Posterior", None, _interval("posterior"), needs=("polyagamma",)),
}
