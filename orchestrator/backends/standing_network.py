"""A standing network of processes: the nodes are started once, and experiments run on them one after another."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from orchestrator.backends.local import on_loopback
from orchestrator.backends.namespaces import namespaces
from orchestrator.backends.on_processes import Ended, Places, RunRequest, run_one_after_another
from orchestrator.errors import writing
from orchestrator.results import Ending

NETWORKS: Mapping[str, Callable[[int], AbstractContextManager[Places]]] = {"local": on_loopback, "netns": namespaces}
"""Backends whose nodes can stay for several runs."""


def run_standing(backend: str, requests: Sequence[RunRequest], log: Path, ended: Ended) -> list[Ending]:
    """Run them in order, on as many nodes as the largest needs; no process is left, whatever happens."""
    for request in requests:
        with writing(request.folder):
            request.folder.mkdir(parents=True, exist_ok=True)
    nodes = max(request.experiment.nodes for request in requests)
    return run_one_after_another(requests, log, NETWORKS[backend](nodes), ended)
