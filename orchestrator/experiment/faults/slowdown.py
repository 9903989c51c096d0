"""How many times slower: a number, or a distribution from which each slow node draws its own.

    factor: 10      factor: uniform(5, 20)      factor: lognormal(10, 0.5)      median, and sigma of the logarithm

Drawn factors are rounded to a thousandth, because exp differs in the last bit between machines; none is below 1.
"""

from collections.abc import Sequence
from typing import Annotated

from annotated_types import Ge

from orchestrator.experiment.distributions import Lognormal, Uniform, draws, pattern, read, show
from orchestrator.experiment.faults.interface import Use, World
from orchestrator.experiment.text_values import TextValue

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


def factors(factor: float | Uniform | Lognormal, nodes: Sequence[int], world: World, turn: int) -> dict[int, float]:
    """The factor of each node; a node's draw depends on it and the turn, not on who else is slow."""
    if not isinstance(factor, Uniform | Lognormal):
        return dict.fromkeys(nodes, float(factor))
    drawn = draws(factor, world.key(Use.FACTOR, turn), world.topology.nodes)
    return {node: max(1.0, round(drawn[node], 3)) for node in nodes}
