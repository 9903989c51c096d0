"""The backend `netns`: every node a process in a network namespace of its own, with a cable for control and one for
data; the orchestrator in this process, where it is. Needs root, but no Docker."""

from pathlib import Path

from orchestrator.backends.namespaces import MOST_NODES, check_namespaces, namespaces
from orchestrator.backends.on_processes import check_processes, runs_on
from orchestrator.errors import TooManyNodes
from orchestrator.experiment import Experiment


def check_netns(experiment: Experiment, base: Path) -> None:
    """Refuse what cannot be built, too many nodes, and a machine or a user without namespaces."""
    check_namespaces()
    if experiment.nodes > MOST_NODES:
        raise TooManyNodes(f"a bridge has no room for {experiment.nodes} nodes: use at most {MOST_NODES}")
    check_processes(experiment, base)


netns = runs_on("netns", namespaces)
