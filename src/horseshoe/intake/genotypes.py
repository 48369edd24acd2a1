"""Genotypes and a phenotype: a PLINK file set beside a table with a row for each individual."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from horseshoe._types import Mask
from horseshoe.data.sources.genotypes import Genotypes, Snps, open_bed, snps_of
from horseshoe.data.validation import check_parts
from horseshoe.intake.columns import by_name, check_signs, numbers_of
from horseshoe.intake.genotype_recipe import GenotypeRecipe
from horseshoe.intake.kinds import Column
from horseshoe.intake.messages import TableError, counted, listed, shown
from horseshoe.intake.missing_values import MissingPolicy, any_gap, check_imputed, gaps_of
from horseshoe.intake.placeholders import check_placeholders, with_gaps
from horseshoe.intake.problem import PreparedProblem
from horseshoe.intake.read import Table, read_table
from horseshoe.intake.request import FitRequest, check_names, with_implied_family
from horseshoe.intake.target import read_target, settle

# What the columns of a phenotype file are called that say whose row it is.
FAMILIES, PERSONS = ("FID", "#FID"), ("IID", "#IID")
# What PLINK writes for a phenotype that is not known.
FOR_TABLES = {
    **dict.fromkeys(
        ("formula", "drop", "columns"), "make a .bed file of the SNPs that are wanted, with plink"
    ),
    **dict.fromkeys(("event", "entry", "strata"), "survival is not fitted to genotypes in a .bed file"),
    "levels": "write them as numbers in their order, and use --family ordinal",
}
UNKNOWN = -9.0


def split_target(target: str | None) -> tuple[str, str]:
    """Return the file and the column that a target names.

    Examples
    --------
    >>> split_target("pheno.tsv:bmi")
    ('pheno.tsv', 'bmi')
    """
    file, _, column = (target or "").rpartition(":")
    if not file or not column:
        raise TableError(
            "genotypes have their target in a table of its own: name the file and the column, such as "
            "--target pheno.tsv:bmi; its rows are matched by FID and IID"
        )
    return file, column


def prepare_genotypes(path: str, request: FitRequest, decimal: str | None = None) -> PreparedProblem:
    """Return what is asked of the genotypes in a .bed file; ``request.target`` names a table and its column.

    ``decimal`` is the decimal sign of that table.
    """
    for way, advice in FOR_TABLES.items():
        if getattr(request, way):
            raise TableError(f"--{way} is for tables: {advice}")
    request = with_implied_family(request)
    file, name = split_target(request.target)
    # 1. the individuals, and their rows in the table
    bed = open_bed(path)
    table = read_table(file, words=(*FAMILIES, *PERSONS), decimal=decimal)
    people = list(zip(np.asarray(bed.fid).astype(str), np.asarray(bed.iid).astype(str), strict=True))
    frame, there, unmatched = matched(table, people, path)
    check_names(request, name, list(frame.columns), table.name)
    # 2. their phenotype
    frame, blanks = with_gaps(frame, request.missing_values, (name, *request.roles.values()), table.name)
    target = known_target(read_target(frame, name, request.family, request.categorical, request.numeric))
    roles = {role: numbers_of(frame, column) for role, column in request.roles.items()}
    check_signs(roles)
    check_placeholders([target, *roles.values()], request.numeric)
    needed = {target.name: target, **{column.name: column for column in roles.values()}}
    check_imputed(gaps_of(needed), request.missing, {column: role for role, column in request.roles.items()})
    kept, incomplete = _kept(needed, there, people, request.missing, table.name, path)
    known: dict[str, Any] = {role: column.take(kept[there]).numbers for role, column in roles.items()}
    answer = settle(target.take(kept[there]), request.family, known.get("exposure"), request.quantile)
    # 3. their genotypes
    parts = Genotypes(bed, None if kept.all() else np.flatnonzero(kept))
    snps = snps_of(bed)
    parts.names = snps.names
    _check_different(snps, path)
    places = np.arange(snps.names.size)
    read = table.notes_of([name, *request.roles.values()])
    return PreparedProblem(
        check_parts(parts),
        answer.y,
        answer.family,
        answer.classes,
        GenotypeRecipe(name, answer.family, answer.classes, places.size, places, snps, parts.fill),
        {snp: snp for snp in snps.names.tolist()},
        (*read, *blanks, *unmatched, *incomplete, *_counts(parts), *target.notes, *answer.notes),
        name,
        Path(path).name,
        rows_read=len(people),
        rows_dropped=int((~kept).sum()),
        likelihood=answer.likelihood,
        **known,
    )


def matched(table: Table, people: list[tuple[str, str]], path: str) -> tuple[Any, Mask, list[str]]:
    """Return the rows of a table in the order of the individuals, which of these have one, and notes.

    Examples
    --------
    >>> import pandas
    >>> table = Table(pandas.DataFrame({"IID": ["b", "a"], "bmi": [20.0, 30.0]}), name="pheno.tsv")
    >>> frame, there, notes = matched(table, [("f", "a"), ("f", "b"), ("f", "c")], "cohort.bed")
    >>> frame["bmi"].tolist(), there, notes
    ([30.0, 20.0], array([ True,  True, False]), [])
    """
    frame = by_name(table.frame)
    person = next((name for name in PERSONS if name in frame.columns), None)
    if person is None:
        raise TableError(f"{table.name} has no column IID, by which its rows are matched with {path}")
    family = next((name for name in FAMILIES if name in frame.columns), None)
    texts = [frame[name].astype(str).str.strip().tolist() for name in (family, person) if name is not None]
    keys = [" ".join(key) for key in zip(*texts, strict=True)]
    wanted = [f"{fid} {iid}" if family is not None else iid for fid, iid in people]
    _check_once(keys, table.name)
    _check_once(wanted, f"the .fam file of {path}", "" if family else "; give the table a column FID too")
    place = {key: row for row, key in enumerate(keys)}
    there = np.array([key in place for key in wanted])
    if not there.any():
        ids = f"the .fam file has {listed(wanted, most=3)}, the table {listed(keys, most=3)}"
        raise TableError(f"no individual of {path} has a row in {table.name}: {ids}")
    more = len(keys) - int(there.sum())
    notes = [f"{counted(more, 'row')} of {table.name} without genotypes left out"] if more else []
    rows = [place[key] for key in wanted if key in place]
    return frame.iloc[rows].reset_index(drop=True), there, notes


def _check_once(keys: list[str], where: str, advice: str = "") -> None:
    for key, times in Counter(keys).items():
        if times > 1:
            once = f"each individual has one row{advice}"
            raise TableError(f"{shown(key)} stands more than once in {where}: {once}")


def known_target(column: Column) -> Column:
    """Return a phenotype in which -9 is missing, as PLINK writes it, if that is not all there is.

    Examples
    --------
    >>> known_target(Column("bmi", "number", np.array([20.0, -9.0, 25.0]))).notes
    ('-9 in bmi is taken to be missing, as PLINK does (1 individual)',)
    """
    numbers = column.numbers
    if numbers is None or not (numbers == UNKNOWN).any():
        return column
    times = counted(int((numbers == UNKNOWN).sum()), "individual")
    note = f"-9 in {shown(column.name)} is taken to be missing, as PLINK does ({times})"
    known = np.where(numbers == UNKNOWN, np.nan, numbers)
    return Column(column.name, column.kind, known, notes=(*column.notes, note))


def _kept(
    needed: dict[str, Column],
    there: Mask,
    people: list[tuple[str, str]],
    policy: MissingPolicy,
    table: str,
    path: str,
) -> tuple[Mask, list[str]]:
    """Return which individuals are fitted: their phenotype is never filled in."""
    kept = there.copy()
    kept[there] = ~any_gap(gaps_of(needed).values(), int(there.sum()))
    gone = [f"{fid} {iid}" for (fid, iid), keeps in zip(people, kept, strict=True) if not keeps]
    many = f"{counted(len(gone), 'individual')}"
    if gone and any(policy.of(name) == "error" for name in needed):
        raise TableError(
            f"{many} of {path} without {listed(needed)} in {table}: "
            f"{listed(gone, most=5)}. Leave them out with --missing drop"
        )
    if kept.sum() < 2:
        left = counted(int(kept.sum()), "individual")
        raise TableError(f"{left} left with {listed(needed)}: a fit needs two")
    return kept, [f"{many} without {listed(needed)} left out"] if gone else []


def _check_different(snps: Snps, path: str) -> None:
    names, times = np.unique(snps.names.astype(str), return_counts=True)
    if (times > 1).any():
        twice = names[times > 1].tolist()
        raise TableError(
            f"{counted(len(twice), 'SNP')} of {path} with the same id and allele as another: "
            f"{listed(twice, most=5)}. Give each a name of its own, as plink2 --set-all-var-ids does"
        )


def _counts(parts: Genotypes) -> list[str]:
    """Return notes of how many genotypes there are, and how many are missing."""
    n, p = parts.shape
    notes = [f"{n:,} individuals and {p:,} SNPs; a column counts the allele that its name ends in"]
    if parts.missing:
        share = f"{100.0 * parts.missing / (n * p):.2g}"
        missing = counted(parts.missing, "missing genotype")
        notes.append(f"{missing} ({share} per cent) at the mean of the SNP")
    return notes
