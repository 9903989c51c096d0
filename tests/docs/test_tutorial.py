"""docs/tutorial.md from its first to its last command, in an empty folder, as somebody who reads it would type them."""

import re
import shlex
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.command import call, lines_of, told

PAGE = (Path(__file__).parents[2] / "docs" / "tutorial.md").read_text(encoding="utf-8")
BOUND_S = 600.0


@dataclass(frozen=True)
class Block:
    """Something to type: a file if it has a name, else commands."""

    name: str
    text: str


BLOCKS = [
    Block(name, text)
    for kind, name, text in re.findall(r'^```(\w+)(?: title="([\w.]+)")?\n(.*?)^```', PAGE, re.DOTALL | re.MULTILINE)
    if name or kind == "sh"
]


def typed(folder: Path, command: str) -> str:
    """What `pame` says to it."""
    verb, *words = shlex.split(command)
    assert verb == "pame"
    return told(call(folder, *words, seconds=BOUND_S))


@pytest.mark.timeout(1800)
def test_every_command_works_and_the_last_one_leaves_a_figure(tmp_path: Path) -> None:
    said = ""
    for block in BLOCKS:
        if block.name:
            (tmp_path / block.name).write_text(block.text)
        else:
            for command in block.text.splitlines():
                said = typed(tmp_path, command)
    assert re.search(r"^report: (runs/\S+)/report\.html$", said, re.MULTILINE)
    [figure] = tmp_path.glob("runs/*-who/comparison.svg")
    assert ET.parse(figure).getroot().tag.endswith("svg")
    assert (tmp_path / "support.pdf").read_bytes().startswith(b"%PDF-")
    [broken] = tmp_path.glob("runs/*-broken")
    assert {event["what"] for event in lines_of(broken / "events.jsonl")} >= {"fault begins", "died", "restarted"}
    assert len(list(tmp_path.glob("runs/*/report.html"))) == 5


def test_the_page_has_files_and_commands() -> None:
    assert [block.name for block in BLOCKS if block.name] == ["mine.yaml", "broken.yaml", "who.yaml"]
    commands = [line for block in BLOCKS if not block.name for line in block.text.splitlines()]
    assert len(commands) >= 8
    assert all(command.startswith("pame ") for command in commands)
