"""Tables of cases in one test."""

import pytest

from loops import each


def test_every_case_is_run():
    seen = []

    @each("a, b", [(1, 2), (3, 4)])
    @each("c", "xy")
    def note(a, b, c, fixture):
        seen.append((a, b, c, fixture))

    note(fixture=0)
    assert seen == [(1, 2, "x", 0), (1, 2, "y", 0), (3, 4, "x", 0), (3, 4, "y", 0)]


@pytest.mark.parametrize("kept", [0, 1])
@each("value", [3, 5, 6], ids=["odd", "odd too", "even"])
def test_all_failures_are_reported_together(kept, value):
    @each("number", [value, 7])
    def is_even(number):
        assert (number + kept) % 2 == kept, "is odd"

    with pytest.raises(AssertionError) as caught:
        is_even()
    odd = [number for number in (value, 7) if number % 2]
    assert str(caught.value).startswith(f"{len(odd)} of 2 cases fail")
    assert all(f"number = {number}:" in str(caught.value) for number in odd)
    assert str(caught.value).count("is odd") >= len(odd)


def test_names_and_cases_are_checked():
    with pytest.raises(AssertionError, match="no cases"):
        each("a", [])
    with pytest.raises(AssertionError, match="of <lambda>"):
        each("a", [1])(lambda b: b)
