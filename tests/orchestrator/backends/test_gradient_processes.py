"""Gradients in processes: the same bits, and mistakes that are told."""

import multiprocessing
from dataclasses import dataclass

import numpy as np
import pytest

from orchestrator.backends.gradient_processes import GradientFailed, gradient_processes
from pame.byte_account import ByteAccount
from pame.simulator import run_lock_step
from tests.harness import Watcher
from tests.pame.problems.test_image_classification import resolved


@pytest.mark.parametrize("kind", ["pame", "dpsgd", "dmgt-svrg", "dfedsam"])
def test_all_cores_give_the_bits_of_one(kind: str) -> None:
    setting = resolved(kind, iterations=6)
    alone = run_lock_step(setting, Watcher(), ByteAccount(4))
    with gradient_processes(setting, 3) as (shared, each):
        together = run_lock_step(shared, Watcher(), ByteAccount(4), each)
    assert np.array_equal(together.models, alone.models)


def test_a_process_that_is_gone_is_told() -> None:
    setting = resolved()
    with gradient_processes(setting, 2) as (shared, _):
        local = shared.problem.local(1)
        assert local.value(setting.start) == setting.problem.local(1).value(setting.start)
        for child in multiprocessing.active_children():
            child.kill()
            child.join()
        with pytest.raises(GradientFailed, match="has gone"):
            local.gradient(setting.start, 0)


@dataclass(frozen=True)
class _Broken:
    samples: int = 1

    def gradient(self, model: object, iteration: int) -> object:
        raise ZeroDivisionError("by hand")


def test_a_mistake_in_a_process_is_told_with_its_words() -> None:
    setting = resolved()
    setting.problem.local = lambda _: _Broken()  # type: ignore[assignment, method-assign, return-value]
    with gradient_processes(setting, 1) as (shared, _), pytest.raises(GradientFailed, match="by hand"):
        shared.problem.local(0).gradient(setting.start, 0)
