"""A chart of a report is saved by a click: as a drawing, as a picture, as its numbers."""

import csv
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image

from orchestrator.report import write_report
from orchestrator.results.points import read_curve
from tests.browser import Theme, Visit, Visiting
from tests.orchestrator.report.builders import MakeRun

pytestmark = pytest.mark.requires("chromium")


def saved(visit: Visit, chart: str, kind: str, folder: Path) -> Path:
    """What a click leaves; its name is that of the chart."""
    with visit.page.expect_download() as download:
        visit.page.click(f"[data-save={chart}][data-as={kind}]")
    assert download.value.suggested_filename == f"{chart}.{kind}"
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_chart_is_saved_as_a_drawing_and_as_a_picture_on_the_ground_of_the_page(
    visiting: Visiting, run_folder: MakeRun, tmp_path: Path, theme: Theme
) -> None:
    visit = visiting(write_report(run_folder(iterations=40)), theme)
    root = ElementTree.parse(saved(visit, "consensus", "svg", tmp_path)).getroot()
    assert root.tag.endswith("svg")
    with Image.open(saved(visit, "consensus", "png", tmp_path)) as picture:
        pixels = picture.convert("RGB")
    shown = visit.page.locator("#chart-consensus svg").bounding_box()
    assert shown is not None
    assert pixels.width == pytest.approx(3 * shown["width"], abs=6)
    assert pixels.getpixel((1, 1)) == {"light": (255, 255, 255), "dark": (23, 30, 39)}[theme]
    assert len(pixels.getcolors(1 << 20) or []) > 20
    assert visit.complaints == []


def test_the_numbers_of_a_chart_are_those_of_the_run_under_the_titles_of_its_axes(
    visiting: Visiting, run_folder: MakeRun, tmp_path: Path
) -> None:
    folder = run_folder(iterations=40)
    visit = visiting(write_report(folder))
    visit.press("[data-switch=y] [data-value=gap]", "#chart-objective[data-drawn='light iteration gap']")
    rows = list(csv.DictReader(saved(visit, "objective", "csv", tmp_path).read_text().splitlines()))
    points = [point for point in read_curve(folder) if point.by == "iteration"]
    assert [int(row["Iteration"]) for row in rows] == [point.iteration for point in points]
    told = [float(row["f(mean model) − f*"]) for row in rows]
    assert told == pytest.approx([point.objective - 0.0123 for point in points], rel=1e-4)
    visit.press("[data-switch=x] [data-value=seconds]", "#chart-consensus[data-drawn='light seconds']")
    rows = list(csv.DictReader(saved(visit, "consensus", "csv", tmp_path).read_text().splitlines()))
    assert len(rows) == sum(point.by == "time" for point in read_curve(folder))
    assert "Consensus distance" in rows[0]


def test_words_with_commas_and_quotes_stay_one_cell(visiting: Visiting, run_folder: MakeRun, tmp_path: Path) -> None:
    metric = 'a "b", c'
    visit = visiting(write_report(run_folder(metric=metric, iterations=40)))
    [heading, *_] = list(csv.reader(saved(visit, "metric-0", "csv", tmp_path).read_text().splitlines()))
    assert metric in heading


def test_every_button_has_a_name_for_who_does_not_see_it(visiting: Visiting, run_folder: MakeRun) -> None:
    visit = visiting(write_report(run_folder(iterations=40)))
    buttons = visit.page.locator("#chart-consensus").locator("xpath=..").locator(".save")
    labels = [buttons.nth(place).get_attribute("aria-label") or "" for place in range(buttons.count())]
    assert [label.partition(":")[0] for label in labels] == [
        f"Save this chart as {kind}" for kind in ("SVG", "PNG", "CSV")
    ]
