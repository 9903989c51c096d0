"""From the section `links` to every single link."""

from math import inf
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.experiment import ExperimentError, load_text, to_yaml
from orchestrator.experiment.links import Links
from orchestrator.link_table import PRESETS, LinkTable, link_table
from pame import topology
from pame.errors import ParameterError
from pame.links import LinkSpec
from pame.topology.kinds import Complete, Ring

RING = topology.build(Ring(), 6, 1, None)


def table(text: str, seed: int = 1) -> LinkTable:
    [variant] = load_text(f"nodes: 6\ntopology: {{kind: ring}}\nlinks: {text}", Path("x"))
    links = variant.experiment.links
    [again] = load_text(to_yaml(variant.experiment), Path("x"))
    assert again.experiment.links == links
    return link_table(links, RING, seed)


def test_without_a_section_links_do_nothing() -> None:
    assert link_table(None, RING, 1) == LinkTable()
    assert table("{}").default == LinkSpec(0.0, 0.0, inf)


@pytest.mark.parametrize("name", PRESETS)
def test_a_word_is_a_preset_and_its_values_can_be_changed_one_by_one(name: str) -> None:
    assert table(name).default == PRESETS[name]
    changed = table(f"{{preset: {name}, jitter: 7ms, loss: 1%, rate: unlimited, distribution: normal}}").default
    assert changed == LinkSpec(PRESETS[name].delay_s, 0.007, inf, "normal", 0.01)


def test_pairs_go_before_nodes_and_nodes_before_regions() -> None:
    found = table(
        "{delay: 1ms, regions: {eu: 0..2, us: '3,4..5'}, between: {eu-us: 40ms, eu-eu: 2ms},"
        " nodes: {1: {delay: 7ms, rate: 1mbit}}, pairs: {0-1: {delay: 9ms}, 3>2: {loss: 5%}}}"
    )
    assert found.regions == {0: "eu", 1: "eu", 2: "eu", 3: "us", 4: "us", 5: "us"}
    assert found.default == LinkSpec(0.001)
    assert found.special == {
        (0, 1): LinkSpec(0.009, 0.0, 1e6),
        (1, 0): LinkSpec(0.009, 0.0, 1e6),
        (1, 2): LinkSpec(0.007, 0.0, 1e6),
        (2, 1): LinkSpec(0.007, 0.0, 1e6),
        (2, 3): LinkSpec(0.04),
        (3, 2): LinkSpec(0.04, loss=0.05),
        (0, 5): LinkSpec(0.04),
        (5, 0): LinkSpec(0.04),
    }


def test_draws_are_seeded_in_their_range_and_different_on_every_link() -> None:
    graph = topology.build(Complete(), 40, 1, None)
    links = Links.model_validate_json('{"draw": {"delay": "5ms..50ms", "rate": "1mbit..100mbit"}}')
    first, again, other = (link_table(links, graph, seed).special for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert len(first) == 40 * 39
    delays, rates = [s.delay_s for s in first.values()], [s.rate_bps for s in first.values()]
    assert 0.005 <= min(delays) < 0.006 < 0.049 < max(delays) <= 0.05
    assert 1e6 <= min(rates) < 1.1e6 < 9e7 < max(rates) <= 1e8
    assert len(set(delays)) == len(delays)
    # the mean of 1560 uniform numbers: five standard deviations either side, a false alarm in 1.7 million
    assert abs(sum(delays) / len(delays) - 0.0275) < 5 * 0.045 / 12**0.5 / 1560**0.5


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{pairs: {0-3: {delay: 1ms}}}", r"links\.pairs: 0-3 is no link of this topology; node 0 has 0-1, 0-5"),
        ("{pairs: {9>1: {delay: 1ms}}}", r"links\.pairs: 9>1 is no link of this topology; nodes are 0 to 5"),
        ("{nodes: {4..6: {delay: 1ms}}}", r"links\.nodes: 4\.\.6: 4\.\.6 is not among the nodes 0 to 5"),
        ("{regions: {eu: 0..2}}", r"links\.regions: node 3 is in no region; give every node one"),
        ("{regions: {eu: 0..3, us: 3..5}}", r"links\.regions: node 3 is in eu and in us; give it one"),
        ("{regions: {eu: 0..5}, between: {eu-us: 5ms}}", r"links\.between\.eu-us: there is no region 'us'"),
    ],
)
def test_what_is_not_there_is_named(text: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        table(text)


@pytest.mark.parametrize(
    "text",
    [
        "wann", "{preset: wann}", "{draw: {delay: 5ms}}", "{draw: {delay: 50ms..5ms}}", "{draw: {delay: 5..50}}",
        "{pairs: {0: {delay: 1ms}}}", "{pairs: {a-b: {}}}", "{nodes: {x: {}}}", "{loss: 101%}", "{between: {eu: 5ms}}",
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_in_the_file(text: str) -> None:
    with pytest.raises(ExperimentError) as refused:
        table(text)
    assert all(line.startswith("x: links") for line in str(refused.value).splitlines()), str(refused.value)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=4), st.floats(0, 1))
def test_every_link_has_a_spec_and_no_other_has(nodes: list[tuple[int, int]], delay: float) -> None:
    ranges = {f"{min(pair)}..{max(pair)}": {"delay": f"{delay}s"} for pair in nodes}
    links = Links.model_validate({"nodes": {key: {"delay": delay} for key in ranges}})
    found = link_table(links, RING, 1)
    for sender, receiver in found.special:
        assert receiver in RING.neighbours(sender)
        assert found.special[sender, receiver].delay_s == delay
