"""What a fit returns and what a callback receives: the types of `trace_` and of `normal_means`."""

from horseshoe._types import FitResult, Iteration, Step

__all__ = ["FitResult", "Iteration", "Step"]
