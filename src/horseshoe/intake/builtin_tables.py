"""The data sets that come along, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def _diabetes(sets: Any) -> Any:
    loaded = sets.load_diabetes(as_frame=True, scaled=False)
    return loaded.data.assign(progression=loaded.target)


def _labelled(load: str, target: str) -> Callable[[Any], Any]:
    def frame(sets: Any) -> Any:
        loaded = getattr(sets, load)(as_frame=True)
        words = np.array([str(each) for each in loaded.target_names], dtype=object)
        return loaded.data.assign(**{target: words[loaded.target.to_numpy()]})

    return frame


# The sets that scikit-learn brings along: the target, and how it becomes a frame.
BUILT_IN: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "diabetes": ("progression", _diabetes),
    "breast_cancer": ("diagnosis", _labelled("load_breast_cancer", "diagnosis")),
    "wine": ("cultivar", _labelled("load_wine", "cultivar")),
    "iris": ("species", _labelled("load_iris", "species")),
}


def built_in(name: str) -> tuple[Any, str]:
    """Return the frame and the name of the target of a built-in set.

    Examples
    --------
    >>> frame, target = built_in("diabetes")
    >>> frame.shape, target
    ((442, 11), 'progression')
    """
    from sklearn import datasets

    target, load = BUILT_IN[name]
    return load(datasets), target
