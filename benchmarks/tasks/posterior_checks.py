"""What the run promises of the sampler, compared with what it measured."""

from __future__ import annotations

import re
from collections.abc import Mapping

from benchmarks.harness.sampled import Rate, Sampled, rate_of
from benchmarks.harness.verdicts import Check
from benchmarks.peers import bayesreg
from benchmarks.peers.methods import OURS
from benchmarks.peers.pins import NUMPYRO
from benchmarks.tasks.posterior import DIABETES, POSTERIOR, WIDE

BAYESREG_TIMES = 10.0
NUTS_TIMES = 20.0
PEAK_BYTES = 2**30
RHAT_LIMIT = 1.01
Measured = Mapping[tuple[str, str], Sampled]


def _failed(sampled: Sampled | None, text: str) -> Check | None:
    """Return the verdict when there is no run of ours to judge."""
    if sampled is None:
        return Check(text, "", None)
    return None if sampled.runs else Check(text, f"our call failed: {sampled.reason}", False)


def _times(ours: Sampled | None, theirs: Rate | None, which: str, wanted: str, times: float) -> Check:
    """Compare the rates of the worst coefficient or of the median one."""
    promise = f"at least {times:g} times the effective samples a CPU second"
    text = f"{wanted.format(promise)}, {which} coefficient"
    failed = _failed(ours, text)
    rate = ours.rate() if ours else None
    if failed or rate is None or theirs is None:
        return failed or Check(text, "", None)
    us, them = getattr(rate, which), getattr(theirs, which)
    rates = [f"{float(f'{value:.3g}'):g}" for value in (us, them)]
    return Check(text, f"{us / them:.1f} times, {' against '.join(rates)}", us / them >= times)


def _peak(ours: Sampled | None, where: str) -> Check:
    text = f"{where}: peak memory of the whole process under 1 GiB"
    size = ours.peak if ours else None
    failed = _failed(ours, text)
    return failed or Check(text, f"{(size or 0) / 2**20:.0f} MiB", (size or 0) < PEAK_BYTES)


def _mixed(ours: Sampled | None, where: str) -> Check:
    """Every run has a small R-hat everywhere, or its call said that it has not."""
    text = f"{where}: R-hat below {RHAT_LIMIT:g} for every coefficient, or the call warns of it"
    failed = _failed(ours, text)
    if failed or ours is None:
        return failed or Check(text, "", None)
    warned = [any(re.search("r-?hat", said, re.IGNORECASE) for said in turn) for turn in ours.messages]
    kept = all(largest < RHAT_LIMIT or said for largest, said in zip(ours.rhat, warned, strict=False))
    runs = ", ".join(f"{largest:.3f}" for largest in ours.rhat)
    return Check(text, f"largest {runs}; {sum(warned)} of {len(ours.rhat)} calls warned", kept)


def _diabetes(measured: Measured) -> list[Check]:
    ours = measured.get((DIABETES.name, OURS))
    quoted = rate_of(bayesreg.effective(ours.sd), bayesreg.CPU) if ours and ours.runs else None
    wanted = f"{POSTERIOR} {DIABETES.name}: {{}} of R bayesreg 1.3"
    return [_times(ours, quoted, "worst", wanted, BAYESREG_TIMES)]


def _wide(measured: Measured) -> list[Check]:
    ours, nuts = (measured.get((WIDE.name, name)) for name in (OURS, NUMPYRO))
    where, theirs = f"{POSTERIOR} {WIDE.name}", nuts.rate() if nuts else None
    wanted = f"{where}: {{}} of NumPyro NUTS"
    checks = [_times(ours, theirs, which, wanted, NUTS_TIMES) for which in Rate._fields]
    return [*checks, _peak(ours, where), _mixed(ours, where)]


def posterior_checks(measured: Measured) -> list[Check]:
    """Every promise of the sampler."""
    return [*_diabetes(measured), *_wide(measured)]
