"""Work in processes of its own, as many at once as there are cores; Ctrl-C and killed processes hurt nobody else."""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor
from concurrent.futures import wait as wait_for_jobs
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from contract.unexpected_errors import naming_plugins
from orchestrator.errors import RunKilled
from orchestrator.experiment.plugins import add_plugins

_Key = TypeVar("_Key")
_Result = TypeVar("_Result")

_SIGNALS = frozenset({signal.SIGINT, signal.SIGTERM})
_LOOK_S = 0.25
_DEATH_S = 10.0  # longer than a killed process needs on a busy machine
_told: list[int] = []  # the signals that told this process to end: it belongs to the process, as they do


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def process_pool(at_once: int, *, in_order: bool = False) -> ProcessPoolExecutor:
    """Fresh processes that leave Ctrl-C to this one: it decides what becomes of their work.

    `in_order`: told to end they do not die, but their job asks `told_to_end` and leaves everything in order.
    """
    return ProcessPoolExecutor(at_once, multiprocessing.get_context("spawn"), _begin, (in_order,))


def told_to_end() -> bool:
    """In a process of a pool whose jobs end in order: whether it is time, for this job and for all that wait."""
    return bool(_told)


@contextmanager
def starting_processes() -> Iterator[None]:
    """Around every `submit`: a process that starts with it must hear no signal before it knows what to do with it."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def end_processes(pool: ProcessPoolExecutor, grace_s: float = 0.0) -> None:
    """Tell all processes that this one started to end, and see them end.

    Those that have not after `grace_s`, or at a second interrupt, are killed.
    """
    processes = multiprocessing.active_children()
    for process in processes:
        process.terminate()
    pool.shutdown(wait=False)  # who has nothing to do leaves by itself
    with suppress(KeyboardInterrupt):
        _wait_for(processes, time.monotonic() + grace_s)
    for process in processes:
        process.kill()
        process.join(_DEATH_S)


def _wait_for(processes: Sequence[BaseProcess], deadline: float) -> None:
    while alive := [process.sentinel for process in processes if process.is_alive()]:
        if (left := deadline - time.monotonic()) <= 0:
            return
        wait(alive, left)


def each(
    pool: ProcessPoolExecutor,
    do: Callable[..., _Result],
    jobs: Mapping[_Key, tuple[Any, ...]],
    hint: str,
    look: Callable[[], None] = lambda: None,
    grace_s: float = 0.0,
) -> Generator[tuple[_Key, _Result]]:
    """`do` with the arguments of every job, in the order in which they end; `hint`: what to do if memory runs out.

    Who does not want the rest closes the generator, and the processes end: within `grace_s`, if their jobs end in
    order. `look` is called every now and then.
    """
    under_way: dict[Future[_Result], _Key] = {}
    try:
        with starting_processes():
            under_way |= {pool.submit(_named, do, *arguments): key for key, arguments in jobs.items()}
        while under_way:
            over, _ = wait_for_jobs(under_way, _LOOK_S, FIRST_COMPLETED)
            for job in over:
                yield under_way.pop(job), job.result()
            look()
    except BrokenProcessPool:
        raise RunKilled(f"the process of a run was killed, perhaps for want of memory: {hint}") from None
    except BaseException as error:
        # a job that is cancelled would make the pool's thread stumble over its broken processes
        end_processes(pool, grace_s)
        if grace_s and not isinstance(error, GeneratorExit):
            yield from ((key, job.result()) for job, key in under_way.items() if job.done() and not job.exception())
        raise


def _named(do: Callable[..., _Result], *arguments: Any) -> _Result:
    """In the process: what a plugin did wrong is said with its place, which does not come along with an exception."""
    with naming_plugins():
        return do(*arguments)


def _begin(in_order: bool) -> None:
    """Ctrl-C reaches the whole process group: it is ignored here.

    A handler that raises would not do for `in_order`: Python drops what is raised inside some callbacks, those of
    imports among them. And a process that died while it waits for its next job would keep the lock of their queue.
    """
    if in_order:
        signal.signal(signal.SIGTERM, lambda number, _: _told.append(number))
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    add_plugins()  # before a job is unpacked that may name one


def _end_with_parent() -> None:
    """However it ends: nobody else would ever stop this process."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
