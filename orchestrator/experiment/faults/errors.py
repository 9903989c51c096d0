"""What is wrong with the faults of an experiment."""

from pame.errors import PameError


class FaultError(PameError):
    """A fault cannot be compiled; the message begins with its key, e.g. `faults.2.nodes`."""


class Impossible(Exception):
    """What one key of a fault asks for cannot be done; becomes a FaultError where the fault's number is known."""

    def __init__(self, key: str, why: str) -> None:
        super().__init__(why)
        self.key = key
        self.why = why
