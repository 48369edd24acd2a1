"""What the draws of several chains say: R-hat, effective sample sizes, Monte Carlo errors, intervals.

``draws`` has the shape (chains, draws, ...), and answers that of what is behind the first two axes. R-hat,
effective sample sizes (ESS) and Monte Carlo standard errors (MCSE) are those of Vehtari, Gelman, Simpson,
Carpenter and Buerkner (2021), as in ArviZ and posterior: every chain is cut in half, so one chain is enough.

- Fewer than four draws in a chain, or a draw that is not finite: NaN (the intervals need one draw only).
- All draws are the same number: R-hat is 1, ESS the number of draws, MCSE 0.
- Every half of a chain stands still, but not all at one number: R-hat is infinite, ESS the number of chains.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import prod
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import betaincinv, ndtri

from horseshoe._types import Matrix, Vector

# Some parameters' draws, of shape (parameters, chains, draws).
Block = NDArray[np.float64]
Index = NDArray[np.intp]

# Draws of a chain: its halves need a variance each.
FEWEST = 4
# Shares of a Gaussian up to one standard deviation below and above its mean, with the digits of ArviZ.
TAILS = 0.05, 0.95
ONE_SD = 0.1586553, 0.8413447
# Bytes of temporaries, few enough to stay near the processor, and how many copies of the draws they are.
BLOCK, COPIES = 2**24, 16


def rhat(draws: ArrayLike) -> Vector:
    """Return the rank-normalised split R-hat: the larger of that of the bulk and that of the tails.

    Examples
    --------
    >>> draws = np.random.default_rng(0).normal(size=(4, 500, 2))
    >>> draws[0, :, 1] += 1.0  # one chain is elsewhere
    >>> rhat(draws).round(2)
    array([1. , 1.1])
    """
    return _by_block(_rhat, draws)


def ess_bulk(draws: ArrayLike) -> Vector:
    """Return the effective sample size of the ranks: how well the centre is known.

    Examples
    --------
    >>> ess_bulk(np.zeros((4, 500, 2)))
    array([2000., 2000.])
    """
    return _by_block(lambda block: _ess(block, _rank_normal(_halves(block))), draws)


def ess_tail(draws: ArrayLike) -> Vector:
    """Return the smaller of the effective sample sizes of the 5 % and the 95 % quantile.

    Examples
    --------
    >>> draws = np.random.default_rng(0).normal(size=(4, 500))
    >>> bool(ess_tail(draws) == min(ess_quantile(draws, 0.05), ess_quantile(draws, 0.95)))
    True
    """
    return _by_block(lambda block: np.minimum(*(_ess_quantile(block, tail) for tail in TAILS)), draws)


def ess_mean(draws: ArrayLike) -> Vector:
    """Return the effective sample size of the mean, which needs a finite variance.

    Examples
    --------
    >>> walk = np.random.default_rng(0).normal(size=(4, 500)).cumsum(axis=1)
    >>> bool(ess_mean(walk) < 20)
    True
    """
    return _by_block(lambda block: _ess(block, _halves(_to_scale(block)[0])), draws)


def ess_quantile(draws: ArrayLike, probability: float) -> Vector:
    """Return the effective sample size of the quantile.

    Examples
    --------
    >>> up_and_down = np.tile([0.0, 3.0, 1.0, 2.0], (4, 100))
    >>> bool(ess_quantile(up_and_down, 0.5) > up_and_down.size)
    True
    """
    return _by_block(lambda block: _ess_quantile(block, probability), draws)


def mcse_mean(draws: ArrayLike) -> Vector:
    """Return the Monte Carlo standard error of the mean of all draws.

    Examples
    --------
    >>> draws = np.random.default_rng(0).normal(size=(4, 2500))
    >>> float(mcse_mean(draws).round(3))  # the standard deviation is 1, and 1 / sqrt(10_000) = 0.01
    0.01
    """
    return _by_block(_mcse_mean, draws)


def mcse_quantile(draws: ArrayLike, probability: float) -> Vector:
    """Return the Monte Carlo standard error of the quantile of all draws.

    Examples
    --------
    >>> draws = np.random.default_rng(0).normal(size=(4, 2500))
    >>> bool(mcse_quantile(draws, 0.99) > mcse_quantile(draws, 0.5) > mcse_mean(draws))
    True
    """
    return _by_block(lambda block: _mcse_quantile(block, probability), draws)


def equal_tailed(draws: ArrayLike, level: float) -> Matrix:
    """Return the interval of all draws with equal shares below and above, as (..., 2).

    Examples
    --------
    >>> equal_tailed(np.arange(101.0)[None], level=0.9)
    array([ 5., 95.])
    """
    tail = 0.5 * (1.0 - _check_level(level))
    ends = (tail, 1.0 - tail)
    return _by_block(lambda block: np.quantile(_rows(block), ends, axis=1).T, draws, fewest=1, width=(2,))


def highest_density(draws: ArrayLike, level: float) -> Matrix:
    """Return the shortest interval that holds the share ``level`` of all draws, as (..., 2).

    Of several that are equally short it is the lowest.

    Examples
    --------
    >>> highest_density(np.arange(101.0)[None] ** 2, level=0.9)
    array([   0., 8100.])
    """
    share = _check_level(level)
    return _by_block(lambda block: _shortest(_rows(block), share), draws, fewest=1, width=(2,))


def _by_block(
    function: Callable[[Block], Vector],
    draws: ArrayLike,
    fewest: int = FEWEST,
    width: tuple[int, ...] = (),
) -> Vector:
    """Return what ``function`` says of each parameter, a block of them at a time."""
    array = np.asarray(draws)
    if array.ndim < 2:
        raise ValueError(f"draws must have the shape (chains, draws, ...), but it is {array.shape}")
    chains, length, *shape = array.shape
    flat = array.reshape(chains, length, prod(shape))
    out = np.full((flat.shape[2], *width), np.nan)
    step = max(1, BLOCK // (COPIES * 8 * max(1, chains * length)))
    enough = chains > 0 and length >= fewest
    for start in range(0, len(out) if enough else 0, step):
        rows = slice(start, start + step)
        with np.errstate(all="ignore"):  # 0 / 0 of what stands still is settled afterwards
            block = np.ascontiguousarray(np.moveaxis(flat[:, :, rows], 2, 0), dtype=np.float64)
            finite = np.isfinite(block).all(axis=(1, 2))
            if finite.any():
                out[rows][finite] = function(block if finite.all() else block[finite])
    answer: Vector = out.reshape((*shape, *width))[()]
    return answer


def _check_level(level: float) -> float:
    """Return the level of an interval if it is one."""
    if not 0.0 < level <= 1.0:
        raise ValueError(f"level must be above 0 and at most 1, but it is {level!r}")
    return level


def _rows(block: Block) -> Matrix:
    """Return all draws of each parameter in a row."""
    return block.reshape(len(block), -1)


def _halves(block: NDArray[np.generic]) -> Block:
    """Return the first and the second half of each chain as chains; the one in the middle goes."""
    count, chains, length = block.shape
    half = length // 2
    both = np.stack([block[..., :half], block[..., length - half :]], axis=2, dtype=np.float64)
    return both.reshape(count, 2 * chains, half)


def _sort(rows: Matrix, kind: Literal["stable"] | None = None) -> tuple[Index, Matrix]:
    """Return where in the raveled ``rows`` each of the sorted values is, and those values."""
    order = np.argsort(rows, axis=1, kind=kind)
    order += np.arange(len(rows))[:, None] * rows.shape[1]
    return order, rows.ravel()[order]


def _normal_scores(order: Index, ordered: Matrix) -> Matrix:
    """Return the Gaussian quantile of each value's rank; equal values share their mean rank."""
    size = ordered.shape[1]
    table = _quantiles_of_ranks(size)
    scores = np.broadcast_to(table[::2], ordered.shape)
    equal = np.zeros(ordered.shape, dtype=bool)  # to the next one in the row
    np.equal(ordered[:, 1:], ordered[:, :-1], out=equal[:, :-1])
    if (at := np.flatnonzero(equal)).size:
        gap = np.diff(at) > 1
        first, last = at[np.append(True, gap)], at[np.append(gap, True)] + 1
        shared, scores = table[first % size + last % size], scores.copy()
        equal.ravel()[last] = True
        scores[equal] = np.repeat(shared, last - first + 1)
    out = np.empty(ordered.size)
    out[order] = scores
    return out.reshape(ordered.shape)


