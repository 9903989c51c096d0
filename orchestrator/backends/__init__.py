"""Where nodes run, one file per backend; a new backend is a file and a line in BACKENDS.

May import: everything in `orchestrator` but the command line and the campaigns; of `node` what starts one.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from orchestrator.backends.local import check_local, local
from orchestrator.backends.netns import check_netns, netns
from orchestrator.backends.simulate import check_simulate, simulate
from orchestrator.control import NetworkObserver
from orchestrator.experiment import Experiment
from orchestrator.results import Ending


class RunOnBackend(Protocol):
    """How a run is begun and brought to its end."""

    def __call__(
        self, experiment: Experiment, base: Path, folder: Path, watcher: NetworkObserver, notes: Sequence[str] = ()
    ) -> Ending:
        """`base`: the folder of the experiment file; `folder`: of the run; `notes`: what its summary repeats."""


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

__all__ = ["BACKENDS", "DEFAULT_BACKEND", "Backend"]
