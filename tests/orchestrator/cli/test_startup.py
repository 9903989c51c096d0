"""`pame` is there at once: heavy imports wait for the verb that needs them, and Ctrl-C never shows a traceback."""

import ast
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from orchestrator.cli.verbs import GROUPS, VERBS
from tests.orchestrator.cli.harness import Pame

ROOT = Path(__file__).parents[3]
HEAVY = {"numpy", "pydantic", "networkx", "grpc", "scipy", "torch", "yaml", "google"}


def printed(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60, cwd=ROOT
    )
    return done.stdout


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_help_and_version_import_nothing_heavy(option: str) -> None:
    program = (
        "import sys\nfrom orchestrator.cli import main\n"
        f"sys.argv = ['pame', {option!r}]\n"
        "try:\n main()\nexcept SystemExit as end:\n assert not end.code\n"
        "print('\\n', sorted({name.partition('.')[0] for name in sys.modules}))"
    )
    assert HEAVY.isdisjoint(ast.literal_eval(printed(program).splitlines()[-1].strip()))


def test_every_verb_is_a_function_in_a_file_of_its_name_and_the_help_lists_all(pame: Pame) -> None:
    shown = pame("--help").stdout
    for verb, words in VERBS.items():
        assert callable(getattr(__import__(f"orchestrator.cli.{verb}", fromlist=[verb]), verb))
        assert f"  {verb} " in shown
        assert words in " ".join(shown.split())


def test_every_verb_stands_in_a_group_of_the_help_and_is_told_in_a_sentence(pame: Pame) -> None:
    shown = pame("--help").stdout
    assert list(VERBS) == [verb for verbs in GROUPS.values() for verb in verbs]
    places = [shown.index(f"\n{heading}:\n") for heading in GROUPS]
    assert places == sorted(places)
    assert all(words[0].isupper() and words.endswith(".") for words in VERBS.values())


def test_the_version_is_said(pame: Pame) -> None:
    done = pame("--version")
    assert (done.returncode, done.stdout.split()[0]) == (0, "pame")


def test_a_typing_mistake_is_told_what_was_probably_meant(pame: Pame) -> None:
    done = pame("toplogy")
    assert (done.returncode, "Did you mean 'topology'?" in done.stderr) == (2, True)


@pytest.mark.parametrize("reached", ["orchestrator.cli.app", "orchestrator.errors", "numpy", "orchestrator.experiment"])
def test_an_interrupt_while_modules_are_loaded_is_one_line(tmp_path: Path, reached: str) -> None:
    command = [sys.executable, "-X", "importtime", "-c", "from orchestrator.cli import main; main()", "run"]
    process = subprocess.Popen(
        [*command, "--backend", "simulate", "--out", str(tmp_path)], stderr=subprocess.PIPE, text=True, cwd=ROOT
    )
    with process:
        assert process.stderr is not None
        for line in process.stderr:  # a line per module, as soon as it is loaded
            if line.split("|")[-1].strip() == reached:
                break
        process.send_signal(signal.SIGINT)
        said = [line for line in process.stderr if not line.startswith("import time:")]
    assert process.returncode == 130
    assert "Traceback" not in "".join(said)
    assert len(said) <= 1


def test_an_ignored_interrupt_stays_ignored() -> None:
    program = (
        "import os, signal\nfrom orchestrator.cli.interrupt import leave_at_interrupt, raise_at_interrupt\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\nleave_at_interrupt()\nos.kill(os.getpid(), signal.SIGINT)\n"
        "raise_at_interrupt()\nos.kill(os.getpid(), signal.SIGINT)\nprint('still here')"
    )
    assert printed(program) == "still here\n"
