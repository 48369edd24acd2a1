"""Tables and pictures of a fit and of a posterior."""
