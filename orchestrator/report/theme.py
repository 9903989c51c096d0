"""The looks of the charts on a light and on a dark page; hues are Okabe and Ito's, safe for colour-blind readers."""

from typing import Any

import numpy as np

FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', sans-serif"

# Words, quiet words, grid, axes.
LIGHT_INKS = ["#1c2430", "#5b6675", "#e6e9ee", "#c3c9d2"]
DARK_INKS = ["#e8ecf2", "#a3adba", "#28313d", "#465262"]
LIGHT_CATEGORIES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#b58100", "#3f97d1", "#7a4fa3", "#6b7280"]
DARK_CATEGORIES = ["#56b4e9", "#f0813a", "#2fc79a", "#e59bc6", "#f0c040", "#8fb8ff", "#b79be0", "#a3adba"]
# Viridis, without the end that would vanish on the page.
LIGHT_RAMP = ["#440154", "#443983", "#31688e", "#21918c", "#35b779", "#8fbf26"]
DARK_RAMP = ["#7a6fd0", "#4f8fc9", "#22a7a0", "#35c57f", "#a0da39", "#fde725"]
LIGHT_HEAT = ["#e4eef7", "#9cc6e6", "#4a97cb", "#0f669f", "#083a63"]
DARK_HEAT = ["#1f2f40", "#265a80", "#338fc0", "#74c3ee", "#d6f0ff"]

ON_HEAT = ("on-pale", "on-middle", "on-strong")
"""Figures in the cells of a heat map, by the colour of the cell."""
LIGHT_ON_HEAT = ["#1c2430", "#1c2430", "#ffffff"]
DARK_ON_HEAT = ["#e8ecf2", "#0f141a", "#0f141a"]


def chart_themes(steps: int = 1) -> dict[str, dict[str, Any]]:
    """A Vega configuration for each theme of the page; an ordered scale has `steps` colours."""
    return {
        "light": _config(LIGHT_INKS, LIGHT_CATEGORIES, _steps(LIGHT_RAMP, steps), LIGHT_HEAT, LIGHT_ON_HEAT),
        "dark": _config(DARK_INKS, DARK_CATEGORIES, _steps(DARK_RAMP, steps), DARK_HEAT, DARK_ON_HEAT),
    }


def _steps(ramp: list[str], steps: int) -> list[str]:
    """`steps` colours, evenly spaced along a ramp."""
    channels = np.array([[int(colour[i : i + 2], 16) for i in (1, 3, 5)] for colour in ramp], np.float64)
    places = np.linspace(0, len(ramp) - 1, steps)
    mixed = [np.interp(places, np.arange(len(ramp)), channels[:, channel]) for channel in range(3)]
    return ["#" + "".join(f"{round(level):02x}" for level in colour) for colour in zip(*mixed, strict=True)]


def _config(
    inks: list[str], categories: list[str], ramp: list[str], heat: list[str], on_heat: list[str]
) -> dict[str, Any]:
    ink, soft, grid, line = inks
    axis = {
        "labelColor": soft, "titleColor": soft, "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": 500,
        "gridColor": grid, "domainColor": line, "tickColor": line, "tickSize": 4, "labelPadding": 6, "titlePadding": 12,
    }  # fmt: skip
    return {
        "background": "transparent",
        "font": FONT,
        "view": {"stroke": None},
        "axis": axis,
        "axisY": {"domain": False, "ticks": False},
        "axisX": {"grid": False},
        "legend": {
            "labelColor": ink, "titleColor": soft, "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": 500,
            "labelLimit": 240, "symbolStrokeWidth": 3, "orient": "top", "offset": 12, "columnPadding": 18,
        },
        "mark": {"color": categories[0]},
        "line": {"strokeWidth": 2.25, "strokeJoin": "round", "strokeCap": "round"},
        "text": {"color": ink, "fontSize": 12},
        "style": {
            "reference": {"color": categories[1], "strokeDash": [6, 4], "strokeWidth": 2},
            "range": {"color": categories[0], "strokeWidth": 2},
            "band": {"opacity": 0.18},
            **{style: {"color": color} for style, color in zip(ON_HEAT, on_heat, strict=True)},
            "fault": {"opacity": 0.15},
            "fault-begins": {"opacity": 0.55, "strokeWidth": 1, "color": soft},
        },
        # A curve has the first colour; what lies behind it has the others.
        "range": {"category": categories, "fault": categories[1:], "ordinal": ramp, "ramp": heat, "heatmap": heat},
    }  # fmt: skip
