"""What `ss` says of the data connections: captured samples, real sockets, and text that is none of it."""

import asyncio
import socket
from dataclasses import astuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.counters import SocketCounts
from node.socket_counters import Connection, count_sockets, parse

# iproute2 6.1, 150 messages of 80 kB over gRPC on loopback: first the end that accepted, then the one that opened.
CAPTURED = """\
ESTAB 0      0      [::ffff:127.0.0.1]:37407 [::ffff:127.0.0.1]:33514 ino:503824 sk:16d cgroup:/ <->
\t ts sack bbr wscale:10,10 rto:208 rtt:6.896/10.817 ato:40 mss:32768 pmtu:65535 rcvmss:65483 advmss:65483 cwnd:18 \
bytes_sent:6644 bytes_acked:6644 bytes_received:12006446 segs_out:316 segs_in:323 data_segs_out:163 data_segs_in:316 \
bbr:(bw:16384000000bps,mrtt:0.016,pacing_gain:2.88672,cwnd_gain:2.88672) send 684250580bps lastsnd:124 lastrcv:124 \
delivered:164 app_limited busy:496ms rcv_rtt:1 rcv_space:171988 rcv_ssthresh:373414 minrtt:0.016 snd_wnd:65536
ESTAB 0      0      [::ffff:127.0.0.1]:33514 [::ffff:127.0.0.1]:37407 ino:503823 sk:16e cgroup:/ <->
\t ts sack bbr wscale:10,10 rto:204 rtt:0.294/0.33 ato:40 mss:65483 pmtu:65535 rcvmss:536 advmss:65483 cwnd:18 \
bytes_sent:12050117 bytes_retrans:43671 bytes_acked:12006447 bytes_received:6644 segs_out:323 segs_in:317 \
data_segs_out:316 data_segs_in:163 bbr:(bw:43655322920bps,mrtt:0.006,pacing_gain:2.88672,cwnd_gain:2.88672) \
send 32073306122bps lastsnd:124 busy:68ms rwnd_limited:4ms(5.9%) retrans:0/3 dsack_dups:3 rcv_space:65495
"""
# A plain socket that has received, and sent nothing.
SILENT = """\
ESTAB 0      0      127.0.0.1:49715 127.0.0.1:35916 ino:442198 sk:1 cgroup:/ <->
\t ts sack bbr wscale:10,10 rto:204 rtt:0.021/0.01 ato:40 mss:32768 bytes_received:100000 segs_out:2 segs_in:5
"""


def test_both_ends_of_a_captured_connection_are_read() -> None:
    accepted, opened = parse(CAPTURED)
    assert opened == Connection(503823, ("127.0.0.1", 37407), SocketCounts(1, 12050117, 6644, 323, 317, 3, 43671))
    assert accepted == Connection(503824, ("127.0.0.1", 33514), SocketCounts(1, 6644, 12006446, 316, 323, 0, 0))
    assert opened.counts.bytes_sent - opened.counts.retransmitted_bytes == accepted.counts.bytes_received


def test_counters_that_ss_leaves_out_are_zero() -> None:
    (silent,) = parse(SILENT)
    assert silent == Connection(442198, ("127.0.0.1", 35916), SocketCounts(1, 0, 100000, 2, 5, 0, 0))


def test_connections_add_up() -> None:
    counts = [found.counts for found in parse(CAPTURED + SILENT)]
    assert sum(counts, SocketCounts()) == SocketCounts(3, 12056761, 12113090, 641, 645, 3, 43671)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "ESTAB 0 0",
        "ESTAB 0 0 127.0.0.1:1 127.0.0.1:2",
        "ESTAB 0 0 127.0.0.1:http 127.0.0.1:2 ino:1",
        "ESTAB 0 0 127.0.0.1:١ 127.0.0.1:2 ino:1",
        "\t bytes_sent:7",
    ],
)
def test_lines_that_name_no_two_ports_and_no_socket_are_left_out(line: str) -> None:
    assert [found.inode for found in parse(f"{line}\n{SILENT}")] == [442198]


WORDS = st.sampled_from(
    ["ESTAB", "0", "127.0.0.1:80", "[::1]:9", "ino:5", "bytes_sent:1", "segs_in:-1", "retrans:0/x", ":", "::", "\n\t",
     "\n"]
)  # fmt: skip


@given(st.one_of(st.text(), st.lists(WORDS | st.text(max_size=5), max_size=30).map(" ".join)))
def test_any_text_gives_connections_with_sensible_numbers(text: str) -> None:
    for found in parse(text):
        assert all(0 <= number < 2**63 for number in (found.inode, *astuple(found.counts)))


def test_a_number_too_long_to_be_a_counter_is_none() -> None:
    (found,) = parse(f"ESTAB 0 0 a:1 b:2 ino:3 bytes_sent:{'9' * 5000} segs_in:4")
    assert (found.counts.bytes_sent, found.counts.segments_in) == (0, 4)


@pytest.mark.requires("root")
def test_only_the_end_that_opened_a_connection_counts_it_for_the_receiver_at_its_address() -> None:
    with socket.create_server(("0.0.0.0", 0)) as server:
        port = server.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port)) as client, server.accept()[0] as other:
            client.sendall(bytes(1000))
            received = 0
            while received < 1000:
                received += len(other.recv(1000))
            other.sendall(bytes(10))
            client.recv(10)
            receivers = {3: f"localhost:{port}", 4: f"127.0.0.1:{port + 1}"}
            receivers |= {5: f"127.0.0.2:{port}", 6: f"no.invalid:{port}"}
            found = asyncio.run(count_sockets(receivers))
    assert found is not None
    counts = found.pop(3)
    assert found == dict.fromkeys((4, 5, 6), SocketCounts())
    assert (counts.connections, counts.bytes_sent, counts.bytes_received) == (1, 1000, 10)
    assert counts.segments_out >= 3  # SYN, ACK, data


def test_without_ss_nothing_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    assert asyncio.run(count_sockets({1: "127.0.0.1:1"})) is None
