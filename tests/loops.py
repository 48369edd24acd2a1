"""Tables of cases that are one test: all of them run, and those that fail are reported together."""

import functools
import inspect
import traceback

import pytest


def each(names, cases, ids=None):
    """Run a test for each case; like ``pytest.mark.parametrize``, but as one test with many assertions.

    pytest takes about a millisecond and some kilobytes for each of its items, before any is run. This is for
    tests that take less than that, or next to nothing. Fixtures are made once for all cases.

    Parameters
    ----------
    names : str or sequence of str
        The arguments of the test that the cases give.
    cases : iterable
        Their values: a tuple for several names.
    ids : sequence, optional
        What the cases are called in messages; by default, and after a callable, their values.
    """
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)
    cases = list(cases)
    assert cases, f"no cases of {names}"
    labels = list(ids) if ids is not None and not callable(ids) else cases

    def repeated(test):
        signature = inspect.signature(test)

        @functools.wraps(test)
        def run(**fixtures):
            failed = []
            for label, case in zip(labels, cases, strict=True):
                values = case if len(names) > 1 else (case,)
                try:
                    test(**fixtures, **dict(zip(names, values, strict=True)))
                except (Exception, pytest.fail.Exception):
                    failed.append(f"{', '.join(names)} = {label!r:.200}:\n{traceback.format_exc(limit=-4)}")
            assert not failed, f"{len(failed)} of {len(cases)} cases fail\n\n" + "\n".join(failed)

        left = [value for name, value in signature.parameters.items() if name not in names]
        assert len(left) + len(names) == len(signature.parameters), f"{names} of {test.__name__}"
        run.__signature__ = signature.replace(parameters=left)
        return run

    return repeated
