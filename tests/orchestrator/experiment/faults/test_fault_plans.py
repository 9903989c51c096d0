"""Properties of every plan: deterministic, resolved, sorted; that it heals is in test_plans_heal."""

from itertools import pairwise
from math import inf
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.experiment.faults import FAULTS, MOST_EVENTS, FaultError, Horizon, active, compile_plan, live_graph
from pame.fault_effects import (
    ContainerKillEffect,
    ContainerRestartEffect,
    CpuQuotaEffect,
    CutEffect,
    DegradeEffect,
    DropEffect,
    Effect,
    KillEffect,
    PauseEffect,
    RestartEffect,
    SlowEffect,
    Window,
    for_nodes,
)
from pame.fault_plan_text import plan_lines, read_plan
from pame.topology import build
from pame.topology.kinds import Ring
from tests.orchestrator.experiment.faults.builders import (
    ANY_FAULTS,
    ENTRIES,
    GRAPHS,
    HORIZON,
    links_hit,
    nodes_hit,
    plan_of,
    slowed_by,
    specs,
)

SEEDS = st.integers(0, 2**63 - 1)
GRAPH_NAMES = st.sampled_from([name for name, graph in GRAPHS.items() if name != "pair" and 1 in graph.neighbours(0)])
"""Those with the link 0-1, which random faults may name."""


def test_every_kind_has_random_examples_here() -> None:
    assert ENTRIES.keys() == FAULTS.keys()


@settings(max_examples=150)
@given(ANY_FAULTS, GRAPH_NAMES, SEEDS)
def test_any_plan_is_sorted_resolved_and_repeatable(entries: list[dict[str, Any]], graph: str, seed: int) -> None:
    plan = plan_of(*entries, graph=graph, seed=seed)
    topology = GRAPHS[graph]
    links = {(a, b) for edge in topology.edges.tolist() for a, b in (edge, edge[::-1])}

    assert plan_of(*entries, graph=graph, seed=seed) == plan
    assert [(event.window.begin, event.number) for event in plan] == sorted(
        (event.window.begin, event.number) for event in plan
    )
    for event in plan:
        assert 0 <= event.window.begin < event.window.end
        assert entries[event.number]["kind"] == event.fault.split()[0]
        if isinstance(event.effect, CutEffect | DegradeEffect | DropEffect):
            assert links_hit(event)
            assert set(links_hit(event)) <= links
            assert list(links_hit(event)) == sorted(set(links_hit(event)))
        else:
            assert nodes_hit(event)
            assert set(nodes_hit(event)) <= set(range(topology.nodes))
            assert list(nodes_hit(event)) == sorted(set(nodes_hit(event)))
    assert read_plan("\n".join(plan_lines(plan))) == plan


def test_windows_that_never_end_come_only_from_faults_without_an_end() -> None:
    endless = plan_of("{kind: link-down, links: all, at: 5s}", "{kind: kill, nodes: [2], at: 7s}")
    assert [(event.window.begin, event.window.end) for event in endless] == [(5.0, inf), (7.0, inf)]
    assert plan_of("{kind: link-down, links: all, at: 5s, for: 2s}")[0].window == Window(5.0, 7.0)
    assert plan_of("{kind: pause, nodes: all, at: 5s, until: 9s}")[0].window == Window(5.0, 9.0)


def test_another_seed_or_another_place_in_the_list_makes_another_choice() -> None:
    entry = "{kind: pause, nodes: random(5), at: 1s, for: 1s}"
    chosen = {plan_of(entry, seed=seed)[0].effect for seed in range(20)}
    assert len(chosen) > 10
    first, second = plan_of(entry, entry)
    assert first.effect != second.effect


def test_a_fault_that_is_added_at_the_end_changes_nothing_before_it() -> None:
    entries = ["{kind: partition, at: 3s}", "{kind: churn, per_minute: 10}", "{kind: straggler, nodes: random(3)}"]
    longer = plan_of(*entries, "{kind: pause, nodes: random(2)}")
    assert tuple(event for event in longer if event.number < 3) == plan_of(*entries)


def test_repetitions_begin_at_multiples_and_draw_anew() -> None:
    plan = plan_of("{kind: link-down, links: random(3), at: 10s, for: 5s, every: 20s, until: 72s}")
    assert [event.window for event in plan] == [Window(10, 15), Window(30, 35), Window(50, 55), Window(70, 72)]
    assert len({event.effect for event in plan}) == 4


