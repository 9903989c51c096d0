"""The framing model, by hand."""

from dataclasses import replace

import pytest

from pame.codec import Sizes
from pame.framing import ETHERNET, LOOPBACK, Traffic, account, probes_per_end

SMALL = Traffic(
    messages=10,
    sizes=Sizes(values=1960, support=40, stars=30, framing=30),
    protobuf=240,
    receipts=10,
    connects=1,
    seconds=0.0,
)
"""Ten messages of 230 bytes, one after the other without a pause."""


def test_ten_small_messages_on_loopback_term_by_term() -> None:
    counted = account(SMALL, LOOPBACK)
    assert (counted.values, counted.support, counted.stars, counted.framing) == (1960, 40, 30, 30)
    assert counted.protobuf == 240
    assert counted.grpc_http2 == 10 * (5 + 9 + 13 + 13)
    assert counted.receipts == 10 * (3 + 5 + 9 + 13 + 13)
    assert counted.probes == 0
    assert counted.tcp_ip == (10 + 10) * 52
    assert counted.acknowledgements == 10 * 52 // 4
    assert counted.connections == 374 + 34 + 87 + 111 + 19 * 52 + 16
    assert counted.closing == 111 + 8 * 52
    assert counted.total == 2300 + 400 + 430 + 1040 + 130 + 1610
    assert counted.stream == 2300 + 400 + 430 + 374 + 34 + 87
    assert counted.packets == 20 + 2 + 19


def test_the_total_is_the_sum_of_its_terms() -> None:
    counted = account(SMALL, ETHERNET)
    payload = counted.values + counted.support + counted.stars + counted.framing + counted.protobuf
    around = counted.grpc_http2 + counted.receipts + counted.probes + counted.tcp_ip + counted.acknowledgements
    assert counted.total == payload + around + counted.connections


def test_tls_adds_records_and_a_handshake() -> None:
    plain, secured = (account(replace(SMALL, tls=tls), LOOPBACK) for tls in (False, True))
    assert plain.tls == 0
    assert secured.tls == (10 + 10) * 22 + 5460
    assert secured.total - plain.total == secured.stream - plain.stream == secured.tls
    large = Traffic(3, Sizes(values=3 * 2**15), 0, receipts=1, connects=0, seconds=0.0, tls=True)
    assert account(large, LOOPBACK).tls == (3 * 3 + 1) * 22  # 14 bytes more than two records hold


def test_a_mebibyte_takes_725_segments_on_ethernet_and_17_on_loopback() -> None:
    message = 2**20 + 30
    one = Traffic(1, Sizes(values=2**20), 30, receipts=0, connects=1, seconds=0.0)
    assert 724 * 1448 < message + 14 <= 725 * 1448
    assert account(one, ETHERNET).tcp_ip == 725 * 66
    assert account(one, ETHERNET).acknowledgements == 724 * 66 // 4
    assert 16 * 65483 < message + 14 <= 17 * 65483
    assert account(one, LOOPBACK).tcp_ip == 17 * 52
    assert account(one, LOOPBACK).acknowledgements == 16 * 52 // 4


def test_what_was_sent_again_or_told_by_receivers_alone_is_on_the_wire_like_all_the_rest() -> None:
    """Ten messages are ten messages, whoever counted them and how often they went."""
    half = Sizes(values=980, support=20, stars=15, framing=15)
    parted = replace(SMALL, messages=5, sizes=half, resent=3, resent_bytes=618, unreported=2, unreported_bytes=412)
    assert half.total + 618 + 412 == SMALL.sizes.total
    for tls in (False, True):
        whole, parts = (account(replace(traffic, tls=tls), ETHERNET) for traffic in (SMALL, parted))
        assert (parts.total, parts.stream, parts.packets, parts.tls) == (
            whole.total, whole.stream, whole.packets, whole.tls,
        )  # fmt: skip
        assert (parts.resent, parts.unreported, parts.values) == (618, 412, 980)


@pytest.mark.parametrize(("seconds", "acks"), [(0.3, 2.5), (0.5, 10)])
def test_a_receipt_is_acknowledged_apart_when_the_next_message_is_more_than_40_ms_away(
    seconds: float, acks: float
) -> None:
    pausing = Traffic(10, SMALL.sizes, 240, receipts=10, connects=1, seconds=seconds)
    assert account(pausing, LOOPBACK).acknowledgements == acks * 52


def test_probes_grow_with_the_root_of_time_then_come_every_ten_seconds_and_never_without_messages() -> None:
    assert probes_per_end(0.0, 100) == 0
    assert probes_per_end(7.5, 1000) == pytest.approx(10)
    assert probes_per_end(30.0, 1000) == pytest.approx(20)
    assert probes_per_end(30.0, 3) == 3
    an_hour, and_ten_seconds = probes_per_end(3600, 1e6), probes_per_end(3610, 1e6)
    assert and_ten_seconds - an_hour == pytest.approx(1)


def test_a_probe_is_a_ping_and_its_answer_at_both_ends_of_every_connection() -> None:
    slow = Traffic(200, SMALL.sizes, 240, receipts=200, connects=2, seconds=7.5)
    counted = account(slow, LOOPBACK)
    assert counted.probes == 2 * 2 * 10 * 34
    assert counted.tcp_ip == (400 + 40 * 4.5) * 52


def test_connections_without_messages_and_no_connections_at_all_have_an_account() -> None:
    idle = account(Traffic(0, Sizes(), 0, receipts=0, connects=3, seconds=5.0), LOOPBACK)
    assert idle.total == idle.connections == 3 * 1610
    assert account(Traffic(0, Sizes(), 0, 0, 0, 0.0), ETHERNET).total == 0
