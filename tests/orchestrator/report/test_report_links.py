"""The card of links: what was asked, what is held, and what was measured before the run."""

from pathlib import Path
from typing import Any

import pytest

from tests.orchestrator.report.builders import change_summary, ring_run
from tests.orchestrator.report.oracle import text_of


def with_links(folder: Path, links: Any, verified: Any = None) -> str:
    return text_of(change_summary(folder, network={"links": links, "verified": verified}))


def test_links_are_a_card_with_what_was_asked_and_what_is_held(tmp_path: Path) -> None:
    delay = {"sender": 0, "receiver": 1, "property": "delay", "asked": "20ms", "held": "20.0ms", "mechanism": "netem"}
    rate = {"sender": 1, "receiver": 0, "property": "rate", "asked": 1e6, "held": None, "mechanism": "htb"}
    jitter = {"sender": 1, "receiver": 0, "property": "jitter", "asked": 0.0025, "held": 0.002, "mechanism": "netem"}
    loss = {"sender": 1, "receiver": 0, "property": "loss", "asked": 0.015, "held": 0.5, "mechanism": "nft"}
    shown = with_links(ring_run(tmp_path), [delay, rate, jitter, loss, 5])
    assert "delay by netem on 1 link; rate by htb on 1 link;" in shown
    assert "Not measured before this run." in shown
    assert "0→1 delay 20ms 20.0ms not measured not measured netem not looked at" in shown
    assert "1→0 rate 1 Mbit/s not measured not measured not measured htb not looked at" in shown
    assert "1→0 jitter 2.5 ms 2 ms not measured not measured netem not looked at" in shown
    assert "1→0 loss 1.5 % 50 % not measured not measured nft not looked at" in shown
    assert "All 4 rows" not in shown


def test_what_was_measured_of_links_stands_beside_it_and_what_is_wrong_comes_first(tmp_path: Path) -> None:
    links = [
        {"sender": n, "receiver": 9, "property": what, "asked": asked, "held": None, "mechanism": "netem"}
        for n, (what, asked) in enumerate([("delay", 0.02), ("loss", 0.1), ("rate", 2e7)])
    ]
    told = {0: ("ok", 0.0215, "median"), 1: ("unverifiable here", None, "too few"), 2: ("miss", 1e7, "back to back")}
    findings = [
        {**link, "verdict": told[n][0], "measured": told[n][1], "how": told[n][2], "low": None, "high": None}
        for n, link in enumerate(links)
    ]
    findings[1] |= {"measured": 0.12, "low": 0.05, "high": 0.2}
    coverage = {"delay": [1, 3], "loss": [1, 1], "rate": [1, 1]}
    verified = {"seconds": 4.5, "verdicts": {"ok": 1, "miss": 1}, "coverage": coverage, "findings": [*findings, 7]}
    shown = with_links(ring_run(tmp_path), links, verified)
    assert "Measured before the run, in 4.5 s: 1 ok, 1 miss (delay of 1 of 3 links; loss of 1 of 1 links;" in shown
    rows = [
        "2→9 rate 20 Mbit/s not measured 10 Mbit/s −50 % netem miss back to back",
        "1→9 loss 10 % not measured 12 % (5 % to 20 %) +20 % netem unverifiable here too few",
        "0→9 delay 20 ms not measured 21.5 ms +1.5 ms netem ok median",
    ]
    places = [shown.find(row) for row in rows]
    assert places == sorted(places)
    assert places[0] > 0


@pytest.mark.parametrize(
    "verified", [5, [], {"findings": 3, "coverage": {"delay": 4}, "verdicts": None}, {"findings": [{}]}]
)
def test_a_damaged_table_of_what_was_measured_is_no_reason_to_fail(tmp_path: Path, verified: Any) -> None:
    link = {"sender": 0, "receiver": 1, "property": "delay", "asked": 0.02, "held": None, "mechanism": "netem"}
    assert "0→1 delay 20 ms" in with_links(ring_run(tmp_path), [link], verified)


def test_a_long_table_of_links_is_folded(tmp_path: Path) -> None:
    links = [{"sender": 0, "receiver": n, "property": "delay", "asked": "1ms", "held": "1ms"} for n in range(30)]
    assert "All 30 rows" in with_links(ring_run(tmp_path), links)
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert '<details class="inner">' in html
