"""Every limit of the fast path, each with what it is for.

Those of pruning, fading, resting and the tail were chosen by trying variants on seeds 1000 to 1074 of Table 3
and a few other shapes; `many_columns` after a look at two timings. The fast tests hold some of those seeds;
`make test-slow` compares the modes with those of plain EM on seeds that nothing was chosen on.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """When a shortcut is safe: see `docs/decisions/0002` and `0003` for the experiments."""

    # A column leaves when its leverage d_j x_j'M^-1 x_j and its gain E[b_j]^2 / (sigma2 d_j) are below
    # `prune`; below `prune_careful` while the d_j of null coefficients fall by less than `careful_fading`.
    # Twice as much ended in other modes on some of the data sets of Table 3. Where weights move, what leaves
    # is gone at once.
    prune: float = 0.05
    prune_careful: float = 0.02
    careful_fading: float = 0.7
    prune_moving: float = 1e-3
    # A copy of the columns must pay: at most `prune_share` of them stay, or so many iterations have gone by
    # since the last that left; of a few columns, only then.
    prune_share: float = 0.75
    prune_pause: int = 4
    few_columns: int = 64
    # Single precision does while the coefficients move by more than `single_change`, and sum_j d_j ||x_j||^2
    # (where weights move the largest sum of a row of X D X'), which bounds the condition number, is below
    # `single_spread`. It has never changed a mode. Below `negligible_spread` the columns do not see each
    # other. In a fit that is not wide, that is asked of more than `many_columns`, at the start only.
    single_change: float = 1e-3
    single_spread: float = 1e5
    negligible_spread: float = 1e-3
    many_columns: int = 500
    # The tail begins when no E[b_j^2] moves by more than `settled_change` of itself in a step, and what
    # fades is below `faded_level`. It is forgotten below `gone_level`: the fixed point is the same without
    # it. Below `expandable_level`, a mean eigenvalue, the second order of (I + K)^-1 is as good as K.
    settled_change: float = 0.05
    faded_level: float = 1e-3
    gone_level: float = 1e-4
    expandable_level: float = 0.03
    # Jumps to fixed points at fixed weights before EM takes over again; no log E[b_j^2] may move by more
    # than `newton_near` in one of Newton's steps, since farther away is another mode's land; and the
    # residuals at which the fixed point is found: at once, or when rounding lets it fall no further.
    max_jumps: int = 40
    newton_near: float = 0.1
    newton_solved: float = 1e-13
    newton_enough: float = 1e-9
    newton_steps: int = 12
    # A column rests when leverage and gain are below `rest` (`rest_settled` where the d_j of those that rest
    # fall by `settled_fading` or more: then none will soon wake) and wakes above `wake`, or when its part in
    # K is off by the share `drift`. It pays from `large` entries of X on, for `worthwhile` of those awake
    # together; M^-1 z is refined so often with the true D.
    rest: float = 0.03
    rest_settled: float = 0.05
    settled_fading: float = 0.7
    wake: float = 0.08
    drift: float = 0.2
    large: int = 100_000
    worthwhile: float = 0.15
    refinements: int = 1
    # With so many rows, in all and for each column, one Gram matrix serves several iterations, until a step
    # is below `settled_share` of the way from where the weights were taken, or even then, if all of the way
    # is below `near_share` of the coefficients and the scales still move.
    many_rows: int = 5_000
    rows_per_column: int = 20
    settled_share: float = 0.1
    near_share: float = 0.1
    # The majoriser is loose where the information of the rows is below this share of their weights: a step
    # goes that share of the way. Once the scales have settled, a step of Newton's method is added to each.
    loose_majorizer: float = 0.01
    # Where nothing becomes zero, steps are mixed once the coefficients change by less than `mixed_change`; no
    # log E[b_j^2] moves by more than `mixed_step` beyond the step of EM, and each mixed step must leave at
    # most `mixed_gain` of the gap before it.
    mixed_change: float = 0.01
    mixed_step: float = 2.0
    mixed_gain: float = 0.99


LIMITS = Limits()
