"""The draws from the posterior, their summaries and predictions."""
