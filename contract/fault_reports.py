"""An effect of the plan begins or ends: what its node says of it, and the same as a message."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from contract.realised import Realised
from contract.rpc import control_pb2 as pb
from pame.fault_effects import FaultEvent, Window

IN_PROCESS, SUPERVISOR = "in-process", "supervisor"
"""Who carries an effect out, where the kernel does not."""


@dataclass(frozen=True)
class Turn:
    """An effect begins or ends."""

    event: FaultEvent
    begins: bool
    seconds: float
    iteration: int
    mechanism: str = IN_PROCESS
    failure: str = ""
    took: float | None = None
    """Seconds until the kernel held it; None: nothing had to be waited for."""
    held: Sequence[Realised] = ()
    """What the kernel then said of the links concerned."""


def concerns(event: FaultEvent, index: int) -> bool:
    """Whether a node acts in it: as the sender of a link, or by itself."""
    return index in event.nodes or any(sender == index for sender, _ in event.links)


def fault_message(run: int, turn: Turn) -> pb.FaultReport:
    window = turn.event.window
    return pb.FaultReport(
        run=run,
        number=turn.event.number,
        begins=turn.begins,
        seconds=turn.seconds,
        iteration=turn.iteration,
        mechanism=turn.mechanism,
        detail=turn.failure or turn.event.fault,
        failed=bool(turn.failure),
        planned=planned_moment(window, turn.begins),
        by_iteration=window.unit == "iterations",
        took=turn.took,
        held=[realised_message(found) for found in turn.held],
    )


def planned_moment(window: Window, begins: bool) -> float:
    """When it begins or ends by the plan; a node that is stopped at an iteration counts none until it goes on."""
    return window.begin if begins or window.lasts_s is not None else window.end


def realised_message(found: Realised) -> pb.RealisedLink:
    return pb.RealisedLink(**asdict(found))
