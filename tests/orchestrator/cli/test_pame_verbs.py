import json
from pathlib import Path

import jsonschema
import yaml

from tests.command import told
from tests.orchestrator.cli.harness import SMALL, Pame, sets


def test_validate_says_what_would_run(pame: Pame, small: Path) -> None:
    shown = told(pame("validate", small))
    assert "valid: small, one run: 6 nodes, ring, linear, PaME, driver lock-step" in shown


def test_validate_counts_the_runs_of_a_sweep(pame: Pame, small: Path) -> None:
    assert "a sweep of 3 runs over seed" in told(pame("validate", small, "--set", "seed=[1, 2, 3]"))


def test_validate_warns_of_a_step_that_diverges_on_its_own(pame: Pame, small: Path) -> None:
    shown = told(pame("validate", small, "--set", "algorithm.step.eta=5"))
    assert "warning: node 0 begins with step size 5, above the bound 2/L = " in shown


def test_validate_warns_when_a_time_model_is_ignored(pame: Pame, small: Path) -> None:
    shown = told(pame("validate", small, *sets("compute={step: 1ms}", "simulate.driver=lock-step")))
    assert "compute and links are ignored" in shown


def test_topology_draws_and_describes_the_graph(pame: Pame, small: Path, tmp_path: Path) -> None:
    shown = told(pame("topology", small, "--svg", "ring.svg"))
    assert any("⠀" <= letter <= "⣿" for letter in shown), "no braille picture"
    figures = {line.split()[0]: line for line in shown.splitlines() if line.startswith("  ") and line.strip()}
    assert "2 to 2" in figures["degree"]
    assert "3" in figures["diameter"]
    assert (tmp_path / "ring.svg").read_text().startswith("<svg")


def test_topology_reads_an_edge_list_beside_the_experiment(pame: Pame, tmp_path: Path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "path.txt").write_text("0 1\n1 2\n")
    (folder / "path.yaml").write_text("nodes: 3\ntopology: {kind: edge-list, file: path.txt}\n")
    assert "1 to 2" in told(pame("topology", folder / "path.yaml"))


def test_schema_is_a_json_schema_that_accepts_an_experiment(pame: Pame) -> None:
    schema = json.loads(pame("schema").stdout)
    jsonschema.validate(yaml.safe_load(SMALL), schema)


def test_help_documents_the_exit_codes(pame: Pame) -> None:
    shown = " ".join(pame("--help").stdout.split())
    assert "3 the run diverged" in shown
    assert "130 interrupted" in shown


def test_the_shell_can_be_taught_to_complete(pame: Pame) -> None:
    assert "--install-completion" in pame("--help").stdout


def test_validate_and_run_warn_of_faults_beyond_the_likely_end(pame: Pame, small: Path) -> None:
    late = sets("compute={step: 1ms}", "faults=[{kind: pause, nodes: [1], at: 38s, for: 1s}]")
    warning = "warning: faults.0: pause at 38 s is too late to happen: the run is likely to end after about "
    assert warning in pame("validate", small, *late).stdout
    shown = told(pame("run", small, *late, "--backend", "simulate"))
    after = shown.index("1 of 1 fault did not happen: the run ended before 38 s")
    assert shown.index(warning) < shown.index("backend simulate") < after
