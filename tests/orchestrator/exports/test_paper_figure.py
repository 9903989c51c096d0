"""Figures for papers: of the size asked for, with ink where it belongs, and ticks that do not touch."""

import json
import re
import shutil
import subprocess
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import vl_convert
from PIL import Image

from orchestrator.exports.figure_series import DrawnRun, FigureLine, FigureRefused, ShadedWindow, curves_of, lines_of
from orchestrator.exports.paper_figure import PALETTES, FigureLook, PaperFigure, draw, log_ticks
from tests.command import mistake, told
from tests.orchestrator.exports.conftest import CallIn

pytestmark = pytest.mark.edge
MM = 72 / 25.4


def line(label: str, values: Any, runs: int = 1, spread: float = 1.0) -> FigureLine:
    y = np.asarray(values, np.float64)
    return FigureLine(label, np.arange(y.size, dtype=np.float64), y, y / spread, y * spread, runs)


def figure(*lines: FigureLine, x: str = "iteration", y: str = "gap", windows: Any = (), **look: Any) -> PaperFigure:
    return draw(lines, x, y, FigureLook(**look), windows)


def texts(drawn: PaperFigure, role: str) -> list[tuple[str, float, float, float]]:
    """Words, left end, right end and height of the labels of a kind, as they stand in the picture."""
    scene = vl_convert.vegalite_to_scenegraph(drawn.spec)["scenegraph"]
    found: list[tuple[str, float, float, float]] = []

    def walk(item: Any, x: float, y: float) -> None:
        if item.get("marktype") == "text" and item.get("role") == role:
            for word in item["items"]:
                if word.get("opacity", 1) and (text := word.get("text")):
                    width = 0.6 * word["fontSize"] * len(str(text))
                    left = x + word["x"] - {"right": width, "center": width / 2}.get(word.get("align", "left"), 0)
                    found.append((str(text), left, left + width, y + word["y"]))
            return
        moved = (x + item.get("x", 0), y + item.get("y", 0)) if "marktype" not in item else (x, y)
        for inner in item.get("items", ()):
            walk(inner, *moved)

    walk(scene, 0.0, 0.0)
    return found


def rendered(data: bytes) -> "np.ndarray[Any, np.dtype[np.uint8]]":
    return np.asarray(Image.open(BytesIO(data)).convert("RGB"))


def has_colour(pixels: "np.ndarray[Any, np.dtype[np.uint8]]", colour: str) -> bool:
    wanted = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    return bool((np.abs(pixels.astype(int) - wanted).max(axis=2) < 12).sum() > 20)


@pytest.mark.parametrize(("width", "height"), [(84.0, 56.0), (174.0, 60.0)])
def test_a_figure_has_the_size_that_was_asked_for_in_every_format(tmp_path: Path, width: float, height: float) -> None:
    drawn = figure(line("pame", [1, 0.1, 0.01, 0.001]), width_mm=width, height_mm=height)
    for ending in ("pdf", "svg", "png"):
        drawn.write(tmp_path / f"f.{ending}")
    pixels = rendered((tmp_path / "f.png").read_bytes())
    assert pixels.shape[1::-1] == pytest.approx((width / 25.4 * 300, height / 25.4 * 300), abs=2)
    root = ElementTree.parse(tmp_path / "f.svg").getroot()
    assert float(root.attrib["width"]) == pytest.approx(width * MM, abs=1)
    box = re.search(rb"/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)", (tmp_path / "f.pdf").read_bytes())
    assert box is not None
    assert [float(box[1]), float(box[2])] == pytest.approx([width * MM, height * MM], abs=1)


@pytest.mark.skipif(shutil.which("pdftoppm") is None, reason="needs pdftoppm")
def test_a_pdf_shows_what_the_png_shows(tmp_path: Path) -> None:
    drawn = figure(line("pame", [1, 0.1, 0.01]), line("dpsgd", [1, 0.5, 0.2]))
    drawn.write(tmp_path / "f.pdf")
    subprocess.run(["pdftoppm", "-r", "300", "-png", "-singlefile", "f.pdf", "f"], cwd=tmp_path, check=True, timeout=60)
    pixels = rendered((tmp_path / "f.png").read_bytes())
    assert all(has_colour(pixels, colour) for colour in PALETTES["okabe-ito"][:2])


