"""Work in processes of its own, as many at once as there are cores; Ctrl-C and killed processes hurt nobody else."""

import multiprocessing
import os
import signal
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, TypeVar

from orchestrator.errors import RunKilled
from orchestrator.plugins import add_plugins

_Key = TypeVar("_Key")
_Result = TypeVar("_Result")


def cores() -> int:
    """How many processes can work at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def process_pool(at_once: int) -> ProcessPoolExecutor:
    """Fresh processes that leave Ctrl-C to this one: it decides what becomes of their work."""
    return ProcessPoolExecutor(at_once, multiprocessing.get_context("spawn"), _leave_interrupts_to_the_parent)


@contextmanager
def starting_processes() -> Iterator[None]:
    """Around every `submit`: a process that starts with it must not hear Ctrl-C before it can leave it to this one."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_processes() -> None:
    """Tell the processes of a pool to end."""
    for child in multiprocessing.active_children():
        child.terminate()


def each(
    pool: ProcessPoolExecutor, do: Callable[..., _Result], jobs: Mapping[_Key, tuple[Any, ...]], hint: str
) -> Generator[tuple[_Key, _Result]]:
    """`do` with the arguments of every job, in the order in which they end; `hint`: what to do if memory runs out.

    Who does not want the rest closes the generator, and the processes end.
    """
    under_way: dict[Future[_Result], _Key] = {}
    try:
        with starting_processes():
            under_way |= {pool.submit(do, *arguments): key for key, arguments in jobs.items()}
        for job in as_completed(under_way):
            yield under_way[job], job.result()
    except BrokenProcessPool:
        raise RunKilled(f"the process of a run was killed, perhaps for want of memory: {hint}") from None
    except BaseException:
        # a job that is cancelled would make the pool's thread stumble over its broken processes
        end_processes()
        raise


def _leave_interrupts_to_the_parent() -> None:
    """Ctrl-C reaches the whole process group."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    add_plugins()  # before a job is unpacked that may name one
