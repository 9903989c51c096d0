"""When a fault acts: `at`, `for`, `until`, `every`, in seconds of the run or in iterations of the acting node.

    at: 30s                  at: {iteration: 40}
    for: 10s                 for: {iterations: 20}
    until: 2min              until: {iteration: 60}
    every: 20s               every: {iterations: 50}      begins again and again, until `until` or the end of the run

All of one fault are in the same unit; only how long a node is stopped (paused, killed, restarted) is always in seconds,
because it counts no iterations then. What is left out: `at` is the beginning of the run, the end is that of the run.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import inf
from typing import Annotated

from annotated_types import Ge, Gt
from pydantic import Field

from orchestrator.experiment.faults.interface import Happening, Horizon, Impossible, Unit, World
from orchestrator.experiment.units import DURATION, Duration
from pame.fault_effects import Effect, Window
from pame.units import Count

MOST_EVENTS = 10_000
"""Of one plan."""


@dataclass(frozen=True)
class AtIteration:
    """A moment in the acting node's own count.

    iteration: when it begins this iteration
    """

    iteration: Annotated[int, Ge(0)]


@dataclass(frozen=True)
class ForIterations:
    """A span in the acting node's own count.

    iterations: so many
    """

    iterations: Count


Amount = float | AtIteration | ForIterations
PositiveDuration = Annotated[float, DURATION, Gt(0)]
_SECONDS = replace(DURATION, expected="a time such as 30s (this kind counts seconds, not iterations)")
Seconds = Annotated[float, _SECONDS]
PositiveSeconds = Annotated[float, _SECONDS, Gt(0)]
_STOPPED = replace(DURATION, expected="a time such as 5s (a node that is stopped counts no iterations)")
StoppedSeconds = Annotated[float, _STOPPED, Gt(0)]
Moment = Duration | AtIteration
Span = PositiveDuration | ForIterations

_AT = Field(description="When it begins; the beginning of the run if left out.")
_FOR = Field(alias="for", description="How long it lasts.")
_UNTIL = Field(description="When it ends, or, with `every`, when it stops repeating; the end of the run if left out.")
_EVERY = Field(description="It begins again after so long, each time; random choices are made anew.")


@dataclass(frozen=True, kw_only=True)
class WindowedFault:
    """What faults have in common that act in windows, with the same effect in each."""

    def times(self) -> "Times":
        fields = {"at": "at", "for": "lasts", "back_after": "back_after", "until": "until", "every": "every"}
        return Times({key: getattr(self, name, None) for key, name in fields.items()})

    def problems(self) -> dict[str, str]:
        """What of the times contradicts what."""
        return self.times().problems()

    def events(self, world: World) -> Iterator[Happening]:
        """The effect, once in each window."""
        for turn, window in enumerate(self.times().windows(world.horizon)):
            yield Happening(self.effect(world, turn), window)

    def effect(self, world: World, turn: int) -> Effect:
        """To be said by each kind that has no `events` of its own."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class TimedFault(WindowedFault):
    """A fault with a beginning and an end, by seconds or by iterations."""

    at: Annotated[Moment | None, _AT] = None
    lasts: Annotated[Span | None, _FOR] = None
    until: Annotated[Moment | None, _UNTIL] = None


@dataclass(frozen=True, kw_only=True)
class RepeatedFault(TimedFault):
    """The same, again and again."""

    every: Annotated[Span | None, _EVERY] = None


@dataclass(frozen=True, kw_only=True)
class SecondsFault(TimedFault):
    """A fault with a beginning and an end, by seconds only."""

    at: Annotated[Seconds | None, _AT] = None
    lasts: Annotated[PositiveSeconds | None, _FOR] = None
    until: Annotated[Seconds | None, _UNTIL] = None


@dataclass(frozen=True, kw_only=True)
class RepeatedSecondsFault(SecondsFault):
    """The same, again and again."""

    every: Annotated[PositiveSeconds | None, _EVERY] = None


