"""How it is measured: workers, turns, clocks, and the report."""
