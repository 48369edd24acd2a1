"""The posterior by Gibbs sampling, many chains side by side."""
