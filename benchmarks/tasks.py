"""The tasks: how each simulates its data, which methods compete in it, and on which shapes."""

from __future__ import annotations

from dataclasses import dataclass

import linear
import logistic
import poisson
from data import Simulation
from methods import OURS, Method

LARGE, WIDE, TALL = "1000x20000", "100x200000", "100000x100"


@dataclass(frozen=True)
class Case:
    """One task on data of one shape, rows x columns."""

    task: str
    shape: str

    @property
    def name(self) -> str:
        """The task and the shape."""
        return f"{self.task} {self.shape}"

    @property
    def size(self) -> tuple[int, int]:
        """The numbers of rows and of columns."""
        n, p = (int(part) for part in self.shape.split("x"))
        return n, p


@dataclass(frozen=True)
class Contest:
    """Shapes on which the same methods compete."""

    shapes: tuple[str, ...]
    methods: tuple[str, ...]
    rounds: int = 5


@dataclass(frozen=True)
class Task:
    """One kind of regression; the first contest is for shapes that none lists, ``quick`` for a first look."""

    name: str
    about: str
    simulation: Simulation
    methods: dict[str, Method]
    contests: tuple[Contest, ...]
    quick: Contest

    @property
    def title(self) -> str:
        """The name as a heading."""
        return self.name.capitalize()

    def contest(self, shape: str) -> Contest:
        """Return the contest that lists a shape, or the first."""
        return next((c for c in self.contests if shape in c.shapes), self.contests[0])

    def cross_validated(self, environment: str | None = None) -> list[str]:
        """Names of the methods that choose a penalty by cross-validation, of one library or of all."""
        return [
            m.name
            for m in self.methods.values()
            if m.cross_validated and environment in (None, m.environment)
        ]


LINEAR = Task(
    "linear",
    linear.ABOUT,
    linear.SIMULATION,
    linear.METHODS,
    (
        Contest(("70x350", "200x1000", "1000x200", "500x2000", "200x10000"), tuple(linear.METHODS)),
        Contest((LARGE,), (OURS,), rounds=3),
        Contest((WIDE,), (OURS,)),
    ),
    Contest(("70x350", "200x1000"), (OURS, "sklearn-lasso")),
)

LOGISTIC = Task(
    "logistic",
    logistic.ABOUT,
    logistic.SIMULATION,
    logistic.METHODS,
    (
        Contest(("100x400", "200x214"), tuple(m for m in logistic.METHODS if m != logistic.UNPENALISED)),
        Contest((TALL,), (OURS, "farrier-irls", logistic.UNPENALISED)),
    ),
    Contest(("100x400",), (OURS, "sklearn-liblinear")),
)

POISSON = Task(
    "poisson",
    poisson.ABOUT,
    poisson.SIMULATION,
    poisson.METHODS,
    (Contest(("100x400", "1000x200"), tuple(poisson.METHODS)),),
    Contest(("100x400",), tuple(poisson.METHODS)),
)

TASKS = {task.name: task for task in (LINEAR, LOGISTIC, POISSON)}
