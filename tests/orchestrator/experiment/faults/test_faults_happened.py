"""What became of the faults of a plan, worked out by hand: runs of four nodes."""

from math import inf
from typing import Any

import pytest

from orchestrator.experiment.faults.happened import FaultOutcomes, Reach, Told, WindowOutcome, in_simulator, on_network
from pame.fault_effects import CutEffect, DropEffect, Effect, FaultEvent, KillEffect, PauseEffect, SlowEffect, Window


def event(
    effect: Effect, begin: float, end: float = inf, number: int = 0, unit: Any = "seconds", lasts: float | None = None
) -> FaultEvent:
    name = type(effect).__name__.removesuffix("Effect").lower()
    return FaultEvent(number, name, effect, Window(begin, end, unit, lasts))


def strike(effect: Effect, iteration: int, lasts: float = 1.0) -> FaultEvent:
    return event(effect, float(iteration), unit="iterations", lasts=lasts)


def begins(node: int, planned: float, seconds: float | None = None, number: int = 0, failure: str = "") -> Told:
    return Told(number, node, True, planned, planned if seconds is None else seconds, failure)


TEN_SECONDS = Reach(10.0, (100, 100, 100, 100))
KILL_AT_5 = event(KillEffect((2,)), 5.0, 8.0)


def test_a_fault_that_its_node_told_of_happened() -> None:
    found = on_network([KILL_AT_5], [begins(2, 5.0)], TEN_SECONDS)
    assert found == FaultOutcomes(planned=1, happened=1, failed=0, never_began=0, sentence="")


def test_faults_after_the_end_of_the_run_did_not_happen_and_the_first_of_them_is_named() -> None:
    plan = [KILL_AT_5, event(PauseEffect((1,)), 38.0, 40.0, number=1), event(CutEffect(((0, 1),)), 60.0, number=2)]
    found = on_network(plan, [begins(2, 5.0)], TEN_SECONDS)
    assert (found.happened, found.failed, found.never_began) == (1, 0, 2)
    assert found.sentence == "2 of 3 faults did not happen: the run ended before 38 s"
    assert [(each.window, each.began) for each in found.windows] == [(1, False), (2, False)]


