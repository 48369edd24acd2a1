"""For all tests, those in docstrings and documents too."""

import sys

import pytest


@pytest.fixture(autouse=True)
def _close_pictures():
    """Close the pictures that a test or an example has drawn: matplotlib keeps them until then."""
    yield
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
