"""What is said of a whole fit, in a few numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from horseshoe._types import Status
from horseshoe.families.deviance import Deviance
from horseshoe.report.number_text import format_count, format_number

# Families whose log-likelihood is 0 where a fit is perfect, so that -2 of it is a deviance.
CLASSES = ("Binomial", "Multinomial")


@dataclass(frozen=True)
class FitStatistics:
    """A fit in a few numbers; None where a kind of model has no such number.

    Attributes
    ----------
    n, p, n_selected : int
        Rows that count, columns, and columns that are selected (in any of several classes).
    family : str
        The distribution of y.
    measure : str
        "R^2", or "D^2" for families without a noise variance: what ``explained`` is.
    explained : float
        The share of the variance, or of the deviance, of the training rows that the fit explains beyond an
        intercept, which stands beside the offset and the exposure where these are given.
    cv_explained : float or None
        The same by fits that have not seen the rows: what to expect of new ones.
    cv_error : float or None
        The cross-validated error: mean squared, or twice the mean of minus the log-likelihood; of several
        classes their mean.
    noise_sd : float or None
        The standard deviation of the noise, in the unit of y; the scale for heavy tails.
    n_iter : int or None
        Iterations of EM; of several classes in all.
    status : Status
        How the fit ended; of several classes the first ending that is not plain convergence.
    expected_by_chance : float or None
        How many columns would be selected if none had an effect; of several classes in all.
    n_events : float or None
        Of times until an event, how many were seen, each with its weight.
    concordance, cv_concordance : float or None
        Of times until an event, Harrell's concordance of the training rows, and that by fits that have not
        seen the row: 1 is perfect, 0.5 is chance.

    Examples
    --------
    >>> import numpy as np
    >>> from horseshoe import HorseshoeRegressor
    >>> x = np.arange(20.0)
    >>> found = HorseshoeRegressor().fit(x[:, None], 3.0 * x + np.cos(x)).statistics()
    >>> found.n, found.p, found.n_selected, found.measure, round(found.explained, 3)
    (20, 1, 1, 'R^2', 0.998)
    """

    n: int
    p: int
    n_selected: int
    family: str
    has_noise: bool
    deviance: Deviance | None
    status: Status
    cv_deviance: Deviance | None = None
    cv_error: float | None = None
    noise_sd: float | None = None
    n_iter: int | None = None
    expected_by_chance: float | None = None
    n_events: float | None = None
    concordance: float | None = None
    cv_concordance: float | None = None

    @property
    def measure(self) -> str:
        """The name of the share that is explained."""
        return "R^2" if self.has_noise else "D^2"

    @property
    def explained(self) -> float | None:
        """The share explained of the training rows."""
        return None if self.deviance is None else self.deviance.explained

    @property
    def cv_explained(self) -> float | None:
        """The share explained of rows left out."""
        return None if self.cv_deviance is None else self.cv_deviance.explained

    def lines(self) -> list[tuple[str, str]]:
        """Return what is known, as pairs of a label and a text.

        Examples
        --------
        >>> found = FitStatistics(100, 7, 2, "Poisson", False, Deviance(3.0, 4.0), Status.CONVERGED)
        >>> found.lines()[:4]
        [('rows', '100'), ('columns', '7'), ('selected', '2'), ('D^2', '0.250')]
        """
        error = "mean squared error" if self.has_noise else "mean deviance"
        if not self.has_noise and self.family not in CLASSES:  # a perfect fit of counts would not have 0
            error = "-2 mean log-likelihood"
        numbers: list[tuple[str, float | None]] = [
            (self.measure, self.explained),
            (f"{self.measure} of rows left out", self.cv_explained),
            (f"{error} of rows left out", self.cv_error),
            ("concordance", self.concordance),
            ("cross-validated concordance", self.cv_concordance),
            ("standard deviation of the noise", self.noise_sd),
        ]
        last: list[tuple[str, float | None]] = [
            ("expected by chance", self.expected_by_chance),
            ("iterations", self.n_iter),
        ]
        return [
            ("rows", format_count(self.n)),
            *([] if self.n_events is None else [("events", _count(self.n_events))]),
            ("columns", format_count(self.p)),
            ("selected", format_count(self.n_selected)),
            *((label, format_number(value)) for label, value in numbers if value is not None),
            *((label, _count(value)) for label, value in last if value is not None),
            ("status", str(self.status)),
        ]


def _count(value: float) -> str:
    return format_count(value) if float(value).is_integer() else format_number(value)


def all_classes(parts: Sequence[FitStatistics], n_selected: int) -> FitStatistics:
    """Return what is said of several regressions together, one for each class against the rest.

    Examples
    --------
    >>> one = FitStatistics(9, 2, 1, "Binomial", False, Deviance(1.0, 4.0), Status.CONVERGED, n_iter=7)
    >>> both = all_classes([one, one], n_selected=2)
    >>> both.n_iter, both.explained
    (14, 0.75)
    """
    first = parts[0]
    if len(parts) == 1:
        return first
    return replace(
        first,
        n_selected=n_selected,
        deviance=_sum_deviance([part.deviance for part in parts]),
        status=_joint_status([part.status for part in parts]),
        cv_deviance=_sum_deviance([part.cv_deviance for part in parts]),
        cv_error=_total([part.cv_error for part in parts], 1.0 / len(parts)),
        noise_sd=None,
        n_iter=None if first.n_iter is None else sum(part.n_iter or 0 for part in parts),
        expected_by_chance=_total([part.expected_by_chance for part in parts]),
    )


def all_outputs(parts: Sequence[FitStatistics], n_selected: int) -> FitStatistics:
    """Return what is said of several responses that share their columns: what is explained is their mean.

    Examples
    --------
    >>> one = FitStatistics(9, 2, 1, "Gaussian", True, Deviance(1.0, 4.0), Status.CONVERGED, n_iter=7)
    >>> both = all_outputs([one, one], n_selected=1)
    >>> both.n_iter, both.explained
    (7, 0.75)
    """
    known = [part.deviance for part in parts if part.deviance is not None]
    left = math.fsum(1.0 - one.explained for one in known) / len(parts)
    return replace(
        all_classes(parts, n_selected),
        deviance=Deviance(left, 1.0) if len(known) == len(parts) else None,
        n_iter=parts[0].n_iter,
        expected_by_chance=max((part.expected_by_chance or 0.0) for part in parts),
    )


def _sum_deviance(parts: Sequence[Deviance | None]) -> Deviance | None:
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    return Deviance(sum(part.left for part in known), sum(part.total for part in known))


def _total(parts: Sequence[float | None], times: float = 1.0) -> float | None:
    known = [part for part in parts if part is not None]
    return times * math.fsum(known) if len(known) == len(parts) else None


def _joint_status(statuses: Sequence[Status]) -> Status:
    """Return the first ending that is none, else the first that says more than that it converged.

    That one class selects nothing is no remark on all: others may select.
    """
    unfinished = [status for status in statuses if not status.converged]
    plain = (Status.CONVERGED, Status.NOTHING_SELECTED, Status.NONE_STANDS_OUT)
    remarks = [status for status in statuses if status not in plain]
    if not remarks and Status.CONVERGED not in statuses:
        remarks = [status for status in plain[::-1] if status in statuses]
    return (*unfinished, *remarks, Status.CONVERGED)[0]
