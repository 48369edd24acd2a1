"""The six data sets of the paper: found in a folder, in scikit-learn or on OpenML, and checked.

A set is looked for as ``<name>.csv`` in the folder that the environment variable HORSESHOE_DATA names.
Without it, diabetes comes with scikit-learn, and boston, concrete and pima are fetched from OpenML. Whatever
the way, a checksum is compared with the one recorded here, so another version of a set never passes silently.
"""

from __future__ import annotations

import csv
import hashlib
import os
import warnings
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import Any

import numpy as np

from horseshoe_reproduction.arrays import Matrix, Vector

VARIABLE = "HORSESHOE_DATA"
WORDS = {"": np.nan, "neg": 0.0, "pos": 1.0, "tested_negative": 0.0, "tested_positive": 1.0}


class MissingDataError(FileNotFoundError):
    """A data set is neither in the folder nor to be had elsewhere."""


class WrongDataError(ValueError):
    """A data set is there, but it is not the one of the paper."""


@dataclass(frozen=True, eq=False)
class Table:
    """A data set.

    Attributes
    ----------
    name : str
        What `load` calls it.
    names : tuple of str
        The predictors.
    values : array of shape (N, P)
        Their values; NaN where one is missing.
    target : array of shape (N,)
        The response; 0 or 1 where there are two classes.
    """

    name: str
    names: tuple[str, ...]
    values: Matrix
    target: Vector


@dataclass(frozen=True)
class Source:
    """Where a set comes from, and how it is recognised.

    Attributes
    ----------
    origin : str
        Who published it.
    sha256 : str
        The checksum of the CSV file.
    numbers : str
        The `fingerprint` of its numbers.
    openml : int or None
        The number of a copy on OpenML with the same columns in the same order, the response last. It is not
        taken on trust: the numbers are checked each time.
    names : tuple of str
        The predictors as the CSV file calls them; needed only where another copy may stand in.
    """

    origin: str
    sha256: str
    numbers: str
    openml: int | None = None
    names: tuple[str, ...] = ()


SOURCES = {
    "diabetes": Source(
        "Efron et al. 2004; it also comes with scikit-learn",
        "36e3fd6f8158bdc41f916d8989653227e5a5dd506c508de3f33febb48213e641",
        "839c546b0b4ac02c2e6cbe5e5c92313cefa993446c9733e9b49477cc3f96e104",
    ),
    "boston": Source(
        "Harrison & Rubinfeld 1978; OpenML 531",
        "fdc96cb58d5ecb4824899840c4aa4d3e7769ac50efecd9fc2e2355b5cbd9acc3",
        "73bd45bdd4befd4796dc45e1d02563652b00c0c6d58c86c635df81762e1c55e9",
        531,
        ("crim", "zn", "indus", "chas", "nox", "rm", "age", "dis", "rad", "tax", "ptratio", "b", "lstat"),
    ),
    "concrete": Source(
        "Yeh 1998, UCI machine learning repository, 'Concrete Compressive Strength'",
        "e78b4fb7968213b928586f1611a0f64f89423b1f661bb02ef251786fed5aeeee",
        "d0e2d2f0f50277624d7d00b98c4e8b66465e8d5f2f51738500552b8b10a4689b",
        4353,
        (
            "cement",
            "blast_furnace_slag",
            "fly_ash",
            "water",
            "superplasticizer",
            "coarse_aggregate",
            "fine_aggregate",
            "age",
        ),
    ),
    "eye": Source(
        "Scheetz et al. 2006, as released with the paper",
        "0a241e7a2ea279a65566fcb2b6b534dba32333c0672db14246e9315c896c80c8",
        "d50193fe2819dddd6b38a0ba99fe462035edf86aca237657e59eedb65a5e7c0c",
    ),
    "pima": Source(
        "UCI machine learning repository, 'Pima Indians Diabetes'",
        "9b19a3fd00c036bfcf59c18312b6df1ee9e650840cbfa825fa0ea9967e4cbd86",
        "3e5bd23b2c24c83178bcc3a4649e4339c1a248d5bead9c896b19af974b2cdee5",
        37,
        ("pregnant", "glucose", "pressure", "triceps", "insulin", "mass", "pedigree", "age"),
    ),
    "heart": Source(
        "Cleveland, UCI machine learning repository, 'Heart Disease'",
        "c1a68b0099f13630967e05a357aa7f856bf0b784124f9ae4a01612d5378617a9",
        "d3fe04541449b5d0000a0e4f36fb12b432e125f87d6b863a5bc7491f62cb7843",
    ),
}


def load(name: str) -> Table:
    """Return a data set of the paper.

    Parameters
    ----------
    name : str
        "diabetes" (response: progression), "boston" (medv), "concrete" (strength), "eye" (trim32), "pima"
        (1: diabetes) or "heart" (1: disease).

    Returns
    -------
    Table

    Raises
    ------
    MissingDataError
        When the set is not at hand; the message says what was tried and where it comes from.
    WrongDataError
        When the file in the folder is not the one that was recorded.

    Examples
    --------
    >>> table = load("diabetes")
    >>> table.values.shape, table.names[2], float(table.target[0])
    ((442, 10), 'bmi', 151.0)
    """
    if name not in SOURCES:
        raise ValueError(f"no data set {name!r}; there are {', '.join(SOURCES)}")
    path = _file(name)
    if path is not None:
        return read(path, name)
    return _bundled() if name == "diabetes" else _fetched(name)


