"""Shared by all tests."""

import os

# before NumPy and SciPy are imported
os.environ.setdefault("SCIPY_ARRAY_API", "1")  # scikit-learn then checks array API input too
for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")  # the test processes share the cores

from hypothesis import settings  # noqa: E402

settings.register_profile("horseshoe", deadline=None, derandomize=True)
settings.load_profile("horseshoe")
