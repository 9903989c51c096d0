"""Nodes in processes: the same bits and records, and mistakes that are told."""

import gc
import multiprocessing
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from contract.unexpected_errors import FailedElsewhere, in_one_line
from orchestrator.backends.nodes_on_cores import CoreProcessFailed, nodes_on_cores
from pame.algorithms import SPECS
from pame.byte_account import ByteAccount, Fate
from pame.errors import Diverged
from pame.observe import RunOutcome
from pame.problems.image_classification import LocalClassification
from pame.resolved_run import ResolvedRun
from pame.simulator import run_lock_step
from tests.harness import Watcher
from tests.pame.problems.test_image_classification import resolved


def _in_processes(setting: ResolvedRun, count: int = 3) -> tuple[RunOutcome, Watcher, ByteAccount]:
    watcher, account = Watcher(), ByteAccount(4)
    with nodes_on_cores(setting, count) as group:
        return run_lock_step(setting, watcher, account, group), watcher, account


@pytest.mark.parametrize("kind", sorted(SPECS))
def test_all_cores_give_the_bits_the_records_and_the_account_of_one(kind: str) -> None:
    setting = resolved(kind, iterations=6)
    watcher, account = Watcher(), ByteAccount(4)
    alone = run_lock_step(setting, watcher, account)
    together, seen, counted = _in_processes(setting)
    assert np.array_equal(together.models, alone.models)
    assert seen.records == watcher.records
    assert [counted.bytes(fate) for fate in Fate] == [account.bytes(fate) for fate in Fate]
    assert counted.desynchronised == account.desynchronised


def test_messages_longer_than_the_shared_memory_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = resolved("dpsgd", iterations=3)
    alone = run_lock_step(setting, Watcher(), ByteAccount(4))
    monkeypatch.setattr("orchestrator.backends.nodes_on_cores._ROOM", 0)
    together, _, _ = _in_processes(setting)
    assert np.array_equal(together.models, alone.models)


def test_a_process_that_is_gone_is_told() -> None:
    with nodes_on_cores(resolved(), 2) as group:
        for child in multiprocessing.active_children():
            child.kill()
            child.join()
        with pytest.raises(CoreProcessFailed, match="has gone"):
            group.models()


def test_processes_end_with_the_group() -> None:
    before = set(multiprocessing.active_children())
    with nodes_on_cores(resolved(), 2):
        assert len(set(multiprocessing.active_children()) - before) == 2
    assert set(multiprocessing.active_children()) <= before


def test_what_the_parent_left_for_the_garbage_collector_is_not_taken_down_in_a_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A server of gRPC would wait there for threads that no process of nodes has."""
    here, taken_down = os.getpid(), multiprocessing.get_context("fork").RawValue("i", 0)

    class Left:
        def __init__(self) -> None:
            self.itself = self

        def __del__(self) -> None:
            taken_down.value += os.getpid() != here

    real = LocalClassification.gradient

    def gradient(self: LocalClassification, model: Any, iteration: int) -> Any:
        gc.collect()
        return real(self, model, iteration)

    monkeypatch.setattr("pame.problems.image_classification.LocalClassification.gradient", gradient)
    gc.disable()
    try:
        Left()
        _in_processes(resolved(iterations=1))
    finally:
        gc.enable()
    assert taken_down.value == 0


def _fails_at(nodes: set[int], error: Callable[[int], Exception]) -> Callable[..., Any]:
    real = LocalClassification.gradient

    def gradient(self: LocalClassification, model: Any, iteration: int) -> Any:
        if self.node in nodes and iteration == 1:
            raise error(self.node)
        return real(self, model, iteration)

    return gradient


def test_a_mistake_in_a_process_is_told_with_its_words_and_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = _fails_at({2}, lambda _: ZeroDivisionError("by hand"))
    monkeypatch.setattr("pame.problems.image_classification.LocalClassification.gradient", broken)
    with pytest.raises(FailedElsewhere) as caught:
        _in_processes(resolved(iterations=3))
    assert in_one_line(caught.value).startswith("ZeroDivisionError: by hand (pame/")
    assert "in gradient" in str(caught.value)


def test_of_several_nodes_that_diverge_the_first_is_told_in_the_words_of_one_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    broken = _fails_at({1, 3}, lambda node: Diverged(f"node {node} diverged"))
    monkeypatch.setattr("pame.problems.image_classification.LocalClassification.gradient", broken)
    with pytest.raises(Diverged) as caught:
        _in_processes(resolved(iterations=3), 2)
    assert str(caught.value) == str(Diverged("node 1 diverged"))
