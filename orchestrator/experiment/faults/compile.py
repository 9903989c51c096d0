"""From the faults of an experiment to its plan: every node and link resolved, nothing left to chance."""

from collections.abc import Mapping, Sequence

from orchestrator.experiment.faults.errors import FaultError, Impossible
from orchestrator.experiment.faults.interface import Fault, Happening, Horizon, World
from orchestrator.experiment.faults.triggers import MOST_EVENTS, too_many
from pame.fault_effects import FaultEvent
from pame.topology import Topology

_MOST_NAMES = 1_000_000
"""Nodes and links that a plan names: about 15 MB of text."""


def contradictions(faults: Sequence[Fault]) -> dict[str, str]:
    """What can be seen without the graph, by dotted key such as `faults.2.until`; each sentence says what to do."""
    return {_where(number, key): why for number, fault in enumerate(faults) for key, why in fault.problems().items()}


def compile_plan(
    faults: Sequence[Fault],
    topology: Topology,
    regions: Mapping[int, str] | None,
    seed: int,
    horizon: Horizon,
) -> tuple[FaultEvent, ...]:
    """The plan, by beginning and then by number: the same for the same arguments. FaultError names what cannot be.

    Only what repeats is bounded by the horizon; a single window stands in the plan as it was asked for.
    """
    for where, why in contradictions(faults).items():
        raise FaultError(f"{where}: {why}")
    plan: list[FaultEvent] = []
    names = 0
    for number, fault in enumerate(faults):
        try:
            for happening in fault.events(World(topology, regions, seed, number, horizon)):
                event = _event(number, fault, happening)
                struck = len(event.links) + len(event.nodes)
                if not struck:
                    continue
                plan.append(event)
                names += struck
                if len(plan) > MOST_EVENTS:
                    raise Impossible("", too_many())
                if names > _MOST_NAMES:
                    raise Impossible(
                        "", f"names more than {_MOST_NAMES:,} nodes and links in all; let it happen less often"
                    )
        except Impossible as error:
            raise FaultError(f"{_where(number, error.key)}: {error.why}") from None
    return tuple(sorted(plan, key=lambda event: (event.window.begin, event.number)))


def _event(number: int, fault: Fault, happening: Happening) -> FaultEvent:
    return FaultEvent(number, happening.words or fault.kind, happening.effect, happening.window)


def _where(number: int, key: str) -> str:
    return f"faults.{number}.{key}" if key else f"faults.{number}"