DROP = DropEffect(((0, 1),), 0.5)
PAUSE_AT_38 = event(PauseEffect((1,)), 38.0, 40.0)
NEVER_BEGAN: dict[str, tuple[list[FaultEvent], list[Told], Reach, str]] = {
    "an iteration that nobody came to": (
        [event(DROP, 400, 450, unit="iterations")], [], TEN_SECONDS,
        "1 of 1 fault did not happen: the run ended before iteration 400",
    ),
    "the first of each unit": (
        [PAUSE_AT_38, event(DROP, 400, 450, 1, "iterations"), event(PauseEffect((1,)), 60.0, number=2)], [],
        TEN_SECONDS, "3 of 3 faults did not happen: the run ended before 38 s and iteration 400",
    ),
    "one node that did not come so far": (
        [strike(PauseEffect((3,)), 50)], [], Reach(10.0, (100, 100, 100, 20)),
        "1 of 1 fault did not happen: node 3 did not come to iteration 50",
    ),
    "a node that said nothing when its time had come was away": (
        [KILL_AT_5, event(KillEffect((2,)), 6.0, 7.0, number=1)], [begins(2, 5.0)], TEN_SECONDS,
        "1 of 2 faults did not happen: node 2 was away or stopped at 6 s",
    ),
    "failures before what never began": (
        [KILL_AT_5, event(PauseEffect((1,)), 38.0, number=1)], [begins(2, 5.0, failure="no")], TEN_SECONDS,
        "1 of 2 faults failed: kill at node 2: no; 1 of 2 faults did not happen: the run ended before 38 s",
    ),
    "only in part because the run ended just then": (
        [event(CutEffect(((0, 1), (1, 0))), 9.9)], [begins(0, 9.9)], TEN_SECONDS,
        "1 of 1 fault happened only in part: not at node 1: the run ended at 10 s",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", NEVER_BEGAN)
def test_what_did_not_happen_is_said_in_a_sentence(case: str) -> None:
    plan, told, reach, sentence = NEVER_BEGAN[case]
    assert on_network(plan, told, reach).sentence == sentence


def test_an_order_that_is_told_and_then_refused_failed_with_the_nodes_reason() -> None:
    told = [begins(2, 5.0), begins(2, 5.0, 5.1, failure="no supervisor to kill this node")]
    found = on_network([KILL_AT_5], told, TEN_SECONDS)
    assert (found.happened, found.failed, found.never_began) == (0, 1, 0)
    assert found.sentence == "1 of 1 fault failed: kill at node 2: no supervisor to kill this node"
    assert found.windows == (
        WindowOutcome(False, "kill at node 2: no supervisor to kill this node", failed=True, window=0),
    )


def test_a_fault_that_failed_at_some_of_its_nodes_began_and_failed() -> None:
    told = [begins(0, 5.0), begins(1, 5.0), begins(1, 5.0, failure="no"), begins(3, 5.0, failure="no")]
    found = on_network([event(KillEffect((0, 1, 3)), 5.0)], told, TEN_SECONDS)
    assert found.windows == (WindowOutcome(True, "kill at nodes 1, 3: no", failed=True, window=0),)
    assert (found.happened, found.failed) == (0, 1)


def test_a_fault_that_did_not_end_began_and_failed() -> None:
    told = [begins(2, 5.0), Told(0, 2, False, 8.0, 8.0, "Docker does not answer")]
    found = on_network([KILL_AT_5], told, TEN_SECONDS)
    said = "kill at node 2: it did not end: Docker does not answer"
    assert found.windows == (WindowOutcome(True, said, failed=True, window=0),)


def test_a_node_that_was_stopped_all_the_time_of_a_window_only_tells_afterwards() -> None:
    plan = [event(CutEffect(((1, 0),)), 5.0, 6.0)]
    found = on_network(plan, [begins(1, 5.0, 8.0), Told(0, 1, False, 6.0, 8.0)], TEN_SECONDS)
    assert found.sentence == "1 of 1 fault did not happen: node 1 was away or stopped at 5 s"
    assert on_network(plan, [begins(1, 5.0, 5.9)], TEN_SECONDS).happened == 1


def test_a_repeated_fault_happened_if_some_of_its_windows_did() -> None:
    plan = [event(SlowEffect((1,), 3.0), begin, begin + 1.0) for begin in (2.0, 7.0, 12.0)]
    found = on_network(plan, [begins(1, 2.0), begins(1, 7.0)], TEN_SECONDS)
    assert (found.planned, found.happened, found.sentence) == (1, 1, "")
    assert found.windows == (WindowOutcome(False, "the run ended before 12 s", window=2),)


KILL_OF_THREE = event(KillEffect((1, 2, 3)), 5.0, 8.0)


def test_a_fault_that_one_of_its_nodes_never_told_of_happened_only_in_part() -> None:
    plan = [KILL_OF_THREE, event(SlowEffect((0,), 2.0), 1.0, number=1), event(SlowEffect((1,), 2.0), 1.0, number=2)]
    told = [begins(1, 5.0), begins(2, 5.0), begins(0, 1.0, number=1), begins(1, 1.0, number=2)]
    found = on_network(plan, told, TEN_SECONDS)
    why = "not at node 3: it was away or stopped at 5 s"
    assert found.sentence == f"1 of 3 faults happened only in part: {why}"
    assert (found.happened, found.in_part, found.failed, found.never_began) == (3, 1, 0, 0)
    assert found.windows == (WindowOutcome(True, why, window=0),)


def test_several_nodes_are_missing_for_different_reasons() -> None:
    plan = [event(DropEffect(((0, 1), (1, 0), (2, 0), (3, 0)), 0.5), 50, 60, unit="iterations")]
    found = on_network(plan, [begins(0, 50.0, 5.0)], Reach(10.0, (100, 50, 7, 100)))
    assert found.windows[0].reason == (
        "not at nodes 1, 2: they did not come to iteration 50; not at node 3: it was away or stopped at iteration 50"
    )


KILL, CUT = KillEffect((3,)), CutEffect(((1, 0), (3, 0)))


@pytest.mark.parametrize(
    ("order", "told_at", "struck", "is_in_part"),
    [
        (event(KILL, 2.0, 4.0), 2.0, event(KillEffect((1, 3)), 3.0, 4.0, number=1), False),
        (event(KILL, 2.0, 4.0), 2.0, event(CUT, 3.0, 6.0, number=1), False),
        (event(KILL, 2.0), 2.0, event(CUT, 60.0, number=1), False),  # for ever
        (event(KILL, 2.0, 4.0), 2.0, event(CUT, 60.0, 70.0, number=1), True),  # long back
        (event(KILL, 80.0, 90.0), 80.0, event(CUT, 60.0, 70.0, number=1), True),  # not yet
        (event(PauseEffect((3,)), 2.0, 30.0), 2.0, event(SlowEffect((1, 3), 2.0), 5.0, 25.0, number=1), False),
        (strike(KILL, 20), 4.0, event(CUT, 4.5, 6.0, number=1), False),
        (strike(KillEffect((3,)), 20), 4.0, event(DropEffect(((1, 0), (3, 0)), 0.5), 25, 30, 1, "iterations"), False),
    ],
)
def test_nobody_expects_a_node_that_another_fault_took_away(
    order: FaultEvent, told_at: float, struck: FaultEvent, is_in_part: bool
) -> None:
    told = [begins(3, order.window.begin, told_at), begins(1, struck.window.begin, number=1)]
    found = on_network([order, struck], told, Reach(100.0, (900, 900, 900, 900)))
    assert (found.in_part, found.sentence != "") == (int(is_in_part), is_in_part)
    assert ([each.window for each in found.windows] == [1]) == is_in_part


def test_a_node_that_was_stopped_by_somebody_is_missing_and_one_that_was_busy_is_not() -> None:
    plan = [event(CutEffect(((0, 1), (1, 0))), 5.0, 5.2)]
    assert on_network(plan, [begins(0, 5.0), begins(1, 5.0, 5.4)], TEN_SECONDS).sentence == ""
    assert "not at node 1" in on_network(plan, [begins(0, 5.0), begins(1, 5.0, 8.0)], TEN_SECONDS).sentence


def test_of_a_fault_that_repeats_one_window_is_enough_at_each_node() -> None:
    plan = [event(SlowEffect((1, 2), 3.0), begin, begin + 1.0) for begin in (2.0, 7.0)]
    once = [begins(1, 2.0), begins(2, 2.0), begins(1, 7.0)]
    found = on_network(plan, once, TEN_SECONDS)
    assert (found.in_part, found.sentence) == (0, "")
    assert found.windows == (WindowOutcome(True, "not at node 2: it was away or stopped at 7 s", window=1),)
    assert on_network(plan, [begins(1, 2.0), begins(1, 7.0)], TEN_SECONDS).in_part == 1


def test_in_the_simulator_a_node_that_did_not_come_so_far_is_named_unless_it_was_taken_away() -> None:
    reach = Reach(10.0, (90, 90, 20, 90), 100, (9.9,) * 4)
    loss = event(DropEffect(((0, 1), (2, 0)), 0.5), 50, 60, unit="iterations")
    found = in_simulator([loss], reach)
    why = "not at node 2: it did not come to iteration 50"
    assert found.sentence == f"1 of 1 fault happened only in part: {why}"
    assert in_simulator([loss, event(KillEffect((2,)), 3.0, number=1)], reach).sentence == ""


def test_the_simulator_does_what_is_planned_until_its_end() -> None:
    reach = Reach(10.0, (100,) * 4, 100, (10.0,) * 4)
    assert in_simulator([KILL_AT_5], reach).happened == 1
    assert in_simulator([event(KillEffect((2,)), 10.0)], reach).sentence.endswith("the run ended before 10 s")


@pytest.mark.parametrize(
    ("iteration", "reach", "happened"),
    [
        (39, Reach(None, (40, 40, 40, 40)), True),  # without a clock
        (40, Reach(None, (40, 40, 40, 40)), False),
        (40, Reach(10.0, (90, 90, 40, 90), 100, (9.9, 9.9, 4.0, 9.9)), True),  # killed there, and never back
        (40, Reach(10.0, (90, 90, 40, 90), 100, (9.9, 9.9, 10.0, 9.9)), False),  # the run ended as it came there
        (40, Reach(10.0, (40, 40, 40, 40), 40, (9.0, 9.0, 8.0, 10.0)), False),  # the last iteration is 39
        (40, Reach(10.0, (90, 90, 90, 90), 100, (9.9,) * 4, {2: [range(31, 60)]}), False),  # it was away
    ],
)
def test_an_iteration_of_the_simulator_is_one_that_the_node_began(iteration: int, reach: Reach, happened: bool) -> None:
    assert bool(in_simulator([strike(KillEffect((2,)), iteration, inf)], reach).happened) == happened


def test_a_window_in_iterations_begins_when_the_node_comes_back_within_it() -> None:
    reach = Reach(10.0, (90, 90, 90, 90), 100, (9.9,) * 4, {2: [range(31, 60)]})
    assert in_simulator([event(DropEffect(((2, 0),), 1.0), 40, 70, unit="iterations")], reach).happened == 1
    assert in_simulator([event(DropEffect(((2, 0),), 1.0), 40, 50, unit="iterations")], reach).happened == 0


def test_in_the_simulator_too_an_order_for_somebody_who_is_away_finds_nobody() -> None:
    reach = Reach(10.0, (100,) * 4, 100, (10.0,) * 4)
    again, slow = event(KillEffect((2,)), 6.0, 9.0, number=1), event(SlowEffect((2,), 2.0), 5.5, 7.0, number=2)
    longer = event(SlowEffect((2,), 2.0), 5.5, 9.5, number=3)
    found = in_simulator([KILL_AT_5, again, slow, longer], reach)
    assert found.sentence == (
        "2 of 4 faults did not happen: node 2 was away or stopped at 5.5 s; node 2 was away or stopped at 6 s"
    )
    assert [each.window for each in found.windows] == [1, 2]
