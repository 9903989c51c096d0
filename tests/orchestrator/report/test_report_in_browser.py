"""The reports in a real browser, from file://: charts are drawn, nothing is loaded, switches and themes work."""

import json
from io import BytesIO
from math import inf
from pathlib import Path

import pytest
from PIL import Image

from orchestrator.backends import BACKENDS
from orchestrator.report import write_report, write_sweep_report
from orchestrator.results.points import read_curve
from pame.fault_effects import DropEffect, SlowEffect
from tests.browser import Theme, Visit, Visiting
from tests.harness import Watcher
from tests.orchestrator.evaluation.builders import prepared, vision
from tests.orchestrator.report.builders import (
    HALVES,
    MakeRun,
    change_file,
    change_summary,
    event,
    write_lines,
    write_plan,
)

pytestmark = pytest.mark.requires("chromium")


def colours(png: bytes) -> int:
    """How many different byte values the picture has; a blank page has a handful."""
    return len(set(Image.open(BytesIO(png)).tobytes()))


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_all_charts_of_a_run_are_drawn_without_complaint_or_network(
    visiting: Visiting, run_folder: MakeRun, theme: Theme
) -> None:
    visit = visiting(write_report(run_folder()), theme)
    assert [shown.split()[0] for shown in visit.drawn()] == [theme] * 11
    assert visit.complaints == []
    assert all(url.startswith(("file:", "data:")) for url in visit.requests)
    assert colours(visit.page.screenshot()) > 100


def test_a_hostile_name_neither_runs_nor_breaks_the_page(visiting: Visiting, run_folder: MakeRun) -> None:
    name = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    visit = visiting(write_report(run_folder(name=name, metric=name, warnings=(name,), iterations=40)))
    assert visit.page.title() == "run · PaME run", "by the folder"
    assert visit.page.inner_text("h1") == name
    assert all("empty" not in shown for shown in visit.drawn())
    assert visit.complaints == []


def test_the_theme_button_redraws_the_charts_and_is_remembered(visiting: Visiting, run_folder: MakeRun) -> None:
    visit = visiting(write_report(run_folder(iterations=40)))
    before = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    visit.press("#theme", "#chart-waiting[data-drawn^=dark]")
    assert {shown.split()[0] for shown in visit.drawn()} == {"dark"}
    assert visit.page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    visit.page.reload()
    visit.page.wait_for_selector("html[data-ready]", state="attached")
    assert {shown.split()[0] for shown in visit.drawn()} == {"dark"}


def test_the_switches_change_the_axes(visiting: Visiting, run_folder: MakeRun) -> None:
    visit = visiting(write_report(run_folder(iterations=40)))
    visit.press("[data-switch=x] [data-value=seconds]", "#chart-metric-1[data-drawn='light seconds']")
    assert "Simulated seconds (s)" in visit.page.inner_text("#chart-objective")
    visit.press("[data-switch=y] [data-value=gap]", "#chart-objective[data-drawn='light seconds gap']")
    assert "f(mean model) − f*" in visit.page.inner_text("#chart-objective")
    visit.press("[data-switch=x] [data-value=bytes]", "#chart-metric-1[data-drawn='light bytes']")
    assert "Transmitted by all nodes (KiB)" in visit.page.inner_text("#chart-consensus")
    assert all("empty" not in shown for shown in visit.drawn())


def test_printing_a_dark_page_draws_its_charts_for_white_paper(visiting: Visiting, run_folder: MakeRun) -> None:
    visit = visiting(write_report(run_folder(iterations=40)), "dark")
    visit.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    visit.page.wait_for_selector("#chart-waiting[data-drawn^=light]", state="attached")
    visit.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    visit.page.wait_for_selector("#chart-waiting[data-drawn^=dark]", state="attached")


def test_hovering_a_curve_shows_its_numbers(visiting: Visiting, run_folder: MakeRun) -> None:
    visit = visiting(write_report(run_folder(iterations=40)))
    visit.page.hover("#chart-objective svg", position={"x": 400, "y": 150})
    visit.page.wait_for_selector("#vg-tooltip-element.visible")
    assert "Iteration" in visit.page.inner_text("#vg-tooltip-element")