@lru_cache(maxsize=1)
def _quantiles_of_ranks(size: int) -> Vector:
    """Return the Gaussian quantiles of the ranks 1, 1.5, 2, ..., size."""
    return np.asarray(ndtri((np.arange(2, 2 * size + 1) / 2.0 - 0.375) / (size + 0.25)))


def _rank_normal(halves: Block) -> Block:
    """Return the normal scores of the draws among all those of their parameter."""
    return _normal_scores(*_sort(_rows(halves))).reshape(halves.shape)


def _rhat(block: Block) -> Vector:
    """Return the larger R-hat of two: of the ranks, and of the ranks of the distance from the median."""
    halves = _halves(block)
    order, ordered = _sort(_rows(halves))
    size = ordered.shape[1]
    median = 0.5 * ordered[:, (size - 1) // 2] + 0.5 * ordered[:, size // 2]
    # the sorted values, folded, fall and then rise: a stable sort merges the two runs and is done
    again, folded = _sort(np.abs(ordered - median[:, None]), kind="stable")
    bulk = _plain_rhat(_normal_scores(order, ordered).reshape(halves.shape))
    tails = _plain_rhat(_normal_scores(order.ravel()[again], folded).reshape(halves.shape))
    larger = np.fmax(bulk, tails)  # draws that are -1 or 1 are equally far from 0: the bulk has the say
    return np.where(np.isnan(larger), 1.0, larger)


def _plain_rhat(chains: Block) -> Vector:
    """Return R-hat of chains as they are; NaN where they are all the same number."""
    length = chains.shape[2]
    moved = chains - chains[:, :, :1]  # exactly zero where a chain stands still
    means = chains[:, :, 0] + moved.mean(axis=2)
    within, between = moved.var(axis=2, ddof=1).mean(axis=1), means.var(axis=1, ddof=1)
    still = np.where(np.ptp(means, axis=1) > 0.0, np.inf, np.nan)
    return np.where(within > 0.0, np.sqrt(between / within + (length - 1) / length), still)


def _ess(block: Block, chains: Block) -> Vector:
    """Return the effective sample size of the mean of ``chains``, halves made from the draws in ``block``."""
    halves = _halves(block)
    still = (halves == halves[:, :, :1]).all(axis=(1, 2))
    stuck = still & (halves[:, :, 0] != halves[:, :1, 0]).any(axis=1)
    same = (block == block[:, :1, :1]).all(axis=(1, 2))
    return np.select([same, stuck], [float(prod(block.shape[1:])), float(block.shape[1])], _geyer(chains))


def _ess_quantile(block: Block, probability: float) -> Vector:
    """Return the effective sample size of the share of draws up to the quantile."""
    quantile = np.quantile(_rows(block), probability, axis=1)
    return _ess(block, _halves(block <= quantile[:, None, None]))


def _geyer(chains: Block) -> Vector:
    """Return the effective sample size by Geyer's initial monotone positive sequence."""
    count, length = chains.shape[1:]
    size = count * length
    correlation = _autocorrelation(chains)
    # pairs of lags count up to the first whose sum is not positive, and at most so many
    most = max(0, (length - 3) // 2)
    even = correlation[:, 0 : 2 * most + 2 : 2]
    pairs = even + correlation[:, 1 : 2 * most + 2 : 2]
    end = pairs <= 0.0
    end[:, most] = True
    stop = end.argmax(axis=1)[:, None]
    falling = np.minimum.accumulate(pairs, axis=1)
    total = np.where(np.arange(most + 1) < stop, falling, 0.0).sum(axis=1)
    # of the pair at the end the even lag still counts, which helps antithetic chains
    last, pair = (np.take_along_axis(values, stop, axis=1)[:, 0] for values in (even, pairs))
    time = 2.0 * total - 1.0 + np.where((last > 0.0) | (pair >= 0.0), last, 0.0)
    ess = size / np.maximum(time, 1.0 / np.log10(size))
    return np.where(np.isnan(correlation[:, 0]), float(size), ess)


def _autocorrelation(chains: Block) -> Matrix:
    """Return the autocorrelation at each lag, of the chains together; NaN if they are all the same number."""
    length = chains.shape[2]
    means = chains.mean(axis=2)
    padded = next_fast_len(2 * length, real=True)
    spectrum = rfft(chains - means[:, :, None], padded, axis=2)
    power = (spectrum.real**2 + spectrum.imag**2).mean(axis=1)  # one transform back, not one for each chain
    covariance = irfft(power, padded, axis=1)[:, :length] / length
    within = covariance[:, :1] * (length / (length - 1.0))
    overall = covariance[:, :1] + means.var(axis=1, ddof=1)[:, None]
    out: Matrix = 1.0 - (within - covariance) / overall
    out[:, 0] = np.where(overall[:, 0] > 0.0, 1.0, np.nan)
    return out


def _to_scale(block: Block) -> tuple[Block, Vector]:
    """Return the draws less the first in units near their size, for squares to stay finite; and the units."""
    _, exponent = np.frexp(np.abs(block).max(axis=(1, 2)))
    unit = np.ldexp(1.0, np.clip(exponent, -1000, 1000))  # a power of two: nothing is rounded
    scaled = block / unit[:, None, None]
    return scaled - scaled[:, :1, :1], unit


def _mcse_mean(block: Block) -> Vector:
    """Return the standard deviation over the root of the effective sample size."""
    scaled, unit = _to_scale(block)
    std = _rows(scaled).std(axis=1, ddof=1)
    return np.asarray(unit * std / np.sqrt(_ess(block, _halves(scaled))))


def _mcse_quantile(block: Block, probability: float) -> Vector:
    """Return half the distance of the draws one standard deviation below and above the quantile."""
    ess, ordered = _ess_quantile(block, probability), np.sort(_rows(block), axis=1)
    size = ordered.shape[1]
    below, above = (
        betaincinv(ess * probability + 1.0, ess * (1.0 - probability) + 1.0, share) * size - 1.0
        for share in ONE_SD
    )
    places = np.column_stack([np.floor(np.maximum(below, 0.0)), np.ceil(np.minimum(above, size - 1.0))])
    ends = np.take_along_axis(ordered, places.astype(np.intp), axis=1)
    return np.asarray(0.5 * ends[:, 1] - 0.5 * ends[:, 0])


def _shortest(rows: Matrix, level: float) -> Matrix:
    """Return the first of the shortest intervals between two draws of each row."""
    ordered, size = np.sort(rows, axis=1), rows.shape[1]
    steps = min(int(level * size), size - 1)
    low = np.argmin(ordered[:, steps:] - ordered[:, : size - steps], axis=1)[:, None]
    return np.take_along_axis(ordered, np.hstack([low, low + steps]), axis=1)
