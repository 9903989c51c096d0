"""The page itself: small pieces of HTML, every word escaped, put together into one file that loads nothing.

The content security policy allows only the page's own scripts, by their hashes: markup that slipped through an
escape could neither run nor load anything.
"""

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import vl_convert

from orchestrator.errors import writing
from orchestrator.number_words import NOT_MEASURED
from orchestrator.report.chart import Chart, Switch
from orchestrator.report.provenance import provenance_footer
from orchestrator.report.save_buttons import save_buttons
from orchestrator.report.theme import chart_themes
from orchestrator.report.unbroken import NARROW, kept, prose, whole
from orchestrator.report.vega import Legend, Row

NUMERIC = ' class="number"'
_OPEN = 3
"""Lines of a callout that are shown at once."""


@dataclass(frozen=True, slots=True)
class TableCell:
    """What a table shows, what it sorts by, and where it leads."""

    words: str
    value: float | str | None
    link: str = ""
    below: str = ""
    look: str = ""
    """`good`, `bad` or `best`, on a ground of its own."""


def write_page(folder: Path, title: str, parts: Iterable[str], figures: Sequence[Chart], steps: int = 1) -> Path:
    """`report.html` of a folder, with `steps` colours on ordered scales, and what made it in the footer.

    `parts` are HTML made by the functions below; `title` is plain words.
    """
    content = {
        "figures": {figure.id: {"switches": list(figure.switches), "specs": dict(figure.specs)} for figure in figures},
        "data": {name: packed(rows) for figure in figures for name, rows in figure.data.items()},
        "themes": chart_themes(steps),
    }
    bundle, script = chart_library(), _own("save.js") + _own("page.js")
    policy = (
        "default-src 'none'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'; "
        f"script-src 'unsafe-eval' {_hash(bundle)} {_hash(script)}"
    )
    html = Template(_own("page.html")).substitute(
        policy=policy,
        title=escape(title),
        source=escape(folder.name),
        style=_own("style.css"),
        body="".join(parts),
        provenance=provenance_footer(folder),
        data=json_in_html(content),
        bundle=bundle,
        script=script,
    )
    path = folder / "report.html"
    with writing(path):
        path.write_text(html, encoding="utf-8")
    return path


