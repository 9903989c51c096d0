"""Judges what a run has kept, on all cores, and tells the points in their order: the same bits as during the run."""

import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

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


class _Task(NamedTuple):
    """Models that are judged together."""

    rows: tuple[int, ...]
    is_mean: bool


def evaluations(
    folder: Path, kept: KeptRun, first: int, is_stopped: Callable[[], bool], cpu_s: dict[int, float]
) -> Iterator[Evaluation]:
    """The points from the first on; EvaluationStopped as soon as `is_stopped`. `cpu_s`: gets what each process has
    spent so far."""
    points = kept.points[first:]
    tasks = dict.fromkeys(task for point in points for task in _tasks(point, kept.is_apart))
    if not tasks:
        return
    with _judging(folder, list(tasks), cpu_s) as judged:
        for point in points:
            yield _evaluation(point, [_result(judged[task], is_stopped) for task in _tasks(point, kept.is_apart)])


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
def _judging(folder: Path, tasks: Sequence[_Task], cpu_s: dict[int, float]) -> Iterator[Mapping[_Task, Future[Judged]]]:
    """By processes in sessions of their own: Ctrl-C is not for them. They end when their input does, so they outlive
    nobody."""
    words, pipe = [sys.executable, "-m", "orchestrator.evaluation.worker", str(folder)], subprocess.PIPE
    idle: SimpleQueue[subprocess.Popen[str]] = SimpleQueue()
    processes = [
        subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True, start_new_session=True)
        for _ in range(min(_processes(), len(tasks)))
    ]
    for process in processes:
        idle.put(process)

    def judge(task: _Task) -> Judged:
        process = idle.get()
        try:
            return _ask(process, task, cpu_s)
        finally:
            idle.put(process)

    threads = ThreadPoolExecutor(len(processes), thread_name_prefix="evaluation")
    try:
        yield {task: threads.submit(judge, task) for task in tasks}
    finally:
        for process in processes:
            process.kill()
        threads.shutdown(cancel_futures=True)
        for process in processes:
            process.communicate()  # closes its pipes


def _processes() -> int:
    """A run that shares the cores with others has one."""
    shares_cores = multiprocessing.parent_process() is not None
    return 1 if shares_cores else min(len(os.sched_getaffinity(0)), MOST_PROCESSES)


def _ask(process: "subprocess.Popen[str]", task: _Task, cpu_s: dict[int, float]) -> Judged:
    assert process.stdin is not None
    assert process.stdout is not None
    told = ""
    with suppress(OSError, ValueError):
        process.stdin.write(json.dumps(task._asdict()) + "\n")
        process.stdin.flush()
        told = process.stdout.readline()
    if not told:
        raise EvaluationFailed("a process that evaluates models has gone: see whether memory ran out")
    answer: dict[str, Any] = json.loads(told)
    if "error" in answer:
        raise EvaluationFailed(answer["error"])
    cpu_s[process.pid] = answer["cpu_s"]
    metrics = {name: np.array(values) for name, values in answer["metrics"].items()}
    return Judged(np.array(answer["values"]), metrics)
