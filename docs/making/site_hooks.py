"""What mkdocs does otherwise than the places where the pages are read as plain files."""

import re

_LIST_ITEM = re.compile(r"([-*]|\d+\.) ")


def on_page_markdown(markdown: str, **_: object) -> str:
    """A list may follow its sentence without an empty line, as everywhere but in mkdocs."""
    lines: list[str] = []
    in_code = False
    for line in markdown.split("\n"):
        before = lines[-1] if lines else ""
        if line.lstrip().startswith("```"):
            in_code = not in_code
        is_first = _LIST_ITEM.match(line) and before.strip() and not _LIST_ITEM.match(before)
        if is_first and not in_code and not before.startswith(" "):
            lines.append("")
        lines.append(line)
    return "\n".join(lines)
