"""What a task is: its data, the methods that compete in it, and the shapes on which they do."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.peers.methods import Method
from benchmarks.tasks.data import Simulation


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
    """Shapes on which the same methods compete; without rounds, each does its first fit and no more."""

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
        """Names of the peers that choose a penalty by cross-validation, of one library or of all."""
        peers = [m for m in self.methods.values() if m.environment is not None and m.cross_validated]
        return [m.name for m in peers if environment in (None, m.environment)]
