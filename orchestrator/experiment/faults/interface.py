"""What a fault is to the compiler, and the world in which it is compiled.

A fault is a frozen dataclass with a `kind`, its parameters, and two methods: `problems` (what contradicts what in it,
by key) and `events` (its effects, each in its window); the bases in `triggers` have both for most kinds. Every
random choice is a pure function of the run's seed, the fault's number, the turn (which repetition), and what it is for.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import IntEnum
from math import inf
from typing import Literal, Protocol

from pame.errors import PameError
from pame.fault_effects import Effect, Window
from pame.randomness import Key, Purpose
from pame.topology import Topology


class FaultError(PameError):
    """A fault of an experiment cannot be compiled; the message begins with its key, e.g. `faults.2.nodes`."""


class Impossible(Exception):
    """What one key of a fault asks for cannot be done; becomes a FaultError where the fault's number is known."""

    def __init__(self, key: str, why: str) -> None:
        super().__init__(why)
        self.key = key
        self.why = why


class Use(IntEnum):
    """What a draw of a fault is for; the numbers are part of the format."""

    CHOICE = 0
    FACTOR = 1
    GAP = 2
    SHAPE = 3
    VICTIM = 4


Unit = Literal["seconds", "iterations"]


@dataclass(frozen=True)
class Horizon:
    """Where the run ends at the latest: `stop.seconds` and `stop.iterations`."""

    seconds: float = inf
    iterations: float = inf

    def of(self, unit: Unit) -> float:
        return self.seconds if unit == "seconds" else self.iterations


@dataclass(frozen=True)
class World:
    """Where a fault strikes: the graph, its regions if there are any, the seed, the fault's number, the run's end."""

    topology: Topology
    regions: Mapping[int, str] | None
    seed: int
    number: int
    horizon: Horizon

    def key(self, use: Use, turn: int = 0) -> Key:
        """The stream of one random choice."""
        return Key(self.seed, Purpose.FAULTS, node=self.number, iteration=turn, peer=use)


@dataclass(frozen=True)
class Happening:
    """An effect in its window; `words` where the effect does not say enough."""

    effect: Effect
    window: Window
    words: str = ""


class Fault(Protocol):
    """One entry of the section `faults`."""

    @property
    def kind(self) -> str: ...

    def problems(self) -> dict[str, str]:
        """What in it contradicts itself, by key; each sentence says what to do."""
        ...

    def events(self, world: World) -> Iterator[Happening]:
        """What happens when, endless if nothing ends it; raises Impossible if the world does not have what it names."""
        ...
