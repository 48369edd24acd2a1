"""Which SNPs a model was fitted to, by id and allele, so that those of another file are counted alike."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from horseshoe._types import Mask, Vector
from horseshoe.data.genotypes import ABSENT, Genotypes, Snps, snps_of
from horseshoe.data.validation import check_parts
from horseshoe.intake.messages import TableError, counted, listed
from horseshoe.intake.recipe_data import KNOWN

FORMAT = "plink"
KEYS = ("format", "target", "family", "classes", "n_columns", "place", "id", "counted", "other", "mean")
SAME_ON_BOTH = ({"A", "T"}, {"C", "G"})
"""Pairs of alleles that read the same on either strand."""


class AppliedGenotypes(NamedTuple):
    """The genotypes of new individuals as the model takes them."""

    X: Any
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class GenotypeRecipe:
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
    classes: tuple[Any, ...]
    n_columns: int
    place: Any
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

    def to_plain(self) -> dict[str, Any]:
        """Return the recipe as data that JSON knows."""
        ids, counted_, other = (list(map(str, values)) for values in self.snps)
        fields = (FORMAT, self.target, self.family, list(self.classes), self.n_columns)
        return dict(
            zip(KEYS, (*fields, self.place.tolist(), ids, counted_, other, self.mean.tolist()), strict=True)
        )

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> GenotypeRecipe:
        """Return the recipe that plain data describe; every part of them is checked."""
        _check(set(plain) == set(KEYS), "keys", sorted(map(str, plain))[:12], f"{', '.join(KEYS)}")
        _check(isinstance(plain["target"], str), "target", plain["target"], "a text")
        _check(plain["family"] in KNOWN, "family", plain["family"], f"one of {', '.join(KNOWN)}")
        _check(isinstance(plain["classes"], list), "classes", plain["classes"], "a list")
        n = plain["n_columns"]
        _check(_whole(n) and n >= 0, "n_columns", n, "a number of SNPs")
        place = plain["place"]
        ordered = isinstance(place, list) and all(_whole(j) for j in place) and place == sorted(set(place))
        _check(ordered and all(0 <= j < n for j in place), "place", place, "numbers of SNPs, in order")
        for key in ("id", "counted", "other"):
            texts = isinstance(plain[key], list) and all(isinstance(each, str) for each in plain[key])
            _check(texts and len(plain[key]) == len(place), key, plain[key], "a text for each SNP")
        mean = plain["mean"]
        numbers = isinstance(mean, list) and all(isinstance(each, float | int) for each in mean)
        right = numbers and len(mean) == len(place) and all(0.0 <= each <= 2.0 for each in mean)
        _check(right, "mean", mean, "a number from 0 to 2 for each SNP")
        snps = Snps(*(np.array(plain[key], dtype=object) for key in ("id", "counted", "other")))
        fields = plain["target"], plain["family"], tuple(plain["classes"]), n
        return cls(*fields, np.array(place, dtype=np.int64), snps, np.array(mean, dtype=np.float64))

    def apply(self, bed: Any, missing: str | None = None) -> AppliedGenotypes:
        """Return the genotypes of another file as the model takes them: by id, whatever allele it counts.

        With ``missing="median"`` a SNP that the file does not have is at its mean of the fit.
        """
        there, notes = snps_of(bed), list[str]()
        found = _places(there.ids, self.snps.ids)
        absent = found == ABSENT
        if absent.any():
            names = listed(self.snps.ids[absent], most=5)
            if missing != "median":
                raise TableError(
                    f"{counted(int(absent.sum()), 'SNP')} of the model not in {bed.location}: {names}. Take "
                    "them at their mean in the fit with --missing median"
                )
            notes.append(
                f"{counted(int(absent.sum()), 'SNP')} not in the file at the mean of the fit: {names}"
            )
        turned = self._turned(there, found, notes)
        places, flip = np.full(self.n_columns, ABSENT), np.zeros(self.n_columns, dtype=np.bool_)
        fill = np.zeros(self.n_columns)
        places[self.place], flip[self.place], fill[self.place] = found, turned, self.mean
        return AppliedGenotypes(check_parts(Genotypes(bed, None, places, flip, fill)), tuple(notes))

    def _turned(self, there: Snps, found: Any, notes: list[str]) -> Mask:
        """Return which SNPs count the other allele in the file; refuse those that have other alleles."""
        counts, other = (
            np.where(found == ABSENT, mine, values[found])
            for mine, values in zip(
                (self.snps.counted, self.snps.other), (there.counted, there.other), strict=True
            )
        )
        pairs = list(zip(self.snps.counted, self.snps.other, counts, other, strict=True))
        same = np.array([_fits((a, b), (c, d)) for a, b, c, d in pairs], dtype=np.bool_)
        turned = ~same & np.array([_fits((a, b), (d, c)) for a, b, c, d in pairs], dtype=np.bool_)
        wrong = ~same & ~turned
        if wrong.any():
            j = int(np.argmax(wrong))
            a, b, c, d = pairs[j]
            raise TableError(
                f"{counted(int(wrong.sum()), 'SNP')} with other alleles than in the fit, such as "
                f"{self.snps.ids[j]}: {a}/{b} there, {c}/{d} in the file. Perhaps that has the other strand: "
                "mend it with plink --flip; nothing is guessed"
            )
        if turned.any():
            notes.append(f"{counted(int(turned.sum()), 'SNP')} with the alleles the other way round: turned")
        both = sum({str(a).upper(), str(b).upper()} in SAME_ON_BOTH for a, b, _, _ in pairs)
        if both:
            notes.append(
                f"{counted(both, 'SNP')} of the model A/T or C/G: of these the strand cannot be checked"
            )
        return np.asarray(turned)


def _fits(mine: tuple[Any, Any], theirs: tuple[Any, Any]) -> bool:
    """Tell whether alleles are the same; 0 is one that a file has not seen, and says nothing."""
    known = [(a, b) for a, b in zip(mine, theirs, strict=True) if "0" not in (a, b)]
    return bool(known) and all(a == b for a, b in known)


def _places(there: Any, wanted: Any) -> Any:
    """Return where the wanted ids are; refuse those that are there twice."""
    place: dict[Any, int] = {}
    needed, twice = set(wanted), []
    for j, name in enumerate(there):
        if name in needed:
            twice += [name] if name in place else []
            place[name] = j
    if twice:
        raise TableError(
            f"{listed(twice, most=5)} stands more than once in the .bim file: give each its own id"
        )
    return np.array([place.get(name, ABSENT) for name in wanted], dtype=np.int64)


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check(right: bool, key: str, value: Any, wanted: str) -> None:
    if not right or (isinstance(value, float) and not math.isfinite(value)):
        raise ValueError(f"recipe: {key}={repr(value)[:80]} should be {wanted}")
