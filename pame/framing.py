"""What a run's messages cost on the wire: application bytes plus a stated framing model, term by term.

One data connection i→j carries messages one way and receipts the other. With L the protobuf bytes of a message:

    message     L + 5 (gRPC: flag and length) + 9 (HTTP/2 frame head)             sender to receiver
                26: two WINDOW_UPDATE frames of 13, for the stream and for the connection         back
    receipt     3 (protobuf: a count) + 5 + 9, and 26 for its two WINDOW_UPDATE frames
    segments    ceil((L + 14) / segment) per message, one per receipt; each has an IP and a TCP header
    pure ACKs   one for every 4 further segments of a message; for the receipt one if the next message comes after the
                delayed-ACK time of 40 ms, else 1/4, because mostly that message acknowledges it
    probes      gRPC measures the path by PING and answer, at both ends: 34 bytes in 4.5 packets per probe
    connection  606 bytes in 19 packets, two of them with 8 more bytes of TCP options (SYN)
    TLS         where there is any: 22 per record, one record for every 16 KiB begun of a message and one for a receipt;
                5460 bytes to open a connection (both certificates, session tickets)

Standard: the gRPC prefix, HTTP/2 frame heads (RFC 9113), IPv4 and TCP headers with timestamps (20 + 20 + 12), an ACK
for every second segment (RFC 5681); receivers that merge segments first acknowledge some 7 at once (measured), so 4
lies between, and is wrong by at most 1.2 % of the total on Ethernet. Read in gRPC's BdpEstimator: probes 0.1 s apart
at first, then every time 0.1 to 0.2 s longer, up to 10 s, and only after data: about sqrt(T / 0.075) in T seconds.
Measured with grpcio 1.85 and a packet capture on loopback: one DATA frame per message (one larger than the flow-control
window is cut into a few more: 9 bytes each, not modelled), two window updates after every message and every receipt,
which ride on the next segment, the 1/4 (0 to 1/2), the packets per probe, and everything about the connection
(preface, SETTINGS and their acknowledgement, request and response headers, RST_STREAM, GOAWAY, FIN).
TLS 1.3 (RFC 8446): a record has a head of 5, a type of 1 and a tag of 16 bytes; the 5460 were measured with
certificates on the curve P-256, as the difference of what `ss` counts with and without TLS. (Messages of 800 kB had
records of some 10 KiB: 0.1 % of the total that is not modelled.)
Retransmissions are not modelled: they are the network's doing, and are counted apart.
"""

from dataclasses import asdict, dataclass
from math import ceil, sqrt

from pame.codec import Sizes

GRPC_PREFIX = 5
FRAME_HEAD = 9
WINDOW_UPDATES = 2 * (FRAME_HEAD + 4)
RECEIPT = 3
PROBE = 2 * (FRAME_HEAD + 8)
PROBE_PACKETS = 4.5
PROOF = 2 + 14 + 2 + 16
"""Among the request headers: `pame-proof-bin` and the proof of the run's secret, each with its HPACK lengths."""
OPENING = 374 + PROOF + 87
"""Before the first message, and the response headers that come with the first receipt."""
CLOSING = 111
OPENING_PACKETS = 11
CLOSING_PACKETS = 8
SYN_OPTIONS = 2 * 8
TLS_RECORD = 22
TLS_RECORD_BYTES = 2**14
TLS_OPENING = 5460
DELAYED_ACK_S = 0.040
SEGMENTS_PER_ACK = 4
_RIDING_ACKS = 0.25
_PROBE_GROWTH_S = 0.15
_LONGEST_PROBE_PAUSE_S = 10.0


@dataclass(frozen=True, slots=True)
class Interface:
    name: str
    segment: int
    """Payload bytes of the largest packet."""
    header: int
    """Bytes the counter adds to the payload of a packet."""


LOOPBACK = Interface("loopback", segment=65483, header=52)
"""MTU 65535; the counters of `lo` leave out the link header."""
ETHERNET = Interface("ethernet", segment=1448, header=66)
"""MTU 1500, and 14 bytes of link header that counters include."""


@dataclass(frozen=True, slots=True)
class Traffic:
    """What the nodes of a run counted on their data links, summed."""

    messages: int
    sizes: Sizes
    protobuf: int
    receipts: int
    connects: int
    seconds: float
    """How long the connections were in use."""
    tls: bool = False
    resent: int = 0
    """Messages that were handed over again."""
    resent_bytes: int = 0
    """Of their vectors; protobuf around them is in `protobuf`."""
    unreported: int = 0
    """Messages that only their receivers tell of."""
    unreported_bytes: int = 0

    @property
    def all_messages(self) -> int:
        """However often, and whoever counted them."""
        return self.messages + self.resent + self.unreported


