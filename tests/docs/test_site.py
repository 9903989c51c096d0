"""The documentation as a site: every page has its place, nothing warns, and a reader fetches nothing from elsewhere."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.async_api import Browser, async_playwright

from tests.browser import PATIENCE_MS, running_chromium

ROOT = Path(__file__).parents[2]
CONFIGURATION = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
NAVIGATION = re.findall(r": ([\w-]+\.md)$", CONFIGURATION.partition("\nnav:")[2], re.MULTILINE)
LOOKED_AT = ("index.html", "tutorial.html", "experiment.html", "refusals.html", "benchmarks.html")


def test_every_page_has_one_place_in_the_navigation() -> None:
    assert sorted(NAVIGATION) == sorted(path.name for path in (ROOT / "docs").glob("*.md"))


def test_the_first_page_leads_to_every_page() -> None:
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert set(NAVIGATION) - {"index.md"} <= set(re.findall(r"\(([\w-]+\.md)\)", text))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.mark.requires("mkdocs")
def test_it_is_built_without_a_warning_and_code_stays_out_of_it(site: Path) -> None:
    assert {path.stem for path in site.glob("*.html")} >= {Path(name).stem for name in NAVIGATION}
    assert not (site / "making").exists()


@pytest.mark.requires("mkdocs")
def test_a_list_that_follows_its_sentence_is_a_list(site: Path) -> None:
    text = (site / "compare.html").read_text(encoding="utf-8")
    assert re.search(r"</p>\s*<ul>\s*<li><code>targets</code> are of one kind", text)


@pytest.mark.requires("mkdocs")
@pytest.mark.requires("chromium")
async def test_a_reader_fetches_nothing_from_elsewhere(site: Path, tmp_path: Path) -> None:
    asked: list[str] = []
    with running_chromium(tmp_path) as address:
        async with async_playwright() as playwright:
            await look_at(site, await playwright.chromium.connect_over_cdp(address), asked)
    assert len(asked) > len(LOOKED_AT)
    assert [url for url in asked if not url.startswith(("file://", "data:", "blob:"))] == []


async def look_at(site: Path, browser: Browser, asked: list[str]) -> None:
    """As on a telephone, where no page may be wider than the screen."""
    page = await browser.new_page(viewport={"width": 420, "height": 900})
    page.set_default_timeout(PATIENCE_MS)
    page.on("request", lambda request: asked.append(request.url))
    for name in LOOKED_AT:
        await page.goto((site / name).as_uri(), wait_until="networkidle")
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
    await browser.close()
