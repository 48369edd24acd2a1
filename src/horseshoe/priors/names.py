"""The priors by name."""

from __future__ import annotations

from horseshoe.priors.base import GlobalPrior, LocalPrior, check_tau, estimated, refusal
from horseshoe.priors.global_ import FixedScale, HalfCauchy
from horseshoe.priors.local import (
    Horseshoe,
    HorseshoeLike,
    Lasso,
    NormalGamma,
    Ridge,
    StrawdermanBerger,
    StudentT,
)

LOCAL_PRIORS: dict[str, type[LocalPrior]] = {
    "horseshoe": Horseshoe,
    "horseshoe_like": HorseshoeLike,
    "strawderman_berger": StrawdermanBerger,
    "lasso": Lasso,
    "normal_gamma": NormalGamma,
    "student_t": StudentT,
    "ridge": Ridge,
}


def resolve_local(prior: object) -> LocalPrior:
    """Return the local prior that a user's argument names.

    Examples
    --------
    >>> resolve_local("lasso")
    Lasso(shape=1.0, rate=0.5)
    """
    if isinstance(prior, str):
        if prior not in LOCAL_PRIORS:
            raise ValueError(f"prior={prior!r} is not known: use one of {', '.join(map(repr, LOCAL_PRIORS))}")
        return LOCAL_PRIORS[prior]()
    candidate = prior() if isinstance(prior, type) else prior
    if not isinstance(candidate, LocalPrior):
        raise TypeError(
            f"prior={prior!r} must be a name ({', '.join(map(repr, LOCAL_PRIORS))}) or an object with the "
            "methods null_rate, mode and neg_log_density (see horseshoe.priors.LocalPrior)"
        )
    return candidate


def resolve_known(prior: object) -> LocalPrior:
    """Return the local prior that a user's argument names, if there is nothing in it to be estimated.

    Examples
    --------
    >>> resolve_known("horseshoe")
    Horseshoe(a=0.5, b=0.5)
    >>> resolve_known(Horseshoe(a="estimate"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: prior=Horseshoe(a='estimate', b=0.5): the posterior mode has no estimate of a: draw from ...
    """
    found = resolve_local(prior)
    if estimated(found):
        raise ValueError(refusal(found))
    return found


def resolve_global(tau: object, tau_max: float) -> GlobalPrior:
    """Return the global prior that a user's arguments name.

    Examples
    --------
    >>> resolve_global(0.5, tau_max=1.0)
    FixedScale(tau2=0.25)
    """
    if isinstance(tau, str):
        if tau != "estimate":
            raise ValueError(f"tau={tau!r} is not known: use 'estimate' or a positive number")
        return HalfCauchy(check_tau("tau_max", tau_max))
    if isinstance(tau, GlobalPrior):
        return tau
    return FixedScale(check_tau("tau", tau) ** 2)