def test_every_line_is_drawn_in_its_colour_with_its_name_and_faults_are_shaded(tmp_path: Path) -> None:
    lines = [line("pame", [1, 0.1, 0.01, 0.02]), line("dpsgd", [1, 0.5, 0.2, 0.1])]
    drawn = figure(*lines, windows=[ShadedWindow(1, 2, "partition")])
    drawn.write(tmp_path / "f.png")
    pixels = rendered((tmp_path / "f.png").read_bytes())
    assert all(has_colour(pixels, colour) for colour in PALETTES["okabe-ito"][:2])
    assert {text for text, *_ in texts(drawn, "legend-label")} == {"partition", "pame", "dpsgd"}
    assert not has_colour(rendered(vl_convert.vegalite_to_png(figure(*lines).spec, ppi=300)), PALETTES["tol"][0])


@pytest.mark.parametrize(("width", "size"), [(60.0, 10.0), (84.0, 8.0), (174.0, 7.0)])
@pytest.mark.parametrize(
    "values",
    [
        np.geomspace(3.7, 2e-9, 400),
        np.geomspace(2.0, 0.11, 400),
        np.linspace(12345.6, 12340.1, 400),
        np.geomspace(1e6, 3.0, 4000),
    ],
)
def test_no_tick_label_touches_another(values: Any, width: float, size: float) -> None:
    drawn = figure(line("pame", values), width_mm=width, font_size=size)
    labels = texts(drawn, "axis-label")
    highest = max(height for *_, height in labels)
    along = sorted((left, right) for _, left, right, height in labels if height > highest - 1)
    upright = sorted(height for *_, height in labels if height < highest - 1)
    assert len(along) >= 2
    assert len(upright) >= 2
    assert all(right < left for (_, right), (left, _) in pairwise(along)), along
    assert all(other - one >= size for one, other in pairwise(upright)), upright


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.008, 0.9, [0.01, 0.1]),
        (1e-9, 1.0, [1e-8, 1e-6, 1e-4, 1e-2, 1.0]),
        (0.11, 0.9, [0.2, 0.5]),
        (3.0, 40.0, [5.0, 10.0, 20.0]),
    ],
)
def test_ticks_of_a_log_axis_are_powers_of_ten_or_their_half_and_fifth(
    low: float, high: float, expected: list[float]
) -> None:
    assert log_ticks(low, high, most=5) == pytest.approx(expected)


def test_ticks_of_a_log_axis_between_two_powers_are_still_some() -> None:
    found = log_ticks(0.11, 0.19, most=5)
    assert 2 <= len(found) <= 5
    assert all(0.11 <= tick <= 0.19 and round(tick * 1000) == pytest.approx(tick * 1000) for tick in found)


def test_the_axis_is_logarithmic_where_that_helps_or_as_asked() -> None:
    def scale(drawn: PaperFigure) -> str:
        return str(drawn.spec["layer"][-1]["encoding"]["y"]["scale"].get("type", "linear"))

    assert scale(figure(line("a", [1, 0.01]))) == "log"
    assert scale(figure(line("a", [1, 0.5]))) == "linear"
    assert scale(figure(line("a", [1, 0.01]), log=False)) == "linear"
    assert scale(figure(line("a", [1, 0.5]), log=True)) == "log"
    assert scale(figure(line("a", [0.01, 0.9]), y="test_accuracy")) == "linear"


def test_shares_are_in_percent_and_bytes_in_the_unit_that_suits_them() -> None:
    drawn = figure(line("a", [0.25, 0.5]), x="bytes", y="test_accuracy")
    assert [row["y"] for row in drawn.spec["data"]["values"]] == [25.0, 50.0]
    y = np.array([1.0, 0.5])
    far = FigureLine("a", np.array([0.0, 3 * 2**20]), y, y, y, 1)
    encoding = figure(far, x="bytes").spec["layer"][-1]["encoding"]
    assert encoding["x"]["title"] == "sent by all nodes (MiB)"
    assert encoding["x"]["scale"]["domain"][1] == 3.0


def test_lines_in_grey_are_told_apart_by_their_dashes() -> None:
    drawn = figure(*(line(name, [1, 0.5]) for name in "abc"), palette="grey")
    ranges = drawn.spec["layer"][-1]["encoding"]["strokeDash"]["scale"]["range"]
    assert len({json.dumps(dash) for dash in ranges}) == 3


