"""Genotypes in a PLINK .bed file: two bits each, decoded when they are read.

A column is how many copies of one allele each individual has, 0, 1 or 2; where that is not known it is the
mean of the column. Nothing but the blocks in work is ever decoded. bed-reader opens the files and tells what
is in them. A fit reads the genotypes many times, so bytes are decoded here, by a table of what each holds,
which is far quicker.
"""

from __future__ import annotations

import os
from copy import copy
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from horseshoe._extras import require
from horseshoe._types import Vector
from horseshoe.data.sources.parts import PART_BYTES, Reading, Watch

# What bed-reader has for a genotype that is not known.
MISSING = -127
# The place of a column that the file does not have.
ABSENT = -1
# The four genotypes of each byte: 0 and 3 are two alleles of a kind, 2 is one of each, 1 is not known.
MAGIC = b"\x6c\x1b"
CODES = (np.arange(256)[:, None] >> np.arange(0, 8, 2)) & 3


class Snps(NamedTuple):
    """The columns of a .bed file: names that tell them apart, the allele that is counted, and the other."""

    ids: Any
    counted: Any
    other: Any

    @property
    def names(self) -> Any:
        """What the columns are called: by id and counted allele, as PLINK does."""
        return self.ids + "_" + self.counted


def is_bed(x: Any) -> bool:
    """Tell whether ``x`` is a file that bed-reader has opened; it need not be installed.

    Examples
    --------
    >>> is_bed("cohort.bed")
    False
    """
    return type(x).__module__.partition(".")[0] == "bed_reader" and hasattr(x, "iid_count")


