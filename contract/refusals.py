"""The names of refusals: those of proto/pame/v1/refusal.proto, in small letters."""

from typing import Any

from contract.rpc import refusal_pb2

_NAMES = {number: name.removeprefix("REFUSAL_").lower() for name, number in refusal_pb2.Refusal.items()}


def refusal_name(refusal: int) -> str:
    """A refusal as it appears in metrics and reports; one that is not known here has a number for a name."""
    return _NAMES.get(refusal) or f"refusal_{refusal}"


def refusal_number(name: str) -> Any:
    """For a field of that enum."""
    return refusal_pb2.Refusal.Value(f"REFUSAL_{name.upper()}")
