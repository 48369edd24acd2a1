"""Every limit of the fast path, each with what it is for and where it comes from.

They were chosen by trying variants on seeds 1000 to 1074 of Table 3 and a few other shapes; the tests compare
the modes with those of plain EM on other seeds (`pytest tests/em -k plain_em`, `make test-slow`).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """When a shortcut is safe.

    Attributes
    ----------
    prune, prune_careful : float
        A column leaves when its leverage d_j x_j'M^-1 x_j and its gain E[b_j]^2 / (sigma2 d_j) are below
        this; the second holds while the d_j of null coefficients fall by less than ``careful_fading``.
        Twice as much ended in other modes on some of the data sets of Table 3.
    prune_moving : float
        The same where weights move: what leaves then is gone at once, so it must be negligible.
    prune_share, prune_pause, few_columns : float, int, int
        Columns leave when at most this share of the active ones would stay, or so many iterations after the
        last that left; of a few columns, only then. A copy of the columns must pay.
    single_change : float
        Single precision is good enough while the coefficients change by more than this ...
    single_spread : float
        ... and while sum_j d_j ||x_j||^2, or where weights move the largest sum of a row of X D X', is below
        this: both bound the condition number. It has never changed a mode.
    negligible_spread : float
        Below this sum the columns do not see each other, as at the paper's start.
    settled_change : float
        The tail begins when no E[b_j^2] moves by more than this share of itself in one step ...
    faded_level : float
        ... and what fades is below this.
    gone_level : float
        What fades is forgotten below this: the fixed point is the same without it.
    expandable_level : float
        Below this mean eigenvalue of K, the second order of (I + K)^-1 is as good as K itself.
    max_jumps : int
        Jumps to fixed points at fixed weights before EM takes over again.
    newton_near : float
        Newton's step may move no log E[b_j^2] by more than this: farther away is another mode's land.
    newton_solved, newton_enough : float
        Residuals at which the fixed point is found: at once, or when rounding lets it fall no further.
    newton_steps : int
        The most steps of Newton's method.
    rest, wake : float
        A column goes to rest when leverage and gain are below the first, and wakes above the second.
    rest_settled, settled_fading : float
        The first limit when the d_j of those that rest fall by this factor or more: then none will soon wake.
    drift : float
        A column also wakes when its part in K is off by this share of itself.
    large : int
        Entries of X from which it pays to let columns rest.
    worthwhile : float
        Columns go to rest together when they are this share of those awake.
    refinements : int
        Steps by which M^-1 z is brought from the matrix with K to the true one.
    many_rows, rows_per_column : int
        With so many rows, in all and for each column, one Gram matrix serves several iterations ...
    settled_share : float
        ... until a step is below this share of the way from where the weights were taken, or even then, ...
    near_share : float
        ... if all of the way is below this share of the coefficients and the scales still move.
    """

    prune: float = 0.05
    prune_careful: float = 0.02
    careful_fading: float = 0.7
    prune_moving: float = 1e-3
    prune_share: float = 0.75
    prune_pause: int = 4
    few_columns: int = 64
    single_change: float = 1e-3
    single_spread: float = 1e5
    negligible_spread: float = 1e-3
    settled_change: float = 0.05
    faded_level: float = 1e-3
    gone_level: float = 1e-4
    expandable_level: float = 0.03
    max_jumps: int = 40
    newton_near: float = 0.1
    newton_solved: float = 1e-13
    newton_enough: float = 1e-9
    newton_steps: int = 12
    rest: float = 0.03
    wake: float = 0.08
    rest_settled: float = 0.05
    settled_fading: float = 0.7
    drift: float = 0.2
    large: int = 100_000
    worthwhile: float = 0.15
    refinements: int = 1
    many_rows: int = 5_000
    rows_per_column: int = 20
    settled_share: float = 0.1
    near_share: float = 0.1


LIMITS = Limits()
