"""The table of phases is the test: each step that it has is taken, every other is refused."""

from itertools import product

import pytest

from orchestrator.control.run_phase import BEFORE_START, NEXT, Phase, WrongPhase, moved

STEPS = """
gathering -> preparing ending
preparing -> verifying running ending
verifying -> running ending
running -> ending
ending -> evaluating idle
evaluating -> idle
idle ->
"""
ALLOWED = {
    (Phase(phase.strip()), Phase(to))
    for phase, _, following in (line.partition("->") for line in STEPS.split("\n") if line)
    for to in following.split()
}


@pytest.mark.parametrize(("phase", "to"), list(product(Phase, Phase)))
def test_a_run_takes_the_steps_of_the_table_and_no_others(phase: Phase, to: Phase) -> None:
    if (phase, to) in ALLOWED:
        assert moved(phase, to) is to
    else:
        with pytest.raises(WrongPhase):
            moved(phase, to)


def test_every_way_through_the_table_ends_with_a_run_that_is_over_and_passes_no_phase_twice() -> None:
    ways = [[Phase.GATHERING]]
    while any(NEXT[way[-1]] for way in ways):
        ways = [[*way, to] for way in ways for to in NEXT[way[-1]]] + [way for way in ways if not NEXT[way[-1]]]
        assert all(len(way) == len(set(way)) for way in ways)
    assert {tuple(way[-2:]) for way in ways} == {(Phase.ENDING, Phase.IDLE), (Phase.EVALUATING, Phase.IDLE)}
    assert set().union(*ways) == set(Phase)


def test_nothing_before_the_start_comes_after_it() -> None:
    assert not any(NEXT[phase] & BEFORE_START for phase in set(Phase) - BEFORE_START)
