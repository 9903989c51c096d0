"""What a reader of a report sees."""

import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

from orchestrator.report import write_report

_WHOLE = re.compile(r'<span class="whole">([^<]*)</span>')


class Reader(HTMLParser):
    """The words, tags and loading attributes of a page; the contents of scripts and styles are no words.

    What is kept on one line (`<span class="whole">`) belongs to the words around it.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.words: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside = ""
        self.feed(unwrapped(html))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.inside = tag

    def handle_endtag(self, tag: str) -> None:
        if tag == self.inside:
            self.inside = ""

    def handle_data(self, data: str) -> None:
        if not self.inside and data.strip():
            self.words.append(data.strip())

    @property
    def text(self) -> str:
        return " ".join(self.words)


def unwrapped(html: str) -> str:
    """A page without the marks that keep words on one line."""
    return _WHOLE.sub(r"\1", html)


def text_of(folder: Path) -> str:
    """The words of the report of a run folder, written anew."""
    return Reader(write_report(folder).read_text(encoding="utf-8")).text


def words_of(page: Path) -> str:
    """All words of its body, in one line."""
    body = page.read_text(encoding="utf-8").partition("<main")[2].partition("</main>")[0]
    return unescape(" ".join(re.sub(r"<[^>]*>", " ", unwrapped(body)).split()))
