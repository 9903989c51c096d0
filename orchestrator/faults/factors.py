"""How many times slower: a number, or a distribution from which each slow node draws its own.

    factor: 10      factor: uniform(5, 20)      factor: lognormal(10, 0.5)      median, and sigma of the logarithm

Drawn factors are rounded to a thousandth, because exp differs in the last bit between machines; none is below 1.
"""

import re
from collections.abc import Sequence
from math import exp
from typing import Annotated, NamedTuple

from annotated_types import Ge

from orchestrator.faults.seam import Use, World
from orchestrator.faults.selectors import Written
from pame.randomness import normals, uniforms

_NUMBER = r"[0-9]{1,6}(?:\.[0-9]{1,6})?"
_TEXT = rf"(uniform|lognormal)\( *({_NUMBER}) *, *({_NUMBER}) *\)"
_LARGEST_SIGMA = 3.0


class Uniform(NamedTuple):
    """Between two numbers."""

    low: float
    high: float


class Lognormal(NamedTuple):
    """median * exp(sigma * standard normal)."""

    median: float
    sigma: float


def _read(text: str) -> Uniform | Lognormal:
    word, first, second = re.fullmatch(_TEXT, text).groups()  # type: ignore[union-attr]
    a, b = float(first), float(second)
    if a < 1 or (word == "uniform" and b < a) or (word == "lognormal" and b > _LARGEST_SIGMA):
        raise ValueError("out of range")
    return Uniform(a, b) if word == "uniform" else Lognormal(a, b)


def _show(value: Uniform | Lognormal) -> str:
    return f"{type(value).__name__.lower()}({value[0]:.15g}, {value[1]:.15g})"


_DISTRIBUTION = Written(
    "uniform(5, 20) (from, to) or lognormal(10, 0.5) (median of at least 1, sigma of at most 3)",
    ("uniform(5, 20)", "lognormal(10, 0.5)"),
    _TEXT,
    _read,
    _show,
)
Factor = Annotated[float, Ge(1)] | Annotated[Uniform | Lognormal, _DISTRIBUTION]


def factors(factor: float | Uniform | Lognormal, nodes: Sequence[int], world: World, turn: int) -> dict[int, float]:
    """The factor of each node; a node's draw depends on it and the turn, not on who else is slow."""
    match factor:
        case Uniform(low, high):
            drawn = uniforms(world.key(Use.FACTOR, turn), world.topology.nodes)
            return {node: round(low + (high - low) * float(drawn[node]), 3) for node in nodes}
        case Lognormal(median, sigma):
            drawn = normals(world.key(Use.FACTOR, turn), world.topology.nodes)
            return {node: max(1.0, round(median * exp(sigma * float(drawn[node])), 3)) for node in nodes}
    return dict.fromkeys(nodes, float(factor))
