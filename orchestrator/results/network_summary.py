"""The part of summary.json that only a run on a network has."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from contract.counters import SocketCounts
from orchestrator.results.typed_json import other_keys


@dataclass(frozen=True)
class LinkInUse:
    """One property of one directed link: what was asked, what is held of it (None: nobody can say), and by what."""

    sender: int | None = None
    receiver: int | None = None
    property: str = ""
    asked: float | str | None = None
    held: float | str | None = None
    mechanism: str = ""


@dataclass(frozen=True)
class VerifiedLink:
    """One property of one directed link as it was measured before the run."""

    sender: int | None = None
    receiver: int | None = None
    property: str = ""
    asked: float | None = None
    measured: float | None = None
    low: float | None = None
    high: float | None = None
    mechanism: str = ""
    verdict: str = ""
    how: str = ""
    """How it was measured, or why not."""


@dataclass(frozen=True)
class VerifiedLinks:
    """All that was measured before the run."""

    seconds: float | None = None
    capacity_bps: float | None = None
    """What the weakest machine carries; None: nobody asked."""
    verdicts: Mapping[str, int] = field(default_factory=dict)
    coverage: Mapping[str, Sequence[int]] = field(default_factory=dict)
    """By property: of how many links it was looked at, and of how many it is asked."""
    findings: Sequence[VerifiedLink] = ()


@dataclass(frozen=True)
class WireRatios:
    """What the kernels counted, over what the model says."""

    stream: float | None = None
    packets: float | None = None
    total: float | None = None


@dataclass(frozen=True)
class WireSummary:
    """Bytes on the wire: by the framing model, next to what the kernels counted on the connections."""

    interface: str = ""
    messages: int | None = None
    connections: int | None = None
    model: Mapping[str, float | None] = field(default_factory=dict)
    """By term of the model (`pame.framing.FramedBytes`), and their `total`."""
    sockets: SocketCounts | None = None
    counted: float | None = None
    ratios: WireRatios = WireRatios()


@dataclass(frozen=True)
class EvaluationCost:
    """What watching the run took."""

    seconds: float | None = None
    cpu_s: float | None = None
    bytes: float | None = None
    share_of_wall: float | None = None


@dataclass(frozen=True)
class NodeResult:
    iteration: int | None = None
    sha256: str = ""


@dataclass(frozen=True)
class NetworkSummary:
    """What the nodes and their links say of themselves."""

    counters: Mapping[str, float | None] = other_keys()
    """By name, over all nodes."""
    tls: bool | None = None
    links: Sequence[LinkInUse] = ()
    verified: VerifiedLinks | None = None
    tls_switched_off: bool = False
    suspects: Sequence[int] = ()
    """Nodes that some neighbour did not wait for at the end."""
    absurd_senders: Sequence[int] = ()
    """Nodes that sent values beyond the problem's scale."""
    overran_share: float | None = None
    """Of the steps; None: they have no nominal time."""
    cpu_bound: bool = False
    wire: WireSummary | None = None
    deaths: int | None = None
    departures: int | None = None
    restarts: int | None = None
    evaluation: EvaluationCost | None = None
    results: Mapping[str, NodeResult] = field(default_factory=dict)
    """By node."""
