from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.experiment.faults.happened import Told
from orchestrator.results.events import told_of

LINE = {"seconds": 5.1, "what": "fault begins", "node": 2, "number": 0, "planned": 5.0, "detail": "kill"}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, Told(0, 2, True, 5.0, 5.1)),
        ({"planned": {"iteration": 40}}, Told(0, 2, True, 40.0, 5.1)),
        ({"what": "fault ends", "planned": None}, Told(0, 2, False, None, 5.1)),
        ({"what": "fault failed", "failed": "begins", "detail": "no"}, Told(0, 2, True, 5.0, 5.1, "no")),
        ({"what": "fault failed", "failed": "ends", "detail": "no"}, Told(0, 2, False, 5.0, 5.1, "no")),
        ({"what": "restarted"}, None),
    ],
)
def test_lines_of_events_tell_of_faults(changes: dict[str, Any], expected: Told | None) -> None:
    assert told_of({**LINE, **changes}) == expected


VALUES = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.dictionaries(st.text(), st.integers())


@given(st.dictionaries(st.sampled_from(sorted(LINE)) | st.text(), VALUES))
def test_any_line_is_understood_or_passed_over(changes: dict[str, Any]) -> None:
    found = told_of({**LINE, **changes})
    assert found is None or found.number == {**LINE, **changes}["number"]