@dataclass(frozen=True)
class Times:
    """The amounts of a fault by their key; `length` is the key of how long it lasts, in seconds if it stops nodes."""

    given: Mapping[str, Amount | None]
    length: str = "for"
    stops: bool = False

    @property
    def present(self) -> dict[str, Amount]:
        """Those that are not left out."""
        return {key: value for key, value in self.given.items() if value is not None}

    @property
    def unit(self) -> Unit:
        """Of all of them; seconds if there are none."""
        return next(map(unit_of, self._counted.values()), "seconds")

    @property
    def begin(self) -> float:
        return self._number("at", 0.0)

    @property
    def end(self) -> float:
        """Of the only window, or of the repeating."""
        until = self._number("until", inf)
        return until if "every" in self.present else min(until, self.begin + self._number(self.length, inf))

    def problems(self) -> dict[str, str]:
        """What contradicts what, by key."""
        until, length, every = (self.present.get(key) for key in ("until", self.length, "every"))
        if self._strikes and until is not None and every is None:
            why = f"a node that is stopped counts no iterations; say how long with {self.length}, e.g. 5s, instead"
            return {"until": why}
        reference = next(iter(self._counted), "at")
        found = {
            key: f"counts {unit_of(value)}, but {reference} counts {self.unit}; give both in the same unit"
            for key, value in self._counted.items()
            if unit_of(value) != self.unit
        }
        if found:
            return found
        if until is not None and number_of(until) <= self.begin:
            found["until"] = f"{show(until)} is not after the beginning; give a later one than at"
        if every is None and until is not None and length is not None:
            found["until"] = f"{self.length} says already when it ends; remove one of the two, or repeat it with every"
        if every is not None and length is None:
            found["every"] = f"it never ends, so it cannot begin again; say with {self.length} how long each one lasts"
        if every is not None and length is not None and not self._strikes and number_of(every) < number_of(length):
            found["every"] = f"{show(every)} is shorter than {self.length}: {show(length)}; make it at least as long"
        return found

    def windows(self, horizon: Horizon) -> Iterator[Window]:
        """One, or the repeated ones that begin before the run ends; without end if nothing ends them."""
        if "every" not in self.present:
            yield self._window(self.begin)
            return
        end = min(self.end, horizon.of(self.unit))
        for begin in steps(self.begin, self._number("every", inf), end):
            yield self._window(begin)

    def repeated(self, every: float, length: float, horizon: Horizon) -> Iterator[Window]:
        """Windows of that length, one after the other up to the end, which may cut the last one short."""
        for begin in steps(self.begin, every, min(self.end, horizon.of(self.unit))):
            yield Window(begin, min(begin + length, self.end), self.unit)

    @property
    def _counted(self) -> dict[str, Amount]:
        """Those that must be in the same unit."""
        return {key: value for key, value in self.present.items() if not (self.stops and key == self.length)}

    @property
    def _strikes(self) -> bool:
        return self.stops and self.unit == "iterations"

    def _window(self, begin: float) -> Window:
        length = self._number(self.length, inf)
        if self._strikes:
            return Window(begin, unit=self.unit, lasts_s=length)
        return Window(begin, min(begin + length, self._number("until", inf)), self.unit)

    def _number(self, key: str, otherwise: float) -> float:
        return number_of(self.present[key]) if key in self.present else otherwise


def unit_of(amount: Amount) -> Unit:
    return "seconds" if isinstance(amount, float | int) else "iterations"


def number_of(amount: Amount) -> float:
    match amount:
        case AtIteration():
            return float(amount.iteration)
        case ForIterations():
            return float(amount.iterations)
    return float(amount)


def show(amount: Amount) -> str:
    """As a file has it."""
    match amount:
        case AtIteration():
            return f"iteration {amount.iteration}"
        case ForIterations():
            return f"{amount.iterations} iterations"
    return DURATION.show(float(amount))


_ROUNDING = 1e-9
"""Seconds, or iterations: 0.5 + 3 * 0.7 is a little less than 2.6, and that little is no window."""


def steps(begin: float, step: float, end: float) -> Iterator[float]:
    """begin, begin + step, begin + 2 step, ... below `end`: multiplied, so that rounding does not add up."""
    for turn in range(MOST_EVENTS + 1):
        moment = begin + turn * step
        if moment >= end - _ROUNDING:
            return
        yield moment
    raise Impossible("", too_many())


def too_many() -> str:
    """Why no more are made."""
    return f"makes more than {MOST_EVENTS:,} events; let it happen less often, or end it with until or stop"
