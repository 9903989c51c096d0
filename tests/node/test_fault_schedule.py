"""What a node tells of the plan: each beginning and each end once, of what concerns it."""

import asyncio
import json
import time
from collections.abc import Iterator
from math import inf
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from contract.fault_reports import Turn, concerns, fault_message
from contract.realised import Realised
from node.fault_schedule import FaultSchedule
from node.supervisor import LONGEST_S
from orchestrator.control.fault_events import fault_event
from pame.fault_effects import (
    CutEffect,
    DegradeEffect,
    DropEffect,
    Effect,
    FaultEvent,
    KillEffect,
    PauseEffect,
    RestartEffect,
    SlowEffect,
    Window,
)
from tests.harness import until

pytestmark = pytest.mark.edge

LINK = ((1, 2),)


@pytest.fixture
def told() -> list[Turn]:
    """What a schedule tells."""
    return []


def event(effect: Effect, begin: float, end: float, unit: str = "seconds", number: int = 0) -> FaultEvent:
    return FaultEvent(number, "test", effect, Window(begin, end, unit))  # type: ignore[arg-type]


@pytest.mark.parametrize("effect", [CutEffect(LINK), DegradeEffect(LINK), DropEffect(LINK, 0.5)])
def test_a_link_concerns_its_sender_alone(effect: Effect) -> None:
    assert [concerns(event(effect, 0, 1), index) for index in range(4)] == [False, True, False, False]


@pytest.mark.parametrize(
    "effect", [SlowEffect((1, 3), 2.0), PauseEffect((1, 3)), KillEffect((1, 3)), RestartEffect((1, 3))]
)
def test_what_happens_to_nodes_concerns_them(effect: Effect) -> None:
    assert [concerns(event(effect, 0, 1), index) for index in range(4)] == [False, True, False, True]


def test_turns_are_told_once_by_their_own_unit(told: list[Turn]) -> None:
    plan = [
        event(CutEffect(LINK), 2, 4),
        event(SlowEffect((1,), 2.0), 5, 7, "iterations", 1),
        event(SlowEffect((0,), 2.0), 0, 9),
    ]
    schedule = FaultSchedule(1, plan, told.append)
    for seconds, k in ((0.0, 0), (2.0, 3), (2.5, 5), (3.9, 6), (4.0, 7), (9.0, 20)):
        schedule.look(seconds, k)
        schedule.look(seconds, k)
    assert [(turn.event.number, turn.begins, turn.seconds, turn.iteration) for turn in told] == [
        (0, True, 2.0, 3), (1, True, 2.5, 5), (0, False, 4.0, 7), (1, False, 4.0, 7),
    ]  # fmt: skip


def test_a_window_that_is_over_between_two_looks_is_told_nevertheless(told: list[Turn]) -> None:
    schedule = FaultSchedule(1, [event(CutEffect(LINK), 2, 2.001)], told.append)
    schedule.look(1.0, 0)
    schedule.look(3.0, 0)
    assert [turn.begins for turn in told] == [True, False]


def test_what_the_kernel_does_is_told_when_it_has_acknowledged(told: list[Turn]) -> None:
    plan = [event(CutEffect(LINK), 2, 4), event(SlowEffect((1,), 2.0), 2, 4, number=1)]
    schedule = FaultSchedule(
        1, plan, told.append, lambda each: "nft" if isinstance(each.effect, CutEffect) else "in-process"
    )
    row = Realised(1, 2, "cut", 1.0, "nft", 1.0)
    schedule.look(2.1, 5)
    assert [(turn.event.number, turn.took) for turn in told] == [(1, None)]
    schedule.applied(2.1, 5, 0.02, lambda _: [row])
    assert told[1:] == [Turn(plan[0], True, 2.1, 5, "nft", "", 0.02, [row])]
    schedule.look(4.5, 9)
    schedule.applied(4.6, 9, 0.01, lambda _: [])
    schedule.applied(4.7, 9, 0.01, lambda _: [])
    assert [(turn.event.number, turn.begins, turn.seconds, turn.took) for turn in told[2:]] == [
        (1, False, 4.5, None), (0, False, 4.6, 0.01),
    ]  # fmt: skip


def test_what_was_over_before_the_kernel_held_it_has_failed(told: list[Turn]) -> None:
    schedule = FaultSchedule(1, [event(CutEffect(LINK), 2, 4)], told.append, lambda _: "nft")
    schedule.applied(4.5, 9, 0.01, lambda _: [])
    assert [(turn.begins, turn.failure) for turn in told] == [
        (True, "it was over before the kernel held it"), (False, ""),
    ]  # fmt: skip


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(0.01, 5)), max_size=6), st.lists(st.floats(0, 20), max_size=10))
def test_every_beginning_has_one_end_at_most_and_in_order(spans: list[tuple[float, float]], looks: list[float]) -> None:
    told: list[Turn] = []
    plan = [event(CutEffect(LINK), b, b + lasts, number=n) for n, (b, lasts) in enumerate(spans)]
    schedule = FaultSchedule(1, plan, told.append)
    for moment in sorted([*looks, 100.0]):
        schedule.look(moment, 0)
    for number in range(len(spans)):
        assert [turn.begins for turn in told if turn.event.number == number] == [True, False]


