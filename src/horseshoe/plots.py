"""Pictures of a fit or of posterior draws. Each takes them and perhaps axes, and returns the axes.

They need matplotlib, which the extra ``horseshoe[plot]`` installs.
"""

from horseshoe.report.plots_classes import plot_calibration, plot_roc
from horseshoe.report.plots_columns import plot_coefficients, plot_inclusion, plot_shrinkage
from horseshoe.report.plots_counts import plot_rootogram
from horseshoe.report.plots_fit import plot_components, plot_convergence, plot_shrinkage_profile
from horseshoe.report.plots_ordinal import plot_levels
from horseshoe.report.plots_path import plot_path
from horseshoe.report.plots_posterior import plot_forest, plot_predictive, plot_rank, plot_trace
from horseshoe.report.plots_rows import plot_observed, plot_residuals

__all__ = [
    "plot_calibration",
    "plot_coefficients",
    "plot_components",
    "plot_convergence",
    "plot_forest",
    "plot_inclusion",
    "plot_levels",
    "plot_observed",
    "plot_path",
    "plot_predictive",
    "plot_rank",
    "plot_residuals",
    "plot_roc",
    "plot_rootogram",
    "plot_shrinkage",
    "plot_shrinkage_profile",
    "plot_trace",
]
