"""Links of real nodes are measured before a run: what is as asked is found so, and a lie is found out."""

from math import inf
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from contract.rpc import control_pb2 as pb
from orchestrator.backends.local import local
from orchestrator.backends.netns import netns
from orchestrator.control.link_check import LinkCheck
from orchestrator.control.run_phase import Phase
from orchestrator.experiment import Experiment
from orchestrator.results import Status
from tests.harness import Watcher
from tests.orchestrator.backends.harness import all_together, lie_of_a_delay
from tests.orchestrator.harness import summary_of


def small(nodes: int, links: dict[str, Any], **settings: Any) -> Experiment:
    verify = {"when": "only"} | settings.pop("verify", {})
    return all_together(nodes, stop={"iterations": 20}, links=links, verify=verify, **settings)


def verified(folder: Path) -> Any:
    return summary_of(folder)["network"]["verified"]


def tries(tmp_path: Path) -> list[Path]:
    """Folders for up to three: what else this machine does can make a link slower, never faster."""
    return [tmp_path / f"run{number}" for number in range(3)]


def test_in_process_delays_of_32_links_are_within_3_ms_in_the_median(tmp_path: Path) -> None:
    experiment = small(
        8, {"delay": "20ms", "nodes": {"0": {"delay": "45ms"}}}, topology={"kind": "random-regular", "degree": 4}
    )
    errors = []
    for folder in tries(tmp_path):
        ending = local(experiment, tmp_path, folder, Watcher())
        assert ending.status is Status.FINISHED, ending
        assert "links measured" in ending.reason
        rows = verified(folder)["findings"]
        assert len(rows) == 32
        assert {row["mechanism"] for row in rows} == {"in-process"}
        assert {row["asked"] for row in rows} == {0.02, 0.045}
        errors.append(median(inf if row["measured"] is None else abs(row["measured"] - row["asked"]) for row in rows))
        if errors[-1] <= 0.003:
            break
    assert min(errors) <= 0.003
    assert not (folder / "records.csv").read_text().splitlines()[1:]
    assert "Measured before the run" in (folder / "report.html").read_text()


def test_a_run_is_verified_first_and_stays_exact(tmp_path: Path) -> None:
    watcher = Watcher()
    experiment = small(3, {"delay": "5ms", "rate": "20mbit"}, verify={"when": "before"})
    ending = local(experiment, tmp_path, tmp_path / "run", watcher)
    assert (ending.status, ending.iterations, ending.exact) == (Status.FINISHED, 20, True)
    assert verified(tmp_path / "run")["coverage"] == {"delay": [6, 6], "rate": [6, 6]}
    wire = summary_of(tmp_path / "run")["network"]["wire"]
    assert wire["sockets"] is None or wire["sockets"]["connections"] == wire["connections"]  # without those of probes
    phases = list(dict.fromkeys(state.phase for state in watcher.states))
    assert phases.index(Phase.VERIFYING) < phases.index(Phase.RUNNING)


def test_nothing_is_measured_where_nothing_is_asked_or_wanted(tmp_path: Path) -> None:
    for number, experiment in enumerate(
        (small(2, {}, verify={"when": "before"}), small(2, {"delay": "5ms"}, verify={"when": "never"}))
    ):
        folder = tmp_path / str(number)
        assert local(experiment, tmp_path, folder, Watcher()).exact
        assert verified(folder) is None


def test_a_link_that_is_cut_at_the_start_is_not_called_right(tmp_path: Path) -> None:
    cut = [{"kind": "link-down", "links": ["0-1"], "at": "0s", "for": "2s"}]
    for folder in tries(tmp_path):
        local(small(3, {"delay": "5ms"}, faults=cut), tmp_path, folder, Watcher())
        told = {(row["sender"], row["receiver"]): row["verdict"] for row in verified(folder)["findings"]}
        if told[0, 2] == "ok":
            break
    assert told[0, 1] == told[1, 0] == "unverifiable here"
    assert told[0, 2] == "ok"


def test_with_strict_a_link_that_is_not_as_asked_ends_the_run_before_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lie_of_a_delay(monkeypatch, 0.08)
    experiment = small(3, {"delay": "20ms"}, verify={"when": "before", "strict": True})
    for folder in tries(tmp_path):
        ending = local(experiment, tmp_path, folder, Watcher())
        assert ending.status is Status.FAILED
        assert "verify.strict: the delay of link 0→1 is" in ending.reason
        assert not (folder / "records.csv").read_text().splitlines()[1:]
        if verified(folder)["verdicts"] == {"ok": 5, "miss": 1}:
            break
    assert verified(folder)["verdicts"] == {"ok": 5, "miss": 1}


def test_nodes_with_clocks_of_their_own_are_measured_by_round_trips(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are told so; the clocks of this machine cannot be made to differ."""

    heard = LinkCheck.ready

    def apart(check: LinkCheck, index: int, ready: pb.Ready) -> None:
        ready.boot = f"boot {index}"
        heard(check, index, ready)

    monkeypatch.setattr(LinkCheck, "ready", apart)
    for folder in tries(tmp_path):
        local(small(3, {"delay": "30ms", "jitter": "2ms"}), tmp_path, folder, Watcher())
        rows = verified(folder)["findings"]
        delays = [row for row in rows if row["property"] == "delay"]
        if {row["verdict"] for row in delays} == {"ok"}:
            break
    assert {row["verdict"] for row in delays} == {"ok"}
    assert all("clocks differ" in row["how"] and row["low"] <= row["measured"] <= row["high"] for row in delays)
    assert {row["verdict"] for row in rows if row["property"] == "jitter"} == {"unverifiable here"}


@pytest.mark.requires("root")
def test_what_the_kernel_does_is_measured_with_datagrams(tmp_path: Path) -> None:
    experiment = small(
        3, {"rate": "20mbit", "pairs": {"0>2": {"rate": "5mbit"}, "1>2": {"loss": 0.2}, "2>1": {"rate": "90gbit"}}}
    )
    for folder in tries(tmp_path):
        assert netns(experiment, tmp_path, folder, Watcher()).status is Status.FINISHED
        found = {(row["sender"], row["receiver"], row["property"]): row for row in verified(folder)["findings"]}
        loss, slow, fast = found[1, 2, "loss"], found[0, 2, "rate"], found[2, 1, "rate"]
        if (loss["verdict"], slow["verdict"]) == ("ok", "ok"):
            break
    assert (loss["verdict"], slow["verdict"]) == ("ok", "ok")
    assert loss["low"] <= 0.2 <= loss["high"]
    assert slow["mechanism"] == "htb"
    assert slow["measured"] == pytest.approx(5e6, rel=0.1)
    assert fast["verdict"] == "unverifiable here"
    assert "half of it" in fast["how"]
