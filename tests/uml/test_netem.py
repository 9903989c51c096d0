"""Real netem, in a kernel that has it: what `tc` is told, packets do."""

import json
from collections.abc import Callable
from math import sqrt

import pytest

from tests.uml.guest_bridge import HOSTS, LOSS, LOSSY_PACKETS, RATE_BPS, delay_s
from tests.uml.harness import Result

pytestmark = [pytest.mark.requires("uml"), pytest.mark.xdist_group("uml")]

EARLY_S, LATE_S = 0.0005, 0.005
"""Of the quickest of twenty: what two readings of a clock may differ by, and what a busy machine needs."""


def test_a_delay_holds_in_its_direction_only(guest_script: Callable[[str], Result]) -> None:
    result = guest_script("guest_cable")
    assert result.code == 0, result
    found = json.loads(result.output)
    assert -EARLY_S < found["there_s"] - 0.050 < LATE_S
    assert found["back_s"] < LATE_S


def test_every_link_of_a_bridge_has_its_own_delay_loss_and_rate(guest_script: Callable[[str], Result]) -> None:
    result = guest_script("guest_bridge")
    assert result.code == 0, result
    found = json.loads(result.output)
    assert len(found["delays"]) == HOSTS * (HOSTS - 1)
    for sender, receiver, least_s in found["delays"]:
        assert -EARLY_S < least_s - delay_s(sender, receiver) < LATE_S, (sender, receiver)
    lost, deviation = LOSSY_PACKETS - found["arrived"], sqrt(LOSSY_PACKETS * LOSS * (1 - LOSS))
    assert abs(lost - LOSSY_PACKETS * LOSS) < 5 * deviation  # a false alarm in two million runs
    assert found["rate_bps"] == pytest.approx(RATE_BPS, rel=0.15)
