"""What became of the messages, in the report: rows that add up, and a tile with payload and wire."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from orchestrator.report import write_report
from tests.orchestrator.report.oracle import Reader

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
    path = folder / "summary.json"
    facts = json.loads(path.read_text())
    for key, value in changes.items():
        facts[key] = {**facts[key], **value} if isinstance(facts.get(key), dict) else value
    path.write_text(json.dumps(facts))
    return Reader(write_report(folder).read_text()).text


def test_every_fate_is_a_row_with_its_messages_and_bytes(run_folder: Callable[..., Path]) -> None:
    sizes = {"total": 700} | {fate: 10 * count for fate, count in MESSAGES.items() if fate != "sent"}
    words = report_with(run_folder(), messages=MESSAGES, bytes=sizes)
    assert "From records to links" in words
    for row, fate in ADDS_UP.items():
        assert f"{row} {MESSAGES[fate]} {10 * MESSAGES[fate]} B" in words


def test_a_run_from_before_this_was_counted_has_no_such_card(run_folder: Callable[..., Path]) -> None:
    assert "From records to links" not in report_with(run_folder())


def test_the_tile_shows_payload_and_wire_and_names_both(run_folder: Callable[..., Path]) -> None:
    sizes, messages = {"total": 2048}, {"sent": 12}
    network = {"wire": {"model": {"total": 5120}}}
    words = report_with(run_folder(), bytes=sizes, messages=messages, network=network)
    assert "Transmitted 2 KiB payload, 12 messages; 5 KiB on the wire" in words


def test_without_a_network_the_tile_shows_payload_alone(run_folder: Callable[..., Path]) -> None:
    words = report_with(run_folder(), bytes={"total": 2048}, messages={"sent": 12}, network=None)
    assert "Transmitted 2 KiB payload, 12 messages " in words
    assert "on the wire" not in words.split("Bits per message")[0]
