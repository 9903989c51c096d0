"""The faults of a run, as a report names them."""

from math import inf

from orchestrator.results.fault_history import MOST_SPELLS, Faults, PlannedFault
from tests.orchestrator.experiment.faults.builders import plan_of


def shown(*entries: str) -> list[tuple[str, str, float, float, str]]:
    faults = Faults(plan_of(*entries, graph="ring"), damaged=0, acts={}, back={})
    return [_told(spell) for spell in faults.shown]


def test_spells_have_the_times_of_their_events() -> None:
    assert shown("{kind: pause, nodes: [1], at: 4s}", "{kind: link-down, links: 0>1, until: {iteration: 9}}") == [
        ("link-down", "link 0→1 down", 0.0, 9.0, "iterations"),
        ("pause", "node 1 paused", 4.0, inf, "seconds"),
    ]


def test_one_spell_covers_all_windows_of_a_fault_that_are_too_many() -> None:
    flaps = MOST_SPELLS + 1
    flap = f"{{kind: flap, links: 0>1, period: 2s, at: 8s, for: {2 * flaps}s}}"
    assert shown(flap, "{kind: pause, nodes: [1]}") == [
        ("flap", f"flap, {flaps} times: link 0→1 down, ...", 8.0, 8.0 + 2 * flaps - 1.0, "seconds"),
        ("pause", "node 1 paused", 0.0, inf, "seconds"),
    ]


def _told(spell: PlannedFault) -> tuple[str, str, float, float, str]:
    return spell.fault, spell.words, spell.begin, spell.end, spell.unit
