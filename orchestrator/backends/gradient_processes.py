"""Gradients of a simulated run computed on all cores: processes with one thread each, so that the bits stay the same.

The driver's algorithm objects stay here; only their objectives reach into a process. Node i is always asked in process
i mod count, and by the thread of that process alone: nothing is shared, nothing waits for a lock.
"""

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection
from struct import Struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contract.unexpected_errors import in_one_line
from pame.errors import PameError
from pame.problems import LocalObjective, Problem
from pame.resolved_run import ResolvedRun
from pame.simulator import Each

Vector = NDArray[np.float64]

_ASKED = Struct("<iiq")
"""What (an index of `_QUESTIONS`), node, iteration."""
_GRADIENT, _FULL, _VALUE = range(3)
_END = 3
_PER_CORE = 2
"""One computes while the other waits for its next model."""


class GradientFailed(PameError):
    """A process that computes gradients failed or has gone."""


@contextmanager
def gradient_processes(setting: ResolvedRun, count: int | None = None) -> Iterator[tuple[ResolvedRun, Each]]:
    """The same run with its gradients computed elsewhere, and how to do something with all its nodes at once."""
    count = min(count or _PER_CORE * len(os.sched_getaffinity(0)), setting.topology.nodes)
    processes = [_GradientProcess(setting.problem) for _ in range(count)]
    threads = ThreadPoolExecutor(count, thread_name_prefix="gradients")

    def each(do: Callable[[int], None], nodes: Sequence[int]) -> None:
        def some(first: int) -> None:
            for node in nodes[first::count]:
                do(node)

        for done in [threads.submit(some, first) for first in range(count)]:
            done.result()

    try:
        yield replace(setting, problem=_Elsewhere(setting.problem, processes)), each
    finally:
        threads.shutdown()
        for process in processes:
            process.end()


class _GradientProcess:
    """One process, with a buffer for the model that goes in and one for the gradient that comes out."""

    def __init__(self, problem: Problem) -> None:
        context = multiprocessing.get_context("fork")
        self._model, self._result = (_shared(context, problem.n) for _ in range(2))
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(theirs, self._pipe, problem, self._model, self._result), daemon=True
        )
        self._process.start()
        theirs.close()

    def ask(self, what: int, node: int, iteration: int, model: Vector) -> Vector:
        self._model[:] = model
        try:
            self._pipe.send_bytes(_ASKED.pack(what, node, iteration))
            trouble = self._pipe.recv_bytes()
        except (OSError, EOFError):
            raise GradientFailed("a process that computes gradients has gone: see whether memory ran out") from None
        if trouble:
            raise GradientFailed(trouble.decode())
        return self._result

    def end(self) -> None:
        with suppress(OSError):
            self._pipe.send_bytes(_ASKED.pack(_END, 0, 0))
        self._pipe.close()
        self._process.join(5.0)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()


def _shared(context: Any, n: int) -> Vector:
    return np.frombuffer(context.RawArray("d", n), dtype=np.float64)


def _serve(pipe: Connection, parents: Connection, problem: Problem, model: Vector, result: Vector) -> None:
    """In the process: answer until told to end, or until the parent has gone."""
    parents.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with np.errstate(over="ignore", invalid="ignore"), suppress(EOFError, OSError):
        while True:
            what, node, iteration = _ASKED.unpack(pipe.recv_bytes())
            if what == _END:
                return
            trouble = ""
            try:
                result[: problem.n if what != _VALUE else 1] = _answer(problem.local(node), what, model, iteration)
            except Exception as error:  # told where somebody can hear it
                trouble = in_one_line(error)
            pipe.send_bytes(trouble.encode())


def _answer(objective: LocalObjective, what: int, model: Vector, iteration: int) -> Vector | float:
    if what == _GRADIENT:
        return objective.gradient(model, iteration)
    return objective.full_gradient(model) if what == _FULL else objective.value(model)


@dataclass(frozen=True)
class _Objective:
    """f_i, computed in a process."""

    inner: LocalObjective
    process: _GradientProcess
    node: int

    @property
    def samples(self) -> int:
        return self.inner.samples

    def value(self, model: Vector) -> float:
        return float(self.process.ask(_VALUE, self.node, 0, model)[0])

    def gradient(self, model: Vector, iteration: int) -> Vector:
        return self.process.ask(_GRADIENT, self.node, iteration, model).copy()

    def full_gradient(self, model: Vector) -> Vector:
        return self.process.ask(_FULL, self.node, 0, model).copy()

    def smoothness(self) -> float | None:
        return self.inner.smoothness()


class _Elsewhere:
    """A problem whose local objectives are computed in processes; all else is its own."""

    def __init__(self, inner: Problem, processes: Sequence[_GradientProcess]) -> None:
        self._inner, self._processes = inner, processes

    def local(self, node: int) -> LocalObjective:
        return _Objective(self._inner.local(node), self._processes[node % len(self._processes)], node)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)
