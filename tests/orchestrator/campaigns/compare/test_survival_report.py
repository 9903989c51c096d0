"""The page and the picture of a comparison with conditions, from rows made by hand."""

from io import StringIO
from pathlib import Path

from rich.console import Console

from orchestrator.campaigns.compare.grid import CompareView
from orchestrator.campaigns.compare.measure import CompareRow
from orchestrator.campaigns.compare.picture import picture
from orchestrator.campaigns.compare.report import write_compare_report
from orchestrator.campaigns.compare.survival import survivals
from orchestrator.campaigns.compare.survival_tables import terminal_matrix
from orchestrator.campaigns.compare.verdict import CompareOutcome
from tests.browser import Visiting
from tests.orchestrator.campaigns.compare.condition_builders import survival_of, under, way, window
from tests.orchestrator.report.oracle import words_of

CUT = (window(1.0, 3.0),)


def outcome_of(folder: Path, seeds: int = 3) -> CompareOutcome:
    """PaME hardly notices; D-PSGD is knocked out by the cut until the end, and by the loss in part."""
    rows: list[CompareRow] = []
    for seed in range(1, 1 + seeds):
        for name in ("pame", "dpsgd"):
            rows.append(under("clean", way(1.0, 0.4, 0.2, 0.09, 0.04, 0.02), seed, name))
            rows.append(under("loss", way(1.0, 0.4, 0.2, 0.09, 0.05, 0.03), seed, name))
        rows.append(under("cut", way(1.0, 0.4, 0.2, 0.09, 0.04, 0.02), seed, "pame", CUT))
        rows.append(under("cut", way(1.0, 0.4, 0.8, 0.7, 0.5, 0.45), seed, "dpsgd", CUT))
    return survival_of(folder, rows)


def test_the_page_begins_with_who_survives_what(tmp_path: Path) -> None:
    words = words_of(write_compare_report(tmp_path, outcome_of(tmp_path)))
    assert "dpsgd: survives loss; does not survive cut" in words
    assert words.index("In short") < words.index("Who survives what") < words.index("Curves")
    assert "Survive cut pame not: dpsgd" in words
    assert "does not survive misses with 3 of 3 seeds" in words
    assert "40 % → 80 % → 70 % not in this run" in words, "the dip, and no recovery"
    assert "0.8 → 1.6 → 1.4" in words, "the nodes were further apart"
    assert "loses, +43 points" in words
    assert "Tuned in clean" in words
    assert "Who needs the fewest, as-published" in words, "folded: the comparison in the first condition"


def test_with_one_seed_it_says_that_it_is_a_look(tmp_path: Path) -> None:
    words = words_of(write_compare_report(tmp_path, outcome_of(tmp_path, seeds=1)))
    assert "pame: a look at loss, cut" in words
    assert "Survive cut a look" in words
    assert "survives loss" not in words


def test_each_condition_has_its_curves_with_what_was_done_behind_them(tmp_path: Path, visiting: Visiting) -> None:
    visit = visiting(write_compare_report(tmp_path, outcome_of(tmp_path)))
    lines = visit.marks("line")
    shades = visit.page.eval_on_selector_all(
        ".chart", "charts => charts.map(c => c.querySelectorAll('svg .mark-rect.role-mark path').length)"
    )
    choices = visit.page.eval_on_selector_all("[data-switch=x] button", "buttons => buttons.map(b => b.dataset.value)")
    visit.page.click("button[data-value=bytes]")
    visit.page.click(".legend button[data-group=dpsgd]")
    assert visit.complaints == []
    assert lines == [2, 2, 4, 4, 4, 4], "two algorithms; beside them, in other conditions, the first"
    assert shades == [0, 0, 0, 0, 1, 1], "the cut"
    assert choices == ["seconds", "iterations", "bytes"]


def test_on_a_narrow_screen_nothing_is_wider_than_the_page(tmp_path: Path, visiting: Visiting) -> None:
    visit = visiting(write_compare_report(tmp_path, outcome_of(tmp_path)), width=420)
    wide = visit.page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    assert (wide, visit.complaints) == (0, [])


def test_the_picture_has_the_matrix_and_a_panel_for_each_condition(tmp_path: Path) -> None:
    text = picture(outcome_of(tmp_path))
    assert text.startswith("<svg")
    for words in ("does not survive", "misses with 3 of 3 seeds", "clean", "loss", "cut", "pame", "dpsgd"):
        assert f">{words}<" in text
    assert picture(survival_of(tmp_path, [])) == ""


def test_the_terminal_shows_the_matrix(tmp_path: Path) -> None:
    outcome = outcome_of(tmp_path)
    console = Console(width=120, record=True, file=StringIO())
    console.print(terminal_matrix(outcome.comparison, survivals(outcome), CompareView.AS_PUBLISHED))
    text = console.export_text()
    assert "who survives what, as-published" in text
    assert "does not survive" in text
