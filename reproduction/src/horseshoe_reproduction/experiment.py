"""What an experiment is: settings, data drawn for each replicate, methods, and how answers are scored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from horseshoe_reproduction.arrays import Mask, Matrix, Vector

# The level of the kind "quantile".
Kind = Literal[
    "means",
    "gaussian",
    "binomial",
    "poisson",
    "negative_binomial",
    "student_t",
    "laplace",
    "gamma",
    "tweedie",
    "quantile",
    "huber",
    "ordinal",
    "survival",
]
QUANTILE = 0.8
# The methods of the tables of regressions.
HORSESHOES = ("hs-em", "hs-apx")
RELEASED = ("hs-em-released", "hs-apx-released")
HORSESHOE_LIKE = ("hs-like", "hs-like-mended", "hs-like-prior")
OTHERS = ("lasso-1se", "lasso-min", "mcp", "scad", "ridge-1se", "ridge-min", "posterior-mean")
LINEAR = (*HORSESHOES, *RELEASED, *HORSESHOE_LIKE, *OTHERS)


class RequestError(ValueError):
    """What was asked for cannot be done; the message says what can."""


class Fit(NamedTuple):
    """What a method answers: coefficients on the scale of the data, and the intercept.

    ``intervals`` are those of the coefficients and of the new rows (no row: the method has none), where a
    table judges these. ``predicted`` are the means of the new rows, where they are not those of the
    coefficients. ``support`` and ``inclusion`` say which columns are in, and how sure that is; a method that
    gives several answers has a column for each.
    """

    coef: Vector
    intercept: float = 0.0
    intervals: tuple[Matrix, Matrix] | None = None
    predicted: Vector | None = None
    support: Mask | None = None
    inclusion: Matrix | Vector | None = None


@dataclass(frozen=True)
class Problem:
    """One data set: what a method is given, and how its answer is scored.

    Attributes
    ----------
    kind : str
        "means" (``X`` is None: one observation of each mean), or the name of a family; of "binomial" y is 0
        or 1.
    score : callable
        From a `Fit` to the metrics of the table, without the time.
    new : array, optional
        Rows that are to be predicted, where a table asks for more than coefficients.
    """

    kind: Kind
    X: Matrix | None
    y: Vector
    score: Callable[[Fit], dict[str, float]]
    new: Matrix | None = None

    @property
    def design(self) -> Matrix:
        """The matrix of a regression."""
        if self.X is None:
            raise ValueError("a normal means problem has no design matrix")
        return self.X


class Note(NamedTuple):
    """What a reader of a table must know, whatever numbers came out.

    What is true of some runs only is no note: it is a verdict, or has ``holds``, which looks at the cells.
    """

    text: str
    # Said only if one of these is in the table; of any table if empty.
    methods: tuple[str, ...] = ()
    holds: Callable[[list[Any]], bool] = lambda cells: True

    def applies(self, cells: list[Any]) -> bool:
        """Tell whether it is to be said under these cells."""
        there = {cell.method for cell in cells}
        return (not self.methods or not there.isdisjoint(self.methods)) and self.holds(cells)


FAULTS = Note(
    'What is called "as released" has the faults of the code that was released with the paper '
    "(docs/deviations.md).",
    RELEASED,
)


class Reason(NamedTuple):
    """Why some cells differ from the printed ones; an empty field covers everything.

    It says how the two were made, not what came out: it stands beside any run.
    """

    text: str
    methods: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    # What has to be added to ours to be counted as printed.
    shift: float = 0.0

    def covers(self, setting: str, metric: str, method: str) -> bool:
        """Tell whether a cell is meant."""
        pairs = ((self.settings, setting), (self.metrics, metric), (self.methods, method))
        return all(not names or name in names for names, name in pairs)


@dataclass(frozen=True)
class Experiment:
    """One table of the paper.

    Attributes
    ----------
    settings : mapping
        The blocks of the table: a key for files and records, and the heading a reader sees.
    metrics : tuple of str
        The rows of a block; "Time" is measured by the runner, the others come from `Problem.score`.
    methods : tuple of str
        Names from `horseshoe_reproduction.methods.METHODS`.
    draw : callable
        ``draw(setting, rng)`` returns the `Problem` of one replicate.
    prepare : callable
        Called once with the settings before anything is computed: loads what they need, or says what is
        missing.
    notes : tuple of Note
        What a reader of the table must know.
    signed : bool
        Whether the numbers of the table can be negative, as coefficients can.
    explanation : str or None
        What the numbers are, if not those of the paper's tables.
    reasons : tuple of Reason
        Why cells differ from the printed ones, where that is known; the first that covers a cell counts.
    fewer : mapping
        How many replicates settings have that have fewer than the others.
    applies : callable
        ``applies(setting, method)`` tells whether a method can do a setting.
    streams : mapping
        Of settings that have the very data sets of another table: its name, and its setting.
    presentation : `report.Presentation` or None
        How records become cells, blocks, verdicts and a picture, if not as those of the paper's tables.
    """

    name: str
    title: str
    settings: Mapping[str, str]
    metrics: tuple[str, ...]
    methods: tuple[str, ...]
    replicates: int
    draw: Callable[[str, np.random.Generator], Problem]
    prepare: Callable[[Iterable[str]], Any] = lambda settings: None
    notes: tuple[Note, ...] = ()
    reasons: tuple[Reason, ...] = ()
    signed: bool = False
    explanation: str | None = None
    fewer: Mapping[str, int] = field(default_factory=dict)
    applies: Callable[[str, str], bool] = lambda setting, method: True
    streams: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    presentation: Any = None

    def count(self, setting: str, replicates: int) -> int:
        """Return how many replicates a setting has when so many are asked for."""
        return min(replicates, self.fewer.get(setting, replicates))

    def stream(self, setting: str) -> tuple[str, str]:
        """Return the two names that its random numbers come from."""
        return self.streams.get(setting, (self.name, setting))

    @property
    def heading(self) -> str:
        """The number of the table, if it is one of the paper's, and what it is about."""
        if not self.name.startswith("table"):
            return self.title
        return f"Table {self.name.removeprefix('table')}: {self.title}"

    def reason(self, setting: str, metric: str, method: str) -> Reason | None:
        """Return why a cell differs from the printed one, if that is known."""
        return next((r for r in self.reasons if r.covers(setting, metric, method)), None)


def toeplitz_normal(n: int, p: int, rho: float, rng: np.random.Generator) -> Matrix:
    """Draw n rows of N(0, Sigma), Sigma_ij = rho^|i-j|.

    Examples
    --------
    >>> X = toeplitz_normal(20_000, 2, 0.8, np.random.default_rng(0))
    >>> round(float(np.corrcoef(X.T)[0, 1]), 1)
    0.8
    """
    X = rng.standard_normal((n, p))
    fresh = float(np.sqrt(1.0 - rho * rho))
    for j in range(1, p):
        X[:, j] = rho * X[:, j - 1] + fresh * X[:, j]
    return X
