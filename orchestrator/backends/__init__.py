"""Where nodes run, one file per backend; a new backend is a file and a line in BACKENDS.

May import: everything in `orchestrator` but the command line and the campaigns; of `node` what starts one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from orchestrator.backends.local import check_local, local, on_loopback
from orchestrator.backends.netns import check_netns, namespaces, netns
from orchestrator.backends.on_processes import OpenPlaces, RunOnBackend
from orchestrator.backends.simulate import check_simulate, simulate
from orchestrator.experiment import Experiment


@dataclass(frozen=True)
class Backend:
    check: Callable[[Experiment, Path], None]
    """(experiment, folder of the experiment file): raises if it cannot run there, before anything is begun."""
    run: RunOnBackend


BACKENDS = {
    "local": Backend(check_local, local),
    "netns": Backend(check_netns, netns),
    "simulate": Backend(check_simulate, simulate),
}
DEFAULT_BACKEND = "local"
NETWORKS: Mapping[str, OpenPlaces] = {"local": on_loopback, "netns": namespaces}
"""Of the backends whose nodes can stay for several runs."""

__all__ = ["BACKENDS", "DEFAULT_BACKEND", "NETWORKS", "Backend"]
