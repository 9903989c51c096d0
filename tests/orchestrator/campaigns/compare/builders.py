"""A small comparison: a file that takes a moment, and rows made by hand."""

from pathlib import Path

from orchestrator.campaigns.compare.file import Target
from orchestrator.campaigns.compare.grid import CompareCell, CompareView, StandardReading, Values
from orchestrator.campaigns.compare.measure import CompareMark, CompareRow
from orchestrator.campaigns.compare.mixing_partners import MixingPartners

SMALL = """
name: small
base:
  nodes: 6
  topology: {kind: ring}
  problem: {kind: logistic, n: 20, samples: 40, test_samples: 100}
  compute: {step: 5ms}
  links: {delay: 1ms}
  stop: {iterations: 60}
  verify: {when: never}
algorithms:
  pame:
    algorithm: {kind: pame, participation: 0.5, support: 0.5, step: {kind: fixed}}
    period: 2
    tune: {algorithm.step.eta: [0.3, 1.0], algorithm.step.gamma: [1.0, 1.005]}
  dpsgd: {algorithm: {kind: dpsgd}, period: 1, tune: {algorithm.eta: [0.3, 1.0]}}
standardized: {period: 2, participation: 50%}
tuning: {seed: 100, runs: 2}
seeds: [1, 2]
targets: {suboptimality: [0.3, 0.1]}
"""

STANDARDIZED = CompareView(StandardReading())
COMPANY = MixingPartners(partners=1.5, alone=0.25, messages=2.0)


def down_to(*shares: float) -> tuple[Target, ...]:
    return tuple(Target("suboptimality", share) for share in shares)


def left_at(mark: CompareMark) -> float:
    assert mark.left is not None
    return mark.left


def small_file(folder: Path, text: str = SMALL) -> Path:
    path = folder / "small.yaml"
    path.write_text(text)
    return path


def mark(iteration: int, left: float, accuracy: float | None = None, seconds: float | None = None) -> CompareMark:
    """f goes from 1 to 0; a round every second iteration, a kilobyte per iteration."""
    return CompareMark(
        iteration, iteration / 2, 1000.0 * iteration, seconds, left, left=left, accuracy=accuracy, looked_at=left
    )


def row(
    algorithm: str,
    marks: list[CompareMark],
    seed: int = 1,
    view: CompareView = CompareView.AS_PUBLISHED,
    values: Values = (),
    status: str = "finished",
) -> CompareRow:
    return CompareRow(CompareCell(algorithm, view, values, seed), tuple(marks), COMPANY, status=status)
