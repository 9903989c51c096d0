"""The live page in a real browser."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Browser, Page, async_playwright

from tests.browser import PATIENCE_MS, Theme

NOT_THE_PAGE = "ERR_NETWORK_CHANGED"
"""The browser's word for an interface that somebody else on this machine made or removed."""


class Look:
    """An open page that remembers what it complained of and what it asked for."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.requests: list[str] = []
        self._complaints: list[str] = []
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", lambda message: self._complaints.append(message.text))
        page.on("pageerror", lambda error: self._complaints.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))

    def complaints(self) -> list[str]:
        return [words for words in self._complaints if NOT_THE_PAGE not in words]

    async def open(self, url: str) -> None:
        await self.page.goto(url)
        await self.page.wait_for_selector("html[data-ready]", state="attached")

    async def text(self, selector: str) -> str:
        return await self.page.inner_text(selector)

    async def shows(self, script: str) -> None:
        """Wait until an expression over the page is true; the page's policy forbids the browser to wait for it."""
        while not await self.page.evaluate(script):
            await asyncio.sleep(0.1)

    async def number(self, selector: str) -> int:
        return int((await self.text(selector)).replace("\u202f", ""))


@asynccontextmanager
async def browsing(browser: Browser, theme: Theme = "light", width: int = 1200) -> AsyncIterator[Look]:
    page = await browser.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)
    try:
        yield Look(page)
    finally:
        await page.close()


@asynccontextmanager
async def connected(endpoint: str) -> AsyncIterator[Browser]:
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(endpoint)
        yield browser
        await browser.close()