@pytest.mark.parametrize("kind", ["run", "sweep"])
def test_nothing_is_wider_than_a_telephone(
    visiting: Visiting, run_folder: MakeRun, sweep_folder: Path, kind: str
) -> None:
    name = "a-name-without-any-place-to-break-" * 4
    path = write_report(run_folder(name=name, metric=name)) if kind == "run" else write_sweep_report(sweep_folder)
    visit = visiting(path, width=400)
    assert visit.page.evaluate("document.documentElement.scrollWidth") == 400
    assert visit.page.eval_on_selector_all(".chart svg", "all => all.every(svg => svg.clientWidth <= 400)")


@pytest.mark.parametrize("width", [1200, 400])
def test_the_report_of_a_broken_off_run_fits_with_all_its_events(
    visiting: Visiting, run_folder: MakeRun, width: int
) -> None:
    folder = run_folder()
    for name in ("summary.json", "links.csv"):
        (folder / name).unlink()
    events = [{"seconds": k, "what": "patience", "node": k % 16, "detail": "waited for 3 " * 9} for k in range(200)]
    write_lines(folder / "events.jsonl", events)
    visit = visiting(write_report(folder), width=width)
    assert all("empty" not in shown for shown in visit.drawn())
    assert visit.complaints == []
    assert visit.page.evaluate("document.documentElement.scrollWidth") == width
    box = visit.page.locator("#events .long")
    spare = box.evaluate("box => [box.clientWidth - box.scrollWidth, box.clientHeight < 500, box.scrollHeight > 5000]")
    assert spare == [0, True, True]


def test_tables_of_a_sweep_with_repeated_seeds_fit_their_cards(visiting: Visiting, sweep_folder: Path) -> None:
    visit = visiting(write_sweep_report(sweep_folder))
    assert visit.page.eval_on_selector("#settings td small", "small => getComputedStyle(small).display") == "block"
    spare = visit.page.eval_on_selector_all(".scroll", "all => all.map(box => box.clientWidth - box.scrollWidth)")
    assert spare == [0, 0]


def test_a_tile_without_a_number_is_smaller_than_one_with_a_number(visiting: Visiting, run_folder: MakeRun) -> None:
    visit = visiting(write_report(run_folder(clock=False, iterations=10)))
    size = "tile => parseFloat(getComputedStyle(tile).fontSize)"
    assert visit.page.eval_on_selector(".tile .figure.none", size) == 18
    assert visit.page.eval_on_selector(".tile .figure:not(.none)", size) > 18


def test_no_name_is_broken_inside_a_word_on_a_wide_page(visiting: Visiting, run_folder: MakeRun) -> None:
    folder = run_folder(iterations=10)
    change_summary(folder, measured={"consensus_of_all": "counted by the simulator at the sender " * 20})
    visit = visiting(write_report(folder), width=620)
    lines = """cells => cells.map(cell => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return [cell.textContent, range.getClientRects().length];
    })"""
    shown = dict(visit.page.eval_on_selector_all("#methods th", lines))
    assert {name: count for name, count in shown.items() if " " not in name and count > 1} == {}
    assert "consensus_of_all" in shown


def test_a_curve_on_a_log_axis_fills_its_chart(visiting: Visiting, run_folder: MakeRun) -> None:
    visit = visiting(write_report(run_folder()))
    height = "path => path.getBoundingClientRect().height"
    assert visit.page.eval_on_selector("#chart-objective .mark-line.role-mark path", height) > 0.88 * 280


def test_a_sweep_of_words_with_a_clock_starts_in_seconds_and_draws_its_outcome(
    visiting: Visiting, words_folder: Path
) -> None:
    visit = visiting(write_sweep_report(words_folder))
    assert visit.drawn() == ["light seconds"] * 3 + ["light gap"]
    dots = "#chart-outcome-0 .mark-symbol.role-mark path"
    visit.press("[data-switch=outcome-0] [data-value=seconds]", "#chart-outcome-0[data-drawn='light seconds']")
    assert visit.page.locator(dots).count() == 4
    labels = visit.page.locator("#chart-outcome-0 .mark-text.role-axis-label >> nth=0").locator("text")
    assert labels.all_text_contents() == ["0", "1", "2", "all"]
    assert visit.complaints == []


