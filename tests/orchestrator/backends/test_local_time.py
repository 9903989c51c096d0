"""Time on local processes: no faster than the virtual clock says, and marked where the work does not fit."""

from functools import partial
from pathlib import Path

from orchestrator.backends.local import local
from orchestrator.experiment.resolve import make_network_setting
from orchestrator.results import Status
from pame.byte_account import ByteAccount
from pame.observe import Record
from pame.simulator import run_virtual_time
from tests.harness import Watcher
from tests.orchestrator.backends.harness import all_together
from tests.orchestrator.harness import summary_of

experiment = partial(all_together, 3, verify={"when": "never"})
LAST = 19


def end_of(records: list[Record]) -> float:
    """When the last node has done its last iteration."""
    return max(record.seconds or 0.0 for record in records if record.iteration == LAST)


def test_real_nodes_are_not_faster_than_the_virtual_clock(tmp_path: Path) -> None:
    """Each of 20 iterations takes 20 ms and waits 40 ms; of a link's delay at most 5 ms are taken off."""
    times = {"period": 1, "compute": {"step": "20ms"}, "links": {"delay": "40ms"}, "stop": {"iterations": LAST + 1}}
    made = experiment(algorithm={"kind": "dpsgd", "eta": 0.01}, **times)
    found, expected = Watcher(), Watcher()
    assert local(made, tmp_path, tmp_path / "run", found).status is Status.FINISHED
    run_virtual_time(make_network_setting(made, tmp_path), expected, ByteAccount(3))
    assert round(end_of(expected.records), 6) == 20 * 0.06
    assert end_of(found.records) >= 20 * 0.055 - 0.02
    assert all((record.waited_s or 0.0) <= (record.seconds or 0.0) for record in found.records)


def test_work_outside_the_step_that_does_not_fit_marks_the_run(tmp_path: Path) -> None:
    """NIDS takes its gradient before it sends; its step is an addition, which fits into a millisecond."""
    heavy = {"problem": {"kind": "linear", "n": 1000, "samples": 4000, "test_samples": 10}, "stop": {"iterations": 20}}
    made = experiment(algorithm={"kind": "nids", "eta": 1e-6}, compute={"step": "1ms"}, **heavy)
    assert local(made, tmp_path, tmp_path / "run", Watcher()).status is Status.FINISHED
    network = summary_of(tmp_path / "run")["network"]
    assert network["overran_share"] >= 0.95  # the last iteration has nothing to send ahead
    assert network["cpu_bound"]


def test_nothing_overruns_where_steps_have_no_nominal_time(tmp_path: Path) -> None:
    assert local(experiment(stop={"iterations": 20}), tmp_path, tmp_path / "run", Watcher()).status is Status.FINISHED
    network = summary_of(tmp_path / "run")["network"]
    assert (network["overran"], network["overran_share"], network["cpu_bound"]) == (0, None, False)
