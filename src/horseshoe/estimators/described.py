"""What every estimator says of itself: a few numbers, and a table beside scikit-learn's diagram."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    from horseshoe.report.statistics import FitStatistics


class Described(BaseEstimator):
    """Statistics of a fit, and how it looks in a notebook.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> model = HorseshoeRegressor().fit([[1.0], [2.0], [3.0], [4.0]], [1.0, 2.1, 2.9, 4.0])
    >>> model.statistics().n, "x0" in model._repr_html_()
    (4, True)
    """

    if TYPE_CHECKING:

        def _statistics(self) -> FitStatistics: ...

    def statistics(self) -> FitStatistics:
        """Return the fit in a few numbers: rows, columns, selected, explained, error of rows left out.

        Returns
        -------
        FitStatistics
            Numbers by name; ``lines()`` are the same as pairs of texts.
        """
        check_is_fitted(self)
        return self._statistics()

    def _html_repr(self) -> str:
        """Return scikit-learn's diagram, and once fitted the selected columns below it."""
        from horseshoe.report.summaries import selected_table

        diagram = str(super()._html_repr())
        return diagram + selected_table(self) if "coef_" in self.__dict__ else diagram
