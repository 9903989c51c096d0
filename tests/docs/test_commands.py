"""docs/commands.md says what the command itself says."""

from pathlib import Path

from docs.making.commands import page
from orchestrator.cli.verbs import VERBS

PAGE = Path(__file__).parents[2] / "docs" / "commands.md"


def test_the_page_is_the_one_that_the_command_gives() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run `make reference`"


def test_every_verb_has_a_section_and_a_row() -> None:
    for verb in VERBS:
        assert f"\n## pame {verb}\n" in page()
        assert f"[`pame {verb}`](#pame-{verb})" in page()
