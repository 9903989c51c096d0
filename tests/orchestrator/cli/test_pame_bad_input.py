from pathlib import Path

import pytest

from tests.command import mistake
from tests.orchestrator.cli.harness import Pame, Simulate, sets

CASES = {
    "not YAML": ("nodes: [1, 2", "YAML"),
    "an unknown key": ("nodez: 4", "did you mean 'nodes'"),
    "a graph that cannot be connected": ("nodes: 16\ntopology: {kind: erdos-renyi, p: 0.001}", "use p of about"),
    "a degree that does not fit": ("nodes: 5\ntopology: {kind: random-regular, degree: 3}", "even"),
    "a support larger than the model": ("problem: {n: 10}\nalgorithm: {support: 11}", "give at most 10"),
    "a participation out of range": ("algorithm: {participation: 1.5}", "participation"),
    "a spare without a clock": ("simulate: {driver: lock-step}\nexchange: {spare: 1}", "virtual-time"),
    "another algorithm in the vectorised driver": (
        "simulate: {driver: vectorised}\nalgorithm: {kind: dpsgd}",
        "lock-step",
    ),
    "a coding that does not fit": ("messages: {support: all}", "give algorithm.support: 100%"),
    "more data than memory": ("problem: {n: 1000000000}", "problem.samples, problem.n or problem.model smaller"),
    "more nodes than memory": ("nodes: 100000\nproblem: {n: 1000000}", "GiB: make nodes"),
    "a fault that would do nothing": (
        "links: {delay: 5ms}\nfaults: [{kind: degrade, links: all, rate: 10%}]",
        "faults.0: leaves a share of the rate of links that have no limit; give the links a rate",
    ),
    "a missing edge list": ("topology: {kind: edge-list, file: nowhere.txt}", "cannot read"),
}


@pytest.mark.parametrize("verb", ["run", "validate"])
@pytest.mark.parametrize("case", CASES)
def test_bad_input_gives_one_line_with_the_fix_and_leaves_nothing(
    case: str, verb: str, pame: Pame, tmp_path: Path
) -> None:
    text, fix = CASES[case]
    (tmp_path / "bad.yaml").write_text(text)
    assert fix in mistake(pame(verb, "bad.yaml", *(["--backend", "simulate"] if verb == "run" else [])))
    assert not (tmp_path / "runs").exists()


@pytest.mark.parametrize("verb", ["run", "validate"])
@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("nodes: 16\nproblem: {n: 5}\ntopology:\n  kind: erdos-renyi\n  p: 0.001\n", "bad.yaml:3: topology: "),
        ("nodes: 6\nlinks: {delay: 5ms}\nfaults:\n  - {kind: pause, nodes: [1], at: 1s, for: 1s}\n"
         "  - {kind: degrade, links: all, rate: 10%}\n", "bad.yaml:5: faults.1: leaves a share"),
        ("nodes: 3\ntopology:\n  kind: edge-list\n  file: nowhere.txt\n", "bad.yaml:4: topology.file: cannot read"),
        ("nodes: 6\nlinks:\n  preset: wan\n  regions: {eu: 0..4}\n", "bad.yaml:4: links.regions: node 5"),
    ],
)  # fmt: skip
def test_what_only_the_whole_experiment_shows_is_told_with_its_line_too(
    text: str, place: str, verb: str, pame: Pame, tmp_path: Path
) -> None:
    (tmp_path / "bad.yaml").write_text(text)
    line = mistake(pame(verb, "bad.yaml", *(["--backend", "simulate"] if verb == "run" else [])))
    assert line.startswith(f"error: {place}")


def test_a_mistake_in_one_run_of_a_sweep_stops_it_before_it_begins(pame: Pame, small: Path, tmp_path: Path) -> None:
    swept = sets("topology={kind: random-regular, degree: [2, 9]}")
    assert "degree" in mistake(pame("run", small, "--backend", "simulate", *swept))
    assert not (tmp_path / "runs").exists()


def test_a_folder_that_cannot_be_written_is_a_fault_of_the_machine(pame: Pame, small: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file where the folder should go")
    assert "cannot write" in mistake(pame("run", small, "--backend", "simulate", "--out", "taken/deeper"), 1)


def test_a_step_beyond_the_doubles_diverges(simulate: Simulate) -> None:
    assert "diverged" in simulate("algorithm.step={kind: penalty, sigma0: 1e-99}", code=3).errors


def test_a_folder_name_may_look_like_markup(simulate: Simulate, tmp_path: Path) -> None:
    assert "[/bold]d/" in simulate(more=["--out", "[/bold]d"]).said
    assert (tmp_path / "[/bold]d").is_dir()


def test_an_unknown_backend_is_answered_with_the_known_ones(pame: Pame, small: Path, tmp_path: Path) -> None:
    line = mistake(pame("run", small, "--backend", "mars"))
    assert line.strip() == "error: there is no backend 'mars'; use one of: local, netns, simulate"
    assert not (tmp_path / "runs").exists()


def test_an_unknown_option_exits_with_2(pame: Pame, small: Path) -> None:
    assert pame("run", small, "--backend", "simulate", "--sped", 3).returncode == 2


def test_more_processes_than_the_machine_can_run_are_refused_before_any_starts(pame: Pame, tmp_path: Path) -> None:
    line = mistake(pame("run", *sets("nodes=100000", "problem.n=1", "problem.samples=1")))
    assert "use --backend simulate, or at most" in line
    assert not (tmp_path / "runs").exists()


def test_a_submitted_run_has_neither_a_backend_nor_a_folder_here(pame: Pame, small: Path) -> None:
    for option in (("--backend", "local"), ("--out", "here")):
        done = pame("run", small, "--on", "127.0.0.1:1", *option)
        assert (done.returncode, "leave --backend and --out out" in done.stderr) == (2, True)
