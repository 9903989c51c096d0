"""The page about experiment files says what the schema says, and nothing is left unexplained."""

from pathlib import Path

from orchestrator.experiment.describe import keys, meanings, sections_within, summary
from orchestrator.experiment.model import Experiment
from orchestrator.experiment.reference import reference

SECTIONS = {section for _, section in sections_within(Experiment)}
PAGE = Path(__file__).parents[3] / "docs" / "experiment.md"


def test_the_page_is_the_one_that_the_schema_gives() -> None:
    assert PAGE.read_text(encoding="utf-8") == reference(), "run `make reference`"


def test_every_section_and_every_key_is_explained() -> None:
    unexplained = [
        f"{section.__name__}.{key}"
        for section in {Experiment, *SECTIONS}
        for key in keys(section).keys() - meanings(section).keys() - {"kind"}
    ]
    assert not unexplained
    assert all(summary(section) for section in SECTIONS)


def test_rows_have_words_default_and_meaning() -> None:
    lines = reference().splitlines()
    assert "| `step` | a duration such as 20ms, 1.5s or 2min | `10ms` | The time of one local step. |" in lines
    assert "| `p` | a number above 0 and at most 1 | required | That probability. |" in lines
    assert any(line.startswith("| `compressor` |") and "| `{kind: top-k, share: 0.1}` |" in line for line in lines)
    assert any(line.startswith("| `topology` |") and "`{kind: random-regular, degree: 4}`" in line for line in lines)


def test_a_key_of_a_base_class_is_explained_where_it_is_used() -> None:
    part = reference().partition("### kind `squarm`")[2].partition("###")[0]
    assert "| `mixing` | one of active, metropolis, uniform | `metropolis` |" in part


def test_every_row_has_four_cells() -> None:
    rows = [line for line in reference().splitlines() if line.startswith("| ")]
    assert len(rows) > 200
    assert {line.replace("\\|", "").count("|") for line in rows} == {5}
