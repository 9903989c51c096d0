"""docs/architecture.md names files: each is there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
TABLE = PAGE.partition("## To change this, open that")[2]


def named(text: str) -> list[str]:
    found = re.findall(r"`((?:contract|node|orchestrator|pame|pame_testbed|proto|tests)/[\w/.]*)`", text)
    return [name for name in found if "." in name or name.endswith("/")]


def test_every_file_that_the_page_names_is_there() -> None:
    assert len(named(PAGE)) > 60
    assert [name for name in named(PAGE) if not (ROOT / name).exists()] == []


def test_the_table_says_for_many_changes_which_file_to_open() -> None:
    rows = [line for line in TABLE.splitlines() if line.startswith("| ") and not line.startswith("| to change")]
    assert len(rows) >= 20
    assert [row for row in rows if not named(row)] == []


def test_the_layers_are_those_of_the_tree() -> None:
    layers = PAGE.partition("## Layers")[2].partition("## The path")[0]
    packages = {path.parent.name for path in (ROOT / "orchestrator").glob("*/__init__.py")}
    assert [name for name in packages if f"{name}/" not in layers] == []