async def test_without_a_supervisor_an_order_fails_with_a_reason(
    told: list[Turn], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PAME_SUPERVISOR", str(tmp_path / "nobody"))
    began = time.monotonic()
    schedule = FaultSchedule(1, [event(PauseEffect((1,)), 0.01, 60)], told.append)
    following = asyncio.create_task(schedule.follow(lambda: time.monotonic() - began, lambda: 0))
    await until(lambda: len(told) >= 2)
    following.cancel()
    assert [(turn.begins, bool(turn.failure)) for turn in told] == [(True, False), (True, True)]
    assert "no supervisor to pause this node" in told[1].failure


async def test_what_a_former_self_was_told_is_not_done_again(told: list[Turn]) -> None:
    plan = [
        event(KillEffect((1,)), 1, 3),
        event(CutEffect(LINK), 0, 1, number=1),
        event(CutEffect(LINK), 0, 9, number=2),
    ]
    schedule = FaultSchedule(1, plan, told.append, seconds=2.0, iteration=0)
    schedule.look(2.0, 0)
    following = asyncio.create_task(schedule.follow(lambda: 2.0, lambda: 0))
    await asyncio.sleep(0.1)
    following.cancel()
    assert [(turn.event.number, turn.begins) for turn in told] == [(2, True)]


def at_iteration(effect: Effect, k: int, lasts_s: float = 5.0, number: int = 0) -> FaultEvent:
    return FaultEvent(number, "test", effect, Window(k, unit="iterations", lasts_s=lasts_s))


Orders = list[dict[str, Any]]


@pytest.fixture
def orders(loop: asyncio.Runner, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Orders]:
    """Those that a parent gets, who says yes to all of them."""
    given: Orders = []

    async def parent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        given.append(json.loads(await reader.readline()))
        writer.write(b'{"done": true}\n')
        await writer.drain()
        writer.close()

    monkeypatch.setenv("PAME_SUPERVISOR", str(tmp_path / "orders"))
    server = loop.run(asyncio.start_unix_server(parent, tmp_path / "orders"))
    yield given
    server.close()


async def train(schedule: FaultSchedule, *ks: int) -> None:
    """Begin these iterations."""
    async with asyncio.timeout(30):
        for k in ks:
            await schedule.strike(k, lambda: 100.0)


async def test_an_order_by_iteration_is_given_once_and_lasts_its_seconds(told: list[Turn], orders: Orders) -> None:
    plan = [
        at_iteration(PauseEffect((1,)), 3),
        at_iteration(KillEffect((1,)), 5, inf, 1),
        at_iteration(KillEffect((0,)), 4, 1.0, 2),
    ]
    await train(FaultSchedule(1, plan, told.append, run="7"), 0, 2, 3, 3, 4, 5, 6)
    assert [(order["do"], order["seconds"], order["run"]) for order in orders] == [
        ("pause", 5.0, "7"), ("kill", LONGEST_S, "7"),
    ]  # fmt: skip
    assert [(turn.event.number, turn.begins, turn.iteration, turn.mechanism) for turn in told] == [
        (0, True, 3, "supervisor"), (0, False, 3, "supervisor"), (1, True, 5, "supervisor"),
    ]  # fmt: skip
    lines = [fault_event(1, fault_message(7, turn)) for turn in told]
    assert [line["planned"] for line in lines] == [{"iteration": 3}, {"iteration": 3}, {"iteration": 5}]


def test_it_is_known_beforehand_which_iteration_an_order_is_for() -> None:
    plan = [
        at_iteration(PauseEffect((1,)), 3),
        at_iteration(PauseEffect((2,)), 1),
        event(SlowEffect((1,), 2.0), 0, 9, "iterations"),
    ]
    schedule = FaultSchedule(1, plan, lambda _: None)
    assert [schedule.is_struck(k) for k in range(5)] == [False, False, False, True, True]


async def test_an_order_by_iteration_does_not_go_by_the_clock(told: list[Turn]) -> None:
    schedule = FaultSchedule(1, [at_iteration(PauseEffect((1,)), 3)], told.append)
    following = asyncio.create_task(schedule.follow(lambda: 100.0, lambda: 50))
    await asyncio.sleep(0.1)
    following.cancel()
    assert not told


@pytest.mark.parametrize(("first", "count"), [(2, 1), (3, 1), (4, 0)])
async def test_who_comes_back_after_the_iteration_of_an_order_is_not_struck(
    orders: Orders, first: int, count: int
) -> None:
    schedule = FaultSchedule(1, [at_iteration(RestartEffect((1,)), 3)], lambda _: None, iteration=first)
    await train(schedule, *range(first, 8))
    assert len(orders) == count


async def test_an_order_by_hand_whose_iteration_has_passed_is_given_at_the_next(
    told: list[Turn], orders: Orders
) -> None:
    schedule = FaultSchedule(1, [], told.append, iteration=0)
    schedule.add([at_iteration(PauseEffect((1,)), 3)])
    await train(schedule, 6, 7)
    assert len(orders) == 1
    assert [turn.iteration for turn in told] == [6, 6]


def test_nothing_begins_with_an_iteration_that_is_not_done_any_more(told: list[Turn]) -> None:
    by_iteration = [event(CutEffect(LINK), k, k + 5, "iterations", number=k) for k in (38, 39, 40, 41)]
    schedule = FaultSchedule(1, by_iteration, told.append, limit=40)
    schedule.add([event(CutEffect(LINK), 40, 45, "iterations", number=50)])
    for k in range(41):
        schedule.look(0.0, k)
    assert [(turn.event.number, turn.begins) for turn in told] == [(38, True), (39, True)]
