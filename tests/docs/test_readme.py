"""What the README shows can be done as it stands: experiment files load, and every page it points to is there."""

import re
from pathlib import Path

import pytest

from orchestrator.experiment import load_text

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FILES = re.findall(r"```yaml\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize("text", FILES, ids=range(len(FILES)))
def test_an_experiment_file_that_is_shown_loads(text: str) -> None:
    assert load_text(text, Path("shown.yaml"))


def test_there_are_some() -> None:
    assert len(FILES) >= 2


@pytest.mark.parametrize(
    "page", sorted(path.relative_to(ROOT) for path in [ROOT / "README.md", *ROOT.glob("docs/*.md")])
)
def test_every_link_leads_somewhere(page: Path) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text) if not link.startswith("http")]
    missing = [link for link in links if not (ROOT / page.parent / link).exists()]
    assert not missing


def test_every_page_is_pointed_to() -> None:
    pages = {f"docs/{path.name}" for path in ROOT.glob("docs/*.md")}
    assert pages <= set(re.findall(r"\((docs/\w+\.md)\)", README))