def test_a_sweep_draws_its_charts_switches_sorts_and_brings_out_a_series(
    visiting: Visiting, sweep_folder: Path
) -> None:
    visit = visiting(write_sweep_report(sweep_folder))
    assert all("empty" not in shown for shown in visit.drawn())
    visit.press("[data-switch=x] [data-value=bytes]", "#chart-metric[data-drawn='light bytes']")
    visit.press("[data-switch=outcome-0] [data-value=consensus]", "#chart-outcome-0[data-drawn='light consensus']")
    faded = "#chart-objective .mark-line path[stroke-opacity='0.12']"
    visit.press(".legend button >> nth=0", faded)
    assert visit.page.locator(faded).count() == 3
    table = visit.page.locator("#runs table")
    visit.page.click("#runs th:has-text('Final f') button")
    column = [heading.split("\n")[0] for heading in table.locator("th").all_inner_texts()].index("Final f")
    values = table.locator(f"tbody td:nth-child({column + 1})").evaluate_all("cells => cells.map(c => c.dataset.value)")
    assert [float(value) for value in values[:-1]] == sorted(float(value) for value in values[:-1])
    assert values[-1] == ""
    assert visit.complaints == []
    assert all(url.startswith(("file:", "data:")) for url in visit.requests)


def tooltip_over(visit: Visit, chart: str, across: float) -> str:
    """What the tooltip says when the mouse is in the middle of a chart, at a share of its plot's width."""
    visit.page.locator(chart).scroll_into_view_if_needed()
    box = visit.page.locator(f"{chart} svg .mark-rule.role-axis-grid").first.bounding_box()
    assert box is not None
    for nudge in (0, 3):  # the first move enters the chart, the second one is in it
        visit.page.mouse.move(box["x"] + across * box["width"] + nudge, box["y"] + box["height"] / 2)
    tooltip = visit.page.locator("#vg-tooltip-element.visible")
    tooltip.wait_for()
    return tooltip.inner_text()


@pytest.mark.parametrize(("theme", "width"), [("light", 1200), ("dark", 1200), ("light", 400)])
def test_faults_are_shaded_named_by_tooltip_and_legend_and_fit_the_page(
    visiting: Visiting, run_folder: MakeRun, theme: Theme, width: int
) -> None:
    folder = run_folder()
    partition = event(HALVES, 0, 3, fault="partition halves: 0 1 | 2 3")
    others = [
        event(DropEffect(((0, 1),), 0.5), 200, 220, "iterations", number=1),
        event(SlowEffect((1,), 9.0), 4, inf, number=2),
    ]
    write_plan(folder, partition, *others)
    visit = visiting(write_report(folder), theme, width)
    assert [shown.split()[0] for shown in visit.drawn()] == [theme] * 11
    for chart in ("objective", "consensus", "metric-0", "metric-1", "coverage"):
        bands = visit.page.locator(f"#chart-{chart} svg .mark-rect.role-mark path")
        assert bands.count() == 3
        assert all(box["height"] > 200 for box in (bands.nth(k).bounding_box() for k in range(3)) if box)
        names = visit.page.locator(f"#chart-{chart} svg .role-legend-label text").all_text_contents()
        assert names == ["partition", "drop", "slow"]
        inside = "(chart) => chart.querySelector('svg').scrollWidth <= chart.clientWidth"
        assert visit.page.locator(f"#chart-{chart}").evaluate(inside)
    visit.press("[data-switch=x] [data-value=seconds]", f"#chart-metric-1[data-drawn='{theme} seconds']")
    assert "partition halves: 0 1 | 2 3" in tooltip_over(visit, "#chart-objective", 0.25)
    assert visit.page.evaluate("document.documentElement.scrollWidth") == width
    if width == 1200:
        boxes = "all => all.map(box => box.clientWidth - box.scrollWidth)"
        assert visit.page.eval_on_selector_all("#faults .scroll", boxes) == [0, 0]
    assert visit.complaints == []


