"""The files of the page itself; its style begins with that of the reports."""

from importlib.resources import files
from pathlib import PurePath

from aiohttp import web

_ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="#2f8fcb" stroke="#2f8fcb" stroke-width="1.5">'
    '<path d="M5 6 19 6M5 6 12 19M19 6 12 19"/><circle cx="5" cy="6" r="3"/><circle cx="19" cy="6" r="3"/>'
    '<circle cx="12" cy="19" r="3"/></svg>'
)
_TYPES = {".css": "text/css", ".html": "text/html", ".js": "text/javascript", ".svg": "image/svg+xml"}


def load_assets() -> dict[str, str]:
    """Their texts, by name."""
    found = [*files("orchestrator.live").joinpath("static").iterdir(), files("orchestrator.report") / "style.css"]
    known = [file for file in found if PurePath(file.name).suffix in _TYPES]
    return {"icon.svg": _ICON, **{file.name: file.read_text(encoding="utf-8") for file in known}}


def response_with(name: str, text: str) -> web.Response:
    """To be asked for again each time, so that a new version shows at once."""
    kind = _TYPES[PurePath(name).suffix]
    return web.Response(text=text, content_type=kind, headers={"Cache-Control": "no-cache"})
