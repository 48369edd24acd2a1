"""Benchmarks: us beside the peers (``python -m benchmarks``) and beside another revision of ourselves."""
