"""What a run will take, estimated before it begins: seconds, messages, bytes of payload.

seconds   by the time model; without one by the work, iterations * nodes * (a gradient, timed now, and the rest of
          a step) + messages * (what one takes)
messages  the draws of some iterations, spread over the run, are public: who sends to whom is counted
bytes     messages * the size of one, from a rehearsal of three nodes with a toy problem of the same n
"""

import os
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import isfinite
from time import perf_counter
from typing import Any, cast

from orchestrator.experiment import Experiment
from orchestrator.experiment.late_faults import likely_seconds
from pame import topology
from pame.algorithms import Selection
from pame.byte_account import ByteAccount
from pame.errors import PameError
from pame.observe import Evaluation, Record
from pame.problems import LogisticSpec
from pame.resolved_run import ResolvedRun
from pame.rules import Messages
from pame.simulator import run_lock_step
from pame.stopping import StopRules
from pame.topology.kinds import Complete

_STEP_S, _MESSAGE_S = 0.0003, 0.0005
"""What a node does beside its gradient, and what a message takes on both sides: of processes on an idle machine."""
_DRAWS = 4_000
_SPREAD = (5**0.5 - 1) / 2
"""Multiples of the golden ratio spread evenly, and beat no period."""
_REHEARSED = 3


@dataclass(frozen=True)
class RunEstimate:
    """Of one run; None: nobody can say."""

    seconds: float | None
    """Rather too many than too few."""
    messages: float | None
    bytes: float | None
    is_timed: bool
    """Whether the seconds are those of a time model."""


def estimate_of(experiment: Experiment, setting: ResolvedRun, driver: str) -> RunEstimate:
    """Of an experiment that is resolved already; faults change the volume, which is not counted."""
    stop = setting.stop
    seconds = likely_seconds(experiment, setting, driver)
    is_timed = isfinite(seconds) or stop.by_seconds_alone
    iterations = float(stop.last_iteration)
    if stop.by_seconds_alone:
        iterations = stop.limit_s / setting.compute.step_s if setting.compute.step_s else 0.0
    messages = _messages(setting.selection(), setting.topology.nodes, int(iterations)) if iterations else None
    if messages is not None:
        messages *= 1.0 - setting.messages.loss
    size = _message_bytes(cast(Hashable, setting.algorithm), setting.messages, setting.problem.n)
    if not is_timed and messages is not None:
        steps = iterations * setting.topology.nodes * (_gradient_s(setting) + _STEP_S)
        seconds = (steps + messages * _MESSAGE_S) / (os.cpu_count() or 1)
    seconds = min(seconds, stop.limit_s)
    volume = None if messages is None or size is None else messages * size
    return RunEstimate(seconds if isfinite(seconds) else None, messages, volume, is_timed)


def _messages(selection: Selection, nodes: int, iterations: int) -> float:
    """Of all iterations, if they are few."""
    some = max(_DRAWS // nodes, 1)
    if iterations <= some:
        chosen = range(iterations)
        return float(sum(_sent(selection, nodes, k) for k in chosen))
    spread = [int(iterations * (number * _SPREAD % 1.0)) for number in range(1, some + 1)]
    return iterations * sum(_sent(selection, nodes, k) for k in spread) / some


def _sent(selection: Selection, nodes: int, k: int) -> int:
    """At its rounds a node listens to its senders (`rounds`), or speaks to its receivers (`free`)."""
    chosen = selection.senders if selection.waits else selection.receivers
    return sum(len(chosen(node, k)) for node in range(nodes) if selection.is_round(node, k))


@lru_cache(maxsize=64)
def _message_bytes(algorithm: Any, messages: Messages, n: int) -> float | None:
    """The mean size of messages that tell of models that are no longer zero; None if three nodes cannot run it."""
    graph = topology.build(Complete(), _REHEARSED, 1)
    toy = LogisticSpec(n=n, samples=2, test_samples=1).build(_REHEARSED, 1)
    setting = ResolvedRun(
        1, graph, toy, algorithm, (1,) * _REHEARSED, StopRules(_REHEARSED), messages=replace(messages, loss=0.0),
        evaluate_every=_REHEARSED, own_models=False,
    )  # fmt: skip
    seen = _SentSizes()
    try:
        run_lock_step(setting, seen, ByteAccount(_REHEARSED))
    except PameError:  # the run itself will say why
        return None
    return seen.bytes / seen.messages if seen.messages else 0.0


def _gradient_s(setting: ResolvedRun) -> float:
    """The second one: the first may load what is needed."""
    objective, model, took = setting.problem.local(0), setting.start, 0.0
    for k in range(2):
        began = perf_counter()
        objective.gradient(model, k)
        took = perf_counter() - began
    return took


class _SentSizes:
    """Counts what is sent after the first iteration."""

    def __init__(self) -> None:
        self.messages, self.bytes = 0, 0

    def evaluated(self, evaluation: Evaluation) -> None:
        pass

    def recorded(self, records: Sequence[Record]) -> None:
        later = [record for record in records if record.iteration > 0]
        self.messages += sum(record.messages for record in later)
        self.bytes += sum(record.bytes for record in later)
