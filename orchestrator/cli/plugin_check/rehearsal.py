"""Small runs of a plugin: four nodes in a ring, simulated or as real processes that talk over gRPC."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from orchestrator.backends import BACKENDS
from orchestrator.cli.plugin_check.look import NotRight
from orchestrator.control import NetworkState
from orchestrator.experiment import Experiment, ExperimentError, load_data
from orchestrator.experiment.overrides import Override
from orchestrator.experiment.resolve import choose_driver, make_setting
from orchestrator.results import Status
from pame.byte_account import ByteAccount, Fate
from pame.observe import Evaluation, Record
from pame.resolved_run import ResolvedRun
from pame.simulator import DRIVERS

NODES, ITERATIONS = 4, 80
_SMALL: Mapping[str, Any] = {
    "nodes": NODES,
    "topology": {"kind": "ring"},
    "problem": {"kind": "linear", "n": 20, "samples": 30, "test_samples": 10, "truth_shift": 0.3},
    "algorithm": {"kind": "dpsgd", "eta": 0.05},
    "period": "1..2",
    "evaluate": {"every": 1},
    "stop": {"iterations": ITERATIONS},
}


@dataclass
class Rehearsed:
    """What a small run left; `objectives`: by iteration, f at the nodes' own models, the mean of all nodes."""

    models: NDArray[np.float64]
    objectives: list[float] = field(default_factory=list)
    lost: int = 0
    desynchronised: int = 0


@dataclass(frozen=True)
class Rehearsal:
    """An experiment with the plugin in it; `file`: the plugin, as messages call it."""

    file: Path
    settings: Mapping[str, Any]
    overrides: Sequence[Override] = ()

    def experiment(self, **more: Any) -> Experiment:
        data = {**_SMALL, **self.settings, **more, "name": "check"}
        try:
            return load_data(data, self.file, self.overrides)[0].experiment
        except ExperimentError as error:
            raise NotRight(f"{error.problems[0]} (give it by --set)") from None

    def setting(self, **more: Any) -> ResolvedRun:
        return make_setting(self.experiment(**more), self.file.parent)

    def simulated(self, **more: Any) -> Rehearsed:
        """By the simulator's driver for it; the run ends well or raises."""
        experiment = self.experiment(**more)
        with threadpool_limits(1), np.errstate(all="ignore"):
            setting, watcher = make_setting(experiment, self.file.parent), _Curve()
            account = ByteAccount(setting.topology.nodes)
            outcome = DRIVERS[choose_driver(experiment)](setting, watcher, account)
        return Rehearsed(
            np.asarray(outcome.models), watcher.objectives, account.messages(Fate.LOST), account.desynchronised
        )

    def on_nodes(self, **more: Any) -> Rehearsed:
        """By four processes of this machine, which load the plugin themselves."""
        experiment = self.experiment(**more)
        with TemporaryDirectory(prefix="pame-check-") as place:
            folder, watcher = Path(place), _Curve()
            BACKENDS["local"].check(experiment, self.file.parent)
            ending = BACKENDS["local"].run(experiment, self.file.parent, folder, watcher)
            if ending.status is not Status.FINISHED:
                raise NotRight(ending.reason.partition("; look at ")[0])
            return Rehearsed(np.load(folder / "models.npy"), watcher.objectives)


def same_bits(simulated: Rehearsed, real: Rehearsed) -> str:
    """The models of the nodes, to the last bit."""
    differs = np.flatnonzero((simulated.models != real.models).any(axis=1))
    if differs.size:
        node = int(differs[0])
        most = float(np.abs(simulated.models - real.models).max())
        raise NotRight(
            f"node {node} ends with another model than in the simulator (by up to {most:.3g}): add up in ascending "
            "order of the senders, and draw from pame.randomness alone"
        )
    return f"{NODES} processes over gRPC end in the bits of the simulator"


class _Curve:
    """Keeps f of the nodes of every evaluation."""

    def __init__(self) -> None:
        self.objectives: list[float] = []

    def evaluated(self, evaluation: Evaluation) -> None:
        if evaluation.by == "iteration":
            own = evaluation.own
            self.objectives.append(evaluation.objective if own is None else own.objective)

    def recorded(self, records: Sequence[Record]) -> None:
        pass

    def state(self, state: NetworkState) -> None:
        pass
