"""A simulated network keeps to one core in a process of a pool, and takes all cores where it is alone."""

import multiprocessing
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from orchestrator.backends import BACKENDS
from orchestrator.campaigns.process_pool import each, process_pool
from orchestrator.control import NetworkState
from orchestrator.experiment import load_text
from pame.observe import Evaluation, Record

pytestmark = [pytest.mark.edge, pytest.mark.timeout(300)]

STRIPES = """
nodes: 4
topology: {kind: complete}
problem: {kind: image-classification, data: stripes, model: {kind: softmax}, batch: 8}
algorithm: {kind: dpsgd, eta: 0.1}
period: 1
stop: {iterations: 3}
"""


class Counter:
    """How many processes there were at most beside the run's."""

    def __init__(self) -> None:
        self.most = 0

    def evaluated(self, evaluation: Evaluation) -> None:
        pass

    def recorded(self, records: Sequence[Record]) -> None:
        self.most = max(self.most, len(multiprocessing.active_children()))

    def state(self, state: NetworkState) -> None:
        pass


def processes_beside(folder: Path) -> int:
    [variant] = load_text(STRIPES, Path("stripes.yaml"), [])
    counter = Counter()
    BACKENDS["simulate"].run(variant.experiment, Path(), folder, counter)
    return counter.most


@pytest.mark.usefixtures("stripes")
def test_in_a_pool_a_run_starts_no_processes_of_its_own(tmp_path: Path) -> None:
    pool = process_pool(1)
    with pool, closing(each(pool, processes_beside, {"run": (tmp_path / "pooled",)}, "wait")) as runs:
        assert dict(runs) == {"run": 0}
    assert processes_beside(tmp_path / "alone") >= 1
