"""What a regressor says of ordered levels: their probabilities, and the thresholds between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.utils.metaestimators import available_if

from horseshoe._types import Matrix, Vector
from horseshoe.estimators.selector import check_new
from horseshoe.families import Family, Ordered, resolve_family

if TYPE_CHECKING:
    from horseshoe.data.view import View


def _has_levels(model: Any) -> bool:
    """Tell whether y are levels; numbers no two of which are the same are not."""
    if "family_" not in model.__dict__:
        return isinstance(resolve_family(model.family), Ordered)
    return isinstance(model.family_, Ordered) and not model.family_.continuous


class LevelsMixin:
    """Levels, thresholds and probabilities of ``family="ordinal"``.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> x, y = [[k / 5.0] for k in range(20)], [int(k) for k in "11212122322323323333"]
    >>> model = HorseshoeRegressor(family="ordinal").fit(x, y)
    >>> model.levels_, model.predict([[0.0], [4.0]])
    (array([1., 2., 3.]), array([1., 3.]))
    """

    family: str | Family
    family_: Family

    if TYPE_CHECKING:

        def _eta(self, matrix: View, offset: Any, exposure: Any) -> Vector: ...

    @available_if(_has_levels)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, offset: Any = None) -> Matrix:
        """Return the probability of each level; for ``family="ordinal"``.

        Where no two rows of y are the same, y is as good as continuous, and there is no such method.

        Parameters
        ----------
        X, offset
            As in `predict`.

        Returns
        -------
        array of shape (m, n_levels)
            In the order of ``levels_``.
        """
        matrix = check_new(self, X)
        return _ordered(self).probabilities(self._eta(matrix, offset, None))

    @property
    def levels_(self) -> Any:
        """The levels in their order, as y had them; for ``family="ordinal"``."""
        return _ordered(self).levels_

    @property
    def thresholds_(self) -> Vector:
        """The thresholds between the levels, in place of an intercept; for ``family="ordinal"``."""
        return _ordered(self).thresholds_

    @property
    def thresholds_std_(self) -> Vector:
        """Their standard deviations, given the selection as those of the coefficients."""
        return _ordered(self).thresholds_std_


def _ordered(model: Any) -> Ordered:
    """Return the fitted family, or say that it has no levels."""
    family = model.__dict__.get("family_")
    if not isinstance(family, Ordered):
        raise AttributeError("levels_ and thresholds_ are there after a fit with family='ordinal'")
    return family
