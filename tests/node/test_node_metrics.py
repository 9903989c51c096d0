"""What Prometheus sees of a node: real scrapes over loopback, read back by Prometheus' own parser and linter."""

import itertools
import subprocess
import sys
from threading import Thread
from types import FrameType
from typing import Any

import pytest
from prometheus_client import parser
from prometheus_client.openmetrics import parser as openmetrics

from contract.counters import TABLE, InCounters, NodeCounters, OutCounters
from contract.ports.metric_families import Build
from contract.ports.tls_failures import REASONS
from node import metrics
from node.metrics import NodeCollector
from tests.node.harness import get, serving

BUILD = Build("0.1.0+abc", "3.11.7", "1.71.2")
RUN_77 = "0d1b5007"
OPENMETRICS = "application/openmetrics-text; version=1.0.0"
BUCKETS = {
    "0.0005": 1, "0.001": 1, "0.0025": 1, "0.005": 1, "0.01": 1, "0.025": 1, "0.05": 3, "0.1": 3, "0.25": 3, "0.5": 3,
    "1.0": 3, "2.5": 3, "5.0": 3, "10.0": 3, "+Inf": 4,
}  # fmt: skip
PER_PEER, PER_NODE = (
    sum(bool(entry.metric) for table in tables for entry in TABLE[table])
    for tables in ((OutCounters, InCounters), (NodeCounters,))
)
MOST_SERIES = 33 * PER_PEER + PER_NODE + 2 * 33 + 17 + 20
"""Of one node: 33 peers, its own, two times 33 reasons, 17 of the histogram, and a few others."""

Seen = dict[tuple[str, frozenset[tuple[str, str]]], float]


def samples(text: str) -> Seen:
    every = [sample for family in parser.text_string_to_metric_families(text) for sample in family.samples]
    seen = {(sample.name, frozenset(sample.labels.items())): sample.value for sample in every}
    assert len(seen) == len(every), "a series stands twice"
    return seen


def scrape(account: NodeCounters) -> Seen:
    with serving(NodeCollector(lambda: account, BUILD)) as server:
        return samples(get(server.port))


def by(label: str, name: str, seen: Seen) -> dict[str, float]:
    """One metric, by the values of a label."""
    return {dict(labels)[label]: value for (each, labels), value in seen.items() if each == name}


def series(name: str, value: float, **labels: str) -> Seen:
    return {(name, frozenset(labels.items())): value}


def filled() -> NodeCounters:
    """Every field has a value of its own."""
    account = NodeCounters(
        run=77, index=5, iteration=12, steps=13, step_s=1.5, wait_s=2.5, aggregate_s=0.25, overran=1, rounds=4,
        wanted=8, averaged=6, starved=2, expired=3, coverage=1.75, staleness=0.5, snapshot_bytes=4096,
        snapshot_cpu_s=0.125,
    )  # fmt: skip
    account.out[3] = OutCounters(
        sent=20, values_bytes=800, support_bytes=40, stars_bytes=7, framing_bytes=60, protobuf_bytes=90, lost=21,
        lost_bytes=22, dropped=23, overtime=24, acknowledged=25, sent_late=26, receipts=27, connects=28, queued=29,
        resent=19, sent_refused=3, refused_by={"wrong_run": 2, "duplicate": 1},
    )  # fmt: skip
    account.out[9] = OutCounters(sent_refused=4, refused_by={"duplicate": 4})
    for link, seconds in ((3, 0.0004), (3, 0.03), (9, 0.03), (9, 99.0)):
        account.out[link].return_after(seconds)
    account.into[3] = InCounters(
        received=30, received_bytes=31, aggregated=32, late=33, late_bytes=34, evicted=35, absurd=36, suspect=True,
        refused=11, refused_by={"bad_stars": 5, "not_finite": 6},
    )  # fmt: skip
    account.strangers, account.refused_by = 9, {"unknown_sender": 8, "not_finite": 1}
    return account


