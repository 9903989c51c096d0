"""The pictures of the README: `python -m docs.making.screenshots`, or `make screenshots`. Needs chromium.

A network of real nodes runs an experiment with faults. Its live page is photographed in the middle of the run, its
report afterwards, each in light and in dark.
"""

import io
import json
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Literal

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"
EXPERIMENT = Path(__file__).parent / "pictured.yaml"
NODES = 16
LOOK_AFTER_S = 16.0
"""Of the run: the network is in two halves then, and a node stands still."""
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
WIDTH, HEIGHT, SCALE = 1280, 1180, 1.5
QUALITY = 82
MOST_BYTES = 300_000
PATIENCE_S = 180.0
THEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


def main() -> None:
    program = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if program is None:
        sys.exit("chromium is not on this machine: apt-get install chromium fonts-dejavu-core")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox", "--hide-scrollbars"])
        for name, picture in _pictures(Path(folder), browser):
            _keep(name, picture)
        browser.close()


def _pictures(folder: Path, browser: Browser) -> Iterator[tuple[str, bytes]]:
    with _served(folder) as (address, page):
        run = _start(folder, "run", "--on", address, str(EXPERIMENT), "--quiet")
        looks = {theme: _open(browser, page, theme) for theme in THEMES}
        _wait_for_trouble(looks[THEMES[-1]])
        for theme, look in looks.items():
            yield f"live-{theme}", look.screenshot()
        if run.wait(PATIENCE_S) not in (0, 5):
            sys.exit("the run failed: see its output above")
    [report] = folder.glob("runs/*/report.html")
    for theme in THEMES:
        yield f"report-{theme}", _open(browser, report.as_uri(), theme).screenshot()


@contextmanager
def _served(folder: Path) -> Iterator[tuple[str, str]]:
    """An orchestrator with its nodes: its address, and that of its page."""
    with ExitStack() as processes:
        said = folder / "serve.log"
        ports = ("--port", "0", "--metrics-port", "0", "--page-port", "0")
        processes.enter_context(_ending(_start(folder, "serve", *ports, said=said)))
        listening = _listening(said)
        for number in range(NODES):
            words = ("node.supervisor", "--orchestrator", listening["address"], "--member", f"node-{number}")
            node = _begin(folder, [sys.executable, "-m", *words], folder / "nodes.log")
            processes.enter_context(_ending(node))
        yield listening["address"], listening["page"]


def _start(folder: Path, *words: str, said: Path | None = None) -> "subprocess.Popen[bytes]":
    return _begin(folder, [str(Path(sys.executable).parent / "pame"), *words], said)


def _begin(folder: Path, command: Sequence[str], said: Path | None) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PAME_TOKEN": _TOKEN, "OPENBLAS_NUM_THREADS": "1"}
    if said is None:
        return subprocess.Popen(command, cwd=folder, env=environment)
    with said.open("ab") as errors:
        return subprocess.Popen(command, cwd=folder, env=environment, stderr=errors)


@contextmanager
def _ending(process: "subprocess.Popen[bytes]") -> Iterator[None]:
    try:
        yield
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def _listening(said: Path) -> dict[str, Any]:
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        for line in said.read_text().splitlines(keepends=True) if said.exists() else ():
            if line.endswith("\n") and (event := json.loads(line))["event"] == "listening":
                assert isinstance(event, dict)
                return event
        time.sleep(0.1)
    sys.exit("the orchestrator did not start")


def _open(browser: Browser, address: str, theme: Literal["light", "dark"]) -> Page:
    viewport = {"width": WIDTH, "height": HEIGHT}
    page = browser.new_page(viewport=viewport, color_scheme=theme, device_scale_factor=SCALE)  # type: ignore[arg-type]
    page.set_default_timeout(1000 * PATIENCE_S)
    page.goto(address)
    page.wait_for_selector("html[data-ready]", state="attached")
    return page


def _wait_for_trouble(page: Page) -> None:
    """The page's policy forbids the browser to wait for an expression."""
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        found = re.fullmatch(r"([\d.]+) s", page.inner_text("#seconds").strip())
        if found and float(found[1]) >= LOOK_AFTER_S:
            return
        time.sleep(0.1)
    sys.exit(f"the run did not come to {LOOK_AFTER_S:g} s")


def _keep(name: str, picture: bytes) -> None:
    PICTURES.mkdir(exist_ok=True)
    path = PICTURES / f"{name}.webp"
    Image.open(io.BytesIO(picture)).convert("RGB").save(path, quality=QUALITY, method=6)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")
    if path.stat().st_size > MOST_BYTES:
        sys.exit(f"{path.name} is larger than {MOST_BYTES // 1000} kB")


_TOKEN = secrets.token_hex(8)


if __name__ == "__main__":
    main()
