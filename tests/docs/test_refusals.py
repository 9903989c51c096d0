"""docs/refusals.md has every exit code and every refusal, one by one, and no other."""

import re
from pathlib import Path

from contract.refusals import refusal_name
from contract.rpc import refusal_pb2
from orchestrator.cli.exit_codes import ExitCode

PAGE = (Path(__file__).parents[2] / "docs" / "refusals.md").read_text(encoding="utf-8")
CODES, _, REFUSALS = PAGE.partition("## Refusals")


def test_every_exit_code_has_a_row_with_its_name() -> None:
    rows = re.findall(r"^\| (\d+) \| (\w+) \|", CODES, re.MULTILINE)
    assert rows == [(str(code.value), code.name.lower()) for code in ExitCode]


def test_every_refusal_has_a_row_and_there_is_no_other() -> None:
    named = re.findall(r"^\| `(\w+)` \|", REFUSALS, re.MULTILINE)
    known = [refusal_name(number) for number in refusal_pb2.Refusal.values() if number]
    assert sorted(named) == sorted(known)


def test_every_row_says_something() -> None:
    rows = re.findall(r"^\| `\w+` \|(.*)\|$", REFUSALS, re.MULTILINE)
    assert all(len(cell.strip()) > 3 for row in rows for cell in row.split(" | "))