def test_seeds_of_the_same_settings_are_one_line_with_their_median_and_range() -> None:
    def curve(support: float, seed: int, *y: float) -> DrawnRun:
        settings = {"algorithm.kind": "pame", "algorithm.support": support}
        return DrawnRun("test", settings, seed, np.arange(2.0), np.array(y))

    found = lines_of([curve(0.1, 1, 9, 3), curve(0.1, 2, 8, 1), curve(0.1, 3, 8, 2), curve(0.3, 1, 5, 5)])
    assert [(one.label, one.runs) for one in found] == [("support = 0.1", 3), ("support = 0.3", 1)]
    assert [found[0].y.tolist(), found[0].low.tolist(), found[0].high.tolist()] == [[8, 2], [8, 1], [9, 3]]
    assert [one.label for one in lines_of([curve(0.1, 1, 1, 1), curve(0.3, 1, 1, 1)], ["few", "many"])] == [
        "few",
        "many",
    ]
    with pytest.raises(FigureRefused, match="there are 2 lines and 1 labels"):
        lines_of([curve(0.1, 1, 1, 1), curve(0.3, 1, 1, 1)], ["few"])


def test_algorithms_give_lines_their_names_if_they_tell_them_apart() -> None:
    kinds, place = {"pame": 3, "dpsgd": 1}, np.arange(2.0)
    curves = [DrawnRun("x", {"algorithm.kind": kind, "period": p}, 1, place, place) for kind, p in kinds.items()]
    assert [one.label for one in lines_of(curves)] == ["PaME", "D-PSGD"]


def test_the_points_drawn_are_those_of_the_run(run: Path) -> None:
    points = [json.loads(text) for text in (run / "curve.jsonl").read_text().splitlines()]
    least = json.loads((run / "summary.json").read_text())["optimum"]["objective"]
    for x, by in (("iteration", "iteration"), ("bytes", "iteration"), ("seconds", "time")):
        [found] = curves_of([run], x, "gap", {})
        expected = [(point[x], point["objective"] - least) for point in points if point["by"] == by]
        assert list(zip(found.x.tolist(), found.y.tolist(), strict=True)) == expected
    [found] = curves_of([run], "iteration", "gap", {})
    assert found.windows == (ShadedWindow(20.0, 30.0, "partition"),)


def test_the_command_draws_a_comparison_and_says_which_lines_there_are(comparison: Path, pame_in: CallIn) -> None:
    root = comparison.parents[1]
    chosen = ("--where", "algorithm=pame", "--where", "algorithm=dpsgd")
    done = pame_in(root, "figure", "last", "--x", "rounds", "--y", "left", "--out", "f.png", *chosen)
    assert told(done) == "f.png\n"
    assert done.stderr.splitlines() == [
        "PaME (median of 2 seeds, band from lowest to highest)",
        "D-PSGD (median of 2 seeds, band from lowest to highest)",
    ]
    pixels = rendered((root / "f.png").read_bytes())
    assert all(has_colour(pixels, colour) for colour in PALETTES["okabe-ito"][:2])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("nothing",), "there is no run 'nothing'"),
        (("last", "--y", "foo"), "has no figures 'foo': choose one of iteration, seconds, bytes, objective"),
        (("last", "--x", "foo"), "there is no axis 'foo': choose one of iteration, seconds, bytes, rounds"),
        (("last", "--x", "rounds"), "has no figures 'rounds': choose one of iteration"),
        (("last", "--out", "f.gif"), "f.gif: a figure is a file of the kind .pdf, .svg, .png"),
        (("last", "--out", "no/f.pdf"), "cannot write to no/f.pdf"),
        (("last", "--font", "Nonsense"), "there is no font 'Nonsense' on this machine"),
        (("last", "--palette", "neon"), "there is no palette 'neon': choose one of okabe-ito, tol, grey"),
        (("last", "--width", "3"), "a figure is 30 to 1000 mm wide"),
        (("last", "--where", "nodes=7"), "no run has nodes=7"),
        (("last", "--where", "nodes"), "--where nodes: not of the form key=value"),
        (("last", "--label", "a", "--label", "b"), "there are 1 lines and 2 labels"),
    ],
)
def test_what_cannot_be_drawn_is_told_in_one_line(
    run: Path, words: tuple[str, ...], sentence: str, pame_in: CallIn
) -> None:
    done = pame_in(run.parents[1], "figure", *words)
    line = mistake(done, 1 if "cannot write" in sentence else 2)
    assert sentence in line


def test_powers_of_ten_stand_evenly_apart_and_small_ones_are_short() -> None:
    placed = {text: height for text, *_, height in texts(figure(line("a", np.geomspace(1.0, 1e-5, 50))), "axis-label")}
    heights = [placed[text] for text in ("1e-5", "1e-4", "0.001", "0.01", "0.1", "1")]
    assert np.diff(heights) == pytest.approx(np.diff(heights).mean())
