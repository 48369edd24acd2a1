"""What is fitted, and the two things that can be done with it: find the mode, draw from the posterior."""