@dataclass(frozen=True, slots=True)
class FramedBytes:
    """Bytes by what they are for; both directions of all data connections."""

    values: int
    support: int
    stars: int
    framing: int
    """The codec's own: flags and lengths."""
    resent: int
    """Vectors that were handed over again after a connection broke."""
    unreported: int
    """Vectors of nodes that died before they counted them, of any kind."""
    protobuf: int
    grpc_http2: int
    """Around messages: prefix, frame heads, window updates."""
    receipts: int
    """With everything around them but TCP/IP."""
    probes: int
    tls: int
    """Records and handshakes."""
    tcp_ip: int
    """Headers of all packets with content."""
    acknowledgements: int
    """Packets that carry nothing but an acknowledgement."""
    connections: int
    """Opening and closing them."""
    closing: int
    """Part of `connections`: what comes after a socket can be asked."""
    stream: int
    """What a socket counts as sent and received until it is closed: no headers, no closing; part of the total."""
    packets: int

    @property
    def total(self) -> int:
        """What the interface counters should say."""
        vectors = self.values + self.support + self.stars + self.framing + self.resent + self.unreported
        inside = vectors + self.protobuf + self.grpc_http2 + self.receipts + self.probes + self.tls
        return inside + self.tcp_ip + self.acknowledgements + self.connections


def account(traffic: Traffic, interface: Interface) -> FramedBytes:
    """The model above, for messages of one size: their mean."""
    sizes, messages, receipts, connects = traffic.sizes, traffic.all_messages, traffic.receipts, traffic.connects
    message_bytes = sizes.total + traffic.resent_bytes + traffic.unreported_bytes + traffic.protobuf
    grpc_http2 = messages * (GRPC_PREFIX + FRAME_HEAD + WINDOW_UPDATES)
    receipt_bytes = receipts * (RECEIPT + GRPC_PREFIX + FRAME_HEAD + WINDOW_UPDATES)
    probes = 2 * connects * probes_per_end(traffic.seconds, messages / connects) if connects else 0.0
    segments = ceil((message_bytes / messages + GRPC_PREFIX + FRAME_HEAD) / interface.segment) if messages else 0
    pause_s = traffic.seconds * connects / messages if messages else 0.0
    further = max(0, segments - 1)
    acks = messages * further / SEGMENTS_PER_ACK + receipts * (1.0 if pause_s > DELAYED_ACK_S else _RIDING_ACKS)
    full = messages * segments + receipts + probes * PROBE_PACKETS
    tls = _tls(traffic, message_bytes) if traffic.tls else 0
    stream = message_bytes + grpc_http2 + receipt_bytes + round(probes * PROBE) + tls + connects * OPENING
    opening = OPENING + OPENING_PACKETS * interface.header + SYN_OPTIONS
    closing = CLOSING + CLOSING_PACKETS * interface.header
    return FramedBytes(
        **asdict(sizes),
        resent=traffic.resent_bytes,
        unreported=traffic.unreported_bytes,
        protobuf=traffic.protobuf,
        grpc_http2=grpc_http2,
        receipts=receipt_bytes,
        probes=round(probes * PROBE),
        tls=tls,
        tcp_ip=round(full * interface.header),
        acknowledgements=round(acks * interface.header),
        connections=connects * (opening + closing),
        closing=connects * closing,
        stream=stream,
        packets=round(full + acks) + connects * (OPENING_PACKETS + CLOSING_PACKETS),
    )


def _tls(traffic: Traffic, message_bytes: int) -> int:
    length = message_bytes / traffic.all_messages + GRPC_PREFIX + FRAME_HEAD if traffic.all_messages else 0.0
    records = traffic.all_messages * ceil(length / TLS_RECORD_BYTES) + traffic.receipts
    return records * TLS_RECORD + traffic.connects * TLS_OPENING


def probes_per_end(seconds: float, messages: float) -> float:
    """How many PINGs gRPC sends at one end of a connection that has been used for so long."""
    growing_s = _LONGEST_PROBE_PAUSE_S**2 / (2 * _PROBE_GROWTH_S)
    most = sqrt(2 * min(seconds, growing_s) / _PROBE_GROWTH_S)
    return min(messages, most + max(0.0, seconds - growing_s) / _LONGEST_PROBE_PAUSE_S)
