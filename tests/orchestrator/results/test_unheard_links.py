import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from orchestrator.experiment import Experiment
from orchestrator.experiment.resolve import make_setting
from orchestrator.results.round_counts import unheard_links
from pame.byte_account import ByteAccount, Fate, LinkRows
from pame.fault_effects import CutEffect, DegradeEffect, FaultEvent, KillEffect, Window
from pame.resolved_run import ResolvedRun


def setting(**sections: Any) -> ResolvedRun:
    common = {"nodes": 4, "topology": {"kind": "complete"}, **sections}
    return make_setting(Experiment.model_validate_json(json.dumps(common)), Path())


def links(sent: int = 40, used: int = 0) -> LinkRows:
    """3→0 carried so many and so many were averaged; 1→0 is well."""
    account = ByteAccount(4)
    for fate, counts in ((Fate.SENT, (sent, 9)), (Fate.AGGREGATED, (used, 9))):
        account.add_totals(fate, np.array([3, 1]), np.array([0, 0]), np.array(counts), np.array([0, 0]))
    return account.links()


def test_a_link_of_which_nothing_was_averaged_is_found() -> None:
    assert unheard_links(links(), setting(), ()) == [(3, 0)]


def test_one_message_that_was_averaged_is_enough() -> None:
    assert unheard_links(links(used=1), setting(), ()) == []


def test_two_messages_may_just_have_been_under_way() -> None:
    assert unheard_links(links(sent=2), setting(), ()) == []


@pytest.mark.parametrize(
    "sections",
    [
        {"exchange": {"spare": 1}},
        {"exchange": {"spare": "all"}},
        {"exchange": {"mode": "free"}},
        {"compute": {"stragglers": 0.3}},
    ],
)
def test_where_not_everybody_counts_nobody_is_missed(sections: dict[str, Any]) -> None:
    assert unheard_links(links(), setting(**sections), ()) == []


@pytest.mark.parametrize(
    ("effect", "explains"),
    [
        (CutEffect(((3, 0),)), True),
        (DegradeEffect(((3, 0), (0, 3)), delay_s=9.0), True),
        (KillEffect((3,)), True),
        (KillEffect((0,)), True),
        (CutEffect(((0, 3), (1, 0))), False),
        (KillEffect((1,)), False),
    ],
)
def test_only_what_the_plan_concerns_is_explained(effect: Any, explains: bool) -> None:
    plan = [FaultEvent(0, "fault", effect, Window(1.0, 2.0))]
    assert unheard_links(links(), setting(), plan) == ([] if explains else [(3, 0)])