@cache
def chart_library() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script; it takes over a second to make, so it is made once."""
    bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return "(() => {" + bundle.replace("</script", "<\\/script") + "})();"


def packed(rows: Sequence[Row]) -> dict[str, Any]:
    """Rows as columns, words as places in a list of words: a third of the size, and the script unpacks it."""
    columns: dict[str, Any] = {}
    for field in rows[0] if rows else ():
        column = [row[field] for row in rows]
        if all(isinstance(entry, str) for entry in column):
            words = {word: place for place, word in enumerate(dict.fromkeys(column))}
            columns[field] = {"words": list(words), "places": [words[entry] for entry in column]}
        else:
            columns[field] = column
    return {"rows": len(rows), "columns": columns}


def json_in_html(content: object) -> str:
    """JSON that no HTML parser can mistake for markup, wherever it stands."""
    text = json.dumps(content, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def heading(title: str, chips: Iterable[tuple[str, str]]) -> str:
    """The name of a run or sweep, and its facts as chips of (words, class)."""
    items = "".join(f'<li class="{escape(look)}">{escape(words)}</li>' for words, look in chips if words)
    return f'<div class="title"><h1>{escape(title)}</h1><ul class="chips">{items}</ul></div>'


def tiles(entries: Iterable[tuple[str, str, str]]) -> str:
    """The key numbers: (what, number, words below)."""
    inside = [_tile(*entry) for entry in entries]
    look = {5: " five", 10: " five", 3: " three", 6: " three", 9: " three"}.get(len(inside), "")
    return f'<dl class="tiles{look}">{"".join(inside)}</dl>'


def callout(lines: Sequence[str], title: str = "", look: str = "") -> str:
    """Words on a ground of their own; a long list that is no alarm is folded."""
    if len(lines) > _OPEN and not look:
        items = "".join(f"<li>{prose(line)}</li>" for line in lines)
        said = f"{escape(title)}: {len(lines)} remarks"
        return f'<details class="callout"><summary>{said}</summary><ul>{items}</ul></details>'
    if len(lines) == 1 and not title:
        inside = prose(lines[0])
    else:
        inside = f"<strong>{escape(title)}</strong><ul>{''.join(f'<li>{prose(line)}</li>' for line in lines)}</ul>"
    return f'<div class="callout {escape(look)}">{inside}</div>'


def section(key: str, title: str, lead: str, inside: str, switch: Switch | None = None, below: str = "") -> str:
    """A part of the page; its switch, if it has one, stays in sight while one scrolls, with what is `below` it."""
    words = f"<div><h2>{prose(title)}</h2>{f'<p>{prose(lead)}</p>' if lead else ''}</div>"
    look = "head sticky" if switch else "head"
    return f'<section id="{key}"><div class="{look}">{words}{_switch(switch)}{below}</div>{inside}</section>'


def legend(names: Legend, figures: Iterable[str]) -> str:
    """The series of some figures as buttons: a click brings one out; the script gives them their colours."""
    items = "".join(
        f'<li><button type="button" aria-pressed="false" data-group="{escape(label)}">'
        f"<i></i>{escape(label)}</button></li>"
        for label in names.labels
    )
    scale = "ordinal" if names.ordered else "category"
    return (
        f'<div class="legend" data-scale="{scale}" data-figures="{" ".join(figures)}">'
        f"<span>{escape(names.title)}</span><ul>{items}</ul></div>"
    )


def grid(cards: Iterable[str]) -> str:
    return f'<div class="grid">{"".join(cards)}</div>'


def chart(figure: Chart) -> str:
    """The card of a chart; the script draws into it."""
    title = escape(figure.title)
    names = legend(figure.own_legend, [figure.id]) if figure.own_legend else ""
    save = save_buttons(figure.id)
    return (
        f'<figure class="card {figure.shape}"><div class="cardhead"><h3>{prose(figure.title)}</h3>{save}</div>'
        f'<p class="note">{prose(figure.note)}</p>{_switch(figure.own_switch)}{names}'
        f'<div class="chart {figure.shape}" id="chart-{figure.id}" role="img" aria-label="{title}"></div></figure>'
    )


def missing(title: str, why: str = NOT_MEASURED) -> str:
    """A card in the place of a chart for which there is no data."""
    return f'<div class="card missing"><h3>{prose(title)}</h3><p class="none">{escape(why)}</p></div>'


def left_out(reasons: Mapping[str, str]) -> str:
    """What has no card because there is nothing in it: names with reasons, folded into one line; empty: nothing."""
    if not reasons:
        return ""
    rows = "".join(f"<li>{prose(title)}: {prose(why)}</li>" for title, why in reasons.items())
    names = ", ".join(title[:1].lower() + title[1:] for title in reasons)
    return f'<details class="empty"><summary>Not in this run: {prose(names)}</summary><ul>{rows}</ul></details>'


def note(words: str) -> str:
    return f'<p class="note">{prose(words)}</p>'


def card(inside: str, look: str = "wide") -> str:
    return f'<div class="card {look}">{inside}</div>'


def pairs(rows: Iterable[tuple[str, str]]) -> str:
    """A table of names and what is said of them; too wide for its place, it scrolls."""
    lines = "".join(f'<tr><th scope="row">{whole(name)}</th>{_words(value)}</tr>' for name, value in rows)
    return f'<div class="box" tabindex="0"><table><tbody>{lines}</tbody></table></div>'


def sortable(headers: Sequence[tuple[str, bool]], rows: Iterable[Sequence[TableCell]], look: str = "") -> str:
    """A table that sorts itself by the heading that is clicked; a header is (words, is a number)."""
    box = f'class="scroll {look}" tabindex="0"' if look else 'class="scroll"'
    return f"<div {box}>{_table(headers, rows, sorts=True)}</div>"


def listing(headers: Sequence[tuple[str, bool]], rows: Iterable[Sequence[str]], long: bool = True) -> str:
    """A table, if `long` in a box of its own that scrolls; a header is (words, is a number)."""
    return f'<div class="scroll{" long" if long else ""}" tabindex="0">{_table(headers, rows, sorts=False)}</div>'


def fold(title: str, text: str) -> str:
    """A block of plain text, folded until somebody wants it."""
    return f"<details><summary>{escape(title)}</summary><pre>{escape(text)}</pre></details>"


def folded(title: str, inside: str) -> str:
    return f'<details class="inner"><summary>{escape(title)}</summary>{inside}</details>'


def _table(headers: Sequence[tuple[str, bool]], rows: Iterable[Sequence[TableCell | str]], sorts: bool) -> str:
    look, heading = (' class="sortable"', '<button type="button">{}</button>') if sorts else ("", "{}")
    top = "".join(
        f'<th scope="col"{NUMERIC if numeric else ""}>{heading.format(whole(words))}</th>' for words, numeric in headers
    )
    lines = "".join(
        f"<tr>{''.join(_cell(cell, numeric) for cell, (_, numeric) in zip(row, headers, strict=True))}</tr>"
        for row in rows
    )
    return f"<table{look}><thead><tr>{top}</tr></thead><tbody>{lines}</tbody></table>"


def _cell(cell: TableCell | str, numeric: bool) -> str:
    look = NUMERIC if numeric else ' class="words"'
    if isinstance(cell, str):
        return f"<td{look}>{whole(cell)}</td>"
    value = "" if cell.value is None else escape(str(cell.value))
    inside = whole(cell.words)
    if cell.link:
        inside = f'<a href="{escape(cell.link)}">{inside}</a>'
    if cell.below:
        inside += f"<small>{whole(cell.below)}</small>"
    if cell.look:
        look = f' class="{"number" if numeric else "words"} {cell.look}"'
    return f'<td{look} data-value="{value}">{inside}</td>'


def _words(value: str) -> str:
    return f'<td class="words{" none" if value == NOT_MEASURED else ""}">{whole(value)}</td>'


def _tile(what: str, figure: str, below: str) -> str:
    look = "figure none" if figure == NOT_MEASURED else "figure"
    return (
        f'<div class="tile"><dt>{prose(what, NARROW)}</dt><dd class="{look}">{kept(escape(figure))}</dd>'
        f'<dd class="below">{prose(below, NARROW)}</dd></div>'
    )


def _switch(switch: Switch | None) -> str:
    if switch is None:
        return ""
    disabled = {value: f' disabled title="{escape(why)}"' for value, why in switch.refused.items()}
    buttons = "".join(
        f'<button type="button" data-value="{escape(value)}" aria-pressed="false"{disabled.get(value, "")}>'
        f"{escape(words)}</button>"
        for value, words in switch.options.items()
    )
    refused = "".join(
        f'<span class="refused">{escape(switch.options[value])}: {escape(why)}</span>'
        for value, why in switch.refused.items()
    )
    label = escape(switch.label)
    group = f'<div class="switch" role="group" aria-label="{label}" data-switch="{switch.name}">{buttons}</div>'
    return f'<div class="switcher">{group}{refused}</div>'


def _hash(script: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'"


@cache
def _own(name: str) -> str:
    return files("orchestrator.report").joinpath(name).read_text(encoding="utf-8")
