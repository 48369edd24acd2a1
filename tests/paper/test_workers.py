"""Processes that work: every piece is answered once, and none of them stays."""

import pytest

from horseshoe.paper.workers import RUNNING, WorkerError, spread


@pytest.mark.parametrize(("pieces", "jobs"), [(0, 2), (1, 4), (7, 1), (7, 3)])
def test_every_piece_is_answered_once(pieces, jobs):
    work = [[k, 0.1 * k, None] for k in range(pieces)]
    assert sorted(spread("copy:copy", work, jobs)) == work
    assert not RUNNING


def test_what_a_function_prints_is_no_answer(capfd):
    assert list(spread("builtins:print", ["noise", "more noise"], 1)) == [None, None]
    assert capfd.readouterr() == ("", "noise\nmore noise\n")


def test_a_process_that_dies_is_an_error_that_says_so():
    with pytest.raises(
        WorkerError, match=r"ended in the middle of its work, with code 3 .*kept: start again"
    ):
        list(spread("os:_exit", [3, 3], 2))
    assert not RUNNING


def test_a_function_that_fails_shows_why(capfd):
    with pytest.raises(WorkerError, match="code 1 "):
        list(spread("math:sqrt", [-1.0], 1))
    assert "ValueError" in capfd.readouterr().err


def test_nobody_stays_when_nobody_wants_the_rest():
    answers = spread("copy:copy", [[k] for k in range(50)], 2)
    assert next(answers) in ([0], [1])
    workers = list(RUNNING)
    assert len(workers) == 2
    answers.close()
    assert all(worker.poll() is not None for worker in workers)
    assert not RUNNING
