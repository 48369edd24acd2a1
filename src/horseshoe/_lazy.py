"""Attributes that are computed when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class lazy(Generic[T]):  # noqa: N801
    """`functools.cached_property` without the lock that it has before Python 3.12: a fit asks for many.

    Examples
    --------
    >>> class Circle:
    ...     @lazy
    ...     def area(self) -> float:
    ...         print("computed")
    ...         return 3.14
    >>> circle = Circle()
    >>> circle.area, circle.area
    computed
    (3.14, 3.14)
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self._compute, self._name, self.__doc__ = compute, compute.__name__, compute.__doc__

    @overload
    def __get__(self, instance: None, owner: Any) -> lazy[T]: ...

    @overload
    def __get__(self, instance: object, owner: Any) -> T: ...

    def __get__(self, instance: Any, owner: Any) -> Any:
        """Compute the attribute and put it in its place, where it is found from now on."""
        if instance is None:
            return self
        value = instance.__dict__[self._name] = self._compute(instance)
        return value
