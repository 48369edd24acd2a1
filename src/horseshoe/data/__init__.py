"""The data, wherever they live, and the least-squares problem they pose."""
