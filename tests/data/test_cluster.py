"""Fits on a Dask cluster: the same answer, whatever becomes of a worker; an error if the scheduler dies."""

import os
import signal
import subprocess
import sys
import threading
import time

import dask
import dask.array
import numpy as np
import pytest

from horseshoe import HorseshoeRegressor
from horseshoe.data.sources.cluster import run

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")


def data(n=6_000, p=8):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, p))
    return x, x[:, 0] - x[:, 1] + rng.standard_normal(n)


def slowly(block):
    time.sleep(0.2)
    return block


def test_a_fit_on_a_cluster_is_that_of_this_thread_bit_for_bit():
    from distributed import Client, LocalCluster

    x, y = data()
    X = dask.array.from_array(x, chunks=(500, -1))
    fits = []
    options = {"n_workers": 2, "threads_per_worker": 2, "processes": False, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster):
        fits += [HorseshoeRegressor(family=family).fit(X, y) for family in ("gaussian", "student_t")]
    with dask.config.set(scheduler="synchronous"):
        here = [HorseshoeRegressor(family=family).fit(X, y) for family in ("gaussian", "student_t")]
    for ours, theirs in zip(fits, here, strict=True):
        assert np.array_equal(ours.coef_, theirs.coef_)
        assert np.array_equal(ours.coef_std_, theirs.coef_std_)


@pytest.mark.slow
def test_a_worker_that_is_killed_changes_nothing():
    from distributed import Client, LocalCluster

    x, y = data()
    with dask.config.set(scheduler="synchronous"):
        theirs = HorseshoeRegressor().fit(dask.array.from_array(x, chunks=(200, -1)), y)
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        X = dask.array.from_array(x, chunks=(200, -1)).map_blocks(slowly, dtype=float)
        pids = client.run(os.getpid)
        killer = threading.Timer(1.0, os.kill, (next(iter(pids.values())), signal.SIGKILL))
        killer.start()
        ours = HorseshoeRegressor().fit(X, y)
        killer.join()
        assert set(client.run(os.getpid).values()) != set(pids.values())  # one was lost, and another came
    assert np.array_equal(ours.coef_, theirs.coef_)


@pytest.mark.slow
def test_a_scheduler_that_dies_is_said_within_a_minute():
    from distributed import Client

    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    process = subprocess.Popen([*command, "--no-dashboard"], stderr=subprocess.PIPE, text=True)
    address = next(line.split()[-1] for line in process.stderr if "Scheduler at" in line)
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--death-timeout", "5"]
    helper = subprocess.Popen([*worker, "--no-dashboard"], stderr=subprocess.DEVNULL)
    x, y = data()
    died = []

    def kill():
        process.kill()
        died.append(time.monotonic())

    try:
        with Client(address, timeout=30) as client:
            client.wait_for_workers(1)
            X = dask.array.from_array(x, chunks=(100, -1)).map_blocks(slowly, dtype=float)
            threading.Timer(1.5, kill).start()
            model = HorseshoeRegressor()
            with pytest.raises(ConnectionError, match="scheduler is gone"):
                model.fit(X, y)
            assert time.monotonic() - died[0] < 60.0
            assert not hasattr(model, "coef_")  # nothing is half done
    finally:
        for one in (process, helper):
            one.kill()
            one.wait()
        process.stderr.close()


@pytest.mark.parametrize(
    ("name", "told"), [("KilledWorker", "make the chunks smaller"), ("CommClosedError", "scheduler is gone")]
)
def test_errors_of_a_cluster_are_translated(name, told):
    def fail():
        raise type(name, (OSError,), {})("lost")

    with dask.config.set(scheduler="synchronous"):
        with pytest.raises(ConnectionError, match=told):
            run([dask.delayed(fail)()])
        with pytest.raises(ZeroDivisionError):  # whatever else goes wrong stays what it is
            run([dask.delayed(divmod)(1, 0)])
