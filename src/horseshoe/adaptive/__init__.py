"""What adapts to the unknown sparsity: the members of an average that are not horseshoe modes."""