def test_the_tooltip_of_a_sweep_names_the_series(visiting: Visiting, words_folder: Path) -> None:
    visit = visiting(write_sweep_report(words_folder))
    shown = tooltip_over(visit, "#chart-objective", 0.5)
    assert "undefined" not in shown
    assert "spare" in shown


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("width", "theme"), [(420, "light"), (420, "dark"), (1400, "light"), (1400, "dark")])
def test_no_word_and_no_number_breaks_inside_and_no_page_is_wider_than_its_window(
    visiting: Visiting, run_folder: MakeRun, words_folder: Path, width: int, theme: Theme
) -> None:
    folder = run_folder(metric="test_accuracy")
    write_plan(folder, event(HALVES, 0, 3, fault="partition two-clusters: 0-1/2-3 " * 3))
    long = "counted-by-the-simulator/at-the-sender-and-the-receiver, 12.34 KiB in 1.234 ms of each node " * 3
    change_summary(folder, measured={"consensus-of-all_nodes-and-their-neighbours": long, "x" * 90: "y" * 90})
    change_summary(folder, algorithm="anq-nids", health={"state": "degraded", "reason": f"{long} 77 … 1234.5 KiB"})
    change_summary(folder, warnings=[long, "f* = 0.1234 within 1.234 µs of each other, and 88.8 … 92.3 % of the nodes"])
    write_lines(folder / "events.jsonl", [{"seconds": 1.5, "what": "died-unexpectedly", "node": 3, "detail": long}])
    runs = json.loads((words_folder / "sweep.json").read_text())["runs"]
    for run in runs:
        run["values"] = {"algorithm": f"PaME, small-support/{run['folder']}", "topology": "two-clusters of 16 nodes"}
    change_file(words_folder / "sweep.json", runs=runs, keys=["algorithm", "topology"])
    for path in (write_report(folder), write_sweep_report(words_folder)):
        visit = visiting(path, theme, width)
        assert visit.page.locator("td").count() > 20
        assert visit.broken() == []
        assert visit.page.evaluate("document.documentElement.scrollWidth") == width
        assert visit.complaints == []


def test_a_badge_shows_its_meaning_to_the_keyboard_and_leads_to_it(visiting: Visiting, run_folder: MakeRun) -> None:
    visit = visiting(write_report(run_folder(iterations=40)), width=420)
    tip = "badge => getComputedStyle(badge, '::after').visibility"
    badge = visit.page.locator(".chips a").first
    assert badge.evaluate(tip) == "hidden"
    badge.focus()
    visit.page.wait_for_function(
        "getComputedStyle(document.querySelector('.chips a'), '::after').visibility == 'visible'"
    )
    assert visit.page.evaluate("document.documentElement.scrollWidth") == 420
    visit.page.keyboard.press("Enter")
    assert visit.page.evaluate("document.querySelector(':target').innerText").startswith("finished")


def test_accuracies_are_drawn_in_percent_over_iterations_and_bytes(
    visiting: Visiting, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(tmp_path, monkeypatch)
    ending = BACKENDS["simulate"].run(vision(), tmp_path, tmp_path / "run", Watcher())
    assert ending.reason == "17 iterations done"
    visit = visiting(tmp_path / "run" / "report.html")
    first = visit.page.locator("#progress figure").first
    assert first.locator("h3").inner_text() == "Test accuracy"
    accuracy = 100 * read_curve(tmp_path / "run")[-1].metrics["test_accuracy"]
    assert f"{accuracy:.1f} %" in visit.page.locator(".tile").first.inner_text()
    assert "Test accuracy (%)" in first.inner_text()
    visit.press("[data-switch=x] [data-value=bytes]", "#chart-metric-0[data-drawn='light bytes']")
    assert all("empty" not in shown for shown in visit.drawn())
    assert visit.complaints == []
