"""The files of the page itself; its style begins with that of the reports."""

from dataclasses import dataclass
from importlib.resources import files

from aiohttp import web

_ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="#2f8fcb" stroke="#2f8fcb" stroke-width="1.5">'
    '<path d="M5 6 19 6M5 6 12 19M19 6 12 19"/><circle cx="5" cy="6" r="3"/><circle cx="19" cy="6" r="3"/>'
    '<circle cx="12" cy="19" r="3"/></svg>'
)


@dataclass(frozen=True, slots=True)
class Asset:
    """One file and its type."""

    text: str
    kind: str

    def response(self) -> web.Response:
        """To be asked for again each time, so that a new version shows at once."""
        return web.Response(text=self.text, content_type=self.kind, headers={"Cache-Control": "no-cache"})


def load_assets() -> dict[str, Asset]:
    own = files("orchestrator.live").joinpath("static")
    scripts = [file for file in own.iterdir() if file.name.endswith(".js")]
    return {
        "page.html": Asset(own.joinpath("page.html").read_text(encoding="utf-8"), "text/html"),
        "style.css": Asset(files("orchestrator.report").joinpath("style.css").read_text(encoding="utf-8"), "text/css"),
        "live.css": Asset(own.joinpath("live.css").read_text(encoding="utf-8"), "text/css"),
        "icon.svg": Asset(_ICON, "image/svg+xml"),
        **{file.name: Asset(file.read_text(encoding="utf-8"), "text/javascript") for file in scripts},
    }
