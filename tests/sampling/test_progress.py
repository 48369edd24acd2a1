"""What a run says on its way, and the memory that it takes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from horseshoe.posterior.summaries import QUANTITIES
from horseshoe.sampling import chains, diagnostics
from horseshoe.sampling.chains import Plan, Progress
from posterior_runs import SOURCE, case, never, on_linux, run

# --- progress -------------------------------------------------------------------------------------


@pytest.mark.usefixtures("in_steps")
@pytest.mark.parametrize("which", ["gaussian, p > n", "poisson"])
def test_progress(which: str) -> None:
    news: list[Progress] = []
    found = run(which, progress=news.append, thin=2)
    plan = Plan(4, 12, 9, 2, False)
    assert [item.sweeps for item in news] == list(range(10, 31))
    for item in news:
        assert item.n_sweeps == 30
        assert item.n_draws == plan.kept(item.sweeps)
        assert item.bytes == plan.bytes(found.coef.shape[2])
        assert item.seconds_left >= 0.0
        assert np.isfinite([item.rhat, item.ess]).all() == (item.n_draws >= 4)
        assert ("warm-up" in str(item)) == (item.n_draws == 0)
        assert f"{100 * item.sweeps // 30} %" in str(item)
    seconds = [item.seconds for item in news]
    assert seconds == sorted(seconds)
    assert seconds[0] > 0.0
    assert news[-1].seconds_left == 0.0
    assert news[-1].rhat == found.rhat().max()
    assert news[-1].ess == found.ess().min()


def test_progress_of_a_run_that_goes_on(tmp_path: Path) -> None:
    news: list[Progress] = []
    run("gaussian", checkpoint=tmp_path / "run")
    run("gaussian", checkpoint=tmp_path / "run", n_draws=40, progress=news.append)
    assert news[0].sweeps > 21
    assert (news[-1].sweeps, news[-1].n_draws) == (52, 40)


@pytest.mark.usefixtures("in_steps")
def test_progress_in_words(capfd: pytest.CaptureFixture[str]) -> None:
    run("gaussian", progress=True)
    out, err = capfd.readouterr()
    lines = err.splitlines()
    assert out == ""
    assert re.fullmatch(r"the draws take \d+\.\d MiB", lines[0])
    assert re.fullmatch(r" 47 % warm-up, \d+ s left", lines[1])
    assert re.fullmatch(r"100 % 9 draws a chain, R-hat \d\.\d{3}, ESS \d+, 0 s left", lines[-1])
    run("gaussian", progress=False)
    assert capfd.readouterr() == ("", "")


# --- memory ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", ["student_t", "student_t, p > n", "negative_binomial", "shapes"])
@pytest.mark.parametrize("store_lambda2", [False, True])
def test_the_size_of_the_draws_is_known_beforehand(which: str, store_lambda2: bool) -> None:
    found = run(which, store_lambda2=store_lambda2)
    arrays = [getattr(found, name) for name in QUANTITIES if getattr(found, name) is not None]
    assert {array.dtype for array in arrays} == {np.dtype(np.float64)}
    plan = Plan(4, 12, 9, 1, store_lambda2)
    size = plan.bytes(found.coef.shape[2], (found.a is not None) + (found.b is not None))
    assert sum(array.nbytes for array in arrays) + (found.nuisance is None) * found.tau2.nbytes == size


def test_too_many_draws_are_refused_beforehand(monkeypatch: pytest.MonkeyPatch) -> None:
    size = Plan(4, 1000, 2000, 1, False).bytes(350)
    assert size == 8 * 4 * 2000 * (350 + 4)
    monkeypatch.setattr(chains, "advance", never)
    wide = case(x=np.random.default_rng(0).standard_normal((70, 350)), n_draws=2000, n_warmup=1000)
    with pytest.raises(ValueError, match=r"would take 22 MiB.*max_memory allows 19 MiB.*thin.*n_draws"):
        run(wide, max_memory=20e6)
    with pytest.raises(ValueError, match=r"would take 43 MiB.*max_memory allows 22 MiB.*store_lambda2"):
        run(wide, max_memory=size, store_lambda2=True)
    with pytest.raises(AssertionError):  # then it begins
        run(wide, max_memory=size, n_jobs=1)


MEMORY = """
import resource, warnings
import numpy as np
from horseshoe import sample_posterior
from horseshoe.sampling.chains import Plan

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.standard_normal((70, 350))
y = X[:, 0] + rng.standard_normal(70)

def peak(n_draws):
    sample_posterior(X, y, n_draws=n_draws, n_warmup=1, n_chains=4, random_state=0, n_jobs=1)
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

print(peak(20), peak(400), Plan(4, 1, 400, 1, False).bytes(350))
"""


@on_linux
def test_peak_memory() -> None:
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    answer = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, env=environment)
    assert answer.returncode == 0, answer.stderr
    before, after, size = map(int, answer.stdout.split())
    assert after - before < 2 * size + diagnostics.BLOCK
