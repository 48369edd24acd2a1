"""Columns that are always in: taken out of the design, and out of all that is left of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy.linalg import lapack

from horseshoe._types import Mask, Matrix, Vector
from horseshoe.data.adjusted import Free
from horseshoe.data.columns import column_label
from horseshoe.data.standardise import ScaledResponse, Standardised, Units
from horseshoe.data.view import View

# A column of which others leave no more than this share is a combination of them.
COLLINEAR = 1e-7
# A response of which columns leave no more than this share is explained by them.
EXACT = 1e-10


def project_out(
    design: Standardised, unpenalized: Mask, columns: View, *, center: bool, scale: bool
) -> Standardised:
    """Return the columns that are shrunk, less what those that are not explain of them; scaled after that.

    What they explain wholly is left out, as a constant is. ``columns`` are those of the user, for errors.

    Examples
    --------
    >>> from horseshoe.data.dense import Dense
    >>> from horseshoe.data.standardise import standardise
    >>> x = Dense(np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 0.0]]))
    >>> whole = standardise(x, None, center=True, scale=True)
    >>> part = project_out(whole, np.array([True, False]), x, center=True, scale=True)
    >>> part.columns.shape, bool(abs(part.columns.rmatvec(np.arange(4.0))[0]) < 1e-12), part.total_weight
    ((4, 1), True, 3.0)
    """
    _refuse_constant(design, unpenalized, columns)
    own = unpenalized[design.kept]
    free = _basis(design, own, np.flatnonzero(unpenalized), columns, center)
    part, counts = design.take(~own), design.weights
    heavy = free.basis if counts is None else counts[:, None] * free.basis
    loads = np.asarray(part.columns.rmatvec(heavy)) / free.total_weight
    left = part.columns.less(free.basis, loads)
    seen = part.spread / part.scale  # 1 where columns are scaled
    share = np.sqrt(left.squares(counts) / (free.total_weight - float(free.basis.shape[1])))
    some = share > COLLINEAR * seen
    part = part._replace(columns=left, free=free._replace(loads=loads.T)).take(some)
    share = share[some]
    if not scale:
        return part._replace(spread=share)
    spread = part.scale * share
    return part.scaled(1.0 / share)._replace(scale=spread, spread=spread)


def _basis(design: Standardised, own: Mask, places: Any, columns: View, center: bool) -> Free:
    """Return what is not shrunk as orthogonal vectors."""
    n, total = design.columns.shape[0], design.total_weight
    q = int(own.sum())
    if q >= n - center:
        raise ValueError(
            f"unpenalized names {q} columns, and there are {n} rows{' and an intercept' if center else ''}: "
            "fewer columns can be fitted without shrinkage; let the others be shrunk"
        )
    if total <= q + center:
        raise ValueError(
            f"unpenalized names {q} columns, and sample_weight adds up to {total:g} rows only: name fewer, "
            "or use weight_type='precision' if only the proportions of the weights matter"
        )
    root = np.ones(n) if design.weights is None else np.sqrt(design.weights)
    chosen = design.columns.take(own).dense()
    triangle = np.asarray(np.linalg.qr(chosen * root[:, None], mode="r"))
    _refuse_collinear(triangle, places, columns)
    turn = math.sqrt(total) * np.asarray(lapack.dtrtri(triangle)[0])
    back = (design.mean[own] / design.scale[own]) @ turn
    return Free(chosen @ turn, turn, np.zeros((q, 0)), np.zeros(q), total, back)


def _refuse_constant(design: Standardised, unpenalized: Mask, columns: View) -> None:
    constant = unpenalized & ~design.kept
    if constant.any():
        raise ValueError(
            f"{column_label(columns, int(np.argmax(constant)))} of X is always in, but constant: "
            "take it from unpenalized, or from X"
        )


def _refuse_collinear(triangle: Matrix, places: Any, columns: View) -> None:
    """Refuse columns that are a combination of those before them, by name."""
    length = np.sqrt(np.einsum("ij,ij->j", triangle, triangle))
    tied = np.abs(triangle.diagonal()) <= COLLINEAR * length
    if not tied.any():
        return
    j = int(np.argmax(tied))
    share = np.linalg.lstsq(triangle[:j, :j], triangle[:j, j], rcond=None)[0]
    others = [column_label(columns, int(places[i])) for i in np.flatnonzero(np.abs(share) > 1e-6)]
    raise ValueError(
        f"{column_label(columns, int(places[j]))} of X is always in, but it is a combination of others that "
        f"are, {', '.join(others)}: take one of them from unpenalized"
    )


def check_identifiable(
    design: Standardised, unpenalized: Mask, columns: View, coupling: Any, events: float
) -> None:
    """Refuse columns of which rows that hold each other tell nothing: those of Cox's model at its events.

    ``design`` has all columns, ``coupling`` is the likelihood where no column has an effect.
    """
    chosen = design.columns.take(unpenalized[design.kept]).dense().astype(np.float64, copy=False)
    q = chosen.shape[1]
    if q >= events:
        raise ValueError(
            f"unpenalized names {q} columns, and there are {events:g} events: fewer columns can be fitted "
            "without shrinkage; let the others be shrunk"
        )
    places = np.flatnonzero(unpenalized)
    whole = np.einsum("ij,ij->j", chosen, coupling.diagonal[:, None] * chosen)
    inner = chosen.T @ np.apply_along_axis(coupling.times, 0, chosen)
    for j in range(q):
        share = np.linalg.lstsq(inner[:j, :j], inner[:j, j], rcond=None)[0]
        if inner[j, j] - share @ inner[:j, j] <= COLLINEAR * whole[j]:
            others = [column_label(columns, int(places[i])) for i in np.flatnonzero(np.abs(share) > 1e-6)]
            tied = f"a combination of others that are, {', '.join(others)}," if others else "constant"
            raise ValueError(
                f"{column_label(columns, int(places[j]))} of X is always in, but it is {tied} among those at "
                "risk at each event, so that nothing is told of it: take it from unpenalized, or from X"
            )


def residual_response(response: ScaledResponse, design: Standardised) -> tuple[ScaledResponse, Standardised]:
    """Return what the columns that are always in leave of a Gaussian response, in units of its spread."""
    free = design.free
    if free is None or response.unit == 0.0:
        return response, design
    values, counts = response.values, design.weights
    heavy = values if counts is None else counts * values
    level = free.basis.T @ heavy / free.total_weight
    left = values - free.basis @ level
    rest = math.sqrt(float((left if counts is None else counts * left) @ left) / design.total_weight)
    if rest <= EXACT:
        raise ValueError(
            "the columns that are always in explain y exactly: nothing is left for others to explain, and "
            "there is no noise to judge them by"
        )
    found = ScaledResponse(response.level, response.unit * rest, left / rest)
    return found, design._replace(free=free._replace(level=level / rest))


def all_units_of(units: Units, before: Standardised, unpenalized: Mask) -> Units:
    """Return the units of all columns that are fitted, shrunk or not; ``before`` is the design of both."""
    mean, scale = (np.zeros(unpenalized.size), np.zeros(unpenalized.size))
    mean[before.kept], scale[before.kept] = before.mean, before.scale
    scale[units.kept] = units.scale
    kept = units.kept | unpenalized
    return units._replace(kept=kept, mean=mean[kept], scale=scale[kept])


def unpenalized_coef(free: Free, intercept: float, coef: Vector, own: Vector, center: bool) -> Vector:
    """Return the coefficients of what is not shrunk; those of its columns are ``own``."""
    found = np.linalg.solve(free.turn, own) + free.loads @ coef
    return np.append(intercept, found) if center else found


def all_coefficients(free: Free, coef: Any, flat: Any, shrunk: Mask) -> tuple[Any, Any]:
    """Return the coefficients of all columns, and the intercept: ``flat`` is that with what is not shrunk.

    Arrays may have more axes before the last.
    """
    q = free.turn.shape[0]
    own = (flat[..., -q:] - coef @ free.loads.T) @ free.turn.T
    whole = np.empty((*coef.shape[:-1], shrunk.size))
    whole[..., shrunk], whole[..., ~shrunk] = coef, own
    return whole, flat[..., 0] if flat.shape[-1] > q else np.zeros(flat.shape[:-1])
