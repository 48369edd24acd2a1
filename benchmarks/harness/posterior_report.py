"""The section of the report on the sampler, as Markdown."""

from __future__ import annotations

import statistics
from collections import Counter

from benchmarks.harness.markdown import number, table
from benchmarks.harness.run import Run
from benchmarks.harness.sampled import Rate, Sampled, disagreement, rate_of
from benchmarks.peers import bayesreg
from benchmarks.peers.methods import OURS
from benchmarks.tasks.posterior import DIABETES, PROBLEMS, Problem
from benchmarks.tasks.posterior_checks import RHAT_LIMIT

RATE_HEADER = (
    "sampler",
    "chains x (warm-up + draws)",
    "runs",
    "CPU s of a run",
    "worst",
    "median",
    "ours / it, worst",
    "ours / it, median",
)
CHAINS_HEADER = (
    "sampler",
    "largest R-hat",
    f"coefficients with R-hat of {RHAT_LIMIT:g} or more",
    "divergences",
    "deepest trees",
    "each chain alone, worst",
    "each chain alone, median",
    "before it, CPU s",
    "peak MiB",
)


def _rates(rate: Rate | None) -> list[str]:
    return ["-", "-"] if rate is None else [number(rate.worst), number(rate.median)]


def _rate_row(sampled: Sampled, ours: Rate | None) -> list[str]:
    rate = sampled.rate()
    if rate is None:
        return [sampled.label, sampled.size, f"unavailable: {sampled.reason}", *["-"] * 5]
    cpu = number(statistics.median(run.cpu for run in sampled.runs))
    over = ours.over(rate) if ours and sampled.method != OURS else None
    return [sampled.label, sampled.size, str(len(sampled.runs)), cpu, *_rates(rate), *_rates(over)]


def _quoted_row(ours: Sampled) -> list[str]:
    """Put what R bayesreg reached, with our posterior standard deviations, on a line."""
    rate, theirs = ours.rate(), rate_of(bayesreg.effective(ours.sd), bayesreg.CPU)
    over = _rates(rate.over(theirs) if rate else None)
    return [bayesreg.LABEL, bayesreg.SIZE, "1", number(bayesreg.CPU), *_rates(theirs), *over]


def _chains_row(sampled: Sampled) -> list[str]:
    above = [sum(value >= RHAT_LIMIT for value in run.rhat) for run in sampled.runs]
    counts = [str(sum(turns)) if turns else "-" for turns in (sampled.divergences, sampled.deepest)]
    rhat = ", ".join(f"{value:.3f}" for value in sampled.rhat)
    before = number((sampled.import_cpu or 0.0) + (sampled.first_cpu or 0.0))
    peak = "-" if sampled.peak is None else f"{sampled.peak / 2**20:.0f}"
    alone = _rates(sampled.rate("alone"))
    return [sampled.label, rhat, ", ".join(map(str, above)), *counts, *alone, before, peak]


def _said(measured: list[Sampled]) -> str:
    """List what the calls warned of, and who was lost."""
    said: Counter[str] = Counter()
    for sampled in measured:
        for message in (text for turn in sampled.messages for text in turn):
            said[f"{sampled.label} warned: {' '.join(message.split())}"] += 1
        if sampled.reason:
            said[f"{sampled.label}: {sampled.reason}"] += 1
    return "\n".join(f"- {line}" + (f" ({times} times)" if times > 1 else "") for line, times in said.items())


def _agreement(ours: Sampled, peer: Sampled) -> str:
    """Say how far the posterior means of a peer are from ours."""
    apart = disagreement(ours, peer)
    if apart is None:
        return ""
    return (
        f"The posterior means of {peer.label} and ours are {apart.median:.2f} standard errors of their "
        f"difference apart in the median coefficient, {apart.worst:.2f} in the worst. Two samplers of "
        "the same posterior have about 0.67 in the median."
    )


def _problem(problem: Problem, measured: dict[str, Sampled]) -> list[str]:
    ours = measured.get(OURS)
    rate = ours.rate() if ours else None
    rows = [_rate_row(sampled, rate) for sampled in measured.values()]
    if problem is DIABETES and ours and ours.runs:
        rows.append(_quoted_row(ours))
    parts = [f"### {problem.name}", problem.about, table(list(RATE_HEADER), rows)]
    chains = [_chains_row(sampled) for sampled in measured.values() if sampled.runs]
    parts += [table(list(CHAINS_HEADER), chains)] if chains else []
    parts += [_agreement(ours, peer) for name, peer in measured.items() if ours and name != OURS]
    return [part for part in (*parts, _said(list(measured.values()))) if part]


def posterior_section(run: Run) -> list[str]:
    """Lay out what was measured of the samplers; nothing, if they did not run."""
    parts: list[str] = []
    for problem in PROBLEMS.values():
        found = {name: run.posterior.get((problem.name, name)) for name in problem.samplers}
        measured = {name: sampled for name, sampled in found.items() if sampled is not None}
        parts += _problem(problem, measured) if measured else []
    return ["## Posterior: effective samples a CPU second", TEXT, *parts] if parts else []


TEXT = """Draws from the posterior under the horseshoe prior, with the global scale half-Cauchy(0, 1) for
columns of unit length and p(sigma2) = 1 / sigma2: our default. The effective samples of a coefficient are the
rank-normalised bulk effective sample size of Vehtari, Gelman, Simpson, Carpenter and Bürkner (2021), computed
by ArviZ for every sampler alike; worst and median are over the coefficients. The CPU of a run
is all that it takes with one thread, warm-up included. Importing the library and preparing are not counted
but stand beside it: for NumPyro that is the compilation, for us a call of 20 + 20 iterations. The samplers of
a problem take turns. A turn of ours is a whole run, and the figures are the medians over the runs; a turn of
NumPyro is one chain, and all its chains are one run. It draws from the same posterior in the non-centred
form, in double precision, with its default settings; deepest trees are the draws that reached the largest
depth. Each chain alone: the same rates with the effective samples of each chain by itself added up, which
leaves out that chains disagree. Peak memory is that of the whole process.

The line of R bayesreg 1.3 is quoted from another run on this kind of machine, because R is not part of this
one: its CPU seconds and the Monte Carlo standard errors of its posterior means. Its effective samples are
(posterior standard deviation / error)^2, with the standard deviation of all our draws. The speed of the
machine on the day is in our figures and not in that line."""
