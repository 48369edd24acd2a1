"""What fits, paths, draws and callbacks return: the types, for annotations and for `isinstance`."""

from horseshoe._types import FitResult, Iteration, Step
from horseshoe.average.result import ComponentRow, Progress
from horseshoe.estimators.path import Path
from horseshoe.estimators.permutation import ChanceSelection
from horseshoe.posterior.several import SeveralPosterior

__all__ = [
    "ChanceSelection",
    "ComponentRow",
    "FitResult",
    "Iteration",
    "Path",
    "Progress",
    "SeveralPosterior",
    "Step",
]
