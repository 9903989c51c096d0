"""The workflows call .ci/run stage by stage, and .ci/run knows the stages and calls the README's test command."""

import re
import subprocess
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
RUN = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
[STAGES] = [line.split("set -- ")[1].split() for line in RUN.splitlines() if "set -- " in line]
WORKFLOW = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))


def called() -> set[str]:
    commands = [step.get("run", "") for job in WORKFLOW["jobs"].values() for step in job["steps"]]
    return {stage for command in commands if command.startswith(".ci/run ") for stage in command.split()[1:]}


def test_together_the_jobs_call_every_stage_and_no_other() -> None:
    assert called() == set(STAGES)


def test_the_tests_of_ci_are_the_command_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.search(r"^    make test\b", readme, re.MULTILINE)
    assert re.search(r"^  make test$", RUN, re.MULTILINE)
    assert STAGES[-1] == "test"


def test_a_stage_that_does_not_exist_is_refused_with_those_that_do() -> None:
    done = subprocess.run([ROOT / ".ci" / "run", "tset"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert all(stage in done.stderr for stage in STAGES)


def test_every_job_gets_the_tags_that_the_version_follows_from() -> None:
    steps = [step for job in WORKFLOW["jobs"].values() for step in job["steps"]]
    checkouts = [step for step in steps if "checkout" in step.get("uses", "")]
    assert len(checkouts) == len(WORKFLOW["jobs"])
    assert all(step["with"]["fetch-depth"] == 0 for step in checkouts)
