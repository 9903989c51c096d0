"""Whatever a node may say has a handler."""

from contract.rpc import control_pb2 as pb
from orchestrator.control.run_messages import HANDLERS


def test_every_kind_of_message_but_a_join_has_a_handler() -> None:
    kinds = {field.name for field in pb.FromNode.DESCRIPTOR.oneofs_by_name["kind"].fields}
    assert set(HANDLERS) == kinds - {"join"}
