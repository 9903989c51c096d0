"""Claims of one form: the more of something, the fewer iterations; and the gain shrinks, so that little is enough."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isfinite

from orchestrator.claims.base import EVERY, LINEAR, TARGET
from orchestrator.claims.charts import lines
from orchestrator.claims.claim import Claim, Experiments, Found, Mode, Run
from orchestrator.claims.course import to_target
from orchestrator.report.text import percent, volume
from orchestrator.studies.spread import Spread
from orchestrator.studies.verdict import Finding

_CRITERION = (
    f"each value reaches the target ({percent(TARGET)} of the way left) within 300 iterations; each step up needs no "
    f"more iterations than the value before ({EVERY} more, the distance of two points, are a tie); and the first step "
    "up saves at least as many as the last (medians over seeds)"
)


@dataclass(frozen=True)
class Ladder:
    """A setting with ascending values."""

    symbol: str
    setting: str
    """With {} for the value, as after `--set`."""
    full: tuple[float, ...]
    quick: tuple[float, ...]

    def runs(self, mode: Mode) -> tuple[Run, ...]:
        """A run per value."""
        return tuple(map(self.run, self.quick if mode is Mode.QUICK else self.full))

    def run(self, value: float) -> Run:
        """The run with this value."""
        return Run(f"{value:g}", f"{self.symbol} = {value:g}", (self.setting.format(f"{value:g}"),))


def more_is_faster(key: str, title: str, statement: str, ladder: Ladder) -> Claim:
    """The claim that more of it needs fewer iterations."""
    source = Experiments(LINEAR, ladder.runs)
    return Claim(key, title, statement, _CRITERION, source, judge_ladder(ladder), lines(ladder.runs(Mode.FULL)))


def judge_ladder(ladder: Ladder) -> Callable[[Found], list[Finding]]:
    """Every value, every step from one value to the next, and the first step against the last."""

    def judge(found: Found) -> list[Finding]:
        took = {}
        for value in ladder.full:
            spread = to_target(found.of(ladder.run(value).key), TARGET, lambda mark: mark.iteration)
            if spread is not None:
                took[f"{ladder.symbol} = {value:g}"] = spread
        return [*_reached(found, ladder, took), *_steps(took), *_shrinking(list(took.values()))]

    return judge


def _reached(found: Found, ladder: Ladder, took: dict[str, Spread]) -> Iterator[Finding]:
    keys = {run.words: run.key for run in ladder.runs(Mode.FULL)}
    for words, spread in took.items():
        sent = to_target(found.of(keys[words]), TARGET, lambda mark: mark.bytes)
        cost = "" if sent is None or sent.is_missed else f", {volume(sent.median)}"
        yield Finding(f"{words} reaches the target", not spread.is_missed, iterations(spread) + cost)


def _steps(took: dict[str, Spread]) -> Iterator[Finding]:
    for (before, slow), (after, fast) in pairwise(took.items()):
        passed = isfinite(fast.median) and fast.median <= slow.median + EVERY
        yield Finding(f"from {before} to {after}", passed, f"{iterations(slow)}, then {iterations(fast)}")


def _shrinking(took: Sequence[Spread]) -> Iterator[Finding]:
    medians = [spread.median for spread in took]
    if len(medians) < 3 or not all(map(isfinite, medians)):
        return
    first, last = medians[0] - medians[1], medians[-2] - medians[-1]
    yield Finding("the gain shrinks", first >= last, f"the first step saves {first:g} iterations, the last {last:g}")


def iterations(spread: Spread) -> str:
    """The median, or that it is a miss."""
    return "missed" if spread.is_missed else f"{spread.median:g} iterations"


TRANSMISSION = more_is_faster(
    "transmission-rate",
    "Transmission rate",
    "PaME converges at every transmission rate s/n from 0.1 to 0.6. Revealing more of a model needs fewer iterations, "
    "and from a small rate on hardly so.",
    Ladder("s/n", "algorithm.support={}", (0.1, 0.2, 0.3, 0.4, 0.5, 0.6), (0.1, 0.2, 0.4, 0.6)),
)
PARTICIPATION = more_is_faster(
    "participation-rate",
    "Participation rate",
    "PaME converges at every participation rate nu. Averaging more of the neighbours needs fewer iterations, and from "
    "a small share on hardly so.",
    Ladder("nu", "algorithm.participation={}", (0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0), (0.1, 0.2, 0.6, 1.0)),
)
CONNECTIVITY = more_is_faster(
    "connectivity",
    "Connectivity",
    "PaME converges on sparse and on dense graphs. A graph with more edges needs fewer iterations, and from a sparse "
    "one on hardly so.",
    Ladder("degree", "topology.degree={}", (4, 6, 10, 16, 24, 30), (4, 10, 16, 24)),
)
