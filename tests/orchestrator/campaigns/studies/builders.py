"""A small study: rows made by hand, and a base experiment that takes a moment."""

from pathlib import Path
from typing import Any

from orchestrator.campaigns.studies.measure import OwnData, StudyRow

SMALL = """
nodes: 5
topology: {kind: complete}
problem: {kind: linear, n: 12, samples: 20, test_samples: 50, truth_shift: 0.2}
algorithm: {kind: pame, participation: 0.5, support: 0.5, step: {kind: fixed, eta: 0.05, gamma: 1.0}}
period: 1..3
compute: {step: 10ms}
links: {delay: 1ms}
evaluate: {every: 5}
stop: {iterations: 200, seconds: 1.5s}
verify: {when: never}
"""


def small_file(folder: Path) -> Path:
    path = folder / "small.yaml"
    path.write_text(SMALL)
    return path


def row(policy: str, condition: str, time: float | None, seed: int = 1, **figures: Any) -> StudyRow:
    """A run that needed so long to the target; it had ten seconds."""
    known: dict[str, Any] = {
        "seconds": 10.0,
        "bytes_to_target": None if time is None else 1000 * time,
        "left": 0.01,
        "objective": 0.2,
        **figures,
    }
    return StudyRow(policy=policy, condition=condition, seed=seed, seconds_to_target=time, **known)


def own(*left: float) -> tuple[OwnData, ...]:
    """So much of the way is left on the data of node 0, 1, ..."""
    return tuple(OwnData(start=1.0, end=share, best=0.0) for share in left)
