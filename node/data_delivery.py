"""An assignment that waits for its samples: they are asked for piece by piece, each when the one before is there."""

from collections.abc import Callable
from dataclasses import dataclass

from contract.data_delivery import DeliveryRefused, ShardAssembly
from contract.rpc import control_pb2 as pb
from contract.rpc import refusal_pb2


@dataclass(frozen=True)
class DataDelivery:
    assignment: pb.Assignment
    assembly: ShardAssembly
    send: Callable[[pb.FromNode], None]

    def ask(self) -> None:
        """For the next piece."""
        wanted = pb.DataWanted(run=self.assignment.run, offset=self.assembly.bytes)
        self.send(pb.FromNode(data_wanted=wanted))

    def take(self, piece: pb.DataPiece) -> bool:
        """Whether everything is there now; DeliveryRefused if this is not the next piece."""
        self.assembly.add(piece)
        if not self.assembly.is_whole:
            self.ask()
        return self.assembly.is_whole


def refuse_piece() -> None:
    raise DeliveryRefused(refusal_pb2.REFUSAL_DATA_NOT_WANTED, "a piece that nobody has asked for")
