"""Balanced selections from products of parameters, where the whole product would show nothing more."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations, product
from typing import Any


def in_turn(*axes: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Return rows in which every value of every axis occurs: as many as the longest axis has values."""
    lists = [list(axis) for axis in axes]
    return [tuple(values[k % len(values)] for values in lists) for k in range(max(map(len, lists)))]


def in_pairs(*axes: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Return rows in which any two values of two axes occur together, by a greedy choice."""
    lists = [list(axis) for axis in axes]
    rows = list(product(*map(range, map(len, lists))))

    def pairs(row: tuple[int, ...]) -> set[tuple[int, int, int, int]]:
        return {(i, j, row[i], row[j]) for i, j in combinations(range(len(row)), 2)}

    missing = set().union(*map(pairs, rows))
    chosen = []
    while missing:
        best = max(rows, key=lambda row: len(pairs(row) & missing))
        missing -= pairs(best)
        chosen.append(best)
    return [tuple(values[k] for values, k in zip(lists, row, strict=True)) for row in sorted(chosen)]
