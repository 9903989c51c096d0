"""The backend `netns` in a kernel with netem: links are what was asked for, faults come and go, the bits stay."""

import json
from collections import Counter
from collections.abc import Callable
from csv import DictReader
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from orchestrator.experiment import load
from orchestrator.experiment.resolve import make_network_setting
from tests.command import lines_of
from tests.orchestrator.simulated import is_as_simulated
from tests.uml.harness import Result

pytestmark = [pytest.mark.requires("uml"), pytest.mark.xdist_group("uml"), pytest.mark.timeout(540)]

EXPERIMENT = """
seed: 3
nodes: 6
topology: {kind: random-regular, degree: 4}
problem: {kind: logistic, n: 200, samples: 100, test_samples: 200}
algorithm: {kind: pame, participation: 0.5, support: 0.2, step: {kind: fixed, eta: 0.5, gamma: 1.001}}
period: 2..3
compute: {step: 40ms}
exchange: {patience: 30s}
links: {delay: 20ms, jitter: 2ms, pairs: {PAIRS}}
stop: {iterations: 40}
"""
FAULTS = """
faults:
  - {kind: link-down, links: ["LINK"], at: 1s, for: 1s}
  - {kind: straggler, nodes: [5], cause: compute, factor: 4, at: {iteration: 10}, for: {iterations: 10}}
"""


def test_links_are_shaped_by_netem_and_the_models_have_the_simulators_bits(
    guest: Callable[..., Result], tmp_path: Path
) -> None:
    folder = tmp_path / "guest"
    folder.mkdir(exist_ok=True)
    [plain] = load(_written(folder / "plain.yaml", EXPERIMENT.replace("{PAIRS}", "{}")))
    first, second = _two_links(plain.experiment)
    pairs = f"{{{first[0]}>{first[1]}: {{delay: 60ms}}, {second[0]}-{second[1]}: {{rate: 5mbit, loss: 0.5%}}}}"
    text = EXPERIMENT.replace("{PAIRS}", pairs) + FAULTS.replace("LINK", f"{first[0]}-{first[1]}")
    _written(folder / "faulty.yaml", text)
    for number in range(3):  # a guest that got little of its core measures its own timers, not the links
        out = folder / f"runs-{number}"
        result = guest(("pame", "run", str(folder / "faulty.yaml"), "--backend", "netns", "--out", str(out), "-q"), 170)
        assert result.code == 0, result
        [run] = out.iterdir()
        summary = json.loads((run / "summary.json").read_text())
        if _are_as_asked(summary["network"]["verified"]["findings"]):
            break
    assert summary["status"] == "finished"
    links = {(it["sender"], it["receiver"], it["property"]): it for it in summary["network"]["links"]}
    assert _held(links, *first, "delay") == _netem(0.060, rel=1e-3)
    assert _held(links, *first[::-1], "delay") == _netem(0.020, rel=1e-3)
    assert _held(links, *second, "rate") == ("htb", 5e6, 5e6)
    assert _held(links, *second, "loss") == _netem(0.005, rel=1e-2)
    assert {found["mechanism"] for found in links.values()} <= {"netem", "htb"}
    _assert_verified(summary["network"]["verified"], links, second)
    cuts, slow = ([e for e in lines_of(run / "events.jsonl") if e.get("number") == number] for number in (0, 1))
    assert {(e["what"], e["node"], e["mechanism"]) for e in cuts} == {
        (f"fault {turn}", node, "netem") for turn in ("begins", "ends") for node in first
    }
    assert [(e["what"], e["node"], e["iteration"], e["mechanism"]) for e in slow] == [
        ("fault begins", 5, 10, "in-process"), ("fault ends", 5, 20, "in-process"),
    ]  # fmt: skip
    _assert_slow_in_its_window(run / "records.csv")
    # nobody ran out of patience, so that a cut and a straggler change when things happen, and nothing else
    assert summary["exact"], summary["network"]
    [variant] = load(folder / "faulty.yaml")
    assert is_as_simulated(run, variant.experiment.model_copy(update={"faults": None}))


def _written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def _two_links(experiment: Any) -> tuple[tuple[int, int], tuple[int, int]]:
    graph = make_network_setting(experiment, Path()).topology
    (a, b), (c, d) = graph.edges[0].tolist(), graph.edges[-1].tolist()
    return (a, b), (c, d)


def _are_as_asked(findings: list[dict[str, Any]]) -> bool:
    """One jitter of so few probes says little, the middle of all of them much: 2 ms were asked for."""
    jitters = [row["measured"] for row in findings if row["property"] == "jitter" and row["measured"] is not None]
    as_asked = {row["verdict"] for row in findings if row["property"] in ("delay", "loss")} == {"ok"}
    return as_asked and len(jitters) > 12 and 0.001 < median(jitters) < 0.0045


def _assert_slow_in_its_window(records: Path) -> None:
    """A step of 40 ms took four times as long, one that overslept made up for, and before and after that not always."""
    with records.open() as file:
        rows = {int(row["iteration"]): row for row in DictReader(file) if row["node"] == "5"}
    ends = {k: float(row["seconds"]) for k, row in rows.items()}
    own = {k: ends[k] - ends[k - 1] - float(rows[k]["waited_s"]) for k in range(1, 40)}
    assert sum(own[k] for k in range(10, 20)) > 10 * 0.155, own
    assert min(own[k] for k in range(1, 10)) < 0.155, own
    assert min(own[k] for k in range(20, 40)) < 0.155, own


def _assert_verified(verified: dict[str, Any], links: dict[tuple[int, int, str], Any], slow: tuple[int, int]) -> None:
    """Every link was measured against its spec before the run, with datagrams through netem and htb."""
    assert {what: looked for what, (looked, _) in verified["coverage"].items()} == Counter(what for *_, what in links)
    found = {(row["sender"], row["receiver"], row["property"]): row for row in verified["findings"]}
    assert _are_as_asked(verified["findings"]), verified
    for key, row in found.items():
        if key[2] == "delay":
            assert row["measured"] == pytest.approx(links[key]["asked"], abs=0.005)
    assert found[*slow, "rate"]["verdict"] in ("ok", "unverifiable here")  # a guest may be too slow to fill a link


def _held(links: dict[tuple[int, int, str], dict[str, Any]], *key: Any) -> tuple[str, float, float]:
    found = links[key]
    return found["mechanism"], found["asked"], found["held"]


def _netem(value: float, rel: float) -> object:
    """Asked for so much of the kernel, which holds about that."""
    return "netem", pytest.approx(value), pytest.approx(value, rel=rel)
