"""What verification found, as text: units, intervals, what could not be measured, and which rows go first."""

from typing import Any

from orchestrator.cli.verified import say_verified, verification_table
from orchestrator.control.verification.findings import Asked, LinkVerdict, summed_up
from orchestrator.results.network_summary import VerifiedLink
from pame.links import LinkSpec
from tests.orchestrator.cli.builders import terminal


def finding(
    link: tuple[int, int], what: str, asked: float, verdict: LinkVerdict, *found: Any, by: str = "htb"
) -> VerifiedLink:
    return Asked(link, what, asked, by, LinkSpec()).found(verdict, *found)


FOUND = summed_up(
    [
        finding((0, 1), "rate", 20e6, LinkVerdict.OK, 19e6, None, None, "40 datagrams back to back"),
        finding((1, 0), "rate", 20e6, LinkVerdict.UNVERIFIABLE, None, None, None, "only 3 probes [of 9]"),
        finding((0, 1), "loss", 0.1, LinkVerdict.OK, 0.08, 0.05, 0.12, "8 of 100 datagrams lost", by="nft"),
        finding((1, 0), "delay", 0.02, LinkVerdict.MISS, 0.005, None, None, "median of 20 messages", by="in-process"),
    ],
    {"rate": 9, "loss": 1, "delay": 1},
    1.5,
)


def printed(most: int = 40) -> list[str]:
    console, text = terminal(80)
    verification_table(FOUND, console, most)
    return [" ".join(line.split()) for line in text.getvalue().splitlines()]


def test_rows_have_units_intervals_and_errors_and_the_worst_goes_first() -> None:
    assert printed() == [
        "link property asked measured error mechanism verdict how",
        "1→0 delay 20 ms 5 ms −15 ms in-process miss median of 20 messages",
        "1→0 rate 20 Mbit/s – – htb unverifiable here only 3 probes [of 9]",
        "0→1 rate 20 Mbit/s 19 Mbit/s −5 % htb ok 40 datagrams back to back",
        "0→1 loss 10 % 8 % (5 % to 12 %) −20 % nft ok 8 of 100 datagrams lost",
    ]


def test_what_is_too_much_is_counted() -> None:
    shown = printed(most=1)
    assert [line.split()[0] for line in shown] == ["link", "1→0", "and"]
    assert shown[-1] == "and 3 more rows: --all shows them"


def test_one_line_per_property_and_mechanism_has_the_worst_error_and_the_coverage() -> None:
    console, text = terminal(80)
    say_verified(FOUND, console)
    say_verified(None, console)
    assert text.getvalue().splitlines() == [
        "rate by htb, 2 of 9 links: 1 ok, 1 unverifiable here; worst error −5 %",
        "loss by nft, 1 of 1 links: 1 ok; worst error −20 %",
        "delay by in-process, 1 of 1 links: 1 miss; worst error −15 ms",
    ]
