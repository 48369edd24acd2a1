"""Several regressions in one estimator: each answers as one would alone, and answers stand side by side."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from horseshoe.data.fitted import Fitted
from horseshoe.data.rows import Rows
from horseshoe.model.spec import ModelSpec

Method = TypeVar("Method", bound=Callable[..., Any])


@dataclass(eq=False)
class Joint:
    """What regressions that share their scales were fitted to, and the draws from their posterior so far.

    ``labels`` are the names of the responses, or the classes.
    """

    rows: tuple[Rows, ...]
    spec: ModelSpec
    fitted: tuple[Fitted, ...]
    labels: tuple[Any, ...]
    names: Any
    random_state: Any
    drawn: tuple[dict[str, Any], Any] | None = field(default=None, repr=False)

    def draw(self, options: dict[str, Any]) -> Any:
        """Return draws from the joint posterior: the same if the options are."""
        from horseshoe.estimators.sample import (
            sample_joint,  # imported here: most fits are never sampled from
        )

        if self.drawn is None or self.drawn[0] != options:
            self.drawn = (options, sample_joint(self, options))
        return self.drawn[1]

    @property
    def drawn_last(self) -> Any:
        """The last draws."""
        assert self.drawn is not None
        return self.drawn[1]


def outputs_of(model: Any) -> list[Any]:
    """Return the regressions of a model with several responses; none if it has one.

    Examples
    --------
    >>> from horseshoe import HorseshoeRegressor
    >>> outputs_of(HorseshoeRegressor())
    []
    """
    return list(model.__dict__.get("estimators_", ()))


def by_output(axis: int = 0) -> Callable[[Method], Method]:
    """Make a method of one regression one of several too, whose answers stand side by side along ``axis``.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> whole = SimpleNamespace(estimators_=[SimpleNamespace(coef=1.0), SimpleNamespace(coef=2.0)])
    >>> by_output()(lambda model: model.coef)(whole)
    array([1., 2.])
    """

    def wrap(method: Method) -> Method:
        @wraps(method)
        def asked(self: Any, *args: Any, **options: Any) -> Any:
            parts = outputs_of(self)
            if not parts:
                return method(self, *args, **options)
            found = [method(part, *args, **options) for part in parts]
            if isinstance(found[0], tuple):
                return tuple(np.stack(one, axis=axis) for one in zip(*found, strict=True))
            return np.stack(found, axis=axis)

        return asked  # type: ignore[return-value]

    return wrap


def gather(model: Any, stacked: tuple[str, ...], shared: tuple[str, ...]) -> None:
    """Set what a model says of all its regressions: an array of each's answers, or what they share.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> parts = [SimpleNamespace(coef_=np.ones(2), tau2_=1.0) for _ in range(3)]
    >>> gather(whole := SimpleNamespace(estimators_=parts), ("coef_",), ("tau2_",))
    >>> whole.coef_.shape, whole.tau2_
    ((3, 2), 1.0)
    """
    parts = outputs_of(model)
    for name in stacked:
        setattr(model, name, np.stack([getattr(part, name) for part in parts]))
    for name in shared:
        setattr(model, name, getattr(parts[0], name))


def forget_outputs(model: Any) -> None:
    """Forget the responses of an earlier fit.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> forget_outputs(model := SimpleNamespace(outputs_=("a", "b"), coef_=1.0))
    >>> vars(model)
    {'coef_': 1.0}
    """
    for name in ("estimators_", "outputs_"):
        model.__dict__.pop(name, None)
