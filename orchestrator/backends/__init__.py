"""Where nodes run, one file per backend; a new backend is a file and a line in BACKENDS.

May import: everything in `orchestrator` but the command line.
"""

from collections.abc import Callable
from pathlib import Path

from orchestrator.backends.local import local
from orchestrator.backends.simulate import simulate
from orchestrator.experiment import Experiment
from orchestrator.network import NetworkObserver
from orchestrator.runs import Ending

Backend = Callable[[Experiment, Path, Path, NetworkObserver], Ending]
"""(experiment, folder of the experiment file, run folder, who watches) -> how it ended."""

BACKENDS: dict[str, Backend] = {"local": local, "simulate": simulate}

__all__ = ["BACKENDS", "Backend"]
