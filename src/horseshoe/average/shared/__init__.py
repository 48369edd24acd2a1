"""Components of the average for several regressions that share their columns."""
