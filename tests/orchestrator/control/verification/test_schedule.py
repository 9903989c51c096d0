"""No node is in two measurements at once, everybody gets a turn, and no round carries more than it may."""

from itertools import permutations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.control.verification.findings import Asked
from orchestrator.control.verification.schedule import (
    MOST_LINKS,
    Round,
    colour,
    edge_of,
    rate_rounds,
    sample,
    timing_rounds,
)
from pame.links import LinkSpec

edges = st.sets(
    st.tuples(st.integers(0, 20), st.integers(0, 20)).filter(lambda edge: edge[0] < edge[1]), min_size=1, max_size=60
)


def asked(link: tuple[int, int], what: str, value: float, mechanism: str = "htb") -> Asked:
    spec = LinkSpec(delay_s=value) if what == "delay" else LinkSpec(rate_bps=value if what == "rate" else 1e9)
    return Asked(link, what, value, mechanism, spec)


def busy_twice(round_: Round) -> bool:
    ends = [end for edge in {edge_of(link) for link in round_.links} for end in edge]
    return len(ends) > len(set(ends))


@given(edges)
def test_a_class_of_edges_shares_no_node_and_every_edge_is_in_one(found: set[tuple[int, int]]) -> None:
    classes = colour(found)
    assert sorted(edge for some in classes for edge in some) == sorted(found)
    for some in classes:
        ends = [end for edge in some for end in edge]
        assert len(ends) == len(set(ends))


@given(edges, st.floats(1e6, 1e8))
@settings(max_examples=50)
def test_rates_of_a_round_stay_below_the_limit_together(found: set[tuple[int, int]], rate: float) -> None:
    links = [link for i, j in found for link in ((i, j), (j, i))]
    rounds, too_fast = rate_rounds({link: [asked(link, "rate", rate)] for link in links}, 2.5e7)
    assert sorted([*too_fast, *(link for round_ in rounds for link in round_.links)]) == sorted(links)
    assert bool(too_fast) == (rate > 2.5e7)
    for round_ in rounds:
        assert len(round_.links) * rate <= 2.5e7
        assert not busy_twice(round_)


def test_rounds_of_rates_are_filled_across_classes_of_edges() -> None:
    ring = [(i, (i + step) % 16) for i in range(16) for step in (1, 2, 3)]
    links = [link for i, j in ring for link in ((i, j), (j, i))]
    rounds, _ = rate_rounds({link: [asked(link, "rate", 1e8)] for link in links}, 1.2e9)
    assert len(rounds) <= 10  # 96 links of 100 Mbit/s, 12 at once: 8 at the very least


def test_both_ways_of_an_edge_are_timed_together_and_no_node_twice_at_once() -> None:
    links = list(permutations(range(8), 2))
    rounds = timing_rounds({link: [asked(link, "delay", 0.02, "netem")] for link in links})
    assert sorted(link for round_ in rounds for link in round_.links) == sorted(links)
    assert all((j, i) in round_.links for round_ in rounds for i, j in round_.links)
    assert not any(map(busy_twice, rounds))


def test_a_degree_of_six_takes_some_ten_rounds_and_not_much_more_than_eight_seconds() -> None:
    ring = [(i, (i + step) % 32) for i in range(32) for step in (1, 2, 3)]
    links = [link for i, j in ring for link in ((i, j), (j, i))]
    rounds = timing_rounds({link: [asked(link, "loss", 0.01, "netem")] for link in links})
    assert len(rounds) <= 10
    assert sum(round_.seconds for round_ in rounds) <= 10


def test_a_long_delay_in_process_gets_the_time_that_six_messages_take() -> None:
    [round_] = timing_rounds({(0, 1): [asked((0, 1), "delay", 0.3, "in-process")]})
    assert round_.seconds == pytest.approx(6 * 0.31)


@pytest.mark.parametrize("nodes", [14, 15, 40])
def test_above_two_hundred_links_a_sample_from_the_seed_is_looked_at(nodes: int) -> None:
    links = list(permutations(range(nodes), 2))
    first, again, other = (sample(links, seed) for seed in (1, 1, 2))
    assert first == again
    if len(links) <= MOST_LINKS:
        assert first == sorted(links)
    else:
        assert len(first) == MOST_LINKS
        assert first != other
        assert all((j, i) in first for i, j in first)
