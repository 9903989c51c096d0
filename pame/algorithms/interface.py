"""The seam between an algorithm and whatever drives it: a per-node state machine without transport or time.

At every iteration k a driver (lock-step simulator, virtual-time simulator, gRPC node) calls, in this order:

    prepare(k)      local work that must precede sending (local steps, a prediction)
    receivers(k)    whom this node sends to now; empty at most iterations
    message(k)      what it sends, the same for all receivers; asked for only if there are any
    wanted(k)       whose messages it can use, and how many suffice; None if it does not aggregate at k
    absorb(k, ...)  what came (possibly nothing), once per `wanted`
    step(k)         the local step; afterwards `model` is w^{k+1}

Waiting, patience, mailboxes, queues and losses belong to the drivers. What a missing message means belongs to the
algorithm: `absorb` sees exactly what arrived.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from pame.algorithms.selection import Selection, Wanted, Who
from pame.compressors import Payload
from pame.exchange import ValueType, Vector
from pame.problems import LocalObjective
from pame.topology import Topology

Message = Mapping[str, Payload | Vector]
"""One or several named vectors, each a payload or whole; an empty mapping is an explicit "nothing to say"."""


class Delivery(Enum):
    """What a driver may do with messages that nobody has read yet."""

    LATEST = "latest"
    """Overflow drops the oldest; `absorb` gets at most one message per sender."""
    IN_ORDER = "in_order"
    """Never dropped by a mailbox and never reordered, for algorithms that keep replicas; `absorb` gets all of them."""


class Form(Enum):
    """How a vector of a message travels."""

    PARTIAL = "partial"
    """On the support of its sender and iteration, which everybody can draw."""
    DENSE = "dense"
    SPARSE = "sparse"
    """On a support that only its sender knows."""
    QUANTIZED = "quantized"
    LEVELS = "levels"
    SIGNS = "signs"


@dataclass(frozen=True, slots=True)
class Received:
    sender: int
    iteration: int
    message: Message
    size: int
    """Its length on the wire, in bytes."""


class Algorithm(Protocol):
    """One node's part of a decentralized algorithm."""

    @property
    def delivery(self) -> Delivery:
        """How its messages must be delivered."""

    @property
    def vectors(self) -> Mapping[str, Form]:
        """What its messages may hold: the name and the form of every vector."""

    @property
    def lengths(self) -> Mapping[str, int]:
        """How many coordinates a vector has, for those that do not have n: 1 for a single number."""

    @property
    def bundles(self) -> Collection[frozenset[str]]:
        """Which vectors a message holds together: one set of names for each kind of message."""

    @property
    def desynchronised(self) -> int:
        """How often an update was found missing, or an edge left out that the other end may have used, so far."""

    @property
    def model(self) -> Vector:
        """The current model; before iteration k it is w^k."""

    def prepare(self, k: int) -> None:
        """Do the local work that precedes sending."""

    def receivers(self, k: int) -> Sequence[int]:
        """Whom to send to at k."""

    def message(self, k: int) -> Message:
        """What to send at k."""

    def wanted(self, k: int) -> Wanted | None:
        """Whose messages can be used at k."""

    def absorb(self, k: int, received: Sequence[Received]) -> float:
        """Take in what came, in any order; the mean coverage of a coordinate."""

    def step(self, k: int) -> None:
        """Take the local step."""

    def missed(self, neighbour: int, k: int) -> None:
        """Before `absorb`: the message of k, of now or earlier, was dropped here, which the neighbour cannot know."""

    def greet(self, neighbour: int) -> None:
        """A neighbour came back and knows nothing of this node any more."""


@dataclass(frozen=True)
class Context:
    """All that one node's algorithm is told at the start: its place in the network, its data, the public draws."""

    seed: int
    node: int
    topology: Topology
    selection: Selection
    objective: LocalObjective
    start: Vector
    values: ValueType = ValueType.FLOAT64
    is_lost: Callable[[int, int, int], bool] = lambda *_: False
    """(sender, receiver, iteration): whether that message is not sent on purpose, which both ends can compute."""
    first: int = 0
    """The iteration it begins with: not 0 for a node that came back."""


class AlgorithmSpec(Protocol):
    """An algorithm's parameters, as they stand in an experiment file."""

    @property
    def kind(self) -> str:
        """The name the algorithm is registered under."""

    @property
    def share(self) -> float:
        """`nu`: the share of its neighbours a node averages at a round."""

    @property
    def who(self) -> Who:
        """How it chooses who talks to whom."""

    @property
    def fan_out(self) -> int:
        """To how many nodes one speaks, where all are within reach."""

    def first_step(self, enough: int) -> float:
        """The largest step it takes at a node that averages `enough` messages; for the warning about divergence."""

    def node(self, context: Context) -> Algorithm:
        """The state machine of one node."""
