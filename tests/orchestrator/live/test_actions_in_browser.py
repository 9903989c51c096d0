"""The live page, acted on by clicks and keys in a real browser, during real runs."""

import zipfile
from pathlib import Path

import pytest
from playwright.async_api import Browser

from tests.browser import Theme
from tests.orchestrator.control.harness import TOKEN, text_of
from tests.orchestrator.live.browsing import Look, browsing
from tests.orchestrator.live.harness import Visited, long_run

pytestmark = pytest.mark.requires("chromium")


async def unlocked(look: Look, visit: Visited) -> None:
    """As the address that was printed opens it."""
    await look.open(visit.url(f"/#token={TOKEN}"))
    await look.page.wait_for_selector("#buttons", state="visible")


async def picked(look: Look, text: str) -> None:
    """The dialog to begin an experiment, with this text in it, checked."""
    await look.page.click("#start")
    await look.page.wait_for_selector("#begin:not([disabled])")
    await look.page.fill("#yaml", text)
    await look.page.wait_for_selector("#begin[disabled]")


async def test_a_run_is_started_disturbed_stopped_and_fetched_by_clicks(
    tmp_path: Path, visit: Visited, browser: Browser
) -> None:
    async with visit.world.nodes("a", "b", "c"), browsing(browser) as look:
        page = look.page
        await unlocked(look, visit)
        await picked(look, text_of(name="by-clicks").replace("nodes: 3", "nodes: three"))
        await page.wait_for_selector("#wrong", state="visible")
        assert (
            await look.text("#wrong")
            == "experiment:3: nodes: got 'three', expected a whole number of at least 2 and at most 100000"
        )
        text = text_of(name="by-clicks", compute={"step": "30ms"}, stop={"iterations": 5000})
        await page.fill("#yaml", text + "\n")
        await page.wait_for_selector("#plan", state="visible")
        await look.shows("document.querySelector('#plan-name').textContent.startsWith('by-clicks: 3 nodes, ring')")
        assert await look.text("#plan-faults") == "no faults are planned"
        await page.click("#begin:not([disabled])")
        await look.shows("document.querySelectorAll('#graph .nodes .running').length === 3")
        assert await look.text("h1") == "by-clicks"

        await page.locator("#graph [data-node='1']").click()
        await page.wait_for_selector("#fault-dialog[open]")
        assert await look.text("#fault-title") == "Disturb node 1"
        await page.get_by_label("Kill it for good").check()
        assert await page.input_value("#fault-text") == "{kind: kill, nodes: [1]}"
        await page.click("#inject")
        await look.shows("document.querySelectorAll('#graph .nodes .dead').length === 1")
        told = "node 1 killed: begun at node 1 (supervisor)"
        await look.shows(f"document.getElementById('said').textContent === '{told}'")
        assert [(event.fault, event.nodes) for event in (await visit.world.under_way()).plan] == [("kill", (1,))]

        await page.locator("#graph [data-link='0 2']").dispatch_event("click")
        await page.wait_for_selector("#fault-dialog[open]")
        assert await look.text("#fault-title") == "Disturb the link between nodes 0 and 2"
        await page.keyboard.press("Escape")

        await page.click("#stop")
        await look.shows("document.querySelector('#chips .bad')?.textContent === 'interrupted'")
        await page.wait_for_selector("#report", state="visible")
        report = page.frame_locator("#report-frame")
        assert await report.locator("h1").inner_text() == "by-clicks"

        async with page.expect_download() as fetching:
            await page.click("#zip")
        fetched = await fetching.value
        [folder] = visit.world.out.iterdir()
        assert fetched.suggested_filename == f"{folder.name}.zip"
        await fetched.save_as(tmp_path / "run.zip")
        with zipfile.ZipFile(tmp_path / "run.zip") as archive:
            assert archive.read(f"{folder.name}/summary.json") == (folder / "summary.json").read_bytes()
        assert [words for words in look.complaints() if "400" not in words] == []
        assert all(url.startswith((visit.url("/"), "data:", "blob:")) for url in look.requests)


