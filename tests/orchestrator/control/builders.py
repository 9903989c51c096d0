"""What an honest node says in a run, by the node's own builders: one of everything."""

import numpy as np

from contract.counter_reports import record_message, totals_message
from contract.counters import InCounters, NodeCounters, OutCounters, SocketCounts
from contract.fault_reports import Turn, concerns, fault_message, realised_message
from contract.realised import Realised
from contract.rpc import control_pb2 as pb
from orchestrator.control.members import Member
from pame.codec import Sizes
from pame.fault_effects import Plan
from pame.observe import Record
from pame.resolved_run import ResolvedRun


def member(index: int = 0, *capabilities: str, name: str = "") -> Member:
    """Of an address of its own."""
    return Member(name or f"node-{index}", f"127.0.0.1:{index + 1}", "", "1", 1, frozenset(capabilities))


def record(node: int, k: int) -> pb.Record:
    made = Record(
        node=node, iteration=k, seconds=0.1 * k, waited_s=0.01, wanted=2, received=2, coverage=1.5 if k % 2 else None,
        starved=0, late=1, messages=2, bytes=400, lost=0, staleness=0.0,
    )  # fmt: skip
    return record_message(made)


def ready(run: int, node: int, setting: ResolvedRun) -> pb.FromNode:
    links = [
        Realised(node, other, what, asked, how, asked)
        for other in setting.contacts(node)
        for what, asked, how in (("delay", 0.02, "netem"), ("rate", 1e6, "htb"), ("loss", 0.01, "refused: no\nnft"))
    ]
    made = pb.Ready(run=run, links=map(realised_message, links), boot="0f2e-1", lossless="no nft here")
    return pb.FromNode(ready=made)


def totals(run: int, node: int, setting: ResolvedRun) -> pb.FromNode:
    account = NodeCounters(run=run, index=node, steps=7, expired=1, snapshot_cpu_s=0.01, snapshot_bytes=640)
    for other in setting.contacts(node):
        out = OutCounters(protobuf_bytes=90, acknowledged=7, connects=1)
        for _ in range(7):
            out.send(Sizes(29, 4, 1, 10))
        out.dropped, out.queued, out.resent = 1, 2, 3
        out.dropped_bytes, out.queued_bytes, out.resent_bytes = 44, 88, 132
        out.return_after(0.002)
        out.sockets = SocketCounts(1, 500, 300, 9, 8, 1, 60)
        account.out[other] = out
        into = InCounters(received=6, received_bytes=280, aggregated=5, late=1, late_bytes=44, absurd=1)
        for reason in ("wrong_run", "wrong_run", "duplicate"):
            into.refuse(reason)
        into.refused_detail = "node 2 said it\ntwice"
        account.into[other] = into
    account.refuse("wrong_run")
    return pb.FromNode(report=totals_message(account))


def faults(run: int, node: int, plan: Plan, setting: ResolvedRun) -> list[pb.FromNode]:
    held = [Realised(node, setting.contacts(node)[0], "cut", 1.0, "nft", 1.0)]
    turns = []
    for event in (event for event in plan if concerns(event, node)):
        turns += [Turn(event, True, 1.5, 12, "netem+nft", took=0.004, held=held), Turn(event, False, 2.5, 20)]
        turns.append(Turn(event, True, 1.5, 12, failure="the kernel said\nno"))
    return [pb.FromNode(fault=fault_message(run, turn)) for turn in turns]


def snapshots(run: int, k: int, n: int, result: bool = False) -> list[pb.FromNode]:
    model, half = np.linspace(-1, 1, n).astype("<f8"), n // 2
    pieces = ((0, model[:half]), (half, model[half:]))
    chunks = [
        pb.SnapshotChunk(run=run, iteration=k, offset=at, values=part.tobytes(), result=result) for at, part in pieces
    ]
    return [pb.FromNode(snapshot=chunk) for chunk in chunks]


def probed(run: int, peer: int) -> list[pb.FromNode]:
    came = pb.Sample(sent=3, bytes=1242, arrival_ns=[1_790_000_000 * 10**9 + i for i in range(3)], overrun=1)
    came.age_ns.extend([20_000_000, -3_000_000, 21_000_000])
    came.round_trip_ns.extend([41_000_000, 40_000_000])
    full = pb.Probed(run=run, number=2, peer=peer, datagrams=came, messages=pb.Sample(sent=6, bytes=300))
    return [
        pb.FromNode(probed=full),
        pb.FromNode(probed=pb.Probed(run=run, number=1, capacity_bps=4.5e9)),
        pb.FromNode(probed=pb.Probed(run=run, number=3, peer=peer, trouble="no answer")),
    ]


def everything(run: int, node: int, setting: ResolvedRun) -> list[pb.FromNode]:
    """All kinds but a join and a failure; the records are of iterations 0 to 4."""
    other = setting.contacts(node)[0]
    return [
        ready(run, node, setting),
        pb.FromNode(report=pb.Report(run=run, records=[record(node, k) for k in range(5)])),
        totals(run, node, setting),
        *snapshots(run, 0, setting.problem.n),
        *snapshots(run, 7, setting.problem.n, result=True),
        *faults(run, node, setting.plan, setting),
        *probed(run, other),
        pb.FromNode(done=pb.Done(run=run)),
        pb.FromNode(finished=pb.Finished(run=run)),
        pb.FromNode(moved=pb.Moved(run=run, neighbours=[other])),
        pb.FromNode(heartbeat=pb.Heartbeat(iteration=7)),
        pb.FromNode(goodbye=pb.Goodbye(reason="told to leave")),
    ]
