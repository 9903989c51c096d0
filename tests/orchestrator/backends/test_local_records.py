"""Records of local processes: lost messages and staleness as in the simulator, and old messages told as old."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest

from orchestrator.backends.local import local
from orchestrator.results import Status
from pame.observe import Record
from tests.harness import Watcher
from tests.orchestrator.backends.harness import all_together
from tests.orchestrator.harness import rows_of
from tests.orchestrator.simulated import simulated

experiment = partial(
    all_together, 6, algorithm={"kind": "pame", "participation": 0.5, "support": 0.3}, stop={"iterations": 30}
)
LOSSES: dict[str, dict[str, Any]] = {
    "messages.loss": {"messages": {"loss": 0.4}},
    "cut by iteration": {
        "faults": [{"kind": "link-down", "links": "of(2)", "at": {"iteration": 9}, "for": {"iterations": 12}}]
    },
}


def timeless(records: list[Record]) -> dict[tuple[int, int], Record]:
    return {(r.node, r.iteration): r._replace(seconds=None, waited_s=None) for r in records}


@pytest.mark.parametrize("kind", LOSSES)
def test_a_deterministic_run_has_the_records_of_the_simulator_with_all_that_was_lost(tmp_path: Path, kind: str) -> None:
    made = experiment(**LOSSES[kind])
    found, expected = Watcher(), Watcher()
    local(made, tmp_path, tmp_path / "run", found)
    simulated(made, tmp_path, watcher=expected)
    assert timeless(found.records) == timeless(expected.records)
    assert sum(record.lost for record in found.records) > 20
    rows = rows_of(tmp_path / "run" / "records.csv")
    told = {(int(row["node"]), int(row["iteration"])): (row["lost"], row["staleness"]) for row in rows}
    assert told == {
        (r.node, r.iteration): (str(r.lost), "" if r.staleness is None else str(r.staleness)) for r in found.records
    }


def test_averages_are_stale_where_links_take_longer_than_patience(tmp_path: Path) -> None:
    """A message of today takes 150 ms, and nobody waits that long: what is averaged is of earlier rounds."""
    late = {"patience": "40ms", "max_lag": 20, "exclude_after": 1000}
    made = experiment(period=1, links={"delay": "150ms"}, compute={"step": "20ms"}, exchange=late)
    watcher = Watcher()
    assert local(made, tmp_path, tmp_path / "run", watcher).status is Status.FINISHED
    ages = [record.staleness for record in watcher.records if record.staleness is not None]
    assert max(ages) >= 1.0
    assert all((record.staleness is None) == (record.received == 0) for record in watcher.records)
