"""The methods of others that the paper compares with."""
