"""How far a run is on its way to its end: by iterations or by seconds, whichever will end it first at this pace."""

from dataclasses import dataclass

from orchestrator.number_words import number
from pame.stopping import StopRules


@dataclass(frozen=True, slots=True)
class Progress:
    """`share`: 0 to 1; `words`: e.g. `20/300 iterations`."""

    share: float
    words: str


def progress_of(stop: StopRules, iterations: float, seconds: float | None) -> Progress:
    """By the limit of which more is used up; `seconds` None: without a clock, or not told."""
    limits = ((iterations, stop.iterations, "iterations"), (seconds, stop.seconds, "seconds"))
    found = [
        Progress(min(reached / limit, 1.0), f"{number(min(int(reached), limit))}/{number(limit)} {unit}")
        for reached, limit, unit in limits
        if limit and reached is not None
    ]
    return max(found, key=lambda progress: progress.share, default=Progress(0.0, ""))
