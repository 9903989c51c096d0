"""Judges what a run has kept, on all cores, and tells the points in their order: the same bits as during the run."""

import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import numpy as np

from orchestrator.errors import EvaluationFailed
from orchestrator.evaluation.kept_models import KeptRun
from pame.evaluate import Judged, own_of
from pame.observe import Evaluation, UnjudgedPoint

MOST_PROCESSES = 16
"""Each holds the data that models are judged on."""
_LOOK_S = 0.2


class EvaluationStopped(Exception):
    """Somebody does not want to wait for it."""


@dataclass(frozen=True)
class _Task:
    """Models that are judged together."""

    rows: tuple[int, ...]
    is_mean: bool


def evaluations(
    folder: Path, kept: KeptRun, first: int, is_stopped: Callable[[], bool], spent: "CpuSpent"
) -> Iterator[Evaluation]:
    """The points from the first on; EvaluationStopped as soon as `is_stopped`."""
    points = kept.points[first:]
    tasks = dict.fromkeys(task for point in points for task in _tasks(point, kept.is_apart))
    if not tasks:
        return
    with _judging(folder, list(tasks), spent) as judged:
        for point in points:
            yield _evaluation(point, [_result(judged[task], is_stopped) for task in _tasks(point, kept.is_apart)])


class CpuSpent:
    """Of all processes, in seconds."""

    def __init__(self) -> None:
        self._of: dict[int, float] = {}

    def told(self, process: int, seconds: float) -> None:
        self._of[process] = seconds

    @property
    def seconds(self) -> float:
        return sum(self._of.values())


def _tasks(point: UnjudgedPoint, is_apart: bool) -> list[_Task]:
    own = [(row,) for row in point.models.own] if is_apart else [point.models.own]
    return [_Task((point.models.mean,), is_mean=True), *(_Task(rows, is_mean=False) for rows in own if rows)]


def _evaluation(point: UnjudgedPoint, judged: Sequence[Judged]) -> Evaluation:
    mean, *own = judged
    return Evaluation(
        by=point.by,
        iteration=point.iteration,
        seconds=point.seconds,
        bytes=point.bytes,
        objective=float(mean.values[0]),
        consensus=point.models.consensus,
        coverage=point.coverage,
        metrics={name: float(values[0]) for name, values in mean.metrics.items()},
        own=own_of(_together(own)) if own else None,
    )


def _together(judged: Sequence[Judged]) -> Judged:
    names = judged[0].metrics
    metrics = {name: np.concatenate([one.metrics[name] for one in judged]) for name in names}
    return Judged(np.concatenate([one.values for one in judged]), metrics)


def _result(future: Future[Judged], is_stopped: Callable[[], bool]) -> Judged:
    while True:
        if is_stopped():
            raise EvaluationStopped
        with suppress(TimeoutError):
            return future.result(_LOOK_S)


@contextmanager
def _judging(folder: Path, tasks: Sequence[_Task], spent: CpuSpent) -> Iterator[Mapping[_Task, Future[Judged]]]:
    count = min(_processes(), len(tasks))
    processes = [_JudgingProcess(folder, spent) for _ in range(count)]
    idle: SimpleQueue[_JudgingProcess] = SimpleQueue()
    for process in processes:
        idle.put(process)

    def judge(task: _Task) -> Judged:
        process = idle.get()
        try:
            return process.ask(task)
        finally:
            idle.put(process)

    threads = ThreadPoolExecutor(count, thread_name_prefix="evaluation")
    try:
        yield {task: threads.submit(judge, task) for task in tasks}
    finally:
        for process in processes:
            process.kill()
        threads.shutdown(cancel_futures=True)
        for process in processes:
            process.close()


def _processes() -> int:
    """A run that shares the cores with others has one."""
    shares_cores = multiprocessing.parent_process() is not None
    return 1 if shares_cores else min(len(os.sched_getaffinity(0)), MOST_PROCESSES)


class _JudgingProcess:
    """In a session of its own: Ctrl-C is not for it. It ends when its input does, so it outlives nobody."""

    def __init__(self, folder: Path, spent: CpuSpent) -> None:
        self._spent = spent
        words = [sys.executable, "-m", "orchestrator.evaluation.worker", str(folder)]
        self._process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )

    def ask(self, task: _Task) -> Judged:
        told = self._say(json.dumps({"rows": task.rows, "is_mean": task.is_mean}) + "\n")
        if not told:
            raise EvaluationFailed("a process that evaluates models has gone: see whether memory ran out")
        answer: dict[str, Any] = json.loads(told)
        if "error" in answer:
            raise EvaluationFailed(answer["error"])
        self._spent.told(self._process.pid, answer["cpu_s"])
        metrics = {name: np.array(values) for name, values in answer["metrics"].items()}
        return Judged(np.array(answer["values"]), metrics)

    def _say(self, line: str) -> str:
        pipe_in, pipe_out = self._process.stdin, self._process.stdout
        if pipe_in is None or pipe_out is None:
            raise RuntimeError("the process has no pipes")
        try:
            pipe_in.write(line)
            pipe_in.flush()
            return pipe_out.readline()
        except (OSError, ValueError):
            return ""

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError, ValueError):
                    pipe.close()
