"""Tests of one group stay on one worker: those of containers would disturb each other."""

import os

import pytest


@pytest.mark.xdist_group("guard")
@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="there is only one worker")
def test_a_group_is_part_of_the_name_by_which_tests_are_shared_out(request: pytest.FixtureRequest) -> None:
    shared_out = [item.nodeid for item in request.session.items]
    assert any(name.endswith("@guard") for name in shared_out), "xdist ignores groups: which pytest is this?"
