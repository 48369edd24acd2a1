"""All tasks by name, in the order of the report."""

from __future__ import annotations

from benchmarks.tasks import adaptive, linear, logistic, poisson

TASKS = {task.name: task for task in (linear.TASK, logistic.TASK, poisson.TASK, adaptive.TASK)}
