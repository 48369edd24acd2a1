"""Processes that work: every piece is answered once, and none of them stays."""

import builtins
import copy
import math
import os
import subprocess

import pytest

from horseshoe_reproduction.workers import WorkerError, spread


@pytest.fixture
def started(monkeypatch):
    """Return a list of the processes that are started."""
    found, popen = [], subprocess.Popen

    def start(*arguments, **options):
        found.append(popen(*arguments, **options))
        return found[-1]

    monkeypatch.setattr(subprocess, "Popen", start)
    return found


@pytest.mark.parametrize(("pieces", "jobs"), [(0, 2), (1, 4), (7, 1), (7, 3)])
def test_every_piece_is_answered_once(pieces, jobs, started):
    work = [[k, 0.1 * k, None] for k in range(pieces)]
    assert sorted(spread(copy.copy, work, jobs)) == work
    assert len(started) == min(pieces, jobs)
    assert all(worker.poll() is not None for worker in started)


def test_what_a_function_prints_is_no_answer(capfd):
    assert list(spread(builtins.print, ["noise", "more noise"], 1)) == [None, None]
    assert capfd.readouterr() == ("", "noise\nmore noise\n")


def test_a_process_that_dies_is_an_error_that_says_so(started):
    with pytest.raises(
        WorkerError, match=r"ended in the middle of its work, with code 3 .*kept: start again"
    ):
        list(spread(os._exit, [3, 3], 2))
    assert all(worker.poll() is not None for worker in started)


def test_a_function_that_fails_shows_why(capfd):
    with pytest.raises(WorkerError, match="code 1 "):
        list(spread(math.sqrt, [-1.0], 1))
    assert "ValueError" in capfd.readouterr().err


def test_nobody_stays_when_nobody_wants_the_rest(started):
    answers = spread(copy.copy, [[k] for k in range(50)], 2)
    assert len(next(answers)) == 1
    assert len(started) == 2
    answers.close()
    assert all(worker.poll() is not None for worker in started)
