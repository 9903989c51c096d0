"""Messages for links in tests, and their weather: one spec, no jitter, and a cut that ends when the test says."""

from dataclasses import dataclass, field

from node.wire_message import WireMessage
from pame.codec import Sizes
from pame.links import LinkSpec


def message(k: int, size: int = 100) -> WireMessage:
    """Bytes that begin with its iteration."""
    return WireMessage(k, k.to_bytes(4, "big") + bytes(size - 4), Sizes(values=size - 10, framing=3))


@dataclass
class StillConditions:
    spec: LinkSpec = field(default_factory=LinkSpec)
    whole: LinkSpec = field(default_factory=LinkSpec)
    """With what a kernel does."""
    held_s: float = 0.0
    by_kernel: bool = False

    def link(self, receiver: int) -> LinkSpec:
        return self.spec

    def whole_link(self, receiver: int) -> LinkSpec:
        return self.whole

    def jitter(self, receiver: int, k: int) -> float:
        return 0.5

    def is_emulated(self, receiver: int) -> bool:
        return not self.by_kernel

    def held_for(self, receiver: int) -> float:
        return self.held_s

    def is_cut(self, receiver: int) -> bool:
        return self.held_s > 0