def is_bed_file(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file is, or is called, a .bed file.

    Examples
    --------
    >>> is_bed_file("cohort.csv"), is_bed_file("cohort.bed")
    (False, True)
    """
    if Path(path).suffix.lower() == ".bed":
        return True
    try:
        with Path(path).open("rb") as stream:
            return stream.read(2) == MAGIC
    except (OSError, ValueError):
        return False


def open_bed(path: str | os.PathLike[str]) -> Any:
    """Open a .bed file with its .bim and .fam, and see that they belong together.

    Examples
    --------
    >>> open_bed("not-there.bed")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: not-there.bed is not there: ...
    """
    path, reader = Path(path), require("bed_reader", "plink")
    for file in (path, path.with_suffix(".bim"), path.with_suffix(".fam")):
        if not file.is_file():
            raise ValueError(f"{file} is not there: a PLINK file set is .bed, .bim and .fam of the same name")
    with path.open("rb") as stream:
        if stream.read(2) != MAGIC:
            raise ValueError(
                f"{path} is no PLINK file: it does not begin as one (lists of regions have the same ending)"
            )
    bed = reader.open_bed(path)
    check_bed(bed)
    return bed


def check_bed(bed: Any) -> None:
    """Refuse a .bed file that is not as long as its individuals and SNPs ask for."""
    path = Path(bed.location)
    try:
        n, p = bed.iid_count, bed.sid_count
        known = (bed.iid, bed.sid, bed.chromosome, bed.bp_position, bed.allele_1, bed.allele_2)
    except (ValueError, OSError) as error:
        told = " ".join(str(error).split())
        raise ValueError(f"the .bim or the .fam file of {path} cannot be read: {told}") from error
    if min(len(known[0]), len(known[1])) == 0:
        raise ValueError(f"{path} has {n} individuals and {p} SNPs: there are no data")
    with path.open("rb") as stream:
        by_snp = stream.read(3)[2:] == b"\x01"
    inner, outer = (n, p) if by_snp else (p, n)
    needed, there = 3 + -(-inner // 4) * outer, path.stat().st_size
    if there != needed:
        raise ValueError(
            f"{path} has {there:,} bytes, but {n:,} individuals (.fam) and {p:,} SNPs (.bim) take "
            f"{needed:,}: {'it was cut off' if there < needed else 'it is longer'}, or these files do not "
            "belong together"
        )


def snps_of(bed: Any) -> Snps:
    """Return the columns of a file: called by SNP id, or by chromosome:position where there is none."""
    ids = np.asarray(bed.sid, dtype=object).astype(str)
    nameless = np.isin(ids, ("", ".", "0"))
    places = np.char.add(
        np.char.add(np.asarray(bed.chromosome).astype(str), ":"), bed.bp_position.astype(str)
    )
    ids = np.where(nameless, places, ids).astype(object)
    first, second = (np.asarray(allele).astype(object) for allele in (bed.allele_1, bed.allele_2))
    return Snps(ids, first, second) if bed.count_A1 else Snps(ids, second, first)


class Packed:
    """The genotypes of a .bed file, four in a byte, SNP after SNP.

    Parameters
    ----------
    path : path
        The file.
    rows : int
        How many individuals it has.
    first : bool
        Whether the first allele is counted.
    """

    def __init__(self, path: Path, rows: int, first: bool) -> None:
        self._path, self._width = path, -(-rows // 4)
        each = np.array([2, MISSING, 1, 0] if first else [0, MISSING, 1, 2], dtype=np.int8)
        self._table = np.ascontiguousarray(each[CODES]).view(np.uint32).ravel()  # four at once

    def read(self, rows: Any, places: Any) -> Any:
        """Return the genotypes of some individuals at some columns: 0, 1, 2 or `MISSING`."""
        if not rows.size:
            return np.zeros((0, places.size), dtype=np.int8, order="F")
        low, high = int(rows.min()) // 4, int(rows.max()) // 4 + 1
        raw = self._raw(places)[:, low:high]
        found = self._table.take(raw).view(np.int8).reshape(places.size, 4 * (high - low)).T
        start = int(rows[0]) - 4 * low
        if np.all(np.diff(rows) == 1):
            return found[start : start + rows.size]
        return found[rows - 4 * low]

    def _raw(self, places: Any) -> Any:
        """Return the bytes of some columns, from one reading of each run of neighbours."""
        runs = np.split(places, np.flatnonzero(np.diff(places) != 1) + 1)
        with self._path.open("rb") as stream:
            found = b"".join(self._run(stream, run) for run in runs if run.size)
        if len(found) != places.size * self._width:
            raise ValueError(
                f"{self._path} was cut off while it was read: fit again once nobody writes to it"
            )
        return np.frombuffer(found, dtype=np.uint8).reshape(places.size, self._width)

    def _run(self, stream: Any, run: Any) -> bytes:
        stream.seek(len(MAGIC) + 1 + int(run[0]) * self._width)
        found: bytes = stream.read(run.size * self._width)
        return found


class Genotypes(Reading):
    """The genotypes of some individuals, in blocks.

    Parameters
    ----------
    bed : bed_reader.open_bed
        The file.
    rows : array of int, optional
        Which of its individuals, in which order; all if left out.
    places : array of int, optional
        Which of its columns; `ABSENT` for one that is not there.
    flip : array of bool, optional
        Which columns count the other allele.
    fill : array, optional
        What a missing genotype of each column is, and one that is absent; the mean of the individuals if left
        out.
    """

    checks_itself = True

    def __init__(
        self, bed: Any, rows: Any = None, places: Any = None, flip: Any = None, fill: Vector | None = None
    ) -> None:
        self._bed, self._watch = bed, Watch(bed.location)
        self._rows = np.arange(bed.iid_count) if rows is None else np.asarray(rows)
        self._places = np.arange(bed.sid_count) if places is None else np.asarray(places)
        self._flip, self._packed = flip, _packed(bed)
        self._dtype: Any = np.float64
        self.shape = n, p = (self._rows.size, self._places.size)
        self.axis = 0 if p <= n else 1
        step = max(1, PART_BYTES // (8 * max(1, self.shape[1 - self.axis])))
        self.edges = [*range(0, self.shape[self.axis], step), self.shape[self.axis]]
        self.missing = 0
        self.fill = self._means() if fill is None else fill

    def read(self, part: int, across: Any) -> Any:
        """Return a block, as whole numbers where no genotype is missing."""
        span = slice(self.edges[part], self.edges[part + 1])
        other = slice(None) if across is None else across
        rows, columns = (span, other) if self.axis == 0 else (other, span)
        found = self._decoded(rows, columns)
        flat = np.ascontiguousarray(found.T)  # a column after the other, as they are in the file
        gaps = np.flatnonzero(flat == MISSING)
        if not gaps.size:
            return found
        out = flat.astype(self._dtype)
        out.ravel()[gaps] = self.fill[columns][gaps // len(found)]
        return out.T

    def single(self) -> Genotypes:
        """Return the genotypes in single precision, where some are missing."""
        out = copy(self)
        out._dtype = np.float32
        return out

    def _decoded(self, rows: Any, columns: Any) -> Any:
        """Return 0, 1, 2 or `MISSING`."""
        self._watch.check()
        places = self._places[columns]
        there = places != ABSENT
        if self._packed is not None:
            found = self._packed.read(self._rows[rows], places[there])
        else:
            found = self._bed.read((self._rows[rows], places[there]), dtype="int8", order="F", num_threads=1)
        if self._flip is not None and (turned := self._flip[columns][there]).any():
            found = np.where(turned & (found != MISSING), 2 - found, found)
        if there.all():
            return found
        out = np.full((found.shape[0], there.size), MISSING, dtype=np.int8, order="F")
        out[:, there] = found
        return out

    def _means(self) -> Vector:
        """Return the mean of each column over the genotypes that are known; count the others."""
        n, p = self.shape
        out, step = np.zeros(p), max(1, PART_BYTES // max(1, 4 * n))
        for start in range(0, p, step):
            found = self._decoded(slice(None), slice(start, start + step))
            gaps = np.count_nonzero(found == MISSING, axis=0)
            total = found.sum(axis=0, dtype=np.int64) - MISSING * gaps
            out[start : start + step] = total / np.maximum(n - gaps, 1)
            self.missing += int(gaps.sum())
        return out


def _packed(bed: Any) -> Packed | None:
    """Return a file on this machine whose genotypes stand SNP after SNP; None of any other."""
    path = Path(bed.location)
    with path.open("rb") as stream:
        by_snp = stream.read(3) == MAGIC + b"\x01"
    return Packed(path, bed.iid_count, bed.count_A1) if by_snp else None
