"""The nodes' totals as one account: also of a node that was killed before its last report."""

from typing import Any

from contract.counters import InCounters, NodeCounters, OutCounters, SocketCounts
from orchestrator.control.totals import Totals
from orchestrator.results.health import RefusedLink
from pame.byte_account import Fate


def out(receiver: int, **counts: Any) -> NodeCounters:
    return NodeCounters(out={receiver: OutCounters(**counts)})


def into(sender: int, **counts: Any) -> NodeCounters:
    return NodeCounters(into={sender: InCounters(**counts)})


def test_messages_and_bytes_are_added_up_by_link_over_all_incarnations() -> None:
    totals = Totals(2)
    totals.heard((0, 0), out(1, sent=5, values_bytes=50, support_bytes=5))
    totals.heard((0, 1), out(1, sent=2, values_bytes=20, framing_bytes=2, lost=1))
    totals.heard((1, 0), into(0, received=7, received_bytes=77, aggregated=6, late=1, late_bytes=11))
    account = totals.account()
    assert (account.messages(Fate.SENT), account.bytes(Fate.SENT)) == (7, 77)
    assert (account.messages(Fate.AGGREGATED), account.messages(Fate.LATE), account.bytes(Fate.LATE)) == (6, 1, 11)
    assert account.messages(Fate.LOST) == 1


def test_what_the_kernels_counted_is_kept_by_link_over_all_incarnations() -> None:
    totals = Totals(3)
    counted = SocketCounts(connections=1, bytes_sent=100, segments_out=4, retransmitted=1)
    totals.heard((1, 0), NodeCounters(out={2: OutCounters(sockets=counted), 0: OutCounters()}))
    totals.heard((1, 1), out(2, sockets=counted))
    totals.heard((0, 0), out(1, sockets=SocketCounts()))
    assert totals.sockets() == {
        (0, 1): SocketCounts(),
        (1, 2): SocketCounts(connections=2, bytes_sent=200, segments_out=8, retransmitted=2),
    }


def test_a_killed_node_sent_at_least_what_its_receivers_got() -> None:
    totals = Totals(3)
    totals.heard((0, 0), out(1, sent=5, values_bytes=500))  # and then it was killed
    totals.heard((1, 0), into(0, received=8, received_bytes=800, aggregated=8))
    totals.heard((2, 0), into(0, received=2, received_bytes=200, aggregated=2))
    account = totals.account()
    assert (account.messages(Fate.SENT), account.bytes(Fate.SENT)) == (10, 1000)
    links = account.links()
    rows = zip(links.sender.tolist(), links.receiver.tolist(), links.messages.tolist(), strict=True)
    assert list(rows) == [(0, 1, 8), (0, 2, 2)]


def test_what_became_of_messages_is_added_up_by_link() -> None:
    totals = Totals(2)
    first = out(1, dropped=1, dropped_bytes=10, queued=2, queued_bytes=20, resent=3, resent_bytes=30)
    totals.heard((0, 0), first)
    totals.heard((0, 1), out(1, sent=4, values_bytes=40, queued=1, queued_bytes=11))
    links = totals.account().links()
    found = {name: getattr(links, name).tolist() for name in ("messages", "bytes", "dropped", "dropped_bytes")}
    assert found == {"messages": [4], "bytes": [40], "dropped": [1], "dropped_bytes": [10]}
    assert (links.queued.tolist(), links.queued_bytes.tolist()) == ([3], [31])
    assert (links.resent.tolist(), links.resent_bytes.tolist()) == ([3], [30])
    assert links.unreported.tolist() == [0]


def test_what_only_receivers_know_of_is_a_row_and_waits_no_more() -> None:
    """At its last report node 0 had sent five and three waited; node 1 got seven before node 0 was killed."""
    totals = Totals(2)
    totals.heard((0, 0), out(1, sent=5, values_bytes=50, queued=3, queued_bytes=30))
    totals.heard((1, 0), into(0, received=7, received_bytes=70))
    account = totals.account()
    assert (account.messages(Fate.SENT), account.bytes(Fate.SENT)) == (7, 70)
    assert (account.messages(Fate.UNREPORTED), account.bytes(Fate.UNREPORTED)) == (2, 20)
    assert (account.messages(Fate.QUEUED), account.bytes(Fate.QUEUED)) == (1, 10)
    assert account.kinds.total + account.bytes(Fate.UNREPORTED) == account.bytes(Fate.SENT)
    traffic = totals.traffic(1.0)
    assert (traffic.all_messages, traffic.unreported, traffic.unreported_bytes) == (7, 2, 20)


def test_a_receiver_that_came_back_and_got_a_message_again_tells_of_no_further_one() -> None:
    totals = Totals(2)
    totals.heard((0, 0), out(1, sent=5, values_bytes=50, resent=2, resent_bytes=20))
    totals.heard((1, 0), into(0, received=5, received_bytes=50))
    totals.heard((1, 1), into(0, received=2, received_bytes=20))
    account = totals.account()
    assert (account.messages(Fate.SENT), account.messages(Fate.UNREPORTED)) == (5, 0)


def test_who_said_its_last_word_is_believed_more_than_its_receivers() -> None:
    totals = Totals(2)
    totals.heard((0, 0), out(1, sent=7, values_bytes=700))
    totals.heard((1, 0), into(0, received=2**48, received_bytes=2**48))
    totals.finished(0)
    assert totals.account().bytes(Fate.SENT) == 700
    totals.died(0)  # another process of it had no last word
    assert totals.account().bytes(Fate.SENT) > 700


def test_refusals_are_told_by_link_with_what_both_ends_say() -> None:
    totals = Totals(3)
    totals.heard((1, 0), into(0, received=1, refused=4, refused_by={"bad_length": 4}, refused_detail="9 bytes"))
    totals.heard((0, 0), NodeCounters(out={1: OutCounters(sent_refused=4), 2: OutCounters(sent_refused=3)}))
    first = RefusedLink(0, 1, {"bad_length": 4}, accepted=1, told=4, detail="9 bytes")
    assert totals.refused() == [first]
    # when all reports are there: node 2 refused three messages without knowing whose they were
    assert totals.refused(is_over=True) == [first, RefusedLink(0, 2, {"no sender named": 3}, accepted=0, told=3)]
    totals.died(2)  # its last word may be missing
    assert totals.refused(is_over=True) == [first]
