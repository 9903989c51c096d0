"""One node's part in measuring the links: it sends when it is told to, keeps what comes, and tells it when asked."""

import asyncio
import time
from collections import defaultdict
from math import isfinite

from google.protobuf.message import DecodeError

from contract.assignment import Assigned, Peer
from contract.credentials import Credentials
from contract.realised import PINGS, PINGS_OF_JITTER
from contract.rpc import control_pb2, exchange_pb2, refusal_pb2
from node.conditions import NodeConditions
from node.probing.datagram import Datagram, key_of, pack, read
from node.probing.machine import capacity_bps
from node.probing.stream import UNCOUNTED, ProbeStream
from node.probing.udp import ProbeSocket
from node.shaping import Shaper
from node.wire_message import WireMessageRefused
from pame.links import LinkSpec

_SPACING_S, _LOSS_SPACING_S = 0.01, 0.002
_BIG, _HEADERS = 1200, 42
"""A datagram for the rate, and what IP, UDP and Ethernet add to it on the link."""
_ABOVE_RATE = 1.3
_PULSE_S = 0.002
_KEPT = 4096
"""Probes of a neighbour, at most."""


class Prober:
    """From an assignment to the start of its run."""

    def __init__(
        self, assigned: Assigned, shaper: Shaper, conditions: NodeConditions, credentials: Credentials | None
    ) -> None:
        self._assigned = assigned
        self._shaper = shaper
        self._conditions = conditions
        self._credentials = credentials
        self._peers = {peer.index: peer for peer in assigned.peers}
        self._socket: ProbeSocket | None = None
        self._no_socket = "the kernel shapes no link of this node"
        self._overrun = 0
        self._streams: dict[int, ProbeStream] = {}
        self._key = key_of(assigned.secret)
        self._number = 0
        """Of the newest order; probes of an older one are of no use to anybody."""
        self._datagrams: dict[int, control_pb2.Sample] = defaultdict(control_pb2.Sample)
        self._messages: dict[int, control_pb2.Sample] = defaultdict(control_pb2.Sample)
        """What came from a neighbour under this number."""

    def open(self, host: str, port: int) -> None:
        """Listen for datagrams, if the kernel has a hand in any link."""
        if not self._shaper.is_at_work:
            return
        try:
            self._socket = ProbeSocket(host, port, self._datagram)
        except OSError as error:
            self._no_socket = f"no UDP port {port} at node {self._assigned.index}: {error.strerror}"

    async def close(self) -> None:
        """The run begins, or is off."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None
        streams, self._streams = self._streams, {}
        await asyncio.gather(*(stream.close() for stream in streams.values()))

    def arrive(self, data: bytes, name: str | None) -> int:
        """A probe message from whom a certificate names so, or `WireMessageRefused`."""
        when = time.time_ns()
        try:
            probe = exchange_pb2.ProbeMessage.FromString(data)
        except DecodeError:
            raise WireMessageRefused(refusal_pb2.REFUSAL_NOT_A_MESSAGE, "these bytes are no probe") from None
        if probe.run != self._assigned.run:
            raise WireMessageRefused(refusal_pb2.REFUSAL_WRONG_RUN, "a probe of another run")
        peer = self._peers.get(probe.sender)
        if peer is None or (self._assigned.tls and peer.name != name):
            raise WireMessageRefused(refusal_pb2.REFUSAL_UNKNOWN_SENDER, "a probe of somebody who is no neighbour")
        if probe.number != UNCOUNTED and self._is_new(probe.number):
            _add(self._messages[probe.sender], when, probe.sent_ns, len(data))
        return 0

    async def carry_out(self, order: control_pb2.Probe) -> control_pb2.Probed:
        """What an order asks for; the answer."""
        answer = control_pb2.Probed(run=order.run, number=order.number, peer=order.peer)
        if order.kind == control_pb2.Probe.KIND_CAPACITY:
            answer.capacity_bps = await asyncio.to_thread(capacity_bps, order.seconds)
        elif order.peer not in self._peers:
            answer.trouble = f"node {order.peer} is no neighbour of node {self._assigned.index}"
        elif order.kind == control_pb2.Probe.KIND_COLLECT:
            self._tell(order, answer)
        elif order.kind in (control_pb2.Probe.KIND_TIMING, control_pb2.Probe.KIND_RATE):
            self._is_new(order.number)
            await self._send(order, answer)
        return answer

    def _is_new(self, number: int) -> bool:
        """Whether this is of the newest number; a newer one begins an empty page."""
        if number > self._number:
            self._number = number
            self._datagrams.clear()
            self._messages.clear()
            self._overrun = self._socket.overrun if self._socket else 0
        return number == self._number

    async def _send(self, order: control_pb2.Probe, answer: control_pb2.Probed) -> None:
        peer, whole = self._peers[order.peer], self._conditions.whole_link(order.peer)
        left = self._conditions.link(order.peer)  # to the in-process shaper
        is_rate = order.kind == control_pb2.Probe.KIND_RATE
        jobs = []
        if (isfinite(left.rate_bps)) if is_rate else (left.delay_s or left.jitter_s):
            jobs.append(self._send_messages(order, answer, peer, left))
        if (whole.rate_bps != left.rate_bps) if is_rate else (_timing(whole) != _timing(left)):
            jobs.append(self._send_datagrams(order, answer, peer, whole))
        await asyncio.gather(*jobs)

    async def _send_messages(
        self, order: control_pb2.Probe, answer: control_pb2.Probed, peer: Peer, left: LinkSpec
    ) -> None:
        stream = self._streams.get(peer.index)
        if stream is None:
            stream = ProbeStream(self._assigned, peer, self._conditions, self._credentials)
            self._streams[peer.index] = stream
            if not await stream.connect():
                answer.trouble = f"no answer from node {peer.index}"
                return
        sample = answer.messages
        if order.kind == control_pb2.Probe.KIND_RATE:
            back = self._assigned.setting.conditions.link_between(peer.index, self._assigned.index)
            whole = self._conditions.whole_link(peer.index)
            trip_s = whole.delay_s + back.delay_s + 2 * (whole.jitter_s + back.jitter_s)
            sample.sent, sample.bytes = await stream.train(order.number, left.rate_bps, trip_s)
        else:
            fewest = PINGS_OF_JITTER if left.jitter_s else PINGS
            sample.sent = await stream.pings(order.number, order.seconds, fewest)
        if isfinite(stream.shortest_s):
            sample.round_trip_ns.append(int(stream.shortest_s * 1e9))

    async def _send_datagrams(
        self, order: control_pb2.Probe, answer: control_pb2.Probed, peer: Peer, whole: LinkSpec
    ) -> None:
        if self._socket is None:
            answer.trouble = self._no_socket
            return
        host, _, port = peer.address.rpartition(":")
        address, sample = (host, int(port)), answer.datagrams
        if order.kind == control_pb2.Probe.KIND_RATE:
            sample.bytes = _BIG + _HEADERS
            await self._train(order, sample, address, whole)
        else:
            spacing = _LOSS_SPACING_S if whole.loss else _SPACING_S
            deadline = time.monotonic() + order.seconds
            while time.monotonic() < deadline:
                sample.sent += self._socket.send(self._filled(order), address)
                await asyncio.sleep(spacing)

    async def _train(
        self, order: control_pb2.Probe, sample: control_pb2.Sample, address: tuple[str, int], whole: LinkSpec
    ) -> None:
        """A little faster than the link, so that its queue is never empty."""
        per_second = _ABOVE_RATE * whole.rate_bps / (8 * (_BIG + _HEADERS))
        began = time.monotonic()
        while self._socket is not None and (spent := time.monotonic() - began) < order.seconds:
            while sample.sent < spent * per_second + 2:
                if not self._socket.send(self._filled(order, _BIG), address):
                    sample.overrun += 1
                    break
                sample.sent += 1
            await asyncio.sleep(_PULSE_S)

    def _filled(self, order: control_pb2.Probe, size: int = 64) -> bytes:
        index = self._assigned.index
        return pack(Datagram(self._key, order.number, index, order.peer, order.echo, time.time_ns()), size)

    def _datagram(self, data: bytes, where: tuple[str, int], when_ns: int) -> None:
        found, index = read(data), self._assigned.index
        if found is None or found.key != self._key:
            return
        if found.receiver == index and found.sender in self._peers and self._is_new(found.number):
            _add(self._datagrams[found.sender], when_ns, found.sent_ns, len(data) + _HEADERS)
            if found.echo and self._socket is not None:
                self._socket.send(data, where)
        elif found.sender == index and found.echo and found.number == self._number:
            came = self._datagrams[found.receiver]
            if len(came.round_trip_ns) < _KEPT:
                came.round_trip_ns.append(when_ns - found.sent_ns)

    def _tell(self, order: control_pb2.Probe, answer: control_pb2.Probed) -> None:
        if order.number != self._number:
            return  # nothing has come
        answer.datagrams.CopyFrom(self._datagrams[order.peer])
        answer.messages.CopyFrom(self._messages[order.peer])
        if self._socket is not None:
            answer.datagrams.overrun = self._socket.overrun - self._overrun


def _add(came: control_pb2.Sample, when_ns: int, sent_ns: int, size: int) -> None:
    if len(came.arrival_ns) < _KEPT:
        came.arrival_ns.append(when_ns)
        came.age_ns.append(when_ns - sent_ns)
        came.bytes = size


def _timing(spec: LinkSpec) -> tuple[float, float, float]:
    return spec.delay_s, spec.jitter_s, spec.loss