async def test_a_run_is_held_and_goes_on_and_what_waits_can_be_taken_out_by_keys(
    visit: Visited, browser: Browser
) -> None:
    async with visit.world.nodes("a", "b", "c"), browsing(browser, "dark", 420) as look:
        await visit.world.desk.submit(long_run(), Path())
        page = look.page
        await unlocked(look, visit)
        await page.wait_for_selector("#hold", state="visible")
        await page.focus("#hold")
        await page.keyboard.press("Enter")
        await page.wait_for_selector("#held", state="visible")
        assert await look.text("#hold") == "Go on"
        assert visit.world.desk.run is not None
        assert visit.world.desk.run.is_held
        await page.keyboard.press("Enter")
        await page.wait_for_selector("#held", state="hidden")
        assert not visit.world.desk.run.is_held

        await page.click("#again")
        await look.shows("document.querySelectorAll('#waiting li').length === 1")
        assert await look.text("#said") == "looked-at, seed 2, waits for its turn."
        await page.click("#again")
        await look.shows("document.querySelectorAll('#waiting li').length === 2")
        await page.focus("#waiting button")
        await page.keyboard.press("Enter")
        await look.shows("document.querySelectorAll('#waiting li').length === 1")
        await page.click("#empty")
        await page.wait_for_selector("#queue", state="hidden")
        assert visit.world.desk.queue.waiting == ()

        await page.focus("#graph [data-node='2']")
        await page.keyboard.press("Enter")
        await page.wait_for_selector("#fault-dialog[open]")
        assert await page.evaluate("document.documentElement.scrollWidth") == 420
        assert look.complaints() == []


async def test_the_token_leaves_the_address_and_goes_nowhere_but_into_a_header(
    visit: Visited, browser: Browser
) -> None:
    async with browsing(browser) as look:
        sent: list[str] = []
        look.page.on("request", lambda request: sent.append(request.headers.get("authorization", "")))
        await unlocked(look, visit)
        assert look.page.url == visit.url("/")
        await look.page.reload()
        await look.page.wait_for_selector("#buttons", state="visible")
        assert await look.page.evaluate("localStorage.length") == 0
        assert not [url for url in look.requests if TOKEN in url or "token" in url.partition("?")[2]]
        assert set(sent) == {""}  # looking takes none
        await look.page.click("#start")
        await look.shows("!document.querySelector('#begin').disabled")
        assert f"Bearer {TOKEN}" in sent


async def test_without_the_token_the_page_only_looks_until_it_is_given(visit: Visited, browser: Browser) -> None:
    await visit.world.desk.submit(long_run(), Path())
    async with browsing(browser) as look:
        page = look.page
        await look.open(visit.url("/"))
        assert await page.locator("#buttons").is_hidden()
        await page.fill("#token", "wrong")
        await page.press("#token", "Enter")
        await page.click("#stop")
        await look.shows("document.getElementById('said').textContent === 'wrong token'")
        await page.wait_for_selector("#unlock", state="visible")
        assert visit.world.desk.current is not None
        await page.fill("#token", TOKEN)
        await page.click("#unlock button")
        await page.click("#stop")
        await look.shows("document.querySelector('#chips .bad')?.textContent === 'interrupted'")
        assert await page.evaluate("localStorage.length + sessionStorage.length") == 0
        assert [words for words in look.complaints() if "401" not in words] == []


@pytest.mark.parametrize(("theme", "width"), [("light", 1400), ("dark", 420)])
async def test_dialogs_fit_and_keep_what_is_typed_from_becoming_markup(
    theme: Theme, width: int, visit: Visited, browser: Browser
) -> None:
    async with browsing(browser, theme, width) as look:
        await unlocked(look, visit)
        hostile = "<img src=x onerror=document.title=1>"
        await picked(look, f"nodes: 4\n'{hostile}': 1\n")
        await look.page.wait_for_selector("#wrong", state="visible")
        assert hostile in await look.text("#wrong")
        assert await look.page.title() != "1"
        assert await look.page.evaluate("document.documentElement.scrollWidth") == width
        box = await look.page.locator("#start-dialog").bounding_box()
        assert box is not None
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= width
