"""Cross-validation of rows that come a chunk at a time: each fold is a sum, and all of them cost one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from horseshoe._checks import check_choice, check_random_state
from horseshoe.data.compressed import folded
from horseshoe.estimators.ending import WEIGHT_TYPES
from horseshoe.estimators.streamed import Chunk, Streamed, Sums, check_sums, products_of
from horseshoe.families import Family, resolve_family

if TYPE_CHECKING:
    from horseshoe.average.result import AverageFit
    from horseshoe.data.rows import Rows
    from horseshoe.store.checkpoint import CheckpointSection

DEALT = 1000
"""So many rows for each fold are dealt out at a time."""


class StreamedAverage(Streamed):
    """`partial_fit` of the adaptive estimator: rows are dealt to folds by their number as they come.

    Examples
    --------
    >>> from horseshoe import AdaptiveRegressor
    >>> x = np.random.default_rng(0).standard_normal((100, 3))
    >>> model = AdaptiveRegressor(cv=5).fit_chunks([(x[:50], x[:50, 1]), (x[50:], x[50:, 1])])
    >>> model.support_
    array([False,  True, False])
    """

    cv: Any
    random_state: Any

    if TYPE_CHECKING:

        def _adapt(
            self, rows: Rows, family: Family, folds: Any, checkpoint: CheckpointSection | None = None
        ) -> AverageFit: ...

        def _store(self, fitted: AverageFit) -> None: ...

    def _rows_of_fit(self) -> Rows | None:
        return self.__dict__.get("_rows")

    def __getstate__(self) -> Any:
        """Leave the training rows out of copies."""
        state: Any = super().__getstate__()
        return {name: state[name] for name in state if name != "_rows"}

    def _summed(self, sums: Sums | None, chunk: Chunk) -> Sums:
        fold = dealt(chunk.number, self._n_folds(), self._seed())
        for number in range(self._n_folds()):
            rows = np.flatnonzero(fold == number)
            weights = None if chunk.weights is None else chunk.weights[rows]
            more = products_of(chunk.columns.rows(rows), chunk.y[rows], weights)
            if sums is None:
                sums = Sums((more.times(0.0)._replace(n_rows=0),) * self._n_folds())
            sums = sums.plus(number, more)
        assert sums is not None  # there are two folds or more
        return sums

    def _fit_sums(self) -> None:
        names = self.__dict__.get("feature_names_in_")
        parts = self._sums.scaled(check_choice("weight_type", self.weight_type, WEIGHT_TYPES))
        empty = [number for number, part in enumerate(parts) if part.n_rows == 0]
        if empty:
            raise ValueError(
                f"fold {empty[0]} of {len(parts)} has no row yet: begin with a larger chunk, or use "
                "fit_chunks"
            )
        for part in parts:
            check_sums(part, names)
        rows, folds = folded(parts)
        self._store(self._adapt(rows, resolve_family(self.family), folds))

    def _n_folds(self) -> int:
        if isinstance(self.cv, bool) or not isinstance(self.cv, int | np.integer) or self.cv < 2:
            raise ValueError(
                f"cv={self.cv!r} must be a number of folds of at least 2 for partial_fit, which deals rows "
                "to folds as they come: splitters go with fit"
            )
        return int(self.cv)

    def _seed(self) -> int:
        seed = 0 if self.random_state is None else self.random_state
        if not isinstance(seed, int | np.integer):
            raise ValueError(
                "random_state must be a whole number or None for partial_fit: a generator moves on"
            )
        check_random_state(seed)
        return int(seed)


def dealt(number: Any, k: int, seed: int) -> Any:
    """Return the fold of each row by its number: of each k in a row every fold gets one, which one is drawn.

    Examples
    --------
    >>> sorted(dealt(np.arange(3, 6), 3, seed=0).tolist())
    [0, 1, 2]
    """
    stretch = k * DEALT
    fold = np.empty(len(number), dtype=np.intp)
    for part in np.unique(number // stretch):
        draw = np.random.default_rng([seed, int(part)])
        order = draw.permuted(np.tile(np.arange(k), (DEALT, 1)), axis=1).ravel()
        here = number // stretch == part
        fold[here] = order[number[here] % stretch]
    return fold
