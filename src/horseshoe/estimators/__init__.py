"""What users call, in scikit-learn's manner."""
