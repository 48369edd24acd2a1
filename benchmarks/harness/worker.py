"""A worker of the benchmark, started as ``python -m benchmarks.harness.worker JOB``.

The job is ``fit TASK SHAPE METHOD``, ``dsyrk TASK SHAPE`` or ``sample PROBLEM SAMPLER FOLDER``. The caller
sets one thread for every numerical library in the environment before the process starts.

There is no limit on CPU time here: on Linux, RLIMIT_CPU makes the process clock advance by ticks, which are
longer than a fit.
"""

from __future__ import annotations

import sys

from benchmarks.harness.jobs import DsyrkJob, FitJob
from benchmarks.harness.sampling import SampleJob
from benchmarks.harness.serving import Job, serve_process
from benchmarks.tasks.registry import TASKS
from benchmarks.tasks.task import Case


def job_of(kind: str, *names: str) -> Job:
    """Return the job that the command line names."""
    if kind == "sample":
        return SampleJob(*names)
    case = Case(*names[:2])
    return FitJob(case, TASKS[case.task].methods[names[2]]) if kind == "fit" else DsyrkJob(case)


if __name__ == "__main__":
    serve_process(lambda: job_of(*sys.argv[1:]))
