"""A campaign that takes a moment: seeds in one stage, and half the step of the best of them in the next."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from orchestrator.campaigns.cell import Cell, Done, Look, Measurement, Run, Stage, Stages
from orchestrator.campaigns.run_left import RunLeft
from orchestrator.campaigns.yardstick import yardstick_of
from orchestrator.control import NetworkState
from orchestrator.experiment import load_text
from orchestrator.results.campaign_record import CampaignRecord
from pame.observe import Evaluation

BASE = """
nodes: 4
topology: {kind: complete}
problem: {kind: linear, n: 8, samples: 12, test_samples: 5}
algorithm: {kind: dpsgd, eta: 0.05}
period: 1
evaluate: {every: 5}
stop: {iterations: 20}
"""
RECORD = CampaignRecord("small", "pame small")


@dataclass(frozen=True)
class SmallLook(Look):
    """Leaves a line in a file for every run that there really was."""

    ran: Path

    def measure(self, left: RunLeft) -> Measurement:
        with self.ran.open("a") as file:
            file.write(f"{left.setting.seed}\n")
        curve = left.curve("iteration")
        return Measurement(curve, {"left": yardstick_of(left.setting).left(curve[-1].objective)})


@dataclass
class SmallCampaign:
    ran: Path
    seeds: tuple[int, ...] = (1, 2, 3)
    base: str = BASE
    hint: str = "take a smaller one"
    name: str = "small"
    command: str = "pame small"
    files: Sequence[Path] = ()

    def cell(self, name: str, seed: int, *settings: str) -> Cell:
        variants = load_text(self.base, Path("small.yaml"), [f"seed={seed}", f"name={name}", *settings])
        return Cell({"name": name}, variants[0].experiment, SmallLook(self.ran))

    def stages(self) -> Stages[None]:
        runs = yield Stage("seeds", [self.cell("first", seed) for seed in self.seeds])
        best = min(runs, key=lambda run: run.figures["left"])
        again = [self.cell("half", best.seed, "algorithm.eta=0.025"), self.cell("same", best.seed)]
        yield Stage("half", again)

    def judge(self, done: Done, seconds: float, trouble: str | None) -> str:
        rows = [
            f"{stage} {run.labels['name']} {run.seed} {run.figures['left']}" for stage in done for run in done[stage]
        ]
        return "\n".join([*rows, str(trouble)])

    def write(self, folder: Path, outcome: str) -> None:
        (folder / "report.html").write_text(outcome)

    def figures(self, run: Run) -> Mapping[str, str]:
        return {"left": f"{run.figures['left']:.3g}"}


class Watcher:
    """Counts, and presses Ctrl-C after so many runs."""

    def __init__(self, patience: int = 100) -> None:
        self.patience = patience
        self.begun: list[tuple[str, int, int]] = []
        self.runs: list[Run] = []

    def begins(self, stage: Stage, known: int) -> None:
        self.begun.append((stage.name, len(stage.cells), known))

    def goes_on(self, cell: Cell, point: Evaluation) -> None:
        pass

    def state(self, cell: Cell, state: NetworkState) -> None:
        pass

    def ended(self, run: Run) -> None:
        self.runs.append(run)
        if len(self.runs) == self.patience:
            raise KeyboardInterrupt
