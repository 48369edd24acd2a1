"""Measure this tree beside another revision, in turns: ``python -m benchmarks.against REV``."""
