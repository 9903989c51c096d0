"""Prometheus' configuration and rules, judged by Debian's own promtool."""

import subprocess
from pathlib import Path

import pytest
import yaml

from tests.deploy.monitoring.harness import PROMETHEUS

RULES_TEST = Path(__file__).with_name("rules_test.yml")


def promtool(*arguments: str) -> tuple[int, str]:
    done = subprocess.run(["promtool", *arguments], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


@pytest.mark.requires("promtool")
def test_promtool_takes_the_configuration_and_the_rules() -> None:
    code, said = promtool("check", "config", "--lint=all", "--lint-fatal", str(PROMETHEUS / "prometheus.yml"))
    assert code == 0, said
    assert "rules found" in said


@pytest.mark.requires("promtool")
def test_the_rules_give_what_was_worked_out_by_hand() -> None:
    code, said = promtool("test", "rules", str(RULES_TEST))
    assert code == 0, said


@pytest.mark.requires("promtool")
def test_a_wrong_rule_would_be_found(tmp_path: Path) -> None:
    rules = (PROMETHEUS / "rules.yml").read_text(encoding="utf-8")
    wrong = rules.replace('sum(kind:pame_link_sent_bytes:rate15s{kind!="values"})', "vector(1)")
    assert wrong != rules
    (tmp_path / "rules.yml").write_text(wrong, encoding="utf-8")
    test = yaml.safe_load(RULES_TEST.read_text(encoding="utf-8")) | {"rule_files": ["rules.yml"]}
    (tmp_path / "rules_test.yml").write_text(yaml.safe_dump(test), encoding="utf-8")
    code, said = promtool("test", "rules", str(tmp_path / "rules_test.yml"))
    assert code != 0
    assert "class:pame_link_sent_bytes:rate15s" in said


def test_nodes_are_found_by_asking_the_orchestrator_and_scraped_every_two_seconds() -> None:
    config = yaml.safe_load((PROMETHEUS / "prometheus.yml").read_text(encoding="utf-8"))
    assert config["global"]["scrape_interval"] == "2s"
    nodes, orchestrator = config["scrape_configs"]
    assert nodes["job_name"] == "node"
    assert nodes["http_sd_configs"] == [{"url": "http://orchestrator:8080/sd/nodes", "refresh_interval": "5s"}]
    assert orchestrator == {"job_name": "orchestrator", "static_configs": [{"targets": ["orchestrator:4751"]}]}
