"""No set of faults leaves a run hanging, whatever the algorithm: every wait is bounded by patience."""

from dataclasses import replace
from math import inf, prod

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pame.algorithms import AlgorithmSpec, ChocoSpec
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
from pame.rules import Exchange
from tests.pame.simulator.harness import DPSGD, PAME, all_pairs, run, world

NODES, ITERATIONS, PATIENCE_S, STEP_S = 6, 15, 0.05, 0.01
ROUNDING_S = 1e-9
ALGORITHMS = (replace(PAME, participation=0.6), DPSGD, ChocoSpec())

nodes = st.lists(st.integers(0, NODES - 1), min_size=1, max_size=NODES, unique=True).map(tuple)
links = st.lists(
    st.sampled_from([link for i, j in all_pairs(NODES) for link in ((i, j), (j, i))]), min_size=1, max_size=9
).map(tuple)
by_the_clock = st.builds(
    lambda begin, length: Window(begin, begin + length), st.floats(0, 1), st.floats(0.001, 1) | st.just(inf)
)
by_iteration = st.builds(
    lambda begin, length: Window(begin, begin + length, "iterations"),
    st.integers(0, ITERATIONS),
    st.integers(1, 8) | st.just(inf),
)
either = by_the_clock | by_iteration
at_an_iteration = st.builds(
    lambda k, lasts: Window(k, unit="iterations", lasts_s=lasts),
    st.integers(0, ITERATIONS),
    st.floats(0.001, 1) | st.just(inf),
)
anything = st.lists(
    st.tuples(st.builds(CutEffect, links) | st.builds(DropEffect, links, st.floats(0, 1)), either)
    | st.tuples(st.builds(SlowEffect, nodes, st.floats(1, 20)), either)
    | st.tuples(
        st.builds(
            DegradeEffect,
            links,
            st.floats(1, 9),
            st.floats(0, 1),
            st.floats(0, 1),
            st.floats(0, 0.5),
            st.floats(0.01, 1),
        )
        | st.builds(PauseEffect, nodes)
        | st.builds(KillEffect, nodes)
        | st.builds(RestartEffect, nodes),
        by_the_clock,
    )
    | st.tuples(
        st.builds(PauseEffect, nodes) | st.builds(KillEffect, nodes) | st.builds(RestartEffect, nodes), at_an_iteration
    ),
    max_size=6,
)


def longest(events: list[tuple[Effect, Window]]) -> float:
    """The last end, and then as many iterations as there are, each with all of its patience and the slowest step. Who
    is stopped at an iteration may have to do all of them again after that."""
    ends = (window.end for _, window in events if window.unit == "seconds" and window.end < inf)
    slowest = prod(effect.factor for effect, _ in events if isinstance(effect, SlowEffect))
    stops = [window.lasts_s for _, window in events if window.lasts_s is not None]
    again = (1 + len(stops)) * (ITERATIONS + 1) * (PATIENCE_S + STEP_S * slowest)
    return max(ends, default=0.0) + sum(lasts for lasts in stops if lasts < inf) + again


@settings(max_examples=45, deadline=None)
@given(events=anything, algorithm=st.sampled_from(ALGORITHMS))
def test_no_set_of_faults_leaves_a_run_hanging(events: list[tuple[Effect, Window]], algorithm: AlgorithmSpec) -> None:
    """It ends by itself, what never ends included: that is left behind when the run is over."""
    plan = tuple(FaultEvent(number, "test", effect, window) for number, (effect, window) in enumerate(events))
    setting = world(all_pairs(NODES), (1,) * NODES, iterations=ITERATIONS, algorithm=algorithm)
    found = run(
        "virtual-time",
        replace(setting, plan=plan, exchange=Exchange(patience_s=PATIENCE_S, exclude_after=2)),
        spied=False,
    )
    assert found.outcome.iterations <= ITERATIONS
    assert np.isfinite(found.outcome.models).all()
    for record in found.records:
        assert (record.waited_s or 0.0) <= PATIENCE_S + longest_pause(events) + ROUNDING_S
        assert (record.seconds or 0.0) <= longest(events) + ROUNDING_S


def longest_pause(events: list[tuple[Effect, Window]]) -> float:
    """Who is stopped while it waits goes on waiting: all pauses that end, one after the other."""
    return sum(
        window.end - window.begin for effect, window in events if isinstance(effect, PauseEffect) and window.end < inf
    )