def expected() -> Seen:
    """What is to be seen of the filled account, worked out by hand."""
    seen = series("pame_build_info", 1, code_version="0.1.0+abc", python_version="3.11.7", grpc_version="1.71.2")
    seen |= series("pame_node_info", 1, run=RUN_77, index="5")
    for name, value in {
        "iteration": 12, "steps_total": 13, "step_seconds_total": 1.5, "wait_seconds_total": 2.5,
        "aggregate_seconds_total": 0.25, "overran_steps_total": 1, "rounds_total": 4, "wanted_messages_total": 8,
        "averaged_messages_total": 6, "participation_ratio": 0.75, "starved_rounds_total": 2, "expired_waits_total": 3,
        "coverage": 1.75, "staleness": 0.5, "stranger_messages_total": 9, "snapshot_bytes_total": 4096,
        "snapshot_cpu_seconds_total": 0.125,
        "round_trip_seconds_count": 4, "round_trip_seconds_sum": 0.0004 + 0.03 + 0.03 + 99.0,
    }.items():  # fmt: skip
        seen |= series(f"pame_node_{name}", value)
    for bound, count in BUCKETS.items():
        seen |= series("pame_node_round_trip_seconds_bucket", count, le=bound)
    for reason, count in {"duplicate": 5, "wrong_run": 2}.items():
        seen |= series("pame_node_sent_refused_messages_total", count, reason=reason)
    for reason, count in {"bad_stars": 5, "not_finite": 7, "unknown_sender": 8}.items():
        seen |= series("pame_node_received_refused_messages_total", count, reason=reason)
    for reason in REASONS:
        seen |= series("pame_node_refused_handshakes_total", 0, reason=reason)
    for reason in ("crowded", "malformed", "slow", "wrong_host"):
        seen |= series("pame_node_refused_requests_total", 0, reason=reason)
    for kind, count in {"values": 800, "support": 40, "stars": 7, "framing": 60, "protobuf": 90}.items():
        seen |= series("pame_link_sent_bytes_total", count, peer="3", kind=kind)
        seen |= series("pame_link_sent_bytes_total", 0, peer="9", kind=kind)
    for name, to_3, to_9 in (
        ("sent_messages_total", 20, 0), ("lost_messages_total", 21, 0), ("lost_bytes_total", 22, 0),
        ("dropped_messages_total", 23, 0), ("overtime_messages_total", 24, 0), ("acknowledged_messages_total", 25, 0),
        ("sent_late_messages_total", 26, 0), ("receipts_total", 27, 0), ("connects_total", 28, 0),
        ("queued_messages", 29, 0), ("resent_messages_total", 19, 0), ("sent_refused_messages_total", 3, 4),
    ):  # fmt: skip
        seen |= series(f"pame_link_{name}", to_3, peer="3") | series(f"pame_link_{name}", to_9, peer="9")
    for name, value in {
        "received_messages_total": 30, "received_bytes_total": 31, "aggregated_messages_total": 32,
        "received_late_messages_total": 33, "received_late_bytes_total": 34, "evicted_messages_total": 35,
        "absurd_messages_total": 36, "suspect_peers": 1, "received_refused_messages_total": 11,
    }.items():  # fmt: skip
        seen |= series(f"pame_link_{name}", value, peer="3")
    return seen


def assert_as_worked_out(seen: Seen) -> None:
    """All of it, and nothing else but counters of the table that are 0."""
    others = {name: value for (name, labels), value in seen.items() if (name, labels) not in expected()}
    assert {key: seen[key] for key in expected()} == pytest.approx(expected())
    assert not any(others.values())
    assert all(name.startswith(("pame_node_", "pame_link_")) for name in others)


def crowded(peers: int) -> NodeCounters:
    """Peers 1, 2, ...: peer p sent p messages of 10 p bytes, and refused one for a reason nobody else has."""
    account = NodeCounters(run=1, index=0)
    for peer in range(peers, 0, -1):
        account.out[peer] = OutCounters(sent=peer, values_bytes=10 * peer)
        account.out[peer].refuse(f"r{peer:03}")
        account.out[peer].return_after(0.02)
        account.into[peer] = InCounters(received=2 * peer, suspect=peer > 100)
        account.into[peer].refuse(f"r{peer:03}")
    return account


def test_a_scrape_holds_exactly_what_the_account_holds() -> None:
    assert_as_worked_out(scrape(filled()))


def test_prometheus_may_ask_for_the_newer_format() -> None:
    with serving(NodeCollector(filled, BUILD)) as server:
        text = get(server.port, OPENMETRICS)
    families = list(openmetrics.text_string_to_metric_families(text))  # type: ignore[no-untyped-call]
    values = {(sample.name, frozenset(sample.labels.items())): sample.value for f in families for sample in f.samples}
    assert_as_worked_out(values)


def test_an_idle_node_has_no_links_no_share_no_coverage_and_no_staleness() -> None:
    seen = scrape(NodeCounters())
    names = {name for name, _ in seen}
    assert not any(name.startswith("pame_link") for name in names)
    assert not names & {"pame_node_participation_ratio", "pame_node_coverage", "pame_node_staleness"}
    assert seen["pame_node_info", frozenset()] == 1
    assert seen["pame_node_iteration", frozenset()] == 0
    assert seen["pame_node_round_trip_seconds_count", frozenset()] == 0


