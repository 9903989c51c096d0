"""The one browser, which begins with the first test that needs it."""

from collections.abc import Iterator
from functools import partial

import pytest
from playwright.sync_api import sync_playwright

from tests.browser import Visit, Visiting, running_chromium


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running_chromium(tmp_path_factory.mktemp("chromium")) as address:
        yield address


@pytest.fixture
def visiting(chromium: str) -> Iterator[Visiting]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.connect_over_cdp(chromium)
        yield partial(Visit, browser)
        browser.close()
