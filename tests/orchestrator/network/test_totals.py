"""The nodes' totals as one account: also of a node that was killed before its last report."""

from node.sockets import SocketCounts
from orchestrator.network.totals import Totals
from pame.ledger import Fate
from pame.rpc import control_pb2 as pb


def report(out: list[pb.OutLink], into: list[pb.InLink]) -> pb.Report:
    return pb.Report(out=out, into=into, totals=pb.NodeTotals(steps=1))


def test_messages_and_bytes_are_added_up_by_link_over_all_incarnations() -> None:
    totals = Totals(2)
    totals.heard(0, 0, report([pb.OutLink(receiver=1, messages=5, values_bytes=50, support_bytes=5)], []))
    totals.heard(0, 1, report([pb.OutLink(receiver=1, messages=2, values_bytes=20, framing_bytes=2, lost=1)], []))
    totals.heard(1, 0, report([], [pb.InLink(sender=0, messages=7, bytes=77, aggregated=6, late=1, late_bytes=11)]))
    ledger = totals.ledger()
    assert (ledger.messages(Fate.SENT), ledger.bytes(Fate.SENT)) == (7, 77)
    assert (ledger.messages(Fate.AGGREGATED), ledger.messages(Fate.LATE), ledger.bytes(Fate.LATE)) == (6, 1, 11)
    assert ledger.messages(Fate.LOST) == 1


def test_what_the_kernels_counted_is_kept_by_link_over_all_incarnations() -> None:
    totals = Totals(3)
    counted = pb.SocketTotals(connections=1, bytes_sent=100, segments_out=4, retransmitted_segments=1)
    totals.heard(1, 0, report([pb.OutLink(receiver=2, sockets=counted), pb.OutLink(receiver=0)], []))
    totals.heard(1, 1, report([pb.OutLink(receiver=2, sockets=counted)], []))
    totals.heard(0, 0, report([pb.OutLink(receiver=1, sockets=pb.SocketTotals())], []))
    assert totals.sockets() == {
        (0, 1): SocketCounts(),
        (1, 2): SocketCounts(connections=2, bytes_sent=200, segments_out=8, retransmitted=2),
    }


def test_a_killed_node_sent_at_least_what_its_receivers_got() -> None:
    totals = Totals(3)
    totals.heard(0, 0, report([pb.OutLink(receiver=1, messages=5, values_bytes=500)], []))  # and then it was killed
    totals.heard(1, 0, report([], [pb.InLink(sender=0, messages=8, bytes=800, aggregated=8)]))
    totals.heard(2, 0, report([], [pb.InLink(sender=0, messages=2, bytes=200, aggregated=2)]))
    ledger = totals.ledger()
    assert (ledger.messages(Fate.SENT), ledger.bytes(Fate.SENT)) == (10, 1000)
    links = ledger.links()
    rows = zip(links.sender.tolist(), links.receiver.tolist(), links.messages.tolist(), strict=True)
    assert list(rows) == [(0, 1, 8), (0, 2, 2)]
