"""What adapts to the unknown sparsity: the components of an average that are not horseshoe modes."""
