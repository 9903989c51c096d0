"""A connection that broke and came back, in whichever order the orchestrator learns of it, is no death."""

from pathlib import Path

import pytest

from contract.rpc import control_pb2 as pb
from orchestrator.control import NetworkRunState
from orchestrator.control.members import Members
from orchestrator.control.recorded_run import new_number
from orchestrator.control.run_membership import member_joined, member_left
from orchestrator.control.run_phase import Phase
from orchestrator.experiment import Experiment
from orchestrator.experiment.resolve import make_network_setting
from orchestrator.results import RunFolder
from pame.problems import LinearSpec
from pame.topology.kinds import Complete
from tests.harness import Watcher
from tests.orchestrator.control.builders import member


@pytest.mark.parametrize("missed_first", [True, False])
def test_a_node_that_is_back_is_not_dead_whether_or_not_its_old_stream_was_missed_first(
    tmp_path: Path, missed_first: bool
) -> None:
    experiment = Experiment(nodes=2, topology=Complete(), problem=LinearSpec(n=5))
    with RunFolder(tmp_path / "run") as folder:
        setting = make_network_setting(experiment, tmp_path)
        run = NetworkRunState(new_number(), experiment, setting, folder, Members(), Watcher())
        run.phase = Phase.RUNNING
        old, new = member(), member()
        run.indices.take(0, old)

        def miss() -> None:
            old.alive = False
            member_left(run, old)

        if missed_first:
            miss()
            assert run.disturbances.deaths == 1
        member_joined(run, new, pb.Join(member="node-0", run=run.number, incarnation=0))
        if not missed_first:
            miss()
        assert (run.disturbances.deaths, run.disturbances.restarts, run.disturbances.departures) == (0, 0, 0)
        assert run.indices.holds(new)
        assert run.collection.by_time  # what was under way may be lost: the run is not exact any more
