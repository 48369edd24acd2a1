"""Tables and pictures of a fit."""
