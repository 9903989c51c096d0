"""What a datagram says survives the way; what is not ours is nobody's, whatever it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from node.probing.datagram import LEAST_BYTES, Datagram, pack, read

words = st.integers(0, 2**32 - 1)
datagrams = st.builds(
    Datagram, st.integers(0, 2**64 - 1), words, words, words, st.booleans(), st.integers(-(2**63), 2**63 - 1)
)


@given(datagrams, st.integers(0, 2000))
def test_what_is_packed_is_read_again_whatever_its_size(datagram: Datagram, size: int) -> None:
    data = pack(datagram, size)
    assert len(data) == max(size, LEAST_BYTES)
    assert read(data) == datagram


@given(st.binary(max_size=200))
def test_other_bytes_are_nothing(data: bytes) -> None:
    assert read(data) is None or data.startswith(b"PaME")


@given(datagrams, st.integers(0, LEAST_BYTES - 1))
def test_a_torn_datagram_is_nothing(datagram: Datagram, left: int) -> None:
    assert read(pack(datagram)[:left]) is None


@pytest.mark.parametrize("size", [64, 1200])
def test_a_datagram_on_the_wire_is_as_long_as_the_rate_is_counted_with(size: int) -> None:
    assert len(pack(Datagram(1, 2, 3, 4, False, 5), size)) == size
