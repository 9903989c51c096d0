"""The live page in a real browser: what it shows during a real run, that it loads nothing, and what it survives."""

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser

from tests.orchestrator.backends.harness import attached, join_of
from tests.orchestrator.live.browsing import browsing
from tests.orchestrator.live.harness import Visited, long_run

pytestmark = pytest.mark.requires("chromium")

FLOWING = "document.querySelectorAll('#graph .links .flow[class*=heat]').length > 0"


async def test_a_real_run_is_seen_live_a_death_too_and_then_its_report(
    tmp_path: Path, visit: Visited, browser: Browser
) -> None:
    async with visit.world.nodes("a", "b", "c", "d") as processes:
        await visit.world.desk.submit(long_run(nodes=4), Path())
        async with browsing(browser) as look, browsing(browser, "dark", 400) as phone:
            await look.open(visit.url("/"))
            await phone.open(visit.url("/"))
            await look.shows(FLOWING)
            assert await look.text("h1") == "looked-at"
            await look.shows("document.querySelector('#chips .good')?.textContent === 'sound'")
            assert (await look.text("#chips")).split("\n")[:3] == ["running", "sound", "4 nodes"]
            assert await look.page.locator("#health").is_hidden()
            assert await look.text("#alive") == "4 of 4"
            assert await look.page.text_content("#states") == "4running"
            assert await look.page.locator("#graph .nodes .running").count() == 4
            assert "B/s now" in await look.text("#rate")
            assert "/s" in await look.text("#busiest tbody td:nth-child(2) >> nth=0")
            widths = await look.page.eval_on_selector_all(
                "#graph .links path", "all => all.map(path => Number(path.getAttribute('stroke-width')))"
            )
            assert max(widths) == 6.0
            before = await look.number("#iteration")
            sent = await look.page.get_attribute("#curve-volume", "aria-label")
            while await look.number("#iteration") <= before + 10:
                await asyncio.sleep(0.1)
            await look.shows(f"document.getElementById('curve-volume').ariaLabel !== {json.dumps(sent)}")
            assert (await look.page.get_attribute("#curve-objective .line", "d") or "").count("L") >= 2
            await look.page.screenshot(path=tmp_path / "running.png", full_page=True)

            os.kill(processes.alive()["c"], signal.SIGKILL)
            await look.shows("document.querySelectorAll('#graph .nodes .dead').length === 1")
            assert await look.page.text_content("#graph .names .dead tspan >> nth=0") == "dead"
            assert "1 dead" in (await look.page.get_attribute("#graph", "aria-label") or "")
            assert await look.text("#alive") == "3 of 4"
            await look.shows("document.getElementById('events').innerText.includes('died')")
            await look.shows("document.querySelector('#chips .bad')?.textContent === 'degraded'")
            assert "died, left or fell silent, which was not planned" in await look.text("#health")
            assert await phone.page.evaluate("document.documentElement.scrollWidth") == 400
            await phone.page.screenshot(path=tmp_path / "phone.png", full_page=True)

            visit.world.desk.cancel(0)
            await look.shows("document.querySelector('#chips .bad')?.textContent === 'interrupted'")
            assert await look.text("#scale-title") == "Links, bytes in all"
            link = look.page.locator("#runs a")
            await link.click()
            await look.page.wait_for_selector("html[data-ready]", state="attached")
            assert await look.text("h1") == "looked-at"
            assert await look.page.locator(".chart svg").count() > 3
            for one in (look, phone):
                assert one.complaints() == []
                assert all(url.startswith((visit.url("/"), "data:", "blob:")) for url in one.requests)
    assert {(tmp_path / name).stat().st_size > 20_000 for name in ("running.png", "phone.png")} == {True}


async def test_hostile_names_are_words_and_nothing_else(visit: Visited, browser: Browser) -> None:
    hostile = "<img src=x onerror=\"document.title='owned'\">"
    visit.world.desk.notice = f"{hostile}<script>document.title='owned'</script>"
    folder = visit.world.out / f"20260101-000000-{hostile.replace('/', '')}"
    folder.mkdir(parents=True)
    (folder / "summary.json").write_text('{"status": "<b>finished</b>"}')
    (folder / "report.html").write_text("<h1>a report</h1>")
    first = join_of(visit.world.control, member=hostile).SerializeToString()
    async with attached(visit.world.control, first) as call, browsing(browser) as look:
        await call.read()
        await look.open(visit.url("/"))
        await look.shows("document.querySelectorAll('#graph .nodes .joined').length === 1")
        assert hostile in await look.text("#notice")
        assert hostile in (await look.page.text_content("#graph title") or "")
        assert "<b>finished</b>" in await look.text("#runs")
        await look.shows("document.querySelectorAll('#nodes tr').length === 1")
        assert hostile in await look.text("#nodes")
        assert await look.page.locator("main img, main script, main b:not(#states b)").count() == 0
        assert "owned" not in await look.page.title()
        await look.page.click("#runs a")
        assert await look.text("h1") == "a report"
        assert look.complaints() == []


async def test_a_lost_connection_is_said_and_its_return_seen(visit: Visited, browser: Browser) -> None:
    async with browsing(browser) as look:
        await look.open(visit.url("/"))
        assert await look.page.locator("#lost").is_hidden()
        await look.page.route("**/api/**", lambda route: route.abort())
        await look.page.wait_for_selector("#lost", state="visible")
        assert "Connection to the orchestrator lost" in await look.text("#lost")
        await look.page.unroute("**/api/**")
        await look.page.wait_for_selector("#lost", state="hidden")


async def test_the_theme_button_switches_light_and_dark(visit: Visited, browser: Browser) -> None:
    async with browsing(browser, "dark") as look:
        await look.open(visit.url("/"))
        background = "getComputedStyle(document.body).backgroundColor"
        dark: Any = await look.page.evaluate(background)
        await look.page.click("#theme")
        light: Any = await look.page.evaluate(background)
        assert (dark, light) == ("rgb(15, 20, 26)", "rgb(246, 247, 249)")