def read(path: str | Path, name: str) -> Table:
    r"""Read the CSV file of a data set, if it is the recorded one.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "pima.csv")
    ...     _ = path.write_text("age,diabetes\n50,pos\n")
    ...     read(path, "pima")
    Traceback (most recent call last):
    horseshoe_reproduction.datasets.WrongDataError: ...pima.csv is not the pima data set of the paper...
    """
    content = Path(path).read_bytes()
    expected, found = SOURCES[name].sha256, hashlib.sha256(content).hexdigest()
    if found != expected:
        raise WrongDataError(
            f"{path} is not the {name} data set of the paper: its SHA-256 is {found}, expected {expected}. "
            f"Put the original file there ({SOURCES[name].origin}), "
            f"or take it away or unset {VARIABLE} to look elsewhere."
        )
    header, *rows = csv.reader(content.decode("utf-8").splitlines())
    return _table(name, tuple(header[:-1]), np.array([[number(cell) for cell in row] for row in rows]))


def number(cell: str) -> float:
    """Return the number that a cell of a file stands for.

    Examples
    --------
    >>> number("2.5"), number("pos"), number("")
    (2.5, 1.0, nan)
    """
    return WORDS[cell] if cell in WORDS else float(cell)


def fingerprint(table: Table) -> str:
    """Return a SHA-256 of the numbers of a table, the response last, whatever file they came from.

    Examples
    --------
    >>> fingerprint(load("diabetes")) == SOURCES["diabetes"].numbers
    True
    """
    numbers = np.column_stack([table.values, table.target]) + 0.0  # no negative zeros
    numbers[np.isnan(numbers)] = np.nan  # all missing values alike
    return hashlib.sha256(numbers.astype("<f8").tobytes()).hexdigest()


def _file(name: str) -> Path | None:
    """Return the file of the folder, if there is one."""
    folder = os.environ.get(VARIABLE)
    path = Path(folder, f"{name}.csv") if folder else None
    return path if path is not None and path.is_file() else None


def _table(name: str, names: tuple[str, ...], numbers: Matrix) -> Table:
    target = numbers[:, -1]
    if name == "heart":  # 0 is healthy, 1 to 4 are grades of disease
        target = (target > 0).astype(np.float64)
    return Table(name, names, np.ascontiguousarray(numbers[:, :-1]), np.ascontiguousarray(target))


def _bundled() -> Table:
    """Return the diabetes data that come with scikit-learn."""
    from sklearn.datasets import load_diabetes

    bunch = load_diabetes(scaled=False)
    table = Table("diabetes", tuple(bunch.feature_names), bunch.data, bunch.target)
    return _checked(table, "scikit-learn's copy")


def _fetched(name: str) -> Table:
    """Return the copy on OpenML, or say why there is none."""
    source = SOURCES[name]
    if source.openml is None:
        raise _missing(name, "OpenML has no copy that is known to be the same, so none was tried")
    try:
        table = _table(name, source.names, _openml(source.openml))
        return _checked(table, f"OpenML's data set {source.openml}")
    except (OSError, ValueError, HTTPException) as error:
        tried = f"OpenML's data set {source.openml} was tried, and failed: {type(error).__name__}: {error}"
        raise _missing(name, tried) from error


def _openml(data_id: int) -> Matrix:
    """Return all columns of a set on OpenML, as they stand."""
    from sklearn.datasets import fetch_openml

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of retries: what fails in the end is reported
        bunch = fetch_openml(
            data_id=data_id, target_column=None, as_frame=False, parser="liac-arff", n_retries=1
        )
    numbers = np.array(bunch.data, dtype=np.float64)
    for j, column in enumerate(bunch.feature_names):
        if column in bunch.categories:
            numbers[:, j] = _decoded(numbers[:, j], bunch.categories[column])
    return numbers


def _decoded(codes: Vector, categories: list[Any]) -> Vector:
    """Return the numbers behind the codes 0, 1, ... of a column of categories."""
    meaning = np.array([number(str(category)) for category in categories])
    known = ~np.isnan(codes)
    numbers = np.full(codes.shape, np.nan)
    numbers[known] = meaning[codes[known].astype(int)]
    return numbers


def _checked(table: Table, what: str) -> Table:
    expected, found = SOURCES[table.name].numbers, fingerprint(table)
    if found != expected:
        raise WrongDataError(
            f"{what} is not the {table.name} data set of the paper: "
            f"the SHA-256 of its numbers is {found}, expected {expected}"
        )
    return table


def _missing(name: str, tried: str) -> MissingDataError:
    folder = os.environ.get(VARIABLE)
    state = f"is {folder}, which has no such file" if folder else "is not set"
    return MissingDataError(
        f"the {name} data set is missing. Set {VARIABLE} to a folder with {name}.csv "
        f"(SHA-256 {SOURCES[name].sha256}); {VARIABLE} {state}. Origin: {SOURCES[name].origin}. {tried}."
    )
