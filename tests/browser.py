"""One browser for all tests of a worker: a process that both kinds of tests, with and without a loop, connect to."""

import re
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, Protocol

from playwright.sync_api import Browser, Page

from tests.conftest import CHROMIUM_NAMES

ARGUMENTS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage", "--hide-scrollbars",
    "--mute-audio", "--force-color-profile=srgb", "--password-store=basic", "--remote-debugging-port=0",
)  # fmt: skip
READY_S = 60
PATIENCE_MS = 60_000
Theme = Literal["light", "dark"]


@contextmanager
def running_chromium(folder: Path) -> Iterator[str]:
    """The address of a browser that ends with this block. (Playwright's own keeps a loop running beside others.)"""
    program = next(filter(None, map(shutil.which, CHROMIUM_NAMES)))
    command = [program, *ARGUMENTS, f"--user-data-dir={folder / 'profile'}", "about:blank"]
    log = folder / "log"
    with log.open("wb") as said, subprocess.Popen(command, stdout=said, stderr=said) as process:
        try:
            yield _address(process, log)
        finally:
            process.terminate()


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    for _ in range(10 * READY_S):
        if found := re.search(r"DevTools listening on (ws://\S+)", log.read_text(errors="replace")):
            return found[1]
        try:
            process.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
        break
    raise AssertionError(f"the browser did not start: {log.read_text(errors='replace')}")


_BROKEN = r"""() => {
    document.querySelectorAll('details').forEach(part => { part.open = true; });
    const number = /[-−]?\d(?:[\d.,]|\u202f(?=\d))*/.source;
    const unit = /[ \u202f](?:B|[KMGT]iB|µs|ms|s|min|%)(?!\w)/.source;
    const ranges = `${number} … ${number}(?:${unit})?|`, words = `${number}${unit}|[^ \\n\\t]+`;
    const found = [];
    const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const text = walker.currentNode, place = text.parentElement;
        if (place.closest('svg, pre, code, h1')) continue;
        const inTable = place.closest('td, th');
        for (const word of text.data.matchAll(new RegExp((inTable ? '' : ranges) + words, 'g'))) {
            if (word[0].length > 28 && !inTable) continue;
            const range = document.createRange();
            range.setStart(text, word.index);
            range.setEnd(text, word.index + word[0].length);
            const lines = new Set([...range.getClientRects()].filter(r => r.width > 0).map(r => Math.round(r.top)));
            if (lines.size > 1) found.push(word[0]);
        }
    }
    return found;
}"""


class Visit:
    """An open page that remembers what it complained of and what it asked the network for."""

    def __init__(self, browser: Browser, path: Path, theme: Theme = "light", width: int = 1200) -> None:
        self.page: Page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)
        self.page.set_default_timeout(PATIENCE_MS)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-ready]", state="attached")

    def drawn(self) -> list[str]:
        """What each chart says it shows, if it really has marks of a size."""
        shown: list[str] = self.page.eval_on_selector_all(
            ".chart",
            """charts => charts.map(chart => {
                const kinds = ['line', 'rect', 'symbol'].map(kind => `svg .mark-${kind}.role-mark path`);
                const marks = [...chart.querySelectorAll(kinds.join())];
                const large = marks.some(mark => mark.getBoundingClientRect().width > 2);
                return large ? chart.dataset.drawn : `${chart.id} is empty`;
            })""",
        )
        return shown

    def broken(self) -> list[str]:
        """The words, and the numbers with their units, that stand on more than one line; long words only in tables."""
        found: list[str] = self.page.evaluate(_BROKEN)
        return found

    def marks(self, kind: Literal["line", "symbol"]) -> list[int]:
        """How many of them each chart has."""
        script = f"charts => charts.map(c => c.querySelectorAll('svg .mark-{kind}.role-mark path').length)"
        found: list[int] = self.page.eval_on_selector_all(".chart", script)
        return found

    def press(self, selector: str, then: str) -> None:
        self.page.click(selector)
        self.page.wait_for_selector(then, state="attached")


class Visiting(Protocol):
    """Opens a page that is a file."""

    def __call__(self, path: Path, theme: Theme = "light", width: int = 1200) -> Visit: ...
