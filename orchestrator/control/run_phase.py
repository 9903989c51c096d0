"""The phases of a run and the order they come in.

gathering    waits for enough members          ending     the nodes stop and send their results
preparing    every node gets its assignment    evaluating models that were kept are judged
verifying    the links are measured            idle       no run, or one that is over
running      the nodes iterate
"""

from collections.abc import Mapping
from enum import StrEnum


class Phase(StrEnum):
    """The values are words on the wire and labels in Prometheus."""

    IDLE = "idle"
    GATHERING = "gathering"
    PREPARING = "preparing"
    VERIFYING = "verifying"
    RUNNING = "running"
    ENDING = "ending"
    EVALUATING = "evaluating"


NEXT: Mapping[Phase, frozenset[Phase]] = {
    Phase.GATHERING: frozenset({Phase.PREPARING, Phase.ENDING}),
    Phase.PREPARING: frozenset({Phase.VERIFYING, Phase.RUNNING, Phase.ENDING}),
    Phase.VERIFYING: frozenset({Phase.RUNNING, Phase.ENDING}),
    Phase.RUNNING: frozenset({Phase.ENDING}),
    Phase.ENDING: frozenset({Phase.EVALUATING, Phase.IDLE}),
    Phase.EVALUATING: frozenset({Phase.IDLE}),
    Phase.IDLE: frozenset(),
}
BEFORE_START = frozenset({Phase.GATHERING, Phase.PREPARING, Phase.VERIFYING})


class WrongPhase(RuntimeError):
    """A mistake of ours: no run goes from the one phase to the other."""


def moved(phase: Phase, to: Phase) -> Phase:
    """The next phase; WrongPhase if the table has no such step."""
    if to not in NEXT[phase]:
        raise WrongPhase(f"a run that is {phase} cannot be {to} next")
    return to
