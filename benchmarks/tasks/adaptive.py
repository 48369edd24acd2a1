"""Data with so many columns that memory decides, for the adaptive estimator alone; one fit, not repeated."""

from __future__ import annotations

from benchmarks.peers.methods import ADAPTIVE
from benchmarks.tasks import linear
from benchmarks.tasks.task import Contest, Task

HUGE = "2000x50000"

ABOUT = """The data of the linear task, here 763 MiB of them. There is one fit, in a process of its own, and
what counts is the peak memory of the whole process."""

METHODS = {ADAPTIVE: linear.METHODS[ADAPTIVE]}

TASK = Task(
    "adaptive",
    ABOUT,
    linear.SIMULATION,
    METHODS,
    (Contest((HUGE,), tuple(METHODS), rounds=0),),
    Contest((), ()),
)
