"""The byte account in the report: the model's terms, what ss counted, what theory says; and what became of messages."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from contract.counters import SocketCounts
from orchestrator.control.summary import wire
from orchestrator.results.network_summary import WireRatios
from pame.codec import Sizes
from pame.framing import LOOPBACK, Traffic
from tests.orchestrator.report.builders import MakeRun, change_summary
from tests.orchestrator.report.oracle import text_of

TRAFFIC = Traffic(10, Sizes(values=1960, support=40, stars=30, framing=30), 240, receipts=10, connects=1, seconds=0.0)
"""By hand in tests/pame/test_framing.py: 5,910 bytes in 41 packets, 3,625 of them in the streams."""
COUNTED = SocketCounts(
    connections=1, bytes_sent=3034, bytes_received=700, segments_out=25, segments_in=15, retransmitted=1,
    retransmitted_bytes=109,
)  # fmt: skip
MESSAGES = {
    "sent": 70, "recorded": 66, "unrecorded": 6, "unreported": 4, "queued": 9, "unknown": 2, "dropped": 8, "resent": 3,
    "lost": 1,
}  # fmt: skip
ADDS_UP = {
    "In the records, and in the curves": "recorded",
    "+ after the last record: cut off, or of a node that died": "unrecorded",
    "− unknown: on their way at the last record; their node died or their link broke": "unknown",
    "= sent: handed over for the first time": "sent",
    "(of these, known only from receivers: their sender died)": "unreported",
    "Queued: never handed over by the end": "queued",
    "Dropped from a full queue, never sent": "dropped",
    "Lost on purpose, never sent": "lost",
    "Sent again after a connection broke, apart from the sent": "resent",
}


def report_with(folder: Path, **changes: Any) -> str:
    """The words of the report, with these changes to summary.json."""
    facts = json.loads((folder / "summary.json").read_text())
    for key, value in changes.items():
        facts[key] = {**facts[key], **value} if isinstance(facts.get(key), dict) else value
    return text_of(change_summary(folder, **facts))


def test_what_ss_counted_is_set_against_the_model_without_what_was_sent_again() -> None:
    found = wire(TRAFFIC, COUNTED, LOOPBACK)
    assert found.model["total"] == 5910
    assert found.counted == 3734 + 40 * 52
    assert found.ratios is not None
    assert asdict(found.ratios) == pytest.approx(
        {"stream": 3625 / 3625, "packets": 40 / (41 - 8), "total": 5814 / (5910 - 111 - 8 * 52)}
    )


def test_a_run_that_switched_tls_off_says_so_in_red(run_folder: MakeRun) -> None:
    folder = run_folder()
    assert "between neighbours mutual TLS" in report_with(folder, network={"tls": True, "tls_switched_off": False})
    page = (folder / "report.html").read_text()
    assert "TLS was switched off" not in page
    assert "between neighbours no TLS" in report_with(folder, network={"tls": False, "tls_switched_off": True})
    page = (folder / "report.html").read_text()
    assert '<div class="callout bad">TLS was switched off' in page


def test_connections_that_broke_before_they_were_counted_leave_no_ratio() -> None:
    found = wire(TRAFFIC, SocketCounts(connections=0), LOOPBACK)
    assert found.sockets == SocketCounts(connections=0)
    assert found.counted is None
    assert found.ratios == WireRatios()


def test_the_report_prints_the_account_without_what_is_zero(run_folder: MakeRun) -> None:
    words = report_with(run_folder(), network={"wire": wire(TRAFFIC, COUNTED, LOOPBACK)}, backend="local")
    assert "Total by the model 5.771 KiB 4\u202f728 100 %" in words
    assert "Values 1.914 KiB 1\u202f568 33.2 %" in words
    assert "Counted by ss (payload and headers) 5.678 KiB 4\u202f651 98.4 %" in words
    assert "40 packets and 1 retransmissions on 1 of 1 connections" in words
    assert "Sent again after a connection broke" not in words, "what is zero has no row"


def test_without_ss_the_report_says_not_measured(run_folder: MakeRun) -> None:
    words = report_with(run_folder(), network={"wire": wire(TRAFFIC, None, LOOPBACK)}, backend="local")
    assert "Counted by ss (payload and headers) not measured" in words
    assert "Packets and retransmissions: not measured" in words


@pytest.mark.parametrize("network", [None, {}, {"wire": None}, {"wire": {"model": {"total": "much"}}}, [1]])
def test_a_run_without_an_account_says_so(run_folder: MakeRun, network: Any) -> None:
    assert "Byte account: not measured" in report_with(run_folder(), network=network, backend="local")
    simulated = report_with(run_folder(), network=network, backend="simulate")
    assert "Byte account: not measured: no network was involved" in simulated


def test_every_fate_is_a_row_with_its_messages_and_bytes(run_folder: MakeRun) -> None:
    sizes = {"total": 700} | {fate: 10 * count for fate, count in MESSAGES.items() if fate != "sent"}
    words = report_with(run_folder(), messages=MESSAGES, bytes=sizes)
    assert "From records to links" in words
    for row, fate in ADDS_UP.items():
        assert f"{row} {MESSAGES[fate]} {10 * MESSAGES[fate]} B" in words


def test_a_run_from_before_this_was_counted_has_no_such_card(run_folder: MakeRun) -> None:
    assert "From records to links" not in report_with(run_folder())


def test_the_tile_shows_payload_whole_models_and_wire_and_names_them(run_folder: MakeRun) -> None:
    sizes, messages = {"total": 2048}, {"sent": 12}  # of 200 numbers of 64 bits each
    network = {"wire": {"model": {"total": 5120}}}
    words = report_with(run_folder(), bytes=sizes, messages=messages, network=network)
    assert "Transmitted 2 KiB payload; whole models: 18.75 KiB; 5 KiB on the wire" in words


def test_without_a_network_the_tile_shows_payload_alone(run_folder: MakeRun) -> None:
    words = report_with(run_folder(), bytes={"total": 2048}, messages={"sent": 12}, network=None)
    assert "Transmitted 2 KiB payload; whole models: 18.75 KiB Simulated time" in words
    assert "on the wire" not in words.split("How each figure was measured")[0]
