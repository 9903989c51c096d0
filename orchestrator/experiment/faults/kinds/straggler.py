"""Nodes that are slow, for one of three reasons: they are different experiments.

compute  steps take `factor` times as long
link     every link from and to the node has `factor` times the delay (plus `delay`) and a `factor`-th of the rate
pause    the node is stopped and continued, so that it runs for a `factor`-th of each `cycle`

persistent  the same nodes all the time, or each time anew with `every`; with `turn`, a drawn factor is drawn anew
rotating    the nodes take turns: with random(..) all nodes, so many at a time; of others, one at a time
random      each turn strikes anew: with random(..) so many of all nodes; of others, one of them

factor: 10      factor: uniform(5, 20)      factor: lognormal(10, 0.5)      median, and sigma of the logarithm

From a distribution each slow node draws its own factor. It is rounded to a thousandth, because exp differs in the last
bit between machines; none is below 1.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from annotated_types import Ge

from orchestrator.experiment.distributions import Lognormal, Uniform, draws, pattern, read, show
from orchestrator.experiment.faults.interface import Happening, Use, World
from orchestrator.experiment.faults.resolve import choose_nodes, links_of
from orchestrator.experiment.faults.selectors import NodeSelector, Random
from orchestrator.experiment.faults.triggers import (
    ForIterations,
    PositiveSeconds,
    RepeatedFault,
    Span,
    Times,
    number_of,
    steps,
    unit_of,
)
from orchestrator.experiment.units import Duration, TextValue
from pame.fault_effects import DegradeEffect, PauseEffect, SlowEffect, Window
from pame.randomness import integers, permutation

_USUAL_FACTOR = 10.0
_NUMBER = r"[0-9]{1,6}(?:\.[0-9]{1,6})?"


def _read(text: str) -> object:
    found = read(text, float)
    if found[0] < 1:
        raise ValueError("below 1")
    return found


_DISTRIBUTION = TextValue(
    "uniform(5, 20) (from, to) or lognormal(10, 0.5) (median of at least 1, sigma of at most 3)",
    ("uniform(5, 20)", "lognormal(10, 0.5)"),
    f"({'|'.join(pattern(word, _NUMBER) for word in ('uniform', 'lognormal'))})",
    _read,
    lambda value: show(value, lambda number: f"{number:.15g}"),
)
Factor = Annotated[float, Ge(1)] | Annotated[Uniform | Lognormal, _DISTRIBUTION]


@dataclass(frozen=True, kw_only=True)
class Straggler(RepeatedFault):
    """Nodes are slow.

    nodes: Which nodes.
    cause: compute (steps take longer), link (its links are slow), or pause (it is stopped and continued).
    pattern: persistent (the same nodes), rotating (nodes take turns), or random (drawn anew each turn).
    factor: How many times slower (10 if left out): a number, uniform(5, 20) or lognormal(10, 0.5).
    delay: With cause link, so much is added to the delay; then the factor is 1 if left out.
    turn: How long a turn lasts; with pattern random one iteration if left out.
    cycle: With cause pause, how long one stop and go takes together.
    """

    kind: Literal["straggler"] = "straggler"
    nodes: NodeSelector
    cause: Literal["compute", "link", "pause"] = "compute"
    pattern: Literal["persistent", "rotating", "random"] = "persistent"
    factor: Factor | None = None
    delay: Duration = 0.0
    turn: Span | None = None
    cycle: PositiveSeconds = 1.0

    def times(self) -> Times:
        """With the turn, which must be in the same unit."""
        given = Times({**super().times().given, "turn": self.turn})
        by_iterations = not given.present or given.unit == "iterations"
        if self.turn is None and self.pattern == "random" and self.cause == "compute" and by_iterations:
            return Times({**given.given, "turn": ForIterations(1)})
        return given

    def problems(self) -> dict[str, str]:
        """Times, turns and what a cause does not know."""
        times = self.times()
        found = times.problems()
        if self.cause != "compute":
            for key, value in times.present.items():
                if unit_of(value) == "iterations":
                    found[key] = f"cause: {self.cause} counts seconds, not iterations; give e.g. 30s"
        if self.pattern != "persistent" and "turn" not in times.present:
            found["turn"] = f"is missing; pattern: {self.pattern} needs the length of a turn, e.g. 10s"
        if self.pattern == "persistent" and self.turn is not None and isinstance(self.factor, float | int | None):
            found["turn"] = "says nothing: nothing is drawn anew; remove it, or give pattern: rotating or random"
        if self.every is not None and "turn" in times.present:
            found["every"] = "says nothing: turns follow one another already; remove it, or pattern and turn"
        if self.cause != "link" and self.delay:
            found["delay"] = "is for slow links; remove it, or give cause: link"
        return found

    def events(self, world: World) -> Iterator[Happening]:
        """One or more per turn, together those nodes that are equally slow."""
        if not (isinstance(self.nodes, Random) and self.nodes.of(world.topology.nodes) == 0):
            for turn, window in enumerate(self._turns(world)):
                by_factor: dict[float, list[int]] = defaultdict(list)
                for node, factor in self._factors(self._slow(world, turn), world, turn).items():
                    by_factor[factor].append(node)
                for factor, nodes in by_factor.items():
                    yield from self._effects(world, tuple(nodes), factor, window)

    def _factors(self, nodes: Sequence[int], world: World, turn: int) -> dict[int, float]:
        """The factor of each node; a node's draw depends on it and the turn, not on who else is slow."""
        if isinstance(self.factor, Uniform | Lognormal):
            drawn = draws(self.factor, world.key(Use.FACTOR, turn), world.topology.nodes)
            return {node: max(1.0, round(drawn[node], 3)) for node in nodes}
        usual = 1.0 if self.delay else _USUAL_FACTOR
        return dict.fromkeys(nodes, usual if self.factor is None else float(self.factor))

    def _turns(self, world: World) -> Iterator[Window]:
        times = self.times()
        if "turn" not in times.present:
            return times.windows(world.horizon)
        length = number_of(times.present["turn"])
        return times.repeated(length, length, world.horizon)

    def _slow(self, world: World, turn: int) -> tuple[int, ...]:
        if self.pattern == "persistent":
            return choose_nodes(self.nodes, world, 0 if self.every is None else turn)
        if self.pattern == "random":
            if isinstance(self.nodes, Random):
                return choose_nodes(self.nodes, world, turn)
            some = choose_nodes(self.nodes, world)
            return (some[int(integers(world.key(Use.CHOICE, turn), 1, len(some))[0])],)
        if not isinstance(self.nodes, Random):
            some = choose_nodes(self.nodes, world)
            return (some[turn % len(some)],)
        together = len(choose_nodes(self.nodes, world))
        order = permutation(world.key(Use.CHOICE), world.topology.nodes).tolist()
        return tuple(sorted(order[(turn * together + i) % len(order)] for i in range(together)))

    def _effects(self, world: World, nodes: tuple[int, ...], factor: float, window: Window) -> Iterator[Happening]:
        if self.cause == "compute":
            yield Happening(SlowEffect(nodes, factor), window)
        elif self.cause == "link":
            links = links_of(nodes, world.topology)
            yield Happening(
                DegradeEffect(links, delay_factor=factor, delay_s=self.delay, rate_factor=1.0 / factor), window
            )
        elif factor > 1.0:
            still = self.cycle * (1.0 - 1.0 / factor)
            for begin in steps(window.begin, self.cycle, min(window.end, world.horizon.seconds)):
                yield Happening(PauseEffect(nodes), Window(begin, min(begin + still, window.end)))
