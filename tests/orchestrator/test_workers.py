"""Jobs in processes: all of them are done, a killed one is an error with a hint, and who wants no more ends them."""

import multiprocessing
import os
import signal
import time
from contextlib import closing

import pytest

from orchestrator.errors import RunKilled
from orchestrator.workers import cores, each, process_pool


def square(number: int) -> int:
    return number * number


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def last_long(number: int) -> int:
    if number:
        time.sleep(600)
    return number


def test_every_job_is_done_and_known_by_its_key() -> None:
    with process_pool(2) as pool:
        assert dict(each(pool, square, {f"n{n}": (n,) for n in range(5)}, "")) == {f"n{n}": n * n for n in range(5)}
    assert cores() >= 1


def test_a_process_that_is_killed_is_an_error_that_says_what_to_do() -> None:
    with process_pool(1) as pool, pytest.raises(RunKilled, match="for want of memory: use fewer"):
        list(each(pool, die, {0: ()}, "use fewer"))


def test_who_wants_no_more_does_not_wait_for_the_rest() -> None:
    with process_pool(2) as pool, closing(each(pool, last_long, {n: (n,) for n in range(3)}, "")) as results:
        assert next(results) == (0, 0)
    assert not multiprocessing.active_children()
