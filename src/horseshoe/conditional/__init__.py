"""The coefficients given the scales: mean, variances, covariance, determinant, draws."""