def test_every_scrape_reads_the_account_of_that_moment() -> None:
    accounts = [NodeCounters(run=1, index=0, iteration=3)]

    with serving(NodeCollector(lambda: accounts[-1], BUILD)) as server:
        assert samples(get(server.port))["pame_node_iteration", frozenset()] == 3
        accounts[-1].iteration = 4
        assert samples(get(server.port))["pame_node_iteration", frozenset()] == 4
        accounts.append(NodeCounters(run=2, index=0, iteration=1))
        assert samples(get(server.port))["pame_node_iteration", frozenset()] == 1


def test_with_127_peers_the_series_stay_bounded_and_their_sums_right() -> None:
    seen = scrape(crowded(127))
    assert len(seen) <= MOST_SERIES
    assert len(scrape(crowded(1000))) == len(seen)
    for name, factor in (("pame_link_sent_messages_total", 1), ("pame_link_received_messages_total", 2)):
        named = {str(peer): factor * peer for peer in range(1, 33)}
        assert by("peer", name, seen) == {**named, "others": factor * sum(range(33, 128))}
    assert seen["pame_link_sent_bytes_total", frozenset({("peer", "others"), ("kind", "values")})] == 76_000
    assert seen["pame_link_suspect_peers", frozenset({("peer", "others")})] == 27
    assert seen["pame_node_round_trip_seconds_count", frozenset()] == 127
    for name in ("pame_node_sent_refused_messages_total", "pame_node_received_refused_messages_total"):
        assert by("reason", name, seen) == {**{f"r{peer:03}": 1 for peer in range(1, 33)}, "others": 95}


def test_a_peer_has_the_same_name_in_both_directions() -> None:
    account = NodeCounters(run=1, index=0)
    account.out = {peer: OutCounters(sent=1) for peer in range(40, 60)}
    account.into = {peer: InCounters(received=1) for peer in range(20)}
    sent = by("peer", "pame_link_sent_messages_total", scrape(account))
    assert sent == {**{str(peer): 1 for peer in range(40, 52)}, "others": 8}


def change(account: NodeCounters, turn: int) -> None:
    """Every dictionary of the account changes its size."""
    account.out[1000 + turn] = OutCounters()
    account.into[1000 + turn] = InCounters()
    for counted in (account, account.out[1], account.into[1]):
        counted.refuse(f"new {turn}")
    if turn % 100 == 99:
        reasons = (account.refused_by, account.out[1].refused_by, account.into[1].refused_by)
        for crowd in (account.out, account.into, *reasons):
            for _ in range(100):
                crowd.popitem()


def test_a_scrape_bears_a_change_between_any_two_of_its_instructions() -> None:
    account = crowded(3)
    turns = itertools.count()

    def interfere(frame: FrameType, _event: str, _arg: Any) -> Any:
        if frame.f_code.co_filename != metrics.__file__:
            return None
        frame.f_trace_opcodes = True
        change(account, next(turns))
        return interfere

    before = sys.gettrace()
    sys.settrace(interfere)
    try:
        families = list(NodeCollector(lambda: account, BUILD).collect())
    finally:
        sys.settrace(before)
    assert next(turns) > 1000
    assert "pame_link_sent_messages" in [family.name for family in families]


def test_scrapes_succeed_while_another_thread_changes_the_account() -> None:
    account = crowded(40)
    texts: list[str] = []

    def scrape_often(port: int) -> None:
        texts.extend(get(port) for _ in range(10))

    with serving(NodeCollector(lambda: account, BUILD)) as server:
        scraper = Thread(target=scrape_often, args=[server.port])
        scraper.start()
        for turn in range(5_000_000):
            if not scraper.is_alive():
                break
            change(account, turn)
        scraper.join(60)
    assert len(texts) == 10
    assert all(0 < len(samples(text)) <= MOST_SERIES for text in texts)


@pytest.mark.requires("promtool")
@pytest.mark.parametrize("account", [filled(), NodeCounters(), crowded(127)], ids=["filled", "idle", "crowded"])
def test_the_linter_of_prometheus_has_nothing_to_say(account: NodeCounters) -> None:
    with serving(NodeCollector(lambda: account, BUILD)) as server:
        text = get(server.port)
    done = subprocess.run(
        ["promtool", "check", "metrics"], input=text, capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
