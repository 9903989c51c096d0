"""What the live page shows of a real run with faults, in a real browser: marks, time line, shades, rows, keys."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, get_args

import pytest
from playwright.async_api import Browser

from orchestrator.control import NetworkRunState
from tests.axe import axe_script
from tests.browser import Theme
from tests.orchestrator.live.browsing import Look, browsing
from tests.orchestrator.live.harness import Visited, long_run

pytestmark = pytest.mark.requires("chromium")

NAMES = ("edge-a", "edge-b", "edge-c", "edge-d")
FAULTS = [
    {"kind": "link-down", "links": ["0-1"], "at": "1s"},
    {"kind": "degrade", "links": ["2>3"], "delay": "20ms", "at": "1s"},
    {"kind": "straggler", "nodes": [3], "cause": "compute", "factor": 2, "at": "1s"},
    {"kind": "pause", "nodes": [2], "at": "2s", "for": "600s"},
    {"kind": "message-loss", "links": ["1>2"], "loss": 0.5, "at": {"iteration": 4000}},
]
PICKED = """() => { window.picked = []; for (const word of ["pame:select", "pame:deselect"])
    document.addEventListener(word, (event) => window.picked.push(event.detail)); }"""
STATES = "[...document.querySelectorAll('#timeline li')].map(row => row.className).join()"


@asynccontextmanager
async def disturbed(visit: Visited) -> AsyncIterator[NetworkRunState]:
    """A run of four nodes in a ring, all of its faults but the last at work."""
    async with visit.world.nodes(*NAMES):
        settings: dict[str, Any] = {
            "nodes": 4,
            "faults": FAULTS,
            "verify": {"when": "never"},
            "exchange": {"patience": "200ms"},
        }
        await visit.world.desk.submit(long_run(**settings), Path())
        run = await visit.world.under_way()
        run.log = visit.world.out.parent / "nodes.log"
        await visit.live_until(lambda live: [row["state"] for row in live["run"]["faults"]] == [*["now"] * 4, "next"])
        yield run
        visit.world.desk.cancel(0)


async def words_of(look: Look, selector: str) -> list[str]:
    found: list[str] = await look.page.eval_on_selector_all(selector, "all => all.map(one => one.textContent)")
    return found


async def test_faults_are_marked_in_the_graph_listed_in_time_and_shaded_behind_the_curves(
    visit: Visited, browser: Browser
) -> None:
    async with disturbed(visit), browsing(browser, width=1400) as look:
        await look.open(visit.url("/"))
        await look.shows(f"{STATES} === 'now,now,now,now,next'")
        await look.shows("document.querySelectorAll('#graph .links g.cut').length === 2")
        dashes = await look.page.eval_on_selector(
            "#graph [data-link='0 1'] .flow", "it => getComputedStyle(it).strokeDasharray"
        )
        assert dashes != "none"
        assert "cut" in (await look.page.get_attribute("#graph [data-link='0 1']", "aria-label") or "")
        assert "slow" in (await look.page.get_attribute("#graph [data-link='2 3']", "aria-label") or "")
        assert await words_of(look, "#graph .names .paused tspan") == ["paused", "edge-c"]
        assert {"slow", "edge-d"} <= set(await words_of(look, "#graph [data-names='node 3'] tspan"))
        assert "2 links cut" in (await look.page.get_attribute("#graph", "aria-label") or "")
        assert {"2cut", "1slow"} <= set(await words_of(look, "#scale li"))
        rows = await words_of(look, "#timeline .what")
        assert rows[3] == "4 pause: node 2 paused"
        assert "left" in (await words_of(look, "#timeline .when"))[3]
        assert "to come" in (await words_of(look, "#timeline .badge"))[-1]

        await look.shows("document.querySelectorAll('#curve-objective .shade').length === 4")
        assert await look.page.get_attribute("#axis [value=seconds]", "aria-pressed") == "true"
        for axis in ("iteration", "bytes", "seconds"):
            await look.page.click(f"#axis [value={axis}]")
            label = await look.page.get_attribute("#curve-objective", "aria-label") or ""
            assert f"by {axis}" in label
            assert "shaded: fault 1, fault 2, fault 3, fault 4" in label
        assert await look.text("#objective-title") == "f − f*, distance to the optimum"
        assert "f − f*" in await look.text("#learned")
        assert look.complaints() == []


async def test_the_gap_on_the_page_is_f_less_its_least_value(visit: Visited, browser: Browser) -> None:
    async with disturbed(visit) as run, browsing(browser) as look:
        live = await visit.live_until(lambda live: live["run"]["optimum"] is not None)
        optimum = run.setting.problem.optimum()
        assert optimum is not None
        assert live["run"]["optimum"] == optimum.objective
        await look.open(visit.url("/"))
        f = live["run"]["by_iteration"][0][3]
        drawn = await look.page.get_attribute("#curve-objective", "aria-label") or ""
        assert f"from {f - optimum.objective:.4g};" in drawn


async def test_every_node_has_a_row_with_name_state_waiting_time_and_bytes(visit: Visited, browser: Browser) -> None:
    async with disturbed(visit), browsing(browser) as look:
        await look.open(visit.url("/"))
        heads = await words_of(look, "#all-nodes thead th")
        await look.shows("document.querySelector('#nodes tr:nth-child(3) td:nth-child(4)').textContent === 'paused'")
        rows = [
            dict(zip(heads, await words_of(look, f"#nodes tr:nth-child({i}) > *"), strict=True)) for i in range(1, 5)
        ]
        assert [(row["Node"], row["Name"], row["Host"]) for row in rows] == [
            (str(node), name, "127.0.0.1") for node, name in enumerate(NAMES)
        ]
        assert rows[3]["State"].endswith(", slow")
        live = await visit.live_until(lambda live: all(node["waited"] > 0 for node in live["nodes"]))
        await look.shows(
            "[...document.querySelectorAll('#nodes tr')].every(row => row.cells[5].textContent !== '0.0 s')"
        )
        assert sum(node["sent"] for node in live["nodes"]) == live["run"]["bytes"]
        assert all(node["received"] > 0 for node in live["nodes"])


async def test_events_and_log_are_in_order_of_time_and_can_be_had_fault_by_fault(
    visit: Visited, browser: Browser
) -> None:
    async with disturbed(visit) as run, browsing(browser) as look:
        assert run.log is not None
        await visit.live_until(lambda live: live["run"]["happened"].split()[0] >= "6")
        with run.log.open("a") as log:
            log.write("WARNING node.test: something odd member=edge-d\n")
        await look.open(visit.url("/"))
        await look.shows("document.getElementById('events').textContent.includes('something odd')")
        times = list(map(float, await words_of(look, "#events td:first-child")))
        assert times == sorted(times)
        await look.page.select_option("#filter", "log")
        assert set(await words_of(look, "#events td:nth-child(2)")) == {"node log"}
        assert (await words_of(look, "#events tr:last-child td"))[2:4] == ["3", "–"]
        await look.page.select_option("#filter", "fault 3")
        told = await words_of(look, "#events td:nth-child(4)")
        assert "4 pause" in told
        assert set(told) <= {"4 pause", "–"}
        assert "something odd" in await look.text("#events")
        await look.page.select_option("#filter", "fault 4")
        assert await look.text("#events") == "Nothing of this kind has happened."


async def test_a_node_or_link_is_selected_by_mouse_or_keys_and_the_document_hears_of_it(
    visit: Visited, browser: Browser
) -> None:
    async with disturbed(visit), browsing(browser) as look:
        await look.open(visit.url("/"))
        await look.shows("document.querySelectorAll('#graph [data-link]').length >= 8")
        await look.page.evaluate(PICKED)
        await look.page.click("#graph [data-node='1']")
        assert await look.text("#selected-title") == "Node 1"
        assert "edge-b" in await look.text("#selected-facts")
        await look.page.keyboard.press("ArrowRight")
        await look.page.keyboard.press("Enter")
        assert await look.text("#selected-title") == "Node 2"
        await look.page.keyboard.press("ArrowDown")
        await look.page.keyboard.press("Space")
        title = await look.text("#selected-title")
        assert title in ("Link 2 → 1", "Link 2 → 3")
        await look.page.keyboard.press("ArrowLeft")
        assert await look.page.evaluate("document.activeElement.dataset.node") == "2"
        await look.page.keyboard.press("Escape")
        assert await look.page.locator("#selected").is_hidden()
        await look.page.click("#nodes tr:nth-child(4) button")
        assert await look.page.get_attribute("#graph [data-node='3']", "aria-pressed") == "true"
        await look.page.locator("#graph [data-link='0 1'] .hit").dispatch_event("click")
        assert "cut" in await look.text("#selected-facts")
        link = [int(node) for node in title.split() if node.isdigit()]
        assert await look.page.evaluate("window.picked") == [
            {"node": 1}, {"node": 2}, {"link": link}, {}, {"node": 3}, {"link": [0, 1]},
        ]  # fmt: skip
        assert await look.page.eval_on_selector_all("#graph [tabindex='0']", "all => all.length") == 1


@pytest.mark.requires("axe")
@pytest.mark.parametrize("theme", get_args(Theme))
async def test_axe_finds_nothing_serious_on_the_page_wide_or_narrow(
    theme: Theme, visit: Visited, browser: Browser
) -> None:
    rules = axe_script()
    async with disturbed(visit):
        for width in (1400, 420):
            async with browsing(browser, theme, width) as look:
                await look.open(visit.url("/"))
                await look.page.locator("#graph [data-node='1']").dispatch_event("click")
                await look.shows(
                    "!document.getElementById('selected').hidden && !document.getElementById('faults').hidden"
                )
                await look.page.evaluate(rules)
                found: Any = await look.page.evaluate("axe.run()")
                assert len(found["passes"]) > 20
                serious = [
                    (one["impact"], one["id"], [node["html"][:200] for node in one["nodes"][:3]])
                    for one in found["violations"]
                    if one["impact"] in ("serious", "critical")
                ]
                assert serious == [], width
                assert await look.page.evaluate("document.documentElement.scrollWidth") == width


async def test_the_page_asks_for_little_more_than_what_is_new(visit: Visited, browser: Browser) -> None:
    async with disturbed(visit), browsing(browser) as look:
        await look.open(visit.url("/"))
        asked = len([url for url in look.requests if url.endswith("/api/graph")])
        before = await look.number("#iteration")
        while await look.number("#iteration") < before + 50:
            await asyncio.sleep(0.1)
        assert len([url for url in look.requests if url.endswith("/api/graph")]) == asked == 1
        looked = len([url for url in look.requests if url.endswith("/api/live")])
        assert len([url for url in look.requests if url.endswith("/api/happened")]) < looked
