"""The buttons that save a chart: as it stands, as a picture, or as its numbers. `save.js` does it."""

KINDS = {"svg": "drawing that can be printed at any size", "png": "picture", "csv": "numbers, for a spreadsheet"}


def save_buttons(chart: str) -> str:
    """`chart`: its id on the page."""
    buttons = "".join(
        f'<button type="button" class="save" data-save="{chart}" data-as="{kind}" title="Save: {what}" '
        f'aria-label="Save this chart as {kind.upper()}: {what}">{kind.upper()}</button>'
        for kind, what in KINDS.items()
    )
    return f'<span class="saves">{buttons}</span>'
