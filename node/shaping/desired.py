"""What a node wants of its links: plain values, checked once, so that `tc` accepts whatever is rendered from them."""

import re
from dataclasses import dataclass
from ipaddress import AddressValueError, IPv4Address

from pame.errors import ParameterError
from pame.links import LinkSpec

MOST_NEIGHBOUR = 0xFFF - 0x10
"""A neighbour has a u32 filter of its own, and those are numbered with 12 bits."""
_INTERFACE = re.compile(r"[^\s/\"'#\\]{1,15}")


@dataclass(frozen=True, slots=True)
class Shaped:
    """The links between this node and one neighbour."""

    neighbour: int
    address: str
    """IPv4, on the data network."""
    spec: LinkSpec
    """Of the link to the neighbour."""
    cut: bool = False
    """Nothing gets through to the neighbour."""
    loss_in: float = 0.0
    """The share of the neighbour's packets that is lost here, because its own kernel cannot: see `left_to_receiver`."""
    cut_in: bool = False
    """Nothing gets through from the neighbour, and its own kernel has no netem: both ends see to it."""

    def __post_init__(self) -> None:
        if not 0 <= self.neighbour <= MOST_NEIGHBOUR:
            raise ParameterError(f"node {self.neighbour} cannot be shaped: a kernel tells 0 to {MOST_NEIGHBOUR} apart")
        try:
            IPv4Address(self.address)
        except AddressValueError:
            raise ParameterError(
                f"the link to node {self.neighbour} cannot be shaped: {self.address!r} is no IPv4 address"
            ) from None
        if not (0 <= self.spec.loss <= 1 and 0 <= self.loss_in <= 1):
            raise ParameterError(f"the loss on the link to node {self.neighbour} is a share: give 0 to 1")


@dataclass(frozen=True, slots=True)
class Desired:
    """What a node wants of its data interface; what goes to nobody in `links` stays unshaped."""

    interface: str
    links: tuple[Shaped, ...]
    seed: int
    node: int = 0
    """Whose links these are: with the seed, every link has its own random stream."""
    single_packets: bool = False
    """Segments leave one by one (`gso_max_segs 1`). Implied by loss; ask for it where loss may come later, because an
    open socket keeps the segment size that it began with."""

    def __post_init__(self) -> None:
        if not _INTERFACE.fullmatch(self.interface):
            raise ParameterError(f"{self.interface!r} is no name of a network interface")
        for what in ("neighbour", "address"):
            values = [getattr(link, what) for link in self.links]
            if len(set(values)) < len(values):
                raise ParameterError(f"two links of {self.interface} have the same {what}: give each its own")
