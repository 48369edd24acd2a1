"""Which SNPs a model was fitted to, by id and allele, so that those of another file are counted alike."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from horseshoe._types import Mask, Vector
from horseshoe.data.sources.genotypes import ABSENT, Genotypes, Snps, snps_of
from horseshoe.data.validation import check_parts
from horseshoe.intake.messages import TableError, counted, listed
from horseshoe.intake.recipe_data import Condition, Label, SavedRecipe

# Pairs of alleles that read the same on either strand.
SAME_ON_BOTH = ({"A", "T"}, {"C", "G"})


class AppliedGenotypes(NamedTuple):
    """The genotypes of new individuals as the model takes them."""

    X: Any
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class GenotypeRecipe(SavedRecipe):
    """The SNPs that a model uses, as plain data.

    Attributes
    ----------
    target, family, classes
        What is explained, its distribution and its labels.
    n_columns : int
        How many SNPs were fitted.
    place : array of int
        Which of them are used.
    snps : Snps
        What these are called, the allele that was counted, and the other.
    mean : array
        What a missing genotype of each is taken to be.
    """

    target: str
    family: str
    classes: tuple[Label, ...]
    n_columns: int
    place: NDArray[np.int64]
    snps: Snps
    mean: Vector

    @property
    def ingredients(self) -> tuple[Any, ...]:
        """Columns of a table: there are none."""
        return ()

    @property
    def levels(self) -> dict[str, Any]:
        """The levels of categories: genotypes have none."""
        return {}

    def for_model(self, model: Any) -> GenotypeRecipe:
        """Return the recipe of the SNPs whose coefficients are not zero: others are not asked for again."""
        used = np.any(np.atleast_2d(model.coef_) != 0.0, axis=0)
        return self._some(used)

    def other_columns(self, model: Any) -> str | None:
        """Say how the SNPs are others than those that a model uses; None if they are not."""
        if self.n_columns != model.n_features_in_:
            return f"n_columns is {self.n_columns}, but the model has {model.n_features_in_} columns"
        used = np.flatnonzero(np.any(np.atleast_2d(model.coef_) != 0.0, axis=0))
        absent = np.setdiff1d(used, self.place)
        return f"place lacks SNP {absent[0]}, which the model uses" if absent.size else None

    def _some(self, used: Mask) -> GenotypeRecipe:
        snps = Snps(*(values[used] for values in self.snps))
        return replace(self, place=self.place[used], snps=snps, mean=self.mean[used])

    def conditions(self) -> Iterator[Condition]:
        """Yield what must be true of the fields, beyond their types."""
        yield from super().conditions()
        yield "n_columns", self.n_columns >= 0, "a number of SNPs"
        ordered = (np.diff(self.place) > 0).all()
        inside = ((self.place >= 0) & (self.place < self.n_columns)).all()
        yield "place", self.place.ndim == 1 and bool(ordered and inside), "numbers of SNPs, in order"
        yield "snps", {values.shape for values in self.snps} == {self.place.shape}, "three texts for each SNP"
        right = self.mean.shape == self.place.shape and ((self.mean >= 0.0) & (self.mean <= 2.0)).all()
        yield "mean", bool(right), "a number from 0 to 2 for each SNP"

    def apply(self, bed: Any, missing: str | None = None) -> AppliedGenotypes:
        """Return the genotypes of another file as the model takes them: by id, whatever allele it counts.

        With ``missing="median"`` a SNP that the file does not have is at its mean of the fit.
        """
        there, notes = snps_of(bed), list[str]()
        found = _places(there.ids, self.snps.ids)
        absent = found == ABSENT
        if absent.any():
            names = listed(self.snps.ids[absent], most=5)
            many = counted(int(absent.sum()), "SNP")
            if missing != "median":
                mean = "Take them at their mean in the fit with --missing median"
                raise TableError(f"{many} of the model not in {bed.location}: {names}. {mean}")
            notes.append(f"{many} not in the file at the mean of the fit: {names}")
        turned = self._turned(there, found, notes)
        places, flip = np.full(self.n_columns, ABSENT), np.zeros(self.n_columns, dtype=np.bool_)
        fill = np.zeros(self.n_columns)
        places[self.place], flip[self.place], fill[self.place] = found, turned, self.mean
        return AppliedGenotypes(check_parts(Genotypes(bed, None, places, flip, fill)), tuple(notes))

    def _turned(self, there: Snps, found: Any, notes: list[str]) -> Mask:
        """Return which SNPs count the other allele in the file; refuse those that have other alleles."""
        mine = list(zip(self.snps.counted, self.snps.other, strict=True))
        theirs = [
            pair if place == ABSENT else (there.counted[place], there.other[place])
            for pair, place in zip(mine, found, strict=True)
        ]
        same = np.array(list(map(_fits, mine, theirs)), dtype=np.bool_)
        crossed = [_fits(one, other[::-1]) for one, other in zip(mine, theirs, strict=True)]
        turned = ~same & np.array(crossed, dtype=np.bool_)
        wrong = np.flatnonzero(~same & ~turned)
        if wrong.size:
            j = int(wrong[0])
            raise TableError(
                f"{counted(wrong.size, 'SNP')} with other alleles than in the fit, such as "
                f"{self.snps.ids[j]}: {'/'.join(mine[j])} there, {'/'.join(theirs[j])} in the file. Perhaps "
                "that has the other strand: mend it with plink --flip; nothing is guessed"
            )
        if turned.any():
            notes.append(f"{counted(int(turned.sum()), 'SNP')} with the alleles the other way round: turned")
        both = sum({str(a).upper(), str(b).upper()} in SAME_ON_BOTH for a, b in mine)
        if both:
            strand = "of these the strand cannot be checked"
            notes.append(f"{counted(both, 'SNP')} of the model A/T or C/G: {strand}")
        return np.asarray(turned, dtype=np.bool_)


def _fits(mine: tuple[Any, Any], theirs: tuple[Any, Any]) -> bool:
    """Tell whether alleles are the same; 0 is one that a file has not seen, and says nothing."""
    known = [(a, b) for a, b in zip(mine, theirs, strict=True) if "0" not in (a, b)]
    return bool(known) and all(a == b for a, b in known)


def _places(there: Any, wanted: Any) -> Any:
    """Return where the wanted ids are; refuse those that are there twice."""
    needed, times = set(wanted), Counter(there)
    twice = [name for name, number in times.items() if number > 1 and name in needed]
    if twice:
        where = "stands more than once in the .bim file: give each its own id"
        raise TableError(f"{listed(twice, most=5)} {where}")
    place = {name: j for j, name in enumerate(there)}
    return np.array([place.get(name, ABSENT) for name in wanted], dtype=np.int64)
