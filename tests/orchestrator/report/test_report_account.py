"""The byte account in the report: the model's terms, what ss counted, what theory says."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from contract.counters import SocketCounts
from orchestrator.control.summary import wire
from orchestrator.report import write_report
from orchestrator.results.network_summary import WireRatios
from orchestrator.results.typed_json import to_text
from pame.codec import Sizes
from pame.framing import LOOPBACK, Traffic
from tests.orchestrator.report.oracle import Reader

TRAFFIC = Traffic(10, Sizes(values=1960, support=40, stars=30, framing=30), 240, receipts=10, connects=1, seconds=0.0)
"""By hand in tests/pame/test_framing.py: 5,910 bytes in 41 packets, 3,625 of them in the streams."""
COUNTED = SocketCounts(
    connections=1,
    bytes_sent=3034,
    bytes_received=700,
    segments_out=25,
    segments_in=15,
    retransmitted=1,
    retransmitted_bytes=109,
)


def report_with(folder: Path, network: Any, backend: str = "local") -> str:
    path = folder / "summary.json"
    path.write_text(to_text({**json.loads(path.read_text()), "network": network, "backend": backend}))
    return Reader(write_report(folder).read_text()).text


def test_what_ss_counted_is_set_against_the_model_without_what_was_sent_again() -> None:
    found = wire(TRAFFIC, COUNTED, LOOPBACK)
    assert found.model["total"] == 5910
    assert found.counted == 3734 + 40 * 52
    assert found.ratios is not None
    assert asdict(found.ratios) == pytest.approx(
        {"stream": 3625 / 3625, "packets": 40 / (41 - 8), "total": 5814 / (5910 - 111 - 8 * 52)}
    )


def test_a_run_that_switched_tls_off_says_so_in_red(run_folder: Callable[..., Path]) -> None:
    folder = run_folder()
    assert "between neighbours mutual TLS" in report_with(folder, {"tls": True, "tls_switched_off": False})
    page = (folder / "report.html").read_text()
    assert "TLS was switched off" not in page
    assert "between neighbours no TLS" in report_with(folder, {"tls": False, "tls_switched_off": True})
    page = (folder / "report.html").read_text()
    assert '<div class="callout bad">TLS was switched off' in page


def test_connections_that_broke_before_they_were_counted_leave_no_ratio() -> None:
    found = wire(TRAFFIC, SocketCounts(connections=0), LOOPBACK)
    assert found.sockets == SocketCounts(connections=0)
    assert found.counted is None
    assert found.ratios == WireRatios()


def test_the_report_prints_the_account_next_to_the_formulas(run_folder: Callable[..., Path]) -> None:
    words = report_with(run_folder(), {"wire": wire(TRAFFIC, COUNTED, LOOPBACK)})
    assert "Total by the model 5.771 KiB 4\u202f728 100 %" in words
    assert "Values 1.914 KiB 1\u202f568 33.2 %" in words
    assert "Counted by ss (payload and headers) 5.678 KiB 4\u202f651 98.4 %" in words
    assert "40 packets and 1 retransmissions on 1 of 1 connections" in words
    for formula in ("Paper, 63 s + n", "Floor with the support sent, log₂C(n,s) + 64 s", "Dense, 64 n"):
        assert formula in words


def test_without_ss_the_report_says_not_measured(run_folder: Callable[..., Path]) -> None:
    words = report_with(run_folder(), {"wire": wire(TRAFFIC, None, LOOPBACK)})
    assert "Counted by ss (payload and headers) not measured" in words
    assert "Packets and retransmissions: not measured" in words


@pytest.mark.parametrize("network", [None, {}, {"wire": None}, {"wire": {"model": {"total": "much"}}}, [1]])
def test_a_run_without_an_account_says_so(run_folder: Callable[..., Path], network: Any) -> None:
    assert "Byte account not measured" in report_with(run_folder(), network)
    assert "Byte account not measured: no network was involved" in report_with(run_folder(), network, "simulate")
