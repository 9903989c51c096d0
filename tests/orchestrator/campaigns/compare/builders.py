"""Small comparisons: files that take a moment, one of networks, and rows made by hand."""

from dataclasses import replace
from pathlib import Path

from orchestrator.campaigns.compare import Comparison, load_comparison
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

NETWORK = """
name: stripes
base:
  nodes: 4
  topology: {kind: complete}
  problem: {kind: image-classification, data: stripes, model: {kind: softmax}, batch: 8, own_test_samples: 30}
  compute: {step: 5ms}
  links: {delay: 1ms}
  stop: {iterations: 40}
algorithms:
  pame:
    algorithm: {kind: pame, participation: 0.5, support: 0.5, step: {kind: fixed, gamma: 1.001}}
    period: 2
    tune: {algorithm.step.eta: [0.01, 0.1]}
  pame-as-printed:
    algorithm: {kind: pame, participation: 0.5, support: 0.5, step: {kind: penalty, sigma0: 5.0, gamma: 1.001}}
    period: 2
  dpsgd: {algorithm: {kind: dpsgd}, period: 1, tune: {algorithm.eta: [0.01, 0.1]}}
standardized: none
tuning: {seed: 100, runs: 2, more: 0}
seeds: [1]
targets: {accuracy: [0.8, 0.5]}
check_every: 10
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


def comparison_of(folder: Path, *changes: tuple[str, str]) -> Comparison:
    """That of the small file, with these changes of its text."""
    text = SMALL
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return load_comparison(small_file(folder, text))


def mark(iteration: int, left: float, accuracy: float | None = None, seconds: float | None = None) -> CompareMark:
    """f goes from 1 to 0; a round every second iteration, a kilobyte per iteration."""
    return CompareMark(
        iteration, iteration / 2, 1000.0 * iteration, seconds, left, left=left, accuracy=accuracy, looked_at=left
    )


def learnt_mark(iteration: int, accuracy: float | None, rounds: float, f: float = 1.0) -> CompareMark:
    """Of a network, with an optimum that nobody knows: the mean model is more accurate, and the worst node less."""
    mean, worst = (accuracy and accuracy + by for by in (0.01, -0.02))
    known = CompareMark(iteration, rounds, 10.0 * iteration, None, f, left=None, accuracy=accuracy, looked_at=f)
    return replace(known, nodes_accuracy=accuracy, mean_accuracy=mean, worst_accuracy=worst)


def row(
    algorithm: str,
    marks: list[CompareMark],
    seed: int = 1,
    view: CompareView = CompareView.AS_PUBLISHED,
    values: Values = (),
    status: str = "finished",
) -> CompareRow:
    return CompareRow(CompareCell(algorithm, view, values, seed), tuple(marks), COMPANY, status=status)
