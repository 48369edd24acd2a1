"""Draws from the posterior of regressions that share their scales: several responses, or several classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import logsumexp

from horseshoe._checks import check_level
from horseshoe._extras import data_frame
from horseshoe.posterior.draws import Posterior
from horseshoe.posterior.given import new_rows
from horseshoe.sampling import diagnostics


@dataclass(frozen=True)
class SeveralPosterior:
    """Draws from the joint posterior of several regressions; each of them is a `Posterior` of its own.

    Attributes
    ----------
    parts : tuple of Posterior
        One for each response or class; ``posterior[k]`` is the k-th. They share ``lambda2`` and ``tau2``.
    labels : tuple
        The names of the responses, or the classes.
    is_softmax : bool
        Whether these are classes: then coefficients and intercepts add up to zero over them, and
        probabilities come from all of them together.

    Examples
    --------
    >>> from horseshoe import sample_posterior
    >>> x = np.arange(12.0)
    >>> y = np.column_stack([3.0 * x + np.sin(7.0 * x), x + np.cos(5.0 * x)])
    >>> posterior = sample_posterior(x[:, None], y, n_draws=500, random_state=1)
    >>> posterior.coef.shape, posterior.mean().round(0)
    ((4, 500, 2, 1), array([[3.],
           [1.]]))
    """

    parts: tuple[Posterior, ...]
    labels: tuple[Any, ...]
    is_softmax: bool = False

    def __len__(self) -> int:
        return len(self.parts)

    def __getitem__(self, k: int) -> Posterior:
        return self.parts[k]

    def __repr__(self) -> str:
        chains, draws, q, p = self.coef.shape
        kind = "classes" if self.is_softmax else "responses"
        return f"SeveralPosterior({chains} chains of {draws} draws, {q} {kind}, {p} coefficients each)"

    @property
    def coef(self) -> Any:
        """Draws of shape (chains, draws, n_outputs, p)."""
        return np.stack([part.coef for part in self.parts], axis=2)

    @property
    def intercept(self) -> Any:
        """Draws of shape (chains, draws, n_outputs)."""
        return np.stack([part.intercept for part in self.parts], axis=2)

    @property
    def sigma2(self) -> Any:
        """Draws of shape (chains, draws, n_outputs)."""
        return np.stack([part.sigma2 for part in self.parts], axis=2)

    @property
    def tau2(self) -> Any:
        """Draws of shape (chains, draws)."""
        return self.parts[0].tau2

    @property
    def lambda2(self) -> Any:
        """Draws of shape (chains, draws, p), or None."""
        return self.parts[0].lambda2

    def mean(self, of: str = "coef") -> Any:
        """Return the posterior means, a row for each regression."""
        return np.stack([part.mean(of) for part in self.parts])

    def std(self, of: str = "coef") -> Any:
        """Return the posterior standard deviations, a row for each regression."""
        return np.stack([part.std(of) for part in self.parts])

    def interval(self, level: float = 0.95, kind: str = "equal_tailed", of: str = "coef") -> Any:
        """Return credible intervals, a row for each regression, (lower, upper) in the last axis."""
        return np.stack([part.interval(level, kind, of) for part in self.parts])

    def rhat(self, of: str = "coef") -> Any:
        """Return R-hat, a row for each regression: below 1.01 the chains agree."""
        return np.stack([part.rhat(of) for part in self.parts])

    def ess(self, kind: str = "bulk", of: str = "coef") -> Any:
        """Return the effective sample sizes, a row for each regression."""
        return np.stack([part.ess(kind, of) for part in self.parts])

    def summary(self, level: float = 0.95, kind: str = "equal_tailed") -> Any:
        """Return a data frame as `Posterior.summary`, the response or the class in front.

        Needs pandas, which the extra ``horseshoe[pandas]`` installs.
        """
        tables = [part.summary_columns(level, kind) for part in self.parts]
        return data_frame(tables, self.labels, "class" if self.is_softmax else "output")

    def predict(self, X: Any, return_std: bool = False, offset: Any = None) -> Any:
        """Return the posterior means of new responses, or of the probabilities of the classes.

        Parameters
        ----------
        X : array-like of shape (m, p)
            New rows.
        return_std : bool, default=False
            Whether to return the standard deviations of the predictive distributions too; not for classes.
        offset : float or array-like of shape (m,), optional
            Added to every response; not for classes.

        Returns
        -------
        array of shape (m, n_outputs), or a pair of them
        """
        if self.is_softmax:
            if return_std or offset is not None:
                raise ValueError(
                    "return_std and offset are for responses, and these are classes: leave them out"
                )
            return np.vstack([share.mean(axis=0) for share in self._shares(X)])
        found = [part.predict(X, return_std, offset) for part in self.parts]
        if return_std:
            return tuple(np.column_stack(one) for one in zip(*found, strict=True))
        return np.column_stack(found)

    def predict_interval(
        self, X: Any, level: float = 0.95, kind: str = "predictive", offset: Any = None
    ) -> Any:
        """Return intervals of new responses, or of the probabilities of the classes.

        Parameters
        ----------
        X, offset
            As in `predict`.
        level : float, default=0.95
            The probability in the intervals.
        kind : {"predictive", "credible"}, default="predictive"
            Of a new y, or of its mean; of classes always the latter.

        Returns
        -------
        array of shape (m, n_outputs, 2)
        """
        if not self.is_softmax:
            found = [part.predict_interval(X, level, kind, offset) for part in self.parts]
            return np.stack(found, axis=1)
        level = check_level(level)
        return np.concatenate([diagnostics.equal_tailed(share[None], level) for share in self._shares(X)])

    def _shares(self, X: Any) -> Any:
        """Yield the probabilities of the classes of a few rows at a time, one line for each draw."""
        matrix, known = new_rows(self.parts[0], X, None, None)
        pieces = zip(*(part._etas(matrix, known) for part in self.parts), strict=True)
        for piece in pieces:
            eta = np.stack([one for _, one in piece], axis=2)
            yield np.exp(eta - logsumexp(eta, axis=2, keepdims=True))
