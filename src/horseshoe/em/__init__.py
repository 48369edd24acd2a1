"""Algorithm 1: the posterior mode by EM with the coefficients as the missing data."""
