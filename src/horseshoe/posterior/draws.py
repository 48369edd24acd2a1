"""The draws of a posterior: those of the parameters, and predictions for rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from horseshoe._checks import check_choice, check_level, check_number, check_random_state
from horseshoe._extras import require
from horseshoe._types import Matrix, Vector
from horseshoe.data.fitted import refuse_far_rows
from horseshoe.data.view import View
from horseshoe.families import Family, Ordered, Shares
from horseshoe.posterior.given import new_rows, own_rows, responses
from horseshoe.posterior.predictive import level_interval
from horseshoe.posterior.summaries import QUANTITIES, Summaries
from horseshoe.sampling import diagnostics

if TYPE_CHECKING:
    from horseshoe.posterior.selection import Selection

# Size of the linear predictors that are worked on at a time.
CHUNK_BYTES = 64 << 20


@dataclass(frozen=True)
class Posterior(Summaries):
    """Draws from the posterior; the first axis is the chain, the second the draw.

    Attributes
    ----------
    coef : array of shape (chains, draws, p)
    intercept, tau2, sigma2 : arrays of shape (chains, draws)
        ``coef``, ``intercept`` and ``sigma2`` are in the user's units, ``tau2`` and ``lambda2`` on the
        standardised scale on which the prior acts.
    lambda2 : array of shape (chains, draws, p), or None
        Only with ``store_lambda2=True``.
    nuisance : array of shape (chains, draws), or None
        What the family estimates beside: the size of a negative binomial, the degrees of freedom of
        Student's t.
    kappa : array of shape (p,)
        The posterior mean of kappa = 1 / (1 + n w tau2 lambda2): near 0 where the data decide, 1 where
        the prior does.
    acceptance : array of shape (chains,)
        The share of accepted proposals, for families that need them; otherwise 0.
    family : Family
        With the posterior mean of ``nuisance``, where there is one.
    feature_names : tuple of str
    mode : Fitted
        The posterior mode, found by EM; where a and b are estimated, that of a = b = 1/2.
    a, b : arrays of shape (chains, draws), or None
        The shapes of the prior of lambda2, where ``InvertedBeta`` leaves them to be estimated.

    Examples
    --------
    >>> from horseshoe import sample_posterior
    >>> x = np.arange(10.0)
    >>> posterior = sample_posterior(x[:, None], 3.0 * x + np.sin(7.0 * x), n_draws=500, random_state=1)
    >>> bool(abs(posterior.mean()[0] - 3.0) < 0.2), posterior.sign_probability()
    (True, array([1.]))
    """

    def __repr__(self) -> str:
        chains, draws, p = self.coef.shape
        return f"Posterior({chains} chains of {draws} draws, {p} coefficients, {self.family!r})"

    def predict(self, X: Any, return_std: bool = False, offset: Any = None, exposure: Any = None) -> Any:
        """Return the posterior mean of E[y] for new rows.

        Parameters
        ----------
        X : array-like of shape (m, p)
            New rows.
        return_std : bool, default=False
            Whether to return the standard deviation of the predictive distribution of y too.
        offset : float or array-like of shape (m,), optional
            Added to the linear predictor.
        exposure : float or array-like of shape (m,), optional
            Its logarithm is added too; only where the link is the logarithm.

        Returns
        -------
        array of shape (m,), or a pair of them
            Of ordered levels with labels, they are numbered from 0; `predict_proba` has them all.
        """
        matrix, known = new_rows(self, X, offset, exposure)
        first, second, noise = (np.zeros(matrix.shape[0]) for _ in range(3))
        total = 0
        for rows, eta in self._etas(matrix, known):
            mean = self._means(eta)
            first[rows] += mean.sum(axis=0)
            total = len(eta)
            if return_std:
                with np.errstate(over="ignore", invalid="ignore"):
                    second[rows] += ((mean - mean.mean(axis=0)) ** 2).sum(axis=0)
                    noise[rows] += self._variances(eta).sum(axis=0)
        if not return_std:
            return first / total
        refuse_far_rows(second + noise)
        return first / total, np.sqrt((second + noise) / total)

    def predict_proba(self, X: Any, offset: Any = None) -> Matrix:
        """Return the posterior mean of the probability of each level; of ordered levels only.

        Parameters
        ----------
        X, offset
            As in `predict`.

        Returns
        -------
        array of shape (m, n_levels)
        """
        if not isinstance(self.family, Ordered):
            raise ValueError("predict_proba is for ordered levels: see predict")
        matrix, known = new_rows(self, X, offset, None)
        out = np.zeros((matrix.shape[0], self.family.points_.size))
        for rows, eta in self._etas(matrix, known):
            for draw, values in enumerate(eta):
                family = self._family(draw)[0]
                assert isinstance(family, Ordered)
                out[rows] += family.probabilities(values)
        return np.asarray(out / self.intercept.size)

    def predict_interval(
        self,
        X: Any,
        level: float = 0.95,
        kind: str = "predictive",
        offset: Any = None,
        random_state: Any = 0,
        exposure: Any = None,
    ) -> Matrix:
        """Return intervals of a new y, or of its mean, one row (lower, upper) for each of X.

        Parameters
        ----------
        X, offset, exposure
            As in `predict`.
        level : float, default=0.95
            The probability in the intervals.
        kind : {"predictive", "credible"}, default="predictive"
            Of a new y, or of E[y]; of two classes, and of risks, always the latter.
        random_state : int, numpy.random.Generator or RandomState, default=0
            Seed of the draws of y.

        Returns
        -------
        array of shape (m, 2)
        """
        check_choice("kind", kind, ("predictive", "credible"))
        level = check_level(level)
        if kind == "predictive" and isinstance(self.family, Ordered):
            return level_interval(self.family, self.predict_proba(X, offset), level)
        matrix, known = new_rows(self, X, offset, exposure)
        out = np.empty((matrix.shape[0], 2))
        new = kind == "predictive" and not self.family.is_binary and self.family.has_intercept
        rng = check_random_state(random_state)
        for rows, eta in self._etas(matrix, known):
            values = self._new_y(eta, rng) if new else self._means(eta)
            out[rows] = diagnostics.equal_tailed(values[None], level)
        return out

    def simulate(
        self,
        X: Any = None,
        n_draws: int = 100,
        offset: Any = None,
        random_state: Any = 0,
        exposure: Any = None,
    ) -> Matrix:
        """Draw new responses: one row for each of ``n_draws`` draws, evenly spread over the chains.

        Parameters
        ----------
        X : array-like of shape (m, p), optional
            Rows; those of the data if left out: the ones with a positive weight, for "student_t" and
            "laplace" repeated by their weights.
        n_draws : int, default=100
            How many.
        offset : float or array-like of shape (m,), optional
            Added to the linear predictor.
        exposure : float or array-like of shape (m,), optional
            Its logarithm is added too; only where the link is the logarithm.
        random_state : int, numpy.random.Generator or RandomState, default=0
            Seed.

        Returns
        -------
        array of shape (n_draws, m)
        """
        own = X is None
        matrix, known = own_rows(self, offset, exposure) if own else new_rows(self, X, offset, exposure)
        coef, level = self._flat()
        count = int(check_number("n_draws", n_draws, low=1.0, low_allowed=True))
        chosen = np.linspace(0, len(coef) - 1, min(count, len(coef))).astype(int)
        eta = matrix.matvec(coef[chosen].T).T + level[chosen, None] + known
        rng = check_random_state(random_state)
        if own and isinstance(self.family, Shares) and self.rows.weights is not None:
            return self.family.simulate_shares(eta, self.rows.weights, rng)
        return self._new_y(eta, rng, chosen)

    def log_likelihood(self, X: Any = None, y: Any = None, offset: Any = None, exposure: Any = None) -> Any:
        """Return log p(y_i) for every draw and row, for cross-validation by PSIS-LOO.

        Parameters
        ----------
        X, y : array-like, optional
            Rows and their responses; the data that the posterior was drawn for if left out, as in `simulate`.
        offset : float or array-like of shape (m,), optional
            Added to the linear predictor.
        exposure : float or array-like of shape (m,), optional
            Its logarithm is added too; only where the link is the logarithm.

        Returns
        -------
        array of shape (chains, draws, m)
        """
        if not self.family.has_intercept:
            raise ValueError(
                f"rows have no log-likelihood of their own under {type(self.family).__name__}: who is at "
                "risk depends on all of them; compare models by the concordance of rows left out"
            )
        if (X is None) != (y is None):
            raise ValueError("give X and y, or neither: then the data of the posterior are taken")
        if X is None:
            (matrix, known), response = own_rows(self, offset, exposure), self.rows.y
        else:
            matrix, known = new_rows(self, X, offset, exposure)
            response = responses(self, y, matrix.shape[0])
        weights = self.rows.counts if X is None else np.ones_like(response)
        out = np.empty((*self.intercept.shape, matrix.shape[0]))
        flat = out.reshape(-1, matrix.shape[0])
        for rows, eta in self._etas(matrix, known):
            for draw, values in enumerate(eta):
                family, sigma2 = self._family(draw)
                loss = family.neg_log_likelihood(response[rows], values, sigma2)
                flat[draw, rows] = -weights[rows] * loss
        return out

    def to_arviz(self, log_likelihood: bool = True) -> Any:
        """Return the draws in ArviZ's format, an `xarray.DataTree`, with the log-likelihood of each row.

        Needs arviz-base, which the extra ``horseshoe[arviz]`` installs.

        Parameters
        ----------
        log_likelihood : bool, default=True
            Whether to add it, which takes as many numbers as there are draws times rows. Rows of
            `HorseshoeSurvival` have none of their own.

        Returns
        -------
        xarray.DataTree
        """
        arviz = require("arviz_base", extra="arviz")
        names = [name for name in QUANTITIES if getattr(self, name) is not None]
        groups = {"posterior": {name: getattr(self, name) for name in names}}
        groups["observed_data"] = {"y": self.rows.y}
        if log_likelihood and self.family.has_intercept:
            groups["log_likelihood"] = {"y": self.log_likelihood()}
        return arviz.from_dict(
            groups,
            coords={"feature": list(self.feature_names), "row": np.arange(self.rows.y.size)},
            dims={"coef": ["feature"], "lambda2": ["feature"], "y": ["row"]},
        )

    def select(self, method: str = "credible", level: float = 0.95) -> Selection:
        """Return which columns matter, by a rule that turns draws, none of which is zero, into zeros.

        Parameters
        ----------
        method : {"credible", "decoupled"}, default="credible"
            The columns whose interval leaves out zero; or decoupled shrinkage and selection (Hahn and
            Carvalho): the fewest columns that predict as well as all of them, within its uncertainty.
        level : float, default=0.95
            The probability in the intervals.

        Returns
        -------
        Selection
        """
        from horseshoe.posterior.selection import select

        return select(self, method, level)

    def _flat(self) -> tuple[Matrix, Vector]:
        """Return the coefficients and the intercepts of all chains behind each other."""
        return self.coef.reshape(-1, self.coef.shape[2]), self.intercept.reshape(-1)

    def _etas(self, matrix: View, offset: Vector) -> Iterator[tuple[slice, Matrix]]:
        """Yield the linear predictors of a few rows at a time, one line for each draw."""
        coef, level = self._flat()
        step = max(1, CHUNK_BYTES // (8 * len(coef)))
        for start in range(0, matrix.shape[0], step):
            rows = slice(start, start + step)
            yield rows, matrix.rows(rows).matvec(coef.T).T + (level[:, None] + offset[rows])

    def _family(self, draw: int) -> tuple[Family, float]:
        """Return the family and sigma2 of one draw."""
        sigma2 = float(self.sigma2.reshape(-1)[draw])
        if self.nuisance is None:
            return self.family, sigma2
        return self.family.with_nuisance(self.nuisance.reshape(-1, *self.nuisance.shape[2:])[draw]), sigma2

    def _means(self, eta: Matrix) -> Matrix:
        """Return E[y] given each draw."""
        if not isinstance(self.family, Ordered):  # whose mean depends on the thresholds too
            return self.family.mean(eta)
        return np.array([self._family(draw)[0].mean(values) for draw, values in enumerate(eta)])

    def _variances(self, eta: Matrix) -> Matrix:
        """Return Var[y] given each draw."""
        found = [f.variance(e, s) for e, (f, s) in zip(eta, map(self._family, range(len(eta))), strict=True)]
        return np.array(found)

    def _new_y(self, eta: Matrix, rng: np.random.Generator, draws: Any = None) -> Matrix:
        """Draw y given each draw of everything else."""
        chosen = range(len(eta)) if draws is None else draws
        found = [f.simulate(e, s, rng) for e, (f, s) in zip(eta, map(self._family, chosen), strict=True)]
        return np.array(found)
