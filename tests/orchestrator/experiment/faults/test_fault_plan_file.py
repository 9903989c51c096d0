"""A plan as text: exactly back again, and total on any text."""

import json
from math import inf
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orchestrator.experiment.faults import Horizon, compile_plan
from orchestrator.experiment.text import parse
from pame.errors import PlanError
from pame.fault_effects import (
    ContainerKillEffect,
    ContainerRestartEffect,
    CpuQuotaEffect,
    CutEffect,
    DegradeEffect,
    DropEffect,
    FaultEvent,
    KillEffect,
    PauseEffect,
    RestartEffect,
    SlowEffect,
    Window,
)
from pame.fault_plan_text import plan_lines, read_plan
from pame.topology import build
from pame.topology.kinds import RandomRegular
from tests.orchestrator.experiment.faults.builders import specs

HERE = Path(__file__).parent

NUMBERS = st.floats(0, 1e300, allow_subnormal=True)
SHARES = st.floats(0, 1)
LINKS = st.lists(
    st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)).filter(lambda link: link[0] != link[1]), min_size=1
).map(tuple)
NODES = st.lists(st.integers(0, 10**9), min_size=1).map(tuple)
FACTORS = st.floats(1, 1e9)
EFFECTS = st.one_of(
    st.builds(CutEffect, LINKS),
    st.builds(DegradeEffect, LINKS, FACTORS, NUMBERS, NUMBERS, SHARES, st.floats(1e-9, 1)),
    st.builds(DropEffect, LINKS, SHARES),
    *(st.builds(effect, NODES, FACTORS) for effect in (SlowEffect, CpuQuotaEffect)),
    *(st.builds(effect, NODES) for effect in (ContainerKillEffect, ContainerRestartEffect)),
)
STOPS = st.one_of(*(st.builds(effect, NODES) for effect in (PauseEffect, KillEffect, RestartEffect)))


def windows(*units: str) -> st.SearchStrategy[Window]:
    made = st.builds(
        lambda a, b, unit: Window(min(a, b), max(a, b), unit), NUMBERS, NUMBERS | st.just(inf), st.sampled_from(units)
    )
    return made.filter(lambda window: window.begin < window.end)


STRIKES = st.builds(
    lambda k, lasts: Window(float(k), inf, "iterations", lasts),
    st.integers(0, 10**9),
    st.floats(0, 1e300, exclude_min=True) | st.just(inf),
)
ACTS = st.tuples(EFFECTS, windows("seconds", "iterations")) | st.tuples(STOPS, windows("seconds") | STRIKES)
EVENTS = st.builds(
    lambda number, fault, act: FaultEvent(number, fault, *act), st.integers(0, 10**9), st.text(min_size=1), ACTS
)


def refusal(text: str) -> PlanError | None:
    try:
        read_plan(text)
    except PlanError as error:
        return error
    return None


@given(st.lists(EVENTS, max_size=3).map(tuple))
def test_any_plan_comes_back_exactly(plan: tuple[FaultEvent, ...]) -> None:
    lines = plan_lines(plan)
    assert all("\n" not in line for line in lines)
    assert read_plan("".join(f"{line}\n" for line in lines)) == plan


def test_a_line_is_plain_json_with_a_null_for_the_end_of_the_run() -> None:
    event = FaultEvent(2, "flap", CutEffect(((0, 1), (1, 0))), Window(0.1, inf))
    assert plan_lines([event]) == [
        '{"number":2,"fault":"flap","effect":{"kind":"cut","links":[[0,1],[1,0]]},"begin":0.1,"end":null,"unit":"seconds"}'
    ]


def test_what_stops_a_node_at_an_iteration_says_for_how_many_seconds() -> None:
    lines = plan_lines(
        [FaultEvent(0, "pause", PauseEffect((2,)), Window(40.0, inf, "iterations", lasts)) for lasts in (5.0, inf)]
    )
    assert lines[0] == (
        '{"number":0,"fault":"pause","effect":{"kind":"pause","nodes":[2]},"begin":40.0,"end":null,'
        '"unit":"iterations","lasts":5.0}'
    )
    assert lines[1].endswith('"unit":"iterations","lasts":null}')


@given(st.text())
@example("[" * 100_000)
@example('{"number":1e999}')
@example("9" * 5000)
@example("\ud800")
@example("NaN")
def test_any_text_is_a_plan_or_an_error_with_its_line(text: str) -> None:
    error = refusal(text)
    if error:
        assert 1 <= error.line <= text.count("\n") + 1
        assert str(error).startswith(f"plan, line {error.line}: ")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["kind", "links", "nodes"]), inner),
)


