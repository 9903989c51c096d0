"""Jobs in processes: all of them are done, a killed one is an error with a hint, and who wants no more ends them.

A simulated network keeps to one core in a process of a pool, and takes all cores where it is alone.
"""

import multiprocessing
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from pathlib import Path

import pytest

from orchestrator.backends import BACKENDS
from orchestrator.campaigns.process_pool import (
    cores,
    each,
    end_processes,
    process_pool,
    starting_processes,
    told_to_end,
)
from orchestrator.errors import RunKilled
from orchestrator.experiment import load_text
from pame.observe import Record
from tests.harness import Watcher, poll


def square(number: int) -> int:
    return number * number


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def last_long(number: int) -> int:
    if number:
        time.sleep(600)
    return number


def until_told(begun: Path) -> str:
    """Says that it has begun, and ends in order."""
    if told_to_end():
        return "refused"
    begun.touch()
    poll(told_to_end)
    return "in order"


def deaf(begun: Path) -> None:
    begun.touch()
    time.sleep(600)


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
    poll(lambda: not multiprocessing.active_children())


def test_jobs_that_end_in_order_do_so_and_those_that_wait_are_never_done(tmp_path: Path) -> None:
    begun = [tmp_path / str(number) for number in range(3)]
    with process_pool(1, in_order=True) as pool:
        with starting_processes():
            jobs = [pool.submit(until_told, path) for path in begun]
        poll(begun[0].exists)
        end_processes(pool, grace_s=60)
        assert [job.result(timeout=60) for job in jobs] == ["in order", "refused", "refused"]
    assert not begun[1].exists()
    poll(lambda: not multiprocessing.active_children())


def test_a_process_without_a_job_does_not_keep_the_others_from_ending(tmp_path: Path) -> None:
    with process_pool(2, in_order=True) as pool:
        with starting_processes():
            idle, job = pool.submit(square, 3), pool.submit(until_told, tmp_path / "begun")
        poll((tmp_path / "begun").exists)
        assert idle.result(timeout=60) == 9
        workers = multiprocessing.active_children()
        end_processes(pool, grace_s=60)
        assert job.result(timeout=60) == "in order"
    poll(lambda: all(worker.exitcode is not None for worker in workers))
    assert [worker.exitcode for worker in workers] == [0, 0], "nobody had to be killed"


def test_an_interrupt_cuts_the_grace_short(tmp_path: Path) -> None:
    main = threading.main_thread()
    assert threading.current_thread() is main, "signals are for the main thread"

    def interrupt() -> None:
        frames = sys._current_frames
        poll(lambda: any("_wait_for" in line for line in traceback.format_stack(frames()[main.ident or 0])))
        signal.pthread_kill(main.ident or 0, signal.SIGINT)

    with process_pool(1, in_order=True) as pool:
        with starting_processes():
            pool.submit(deaf, tmp_path / "begun")
        poll((tmp_path / "begun").exists)
        workers = multiprocessing.active_children()
        impatient = threading.Thread(target=interrupt)
        impatient.start()
        end_processes(pool, grace_s=600)
        impatient.join()
    poll(lambda: all(worker.exitcode is not None for worker in workers))
    assert [worker.exitcode for worker in workers] == [-signal.SIGKILL]


def test_who_does_not_end_in_order_is_killed(tmp_path: Path) -> None:
    with process_pool(1, in_order=True) as pool:
        with starting_processes():
            job = pool.submit(deaf, tmp_path / "begun")
        poll((tmp_path / "begun").exists)
        end_processes(pool, grace_s=0.1)
        with pytest.raises(BrokenProcessPool):
            job.result(timeout=60)
    poll(lambda: not multiprocessing.active_children())


STRIPES = """
nodes: 4
topology: {kind: complete}
problem: {kind: image-classification, data: stripes, model: {kind: softmax}, batch: 8}
algorithm: {kind: dpsgd, eta: 0.1}
period: 1
stop: {iterations: 3}
"""


class Counter(Watcher):
    """How many processes there were at most beside the run's."""

    most = 0

    def recorded(self, records: Sequence[Record]) -> None:
        self.most = max(self.most, len(multiprocessing.active_children()))


def processes_beside(folder: Path) -> int:
    [variant] = load_text(STRIPES, Path("stripes.yaml"), [])
    counter = Counter()
    BACKENDS["simulate"].run(variant.experiment, Path(), folder, counter)
    return counter.most


@pytest.mark.timeout(300)
@pytest.mark.usefixtures("stripes")
def test_in_a_pool_a_run_starts_no_processes_of_its_own(tmp_path: Path) -> None:
    pool = process_pool(1)
    with pool, closing(each(pool, processes_beside, {"run": (tmp_path / "pooled",)}, "wait")) as runs:
        assert dict(runs) == {"run": 0}
    assert processes_beside(tmp_path / "alone") >= 1
