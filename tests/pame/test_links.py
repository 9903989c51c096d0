"""Links as queues: when a message arrives."""

from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pame.links import LinkSpec, LinkState, send

MIDDLE = 0.5  # the jitter draw that adds nothing


def arrivals(spec: LinkSpec, messages: list[tuple[float, int, float]]) -> list[float]:
    """Arrival times of messages (now, bits, jitter draw) sent one after another."""
    state, times = LinkState(), []
    for now, bits, u in messages:
        state = send(spec, state, now, bits, u)
        times.append(state.last_arrival)
    return times


SLOW, JITTER = LinkSpec(delay_s=10.0, rate_bps=1000.0), LinkSpec(delay_s=1.0, jitter_s=0.25)
ARRIVALS: dict[str, tuple[LinkSpec, list[tuple[float, int, float]], list[float]]] = {
    "transmission time and delay": (LinkSpec(delay_s=0.5, rate_bps=1000.0), [(2.0, 3000, MIDDLE)], [2.0 + 3.0 + 0.5]),
    # the first leaves at 4, the second waits for that and leaves at 6, the third finds the link free and leaves at 10
    "the next starts when the one before has left, not when it has arrived": (
        SLOW, [(0.0, 4000, MIDDLE), (1.0, 2000, MIDDLE), (9.0, 1000, MIDDLE)], [14.0, 16.0, 20.0],
    ),
    "jitter is uniform around the delay: least": (JITTER, [(0.0, 800, 0.0)], [0.75]),
    "jitter is uniform around the delay: none": (JITTER, [(0.0, 800, 0.5)], [1.0]),
    "jitter is uniform around the delay: more": (JITTER, [(0.0, 800, 0.75)], [1.125]),
    "never before it has left": (LinkSpec(delay_s=0.1, jitter_s=5.0), [(2.0, 800, 0.0)], [2.0]),
    "less jitter does not overtake": (
        LinkSpec(delay_s=1.0, jitter_s=0.5), [(0.0, 8, 0.75), (0.125, 8, 0.0)], [1.25, 1.25],
    ),
    "at once without a spec": (LinkSpec(), [(3.0, 10**9, MIDDLE), (3.0, 10**9, MIDDLE)], [3.0, 3.0]),
}  # fmt: skip


@pytest.mark.parametrize(("spec", "messages", "times"), ARRIVALS.values(), ids=ARRIVALS)
def test_messages_arrive(spec: LinkSpec, messages: list[tuple[float, int, float]], times: list[float]) -> None:
    assert arrivals(spec, messages) == times


def test_a_link_without_a_spec_does_nothing() -> None:
    assert LinkSpec() == LinkSpec(0.0, 0.0, inf)


def test_the_sender_is_free_when_the_last_bit_has_left() -> None:
    state = send(SLOW, LinkState(), 1.0, 2000, MIDDLE)
    assert state == LinkState(free_at=3.0, last_arrival=13.0)


@settings(max_examples=200, deadline=None)
@given(
    spec=st.builds(
        LinkSpec,
        delay_s=st.floats(0.0, 10.0),
        jitter_s=st.floats(0.0, 20.0),
        rate_bps=st.one_of(st.just(inf), st.floats(1e3, 1e9)),
    ),
    waits=st.lists(
        st.tuples(st.floats(0.0, 5.0), st.integers(0, 10**6), st.floats(0.0, 1.0, exclude_max=True)), max_size=20
    ),
)
def test_arrivals_are_in_order_and_never_sooner_than_the_wire_allows(
    spec: LinkSpec, waits: list[tuple[float, int, float]]
) -> None:
    now, messages = 0.0, []
    for wait, bits, u in waits:
        now += wait
        messages.append((now, bits, u))
    times = arrivals(spec, messages)
    assert times == sorted(times)
    least = max(0.0, spec.delay_s - spec.jitter_s)
    left, most = 0.0, 0.0
    for (now, bits, _), arrival in zip(messages, times, strict=True):
        left = max(left, now) + bits / spec.rate_bps
        most = max(most, left + spec.delay_s + spec.jitter_s)
        assert left + least - 1e-9 <= arrival <= most + 1e-9
        assert arrival >= now + bits / spec.rate_bps
