"""Any plan ends healed, in what drivers are told: after its last window all is as if there had been no faults."""

from math import inf
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pame.conditions import Conditions
from pame.fault_effects import (
    CutEffect,
    DegradeEffect,
    DropEffect,
    FaultEvent,
    KillEffect,
    PauseEffect,
    Plan,
    RestartEffect,
    SlowEffect,
)
from pame.links import LinkSpec
from pame.rules import Compute
from tests.orchestrator.experiment.faults.builders import ANY_FAULTS, GRAPHS, HORIZON, links_hit, plan_of

BASELINE = LinkSpec(delay_s=0.02, jitter_s=0.001, rate_bps=1e7, loss=0.01)
GRAPH_NAMES = st.sampled_from([name for name, graph in GRAPHS.items() if name != "pair" and 1 in graph.neighbours(0)])
ENDS = ("for", "until", "back_after")


def last_end(plan: Plan, unit: str) -> float:
    """A node is stopped only when it begins an iteration, not at the next one."""
    windows = [event.window for event in plan if event.window.unit == unit]
    return max((window.end if window.lasts_s is None else window.begin + 1 for window in windows), default=0.0)


def is_endless(event: FaultEvent) -> bool:
    return (event.window.end if event.window.lasts_s is None else event.window.lasts_s) == inf


def conditions(plan: Plan, nodes: int) -> Conditions:
    return Conditions(1, nodes, compute=Compute(step_s=1.0), link=BASELINE, plan=plan)


def assert_healed(told: Conditions, nodes: int, iteration: int, seconds: float) -> None:
    """Nobody that asks hears of a fault."""
    for link in ((i, j) for i in range(nodes) for j in range(nodes) if i != j):
        assert told.link_at(*link, seconds) == BASELINE
        assert told.held_until(*link, seconds) == seconds
        assert told.lost_share(*link, iteration) == told.lost_share_at(*link, seconds) == 0.0
    for node in range(nodes):
        assert told.step_seconds(node, iteration, seconds) == 1.0
        assert told.paused_until(node, seconds) == seconds
        assert told.strikes(node, iteration) == []
    assert all(event.window.end <= seconds for _, event in told.absences())


def is_felt(told: Conditions, event: FaultEvent) -> bool:
    """Whether somebody that asks when it begins hears of it."""
    begin, by_iteration = event.window.begin, event.window.unit == "iterations"
    match event.effect:
        case CutEffect(links) if by_iteration:
            return all(told.lost_share(*link, int(begin)) == 1.0 for link in links)
        case CutEffect(links):
            return all(told.held_until(*link, begin) >= event.window.end for link in links)
        case DegradeEffect(links):
            return all(told.link_at(*link, begin) != BASELINE for link in links)
        case DropEffect(links, share) if by_iteration:
            return all(told.lost_share(*link, int(begin)) >= share - 1e-12 for link in links)
        case DropEffect(links, share):
            return all(told.lost_share_at(*link, begin) >= share - 1e-12 for link in links)
        case SlowEffect(nodes, factor):
            k, seconds = (int(begin), inf) if by_iteration else (-1, begin)
            return all(told.step_seconds(node, k, seconds) >= factor for node in nodes)
        case PauseEffect(nodes) | KillEffect(nodes) | RestartEffect(nodes) if by_iteration:
            return all(event in told.strikes(node, int(begin)) for node in nodes)
        case PauseEffect(nodes):
            return all(told.paused_until(node, begin) >= event.window.end for node in nodes)
        case KillEffect(nodes) | RestartEffect(nodes):
            return all((node, event) in told.absences() for node in nodes)


def does_nothing(event: FaultEvent) -> bool:
    """What a factor of 1 does to a link."""
    return isinstance(event.effect, DegradeEffect) and event.effect == DegradeEffect(links_hit(event))


@settings(max_examples=100, deadline=None)
@given(ANY_FAULTS, GRAPH_NAMES, st.integers(0, 2**63 - 1))
def test_any_plan_is_felt_while_it_lasts_and_not_a_moment_longer(
    entries: list[dict[str, Any]], graph: str, seed: int
) -> None:
    plan, nodes = plan_of(*entries, graph=graph, seed=seed), GRAPHS[graph].nodes
    told = conditions(plan, nodes)
    assert all(is_felt(told, event) for event in plan if not does_nothing(event))

    endless = tuple(event for event in plan if is_endless(event))
    assert all(not entries[event.number].keys() & set(ENDS) for event in endless)  # somebody wanted them so
    ending = conditions(tuple(event for event in plan if event not in endless), nodes)
    iteration, seconds = int(last_end(ending.plan, "iterations")), last_end(ending.plan, "seconds")
    for later in (0, 1, 1000):
        assert_healed(ending, nodes, iteration + later, seconds + later)
    if not endless:
        assert_healed(told, nodes, max(iteration, int(HORIZON.iterations)), max(seconds, HORIZON.seconds))
