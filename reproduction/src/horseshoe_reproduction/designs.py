"""The designs of section 6.2: noise columns, interactions, logs, squares and cubes around a data set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from horseshoe_reproduction.arrays import Mask, Matrix, Vector
from horseshoe_reproduction.datasets import Table, load
from horseshoe_reproduction.experiment import toeplitz_normal

Rows = NDArray[np.intp]
RHO = 0.8


@dataclass(frozen=True)
class Recipe:
    """What is done to a data set.

    Attributes
    ----------
    noise : int
        Number of columns of noise.
    interactions : bool
        Whether the products of all pairs of columns are added.
    powers : bool
        Whether logs, squares and cubes are added.
    factors : tuple of str
        Columns of codes, which become one column of zeros and ones for each code but the first.
    zero_is_missing : tuple of str
        Columns in which a zero means that nothing was measured; these are filled in.
    """

    noise: int
    interactions: bool = True
    powers: bool = True
    factors: tuple[str, ...] = ()
    zero_is_missing: tuple[str, ...] = ()


RECIPES = {
    "diabetes": Recipe(noise=15),
    "boston": Recipe(noise=15),
    "concrete": Recipe(noise=15),
    "eye": Recipe(noise=0, interactions=False, powers=False),
    "pima": Recipe(noise=10, zero_is_missing=("glucose", "pressure", "triceps", "insulin", "mass")),
    "heart": Recipe(noise=10, powers=False, factors=("cp", "restecg", "slope", "thal")),
}


class NamedColumns(NamedTuple):
    """Named columns.

    ``variables`` says of each column which variable of the data it codes: its own name, or that of a factor.
    """

    names: tuple[str, ...]
    variables: tuple[str, ...]
    values: Matrix


class Base(NamedTuple):
    """A data set that is ready for its noise columns."""

    columns: NamedColumns
    target: Vector
    recipe: Recipe


class Replicate(NamedTuple):
    """One random split of a data set with its own noise columns."""

    names: tuple[str, ...]
    X: Matrix
    y: Vector
    X_test: Matrix
    y_test: Vector


@cache
def base(name: str) -> Base:
    """Load a data set of the paper and make it ready; once in each process.

    Examples
    --------
    >>> base("diabetes").columns.names[:4]
    ('age', 'sex', 'bmi', 'bp')
    """
    return ready(load(name), RECIPES[name])


def load_all(names: Iterable[str]) -> None:
    """Load data sets before anything is computed from them, or say which one is missing.

    Examples
    --------
    >>> load_all(["diabetes"])
    """
    for name in names:
        base(name)


def ready(table: Table, recipe: Recipe) -> Base:
    """Fill in what is missing, and expand the factors.

    Examples
    --------
    >>> values = np.array([[2.0, 1.0], [0.0, 3.0], [4.0, 3.0], [6.0, np.nan]])
    >>> table = Table("toy", ("mass", "cp"), values, np.arange(4.0))
    >>> toy = ready(table, Recipe(0, factors=("cp",), zero_is_missing=("mass",)))
    >>> toy.columns.names
    ('mass', 'cp=3')
    >>> toy.columns.values
    array([[2., 0.],
           [4., 1.],
           [4., 1.],
           [6., 1.]])
    """
    values = table.values.copy()
    for j, name in enumerate(table.names):
        if name in recipe.zero_is_missing:
            values[values[:, j] == 0.0, j] = np.nan
        values[:, j] = filled(values[:, j], code=name in recipe.factors)
    return Base(expanded(table.names, values, recipe.factors), table.target, recipe)


def filled(column: Vector, code: bool = False) -> Vector:
    """Replace missing values by the mean of the others, or by the most frequent of them if they are codes.

    Examples
    --------
    >>> filled(np.array([np.nan, 1.0, 2.0, 6.0]))
    array([3., 1., 2., 6.])
    >>> filled(np.array([np.nan, 3.0, 7.0, 7.0]), code=True)
    array([7., 3., 7., 7.])
    """
    measured = column[~np.isnan(column)]
    values, counts = np.unique(measured, return_counts=True)
    usual = values[counts.argmax()] if code else measured.mean()
    return np.where(np.isnan(column), usual, column)


def expanded(names: tuple[str, ...], values: Matrix, factors: tuple[str, ...]) -> NamedColumns:
    """Replace each factor by a column of zeros and ones for each of its levels but the first.

    Examples
    --------
    >>> columns = expanded(("age", "thal"), np.array([[60.0, 3.0], [50.0, 7.0]]), ("thal",))
    >>> columns.names, columns.variables
    (('age', 'thal=7'), ('age', 'thal'))
    """
    parts: list[tuple[str, str, Vector]] = []
    for name, column in zip(names, values.T, strict=True):
        if name in factors:
            parts += [(f"{name}={level:g}", name, 1.0 * (column == level)) for level in np.unique(column)[1:]]
        else:
            parts.append((name, name, column))
    columns, variables, arrays = zip(*parts, strict=True)
    return NamedColumns(columns, variables, np.column_stack(arrays))


def interactions(columns: NamedColumns) -> tuple[list[str], Matrix]:
    """Multiply all pairs of columns, except two of one factor.

    Examples
    --------
    >>> values = np.array([[2.0, 1.0, 0.0], [3.0, 0.0, 1.0]])
    >>> interactions(NamedColumns(("a", "b=2", "b=3"), ("a", "b", "b"), values))
    (['a:b=2', 'a:b=3'], array([[2., 0.],
           [0., 3.]]))
    """
    names, variables, values = columns
    pairs = [(i, j) for i, j in combinations(range(len(names)), 2) if variables[i] != variables[j]]
    first, second = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
    return [f"{names[i]}:{names[j]}" for i, j in pairs], values[:, first] * values[:, second]


def powers(columns: NamedColumns) -> tuple[list[str], Matrix]:
    """Return the logs of all columns that are positive in every row, then all squares, then all cubes.

    Examples
    --------
    >>> powers(NamedColumns(("a", "b"), ("a", "b"), np.array([[1.0, 0.0], [1.0, 2.0]])))
    (['log(a)', 'a^2', 'b^2', 'a^3', 'b^3'], array([[0., 1., 0., 1., 0.],
           [0., 1., 4., 1., 8.]]))
    """
    x = columns.values
    positive: Mask = np.all(x > 0.0, axis=0)
    names = [f"log({name})" for name, yes in zip(columns.names, positive, strict=True) if yes]
    names += [f"{name}^{power}" for power in (2, 3) for name in columns.names]
    return names, np.column_stack([np.log(x[:, positive]), x**2, x**3])


def with_noise(columns: NamedColumns, noise: int, rng: np.random.Generator) -> NamedColumns:
    """Append columns of noise, drawn for all rows.

    Examples
    --------
    >>> columns = NamedColumns(("a",), ("a",), np.ones((3, 1)))
    >>> with_noise(columns, 2, np.random.default_rng(0)).names
    ('a', 'noise_1', 'noise_2')
    """
    names = tuple(f"noise_{k}" for k in range(1, noise + 1))
    drawn = toeplitz_normal(len(columns.values), noise, RHO, rng)
    values = np.column_stack([columns.values, drawn])
    return NamedColumns(columns.names + names, columns.variables + names, values)


def design(data: Base, rng: np.random.Generator) -> tuple[tuple[str, ...], Matrix]:
    """Return the names and values of all columns of one replicate.

    Examples
    --------
    >>> names, X = design(base("diabetes"), np.random.default_rng(0))
    >>> X.shape, names[9:11], names[25], names[325], names[-26:-24]
    ((442, 385), ('s6', 'noise_1'), 'age:sex', 'log(age)', ('noise_15^2', 'age^3'))
    """
    columns = with_noise(data.columns, data.recipe.noise, rng)
    names, blocks = list(columns.names), [columns.values]
    steps = ((data.recipe.interactions, interactions), (data.recipe.powers, powers))
    for wanted, step in steps:
        if wanted:
            more, block = step(columns)
            names += more
            blocks.append(block)
    return tuple(names), np.column_stack(blocks)


def split(total: int, train: int, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Choose rows for training at random; the others are for testing.

    Examples
    --------
    >>> train, test = split(5, 2, np.random.default_rng(0))
    >>> train.size, test.size, sorted([*train.tolist(), *test.tolist()])
    (2, 3, [0, 1, 2, 3, 4])
    """
    if not 0 < train < total:
        raise ValueError(f"cannot train on {train} of {total} rows and test on the others")
    order = rng.permutation(total)
    return order[:train], order[train:]


def replicate(data: Base, train: int, rng: np.random.Generator) -> Replicate:
    """Draw the noise columns and the split of one replicate.

    Examples
    --------
    >>> drawn = replicate(base("diabetes"), 100, np.random.default_rng(0))
    >>> drawn.X.shape, drawn.X_test.shape
    ((100, 385), (342, 385))
    """
    names, X = design(data, rng)
    rows, others = split(len(X), train, rng)
    return Replicate(names, X[rows], data.target[rows], X[others], data.target[others])
