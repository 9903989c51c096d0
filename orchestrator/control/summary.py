"""The part of summary.json that only a run on a network has: what the nodes and their links say of themselves."""

from dataclasses import asdict
from hashlib import sha256

from contract.counters import SocketCounts
from contract.rpc import control_pb2 as pb
from orchestrator.control.run_state import NetworkRunState
from orchestrator.results.network_summary import (
    EvaluationCost,
    LinkInUse,
    NetworkSummary,
    NodeResult,
    WireRatios,
    WireSummary,
)
from pame.framing import CLOSING_PACKETS, ETHERNET, LOOPBACK, Interface, Traffic, account
from pame.value_bound import absurd_from

_CPU_BOUND = 0.05


def network_summary(run: NetworkRunState, wall_s: float, run_s: float | None = None) -> NetworkSummary:
    """Figures, bytes on the wire, faults, cost of measuring, digests; `run_s`: how long the links were in use."""
    interface = LOOPBACK if run.is_on_loopback else ETHERNET
    figures, collection, counts = run.totals.figures(), run.collection, run.totals.sockets()
    sockets = sum(counts.values(), SocketCounts()) if counts else None
    steps_have_times = run.setting.compute.step_s > 0
    cost_s = collection.cpu_s
    return NetworkSummary(
        counters={**figures.by_name(), "round_trip_s": figures.round_trip_s, **run.deliveries.figures()},
        tls=run.tls,
        links=[_link(found) for _, links in sorted(run.links.realised.items()) for found in links],
        verified=run.links.verified,
        tls_switched_off=run.experiment.security.tls is False,
        suspects=figures.suspects,
        absurd_senders=figures.absurd_senders,
        overran_share=figures.overran_share if steps_have_times else None,
        cpu_bound=steps_have_times and figures.overran_share > _CPU_BOUND,
        wire=None if run_s is None else wire(run.totals.traffic(run_s, run.tls), sockets, interface),
        deaths=run.disturbances.deaths,
        departures=run.disturbances.departures,
        restarts=run.disturbances.restarts,
        evaluation=EvaluationCost(
            collection.evaluated_s, cost_s, collection.snapshot_bytes, cost_s / wall_s if wall_s else None
        ),
        results={
            str(node): NodeResult(k, sha256(model.astype("<f8").tobytes()).hexdigest())
            for node, (k, model) in sorted(collection.results.items())
        },
    )


def absurd_warnings(run: NetworkRunState) -> list[str]:
    """A sentence if values were sent that the scale of the problem cannot explain."""
    figures, setting = run.totals.figures(), run.setting
    if not figures.into.absurd:
        return []
    counted = run.totals.by_node().items()
    met = {node for (node, _), each in counted if any(link.absurd for link in each.into.values())}
    bound = min(absurd_from(setting.problem.local(node), setting.start) for node in met)
    messages, senders = figures.into.absurd, list(figures.absurd_senders)
    return [f"{messages} messages carried values beyond {bound:.2g}, from nodes {senders}: a node diverges or lies"]


def _link(found: pb.RealisedLink) -> LinkInUse:
    held = found.held if found.HasField("held") else None
    return LinkInUse(found.sender, found.receiver, found.property, found.asked, held, found.mechanism)


def wire(traffic: Traffic, sockets: SocketCounts | None, interface: Interface) -> WireSummary:
    """The byte account by the framing model, next to what the kernels counted on the connections."""
    model = account(traffic, interface)
    seen = sockets if sockets is not None and sockets.connections == traffic.connects else None
    counted, ratios = None, WireRatios()
    if seen is not None:
        sent, packets = seen.bytes_sent + seen.bytes_received, seen.segments_out + seen.segments_in
        counted = sent + packets * interface.header
        ratios = WireRatios(
            stream=_ratio(sent - seen.retransmitted_bytes, model.stream),
            packets=_ratio(packets, model.packets - traffic.connects * CLOSING_PACKETS),
            total=_ratio(counted, model.total - model.closing),
        )
    return WireSummary(
        interface=interface.name,
        messages=traffic.messages + traffic.unreported,
        connections=traffic.connects,
        model={**asdict(model), "total": model.total},
        sockets=sockets,
        counted=counted,
        ratios=ratios,
    )


def _ratio(counted: int, modelled: int) -> float | None:
    return counted / modelled if modelled else None