@given(EVENTS, st.sampled_from(["number", "fault", "effect", "begin", "end", "unit", "lasts", "more"]), JSON)
def test_a_line_with_anything_in_one_place_is_an_event_or_refused(event: FaultEvent, key: str, value: Any) -> None:
    line = json.dumps({**json.loads(plan_lines([event])[0]), key: value})
    error = refusal(line)
    if error:
        assert error.line == 1
    else:
        (again,) = read_plan(line)
        assert read_plan(plan_lines([again])[0]) == (again,)


EFFECT_KINDS = "cut, degrade, drop, slow, pause, kill, restart, container-kill, container-restart, cpu-quota"
KEYS = "links, delay_factor, delay_s, jitter_s, loss, rate_factor"
GOOD = plan_lines([FaultEvent(0, "degrade", DegradeEffect(((0, 1),)), Window(1.0, 2.0))])[0]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("{", "", "is not JSON"),
        ('"number":0', '"number":0,"number":1', "is not JSON"),
        ('"number":0,', "", "is not an object with the keys number, fault, effect, begin, end, unit"),
        ('"number":0', '"number":-1', "number -1 is no whole number of at least 0"),
        ('"number":0', '"number":true', "number True is no whole number of at least 0"),
        ('"degrade","effect"', '7,"effect"', "fault 7 is no word"),
        ('"begin":1.0', '"begin":"1s"', "begin '1s' is no number of at least 0"),
        ('"begin":1.0', '"begin":NaN', "begin nan is no number of at least 0"),
        ('"begin":1.0', '"begin":2.0', "end 2.0 is not after begin 2.0"),
        ('"end":2.0', '"end":Infinity', "end inf is no number of at least 0"),
        ('"seconds"', '"hours"', "unit 'hours' is not seconds or iterations"),
        ('"kind":"degrade"', '"kind":"boom"', f"effect 'boom' is not one of {EFFECT_KINDS}"),
        ('"loss":0.0,', "", f"effect degrade does not have the keys {KEYS}"),
        ('"loss":0.0', '"loss":1.5', "loss 1.5 is out of range"),
        ('"rate_factor":1.0', '"rate_factor":0', "rate_factor 0.0 is out of range"),
        ('"delay_factor":1.0', '"delay_factor":0.5', "delay_factor 0.5 is out of range"),
        ("[[0,1]]", "[]", "links [] is no list with something in it"),
        ("[[0,1]]", "[[0]]", "link [0] is no pair of nodes"),
        ("[[0,1]]", "[[3,3]]", "link [3, 3] leads from a node to itself"),
        ("[[0,1]]", "[[0,1.0]]", "node 1.0 is no whole number of at least 0"),
    ],
)
def test_a_broken_line_is_refused_with_its_number_and_the_reason(old: str, new: str, problem: str) -> None:
    assert old in GOOD
    refused = refusal(f"{GOOD}\n\n{GOOD.replace(old, new, 1)}\n")
    assert str(refused) == f"plan, line 3: {problem}; a plan is copied, not written by hand"


STOP = plan_lines([FaultEvent(0, "pause", PauseEffect((2,)), Window(40.0, inf, "iterations", 5.0))])[0]
ONLY = "lasts is for what stops a node at an iteration (pause, kill, restart), and only for that"
LENGTH = "is not how long something lasts that begins with an iteration"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (',"lasts":5.0', "", ONLY),
        ('"kind":"pause"', '"kind":"container-kill"', ONLY),
        ('"iterations"', '"seconds"', ONLY),
        ('"lasts":5.0', '"lasts":0', f"lasts 0 {LENGTH}"),
        ('"lasts":5.0', '"lasts":-1', "lasts -1 is no number of at least 0"),
        ('"lasts":5.0', '"lasts":"5s"', "lasts '5s' is no number of at least 0"),
        ('"end":null', '"end":41', f"lasts 5.0 {LENGTH}"),
        ('"begin":40.0', '"begin":40.5', f"lasts 5.0 {LENGTH}"),
    ],
)
def test_a_stop_at_an_iteration_that_contradicts_itself_is_refused(old: str, new: str, problem: str) -> None:
    assert old in STOP
    refused = refusal(STOP.replace(old, new, 1))
    assert str(refused) == f"plan, line 1: {problem}; a plan is copied, not written by hand"


def test_the_plan_of_a_rich_example_is_the_recorded_one() -> None:
    """It may change only on purpose: a recorded seed then no longer gives the recorded run."""
    entries = parse((HERE / "golden" / "faults.yaml").read_text())
    assert isinstance(entries, list)
    places = {node: "eu" if node < 7 else "us" for node in range(12)}
    topology = build(RandomRegular(degree=4), 12, 5)
    plan = compile_plan(specs(*entries), topology, places, 5, Horizon(60.0, 200))
    assert plan_lines(plan) == (HERE / "golden" / "plan.jsonl").read_text().splitlines()
