"""The live page of a command: whether there is one, where it is, and what was submitted on it, run afterwards."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from orchestrator.control.client import Client
from orchestrator.control.submission_queue import QueuedExperiment
from pame.errors import PameError

if TYPE_CHECKING:
    from orchestrator.live import ShownCommand

NoPage = Annotated[
    bool, typer.Option("--no-page", help="Do not serve the live page; it is served only where a terminal is.")
]
Stay = Annotated[
    bool, typer.Option("--stay", help="Keep the live page, with the report, when all is done, until Ctrl-C.")
]
Begin = Callable[[QueuedExperiment], int]
"""Runs what was submitted on the page; the exit code."""


@contextmanager
def live_page(
    console: Console, is_wanted: bool, on: str | None, out: Path, backend: str
) -> Iterator["ShownCommand | None"]:
    """The page, as long as this is open; None: not wanted, nobody would read where it is, or another orchestrator
    (`on`) has one of its own."""
    if not is_wanted or on is not None or console.quiet or not sys.stdout.isatty():
        yield None
        return
    from orchestrator.live import ShownCommand  # and with it aiohttp, which nobody else needs

    page = ShownCommand(out, f"on this machine (backend {backend})")
    try:
        console.print(f"live page: {escape(page.url)}", soft_wrap=True)
        yield page
    finally:
        page.close()


def say_page_of(client: Client, console: Console) -> None:
    """Where the page of an orchestrator that runs it is, if it has one; the address holds the token, for a terminal."""
    if console.is_terminal and not console.quiet and (url := client.page()):
        console.print(f"live page: {escape(url)}", soft_wrap=True)


def go_on(page: "ShownCommand | None", stays: bool, was_interrupted: bool, begin: Begin, console: Console) -> None:
    """Run what was submitted on the page meanwhile; `stays`: and what still will be, until Ctrl-C."""
    if page is None or (was_interrupted and not page.is_stopped):
        return
    errors = Console(stderr=True, soft_wrap=True, highlight=False)
    if stays:
        console.print(f"the live page stays: {escape(page.url)} (Ctrl-C ends it)", soft_wrap=True)
    try:
        while (queued := page.next(stays)) is not None:
            try:
                begin(queued)
            except PameError as error:
                errors.print("[red]error:[/]", escape(str(error)))
                page.say(f"{queued.experiment.name} could not begin: {error}")
    except KeyboardInterrupt:
        console.print("the live page is closed")