def test_repetitions_by_iteration_end_with_the_run() -> None:
    plan = plan_of("{kind: message-loss, loss: 10%, for: {iterations: 5}, every: {iterations: 100}}")
    assert [event.window for event in plan] == [Window(k, k + 5, "iterations") for k in (0, 100, 200)]


WHOLE, LINK = Window(0.0), ((0, 1),)
BY_HAND: dict[str, tuple[list[str], list[tuple[Effect, Window]]]] = {
    "a flapping link is down for its share of each period": (
        ["{kind: flap, links: 0-1, period: 4s, duty: 25%, at: 10s, for: 9s}"],
        [(CutEffect(((0, 1), (1, 0))), Window(begin, begin + 1)) for begin in (10, 14, 18)],
    ),
    "links are made worse in every way, lose packets, or messages": (
        [
            "{kind: degrade, links: 0>1, delay: 20ms, delay_factor: 2, jitter: 5ms, loss: 1%, rate: 10%}",
            "{kind: lossy, links: 0>1, loss: 3%}",
            "{kind: message-loss, links: 0>1, loss: 4%}",
        ],
        [
            (DegradeEffect(LINK, 2.0, 0.02, 0.005, 0.01, 0.1), WHOLE),
            (DegradeEffect(LINK, loss=0.03), WHOLE),
            (DropEffect(LINK, 0.04), WHOLE),
        ],
    ),
    "nodes that are killed or restarted come back": (
        ["{kind: kill, nodes: [3], at: 4s, back_after: 6s}", "{kind: restart, nodes: [1], at: 4s}"],
        [(KillEffect((3,)), Window(4, 10)), (RestartEffect((1,)), Window(4, 5))],
    ),
    "nodes are stopped at an iteration for seconds": (
        [
            "{kind: pause, nodes: [3], at: {iteration: 40}, for: 5s}",
            "{kind: kill, nodes: [5], at: {iteration: 41}}",
            "{kind: restart, nodes: [1], at: {iteration: 42}}",
        ],
        [
            (PauseEffect((3,)), Window(40, inf, "iterations", 5.0)),
            (KillEffect((5,)), Window(41, inf, "iterations", inf)),
            (RestartEffect((1,)), Window(42, inf, "iterations", 1.0)),
        ],
    ),
    "a persistent straggler is the same all the time": (
        ["{kind: straggler, nodes: [4, 2], factor: 50}"], [(SlowEffect((2, 4), 50.0), WHOLE)],
    ),
    "named stragglers that rotate are slow one at a time": (
        ["{kind: straggler, nodes: [3, 5], pattern: rotating, turn: 10s, for: 30s}"],
        [(SlowEffect((node,), 10.0), Window(begin, begin + 10)) for node, begin in ((3, 0), (5, 10), (3, 20))],
    ),
    "a straggler by its links slows both directions of all of them": (
        ["{kind: straggler, nodes: [0], cause: link, factor: 4}"],
        [(DegradeEffect(((0, 1), (0, 8), (1, 0), (8, 0)), delay_factor=4.0, rate_factor=0.25), WHOLE)],
    ),
    "a straggler by a longer delay of its links": (
        ["{kind: straggler, nodes: [0], cause: link, delay: 1s}"],
        [(DegradeEffect(((0, 1), (0, 8), (1, 0), (8, 0)), delay_s=1.0), WHOLE)],
    ),
    "a straggler by pauses runs for a share of each cycle": (
        ["{kind: straggler, nodes: [6], cause: pause, factor: 4, cycle: 2s, at: 10s, until: 15s}"],
        [(PauseEffect((6,)), Window(begin, end)) for begin, end in ((10.0, 11.5), (12.0, 13.5), (14.0, 15.0))],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", BY_HAND)
def test_a_plan_on_a_ring_is_the_one_worked_out_by_hand(case: str) -> None:
    entries, expected = BY_HAND[case]
    assert [(event.effect, event.window) for event in plan_of(*entries, graph="ring")] == expected


@pytest.mark.parametrize(("duty", "down"), [("1%", 1), ("50%", 2), ("99%", 3)])
def test_a_link_that_flaps_by_iterations_is_down_and_up_for_at_least_one(duty: str, down: int) -> None:
    plan = plan_of(f"{{kind: flap, links: 0>1, period: {{iterations: 4}}, duty: {duty}}}", graph="ring")
    assert len(plan) == 75
    assert plan[1].window == Window(4, 4 + down, "iterations")


def test_stops_at_iterations_repeat_by_iterations_however_long_each_lasts() -> None:
    plan = plan_of(
        "{kind: kill, nodes: random(3), at: {iteration: 10}, back_after: 1min, every: {iterations: 50}}",
        "{kind: pause, nodes: [1], for: 3s, every: {iterations: 20}, until: {iteration: 41}}",
    )
    kills = [event for event in plan if event.number == 0]
    assert [event.window for event in kills] == [Window(k, inf, "iterations", 60.0) for k in range(10, 300, 50)]
    assert len({event.effect for event in kills}) == 6
    assert [event.window.begin for event in plan if event.number == 1] == [0, 20, 40]


def test_what_docker_does_is_not_for_nodes() -> None:
    plan = plan_of(
        "{kind: container-kill, nodes: [3], at: 4s, back_after: 6s}",
        "{kind: container-restart, nodes: [1], at: 4s}",
        "{kind: cpu-quota, nodes: [2, 0], cpu: 20%, at: 5s, for: 1s}",
        "{kind: kill, nodes: [3], at: 20s}",
    )
    assert [(event.effect, event.window) for event in plan[:3]] == [
        (ContainerKillEffect((3,)), Window(4, 10)),
        (ContainerRestartEffect((1,)), Window(4, 5)),
        (CpuQuotaEffect((0, 2), 5.0), Window(5, 6)),
    ]
    assert [event.effect for event in for_nodes(plan)] == [KillEffect((3,))]


def test_churn_kills_at_the_asked_rate_only_who_is_up_and_never_everybody() -> None:
    # 40 seeds x 1 h x 6 per minute: 14400 kills, standard deviation 120; 5 of these are exceeded once in 1.7e6.
    total = 0
    for seed in range(40):
        plan = plan_of("{kind: churn, per_minute: 6, back_after: 1s}", seed=seed, horizon=Horizon(3600.0))
        total += len(plan)
        for before, after in pairwise(plan):
            if after.window.begin < before.window.end:
                assert before.effect != after.effect
    assert abs(total - 14400) < 600
    crowded = plan_of("{kind: churn, per_minute: 600, back_after: 1h}", graph="ring")
    assert sorted(node for event in crowded for node in nodes_hit(event)) == sorted({nodes_hit(e)[0] for e in crowded})
    assert len(crowded) == GRAPHS["ring"].nodes - 1


def test_churn_that_keeps_the_rest_connected_never_kills_the_hub_of_a_star() -> None:
    plan = plan_of("{kind: churn, per_minute: 60, back_after: 3s, keep_connected: true}", graph="star")
    assert len(plan) > 20
    assert {nodes_hit(event)[0] for event in plan} == {1, 2, 3, 4, 5, 6}


def test_rotating_stragglers_take_turns_until_everybody_was_slow() -> None:
    plan = plan_of(
        "{kind: straggler, nodes: random(25%), pattern: rotating, turn: {iterations: 10}, until: {iteration: 40}}"
    )
    assert [event.window for event in plan] == [Window(k, k + 10, "iterations") for k in (0, 10, 20, 30)]
    assert sorted(node for event in plan for node in nodes_hit(event)) == list(range(16))


def test_random_stragglers_are_drawn_anew_each_iteration() -> None:
    plan = plan_of("{kind: straggler, nodes: random(2), pattern: random}")
    assert [event.window for event in plan] == [Window(k, k + 1, "iterations") for k in range(300)]
    assert {len(nodes_hit(event)) for event in plan} == {2}
    assert len({event.effect for event in plan}) > 80


def test_a_drawn_factor_belongs_to_the_node_and_may_be_drawn_anew_each_turn() -> None:
    once = plan_of("{kind: straggler, nodes: all, factor: 'uniform(5, 20)'}")
    factors = {nodes_hit(event): slowed_by(event) for event in once}
    assert len(factors) == 16
    assert all(5 <= factor <= 20 for factor in factors.values())
    (alone,) = plan_of("{kind: straggler, nodes: [7], factor: 'uniform(5, 20)'}")
    assert slowed_by(alone) == factors[(7,)]
    anew = plan_of(
        "{kind: straggler, nodes: [7], factor: 'lognormal(10, 1)', turn: {iterations: 1}, for: {iterations: 50}}"
    )
    assert len({slowed_by(event) for event in anew}) > 40


def test_lognormal_factors_have_the_asked_median() -> None:
    # Of 301 draws, the number below the true median is binomial: outside 98..203 less than once in 1e9.
    plan = plan_of("{kind: straggler, nodes: [7], factor: 'lognormal(100, 0.5)', turn: {iterations: 1}}")
    assert 98 <= sum(slowed_by(event) < 100 for event in plan) <= 203
    assert len(plan) == 300


@pytest.mark.parametrize(
    ("entry", "key"),
    [
        ("{kind: link-down, links: all, for: 1s, every: 1s}", "faults.0"),
        ("{kind: link-down, links: random(0%), for: 1s, every: 1s}", "faults.0"),
        ("{kind: flap, links: all, period: 1ms}", "faults.0"),
        ("{kind: straggler, nodes: [1], cause: pause, cycle: 1ms}", "faults.0"),
        ("{kind: straggler, nodes: [1], pattern: rotating, turn: 1us}", "faults.0"),
    ],
)
def test_a_plan_that_would_not_end_is_refused(entry: str, key: str) -> None:
    with pytest.raises(FaultError) as caught:
        plan_of(entry, horizon=Horizon())
    assert str(caught.value) == (
        f"{key}: makes more than {MOST_EVENTS:,} events; let it happen less often, or end it with until or stop"
    )


def test_faults_that_are_too_many_only_together_are_refused_too() -> None:
    entry = "{kind: flap, links: 0-1, period: 1s}"
    assert len(plan_of(entry, graph="ring", horizon=Horizon(6000.0))) == 6000
    with pytest.raises(FaultError, match=r"^faults\.1: makes more than 10,000 events"):
        plan_of(entry, entry, graph="ring", horizon=Horizon(6000.0))


def test_a_plan_that_names_too_much_is_refused() -> None:
    wide = build(Ring(), 1000, 1)
    with pytest.raises(
        FaultError, match=r"^faults\.0: names more than 1,000,000 nodes and links in all; let it happen"
    ):
        compile_plan(specs("{kind: flap, links: all, period: 1s}"), wide, None, 1, Horizon(1000.0))


def test_without_faults_the_plan_is_empty() -> None:
    assert compile_plan([], GRAPHS["ring"], None, 1, HORIZON) == ()


def test_a_share_of_zero_strikes_nobody() -> None:
    assert plan_of("{kind: pause, nodes: random(0%)}", "{kind: straggler, nodes: random(0%), pattern: random}") == ()


@pytest.mark.parametrize("graph", ["ring", "clusters", "scale-free", "grid"])
def test_churn_can_keep_those_who_are_up_connected_at_every_moment(graph: str) -> None:
    plan = plan_of("{kind: churn, per_minute: 100, back_after: 2s, keep_connected: true}", graph=graph)
    moments = sorted({moment for event in plan for moment in (event.window.begin, event.window.end)})
    assert len(plan) > 30
    assert {live_graph(GRAPHS[graph], active(plan, moment)).components for moment in moments} == {1}


def test_rounding_makes_no_window_of_its_own() -> None:
    """0.5 s + 3 · 0.7 s is 2.5999999999999996 s, just before the end at 2.6 s."""
    turning = "{kind: straggler, nodes: all, pattern: rotating, turn: 700ms, at: 500ms, for: 2100ms, factor: 3}"
    assert [event.window.begin for event in plan_of(turning)] == pytest.approx([0.5, 1.2, 1.9])


def test_stragglers_can_come_again_and_again_each_time_others() -> None:
    again = "{kind: straggler, nodes: random(2), factor: 3, at: 2s, for: 1s, every: 5s, until: 20s}"
    plan = plan_of(again)
    assert [(event.window.begin, event.window.end) for event in plan] == [(2, 3), (7, 8), (12, 13), (17, 18)]
    slow = [nodes_hit(event) for event in plan if isinstance(event.effect, SlowEffect)]
    assert [len(nodes) for nodes in slow] == [2] * 4
    assert len(set(slow)) > 1
