"""The head of a run's page: its name, badges that say what they mean, one sentence, and the settings in one line."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from orchestrator.report import page
from orchestrator.report.unbroken import prose


@dataclass(frozen=True, slots=True)
class Badge:
    """A word on a good, bad or plain ground; what it means, and the place in the docs that says more."""

    word: str
    look: str = ""
    meaning: str = ""
    place: str = ""

    @property
    def id(self) -> str:
        return f"about-{self.word.replace(' ', '-')}"


def headline(title: str, badges: Sequence[Badge], sentence: str, settings: Sequence[str]) -> str:
    """A badge is a link to its meaning at the end of the page, and shows it while the pointer or the focus is on it."""
    said = f'<p class="said">{prose(sentence)}</p>' if sentence else ""
    pieces = "".join(f"<span>{prose(piece)}</span> " for piece in settings)
    line = f'<p class="settings">{pieces}</p>' if pieces else ""
    items = "".join(map(_badge, badges))
    return f'<div class="title"><h1>{escape(title)}</h1><ul class="chips">{items}</ul>{said}{line}</div>'


def _badge(badge: Badge) -> str:
    word = escape(badge.word)
    if not badge.meaning:
        return f'<li class="{badge.look}">{word}</li>'
    tip = escape(f"{badge.meaning} {badge.place}")
    return f'<li class="{badge.look}"><a href="#{badge.id}" data-tip="{tip}">{word}</a></li>'


def meanings(badges: Sequence[Badge]) -> str:
    """A card with the meanings of the badges, each in the place that its badge leads to."""
    rows = "".join(
        f'<tr id="{badge.id}"><th scope="row">{prose(badge.word)}</th>'
        f'<td class="words">{prose(badge.meaning)} <code>{escape(badge.place)}</code></td></tr>'
        for badge in badges
        if badge.meaning
    )
    return page.card(f'<h3>The badges</h3><div class="box" tabindex="0"><table><tbody>{rows}</tbody></table></div>')
