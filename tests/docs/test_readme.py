"""What README and pages show can be done as it stands: experiment files load, and every link leads somewhere."""

import re
from pathlib import Path

import pytest

from orchestrator.experiment import load_text

ROOT = Path(__file__).parents[2]
PAGES = sorted(path.relative_to(ROOT) for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
LEAST_SHOWN = {"README.md": 1, "docs/examples.md": 5, "docs/own-problem.md": 1, "docs/vision.md": 1}
SHOWN = [
    pytest.param(text, id=f"{page}-{number}")
    for page in LEAST_SHOWN
    for number, text in enumerate(re.findall(r"```yaml\n(.*?)```", (ROOT / page).read_text("utf-8"), re.DOTALL))
]
MOST_LINES = 95
MOST_BYTES_OF_A_PICTURE = 300_000


@pytest.mark.parametrize("text", SHOWN)
def test_an_experiment_file_that_is_shown_loads(text: str) -> None:
    assert load_text(text, Path("shown.yaml"))


@pytest.mark.parametrize("page", LEAST_SHOWN)
def test_there_are_some(page: str) -> None:
    assert sum(str(shown.id).startswith(page) for shown in SHOWN) >= LEAST_SHOWN[page]


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_link_leads_somewhere(page: Path) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text) + re.findall(r'(?:href|src|srcset)="([^"#:]+)"', text)
    missing = [link for link in links if not link.startswith("http") and not (ROOT / page.parent / link).exists()]
    assert not missing


def test_the_readme_is_read_in_a_minute_and_has_a_fault_in_its_experiment() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= MOST_LINES
    [shown] = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    assert len(shown.splitlines()) <= 8
    assert all(variant.experiment.faults for variant in load_text(shown, Path("shown.yaml")))


def test_every_picture_is_small_and_there_in_light_and_dark() -> None:
    pictures = sorted((ROOT / "docs" / "pictures").glob("*.webp"))
    assert {path.stem for path in pictures} >= {"live-light", "live-dark", "report-light", "report-dark"}
    assert [path.name for path in pictures if path.stat().st_size > MOST_BYTES_OF_A_PICTURE] == []
