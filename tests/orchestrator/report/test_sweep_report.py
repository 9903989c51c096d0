import json
import re
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest

from orchestrator.errors import CannotWrite
from orchestrator.report import ReportError, write_sweep_report
from orchestrator.report.sweep import middle, read_sweep, short_names
from orchestrator.report.sweep_charts import outcome_charts, overlaid_curves, x_switch
from tests.orchestrator.report.builders import change_file, change_summary
from tests.orchestrator.report.oracle import unwrapped, words_of

HOSTILE = '"><script>alert(1)</script>'


def summaries(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*/summary.json"))]


def runs_of(folder: Path) -> list[dict[str, Any]]:
    runs: list[dict[str, Any]] = json.loads((folder / "sweep.json").read_text())["runs"]
    return runs


def change_sweep(folder: Path, **changes: Any) -> None:
    change_file(folder / "sweep.json", **changes)


def test_the_table_has_a_row_per_run_that_links_to_its_report(sweep_folder: Path) -> None:
    html = write_sweep_report(sweep_folder).read_text(encoding="utf-8")
    assert re.findall(r'<a href="(\d\d-run/report\.html)">', html) == [f"{n:02d}-run/report.html" for n in range(1, 13)]
    for summary in summaries(sweep_folder)[:11]:
        assert f'data-value="{summary["final"]["objective"]}"' in html
    assert "12-run: diverged, the objective left the finite numbers" in unwrapped(html)
    assert "11 of 12 runs finished" in html
    assert len(html.encode()) < 2_000_000


def test_groups_are_ordered_by_the_swept_number_and_hold_all_seeds(sweep_folder: Path) -> None:
    change_sweep(sweep_folder, runs=runs_of(sweep_folder)[::-1])
    sweep = read_sweep(sweep_folder)
    assert [group.label for group in sweep.groups] == ["0.05", "0.1", "0.2", "0.4"]
    assert [len(group.runs) for group in sweep.groups] == [3, 3, 3, 3]
    assert sweep.ordered


def test_repeated_seeds_are_shown_as_median_and_range(sweep_folder: Path) -> None:
    finals = [summary["final"]["objective"] - 0.0123 for summary in summaries(sweep_folder)[:3]]
    row = outcome_charts(read_sweep(sweep_folder))[0].data["outcome-0-gap"][0]
    assert (row["x"], row["runs"]) == (0.05, 3)
    assert (row["y"], row["lo"], row["hi"]) == (median(finals), min(finals), max(finals))


def test_a_diverged_run_is_left_out_of_the_medians(sweep_folder: Path) -> None:
    row = outcome_charts(read_sweep(sweep_folder))[0].data["outcome-0-gap"][-1]
    assert (row["x"], row["runs"]) == (0.4, 2)


def with_optima(folder: Path, gaps: dict[str, list[float]], known: bool = True) -> str:
    """Settings with gaps by seed, seeds with very different optima; the report's words."""
    places, runs = (run["folder"] for run in runs_of(folder)), list[dict[str, Any]]()
    for name, found in gaps.items():
        for seed, gap in enumerate(found, 1):
            place, best = next(places), 10.0**seed
            optimum = {"objective": best, "how": "told"} if known else None
            change_summary(folder / place, final={"objective": best + gap}, optimum=optimum, seed=seed)
            runs.append({"folder": place, "values": {"kind": name, "seed": seed}, "status": "finished"})
    change_sweep(folder, keys=["kind", "seed"], runs=runs)
    return words_of(write_sweep_report(folder))


def test_what_is_compared_is_the_gap_to_the_optimum_of_each_seed(sweep_folder: Path) -> None:
    # f alone is that of the seed: 10, 100 or 1000, and a little
    words = with_optima(sweep_folder, {"one": [0.1, 0.2, 0.4], "two": [0.05, 0.1, 0.2]})
    assert "Lowest final gap f − f* 0.1 kind = two, median over seeds" in words
    assert "two 3 of 3 0.1 0.05 … 0.2 0.5 times 0.5 … 0.5" in words
    assert "what is compared is the gap f − f*" in words
    [outcome, *_] = outcome_charts(read_sweep(sweep_folder))
    assert [row["y"] for row in outcome.data["outcome-0-gap"]] == pytest.approx([0.2, 0.1])
    gaps = overlaid_curves(read_sweep(sweep_folder))[0]
    assert gaps.title == "Gap to the optimum"
    run = read_sweep(sweep_folder).runs[0]
    first = next(row["lo"] for row in gaps.data["objective-iteration"] if row["group"] == "one")
    optima = [10.0, 100.0, 1000.0]
    starts = [each.curve[0].objective for each in read_sweep(sweep_folder).groups[0].runs]
    assert run.seed == 1
    assert first == pytest.approx(min((f or 0.0) - best for f, best in zip(starts, optima, strict=True)), rel=1e-4)


def test_gaps_are_paired_by_seed_and_two_seeds_are_a_look(sweep_folder: Path) -> None:
    words = with_optima(sweep_folder, {"one": [0.1, 1.0, 10.0], "two": [0.2, 2.1, 19.0]})
    assert "2 times 1.76 … 2.26" in words, "the seeds differ by a hundred, the ratio hardly"
    words = with_optima(sweep_folder, {"one": [0.1, 1.0], "two": [0.2, 2.1]})
    assert "times a look: 2 seeds" in words


def test_without_all_optima_f_is_compared_and_that_is_said(sweep_folder: Path) -> None:
    words = with_optima(sweep_folder, {"one": [0.1, 0.2], "two": [0.05, 0.1]}, known=False)
    assert "Lowest final f" in words
    assert "so that f is compared: that of other seeds is of another problem" in words
    assert "Gap" not in words


def test_curves_with_the_same_x_are_compared_point_by_point() -> None:
    x = np.array([0.0, 1.0, 5.0])
    grid, mid, low, high = middle([(x, np.array([3.0, 2.0, 1.0])), (x, np.array([5.0, 4.0, 0.0])), (x, x)])
    assert grid.tolist() == [0.0, 1.0, 5.0]
    assert mid.tolist() == [3.0, 2.0, 1.0]
    assert low.tolist() == [0.0, 1.0, 0.0]
    assert high.tolist() == [5.0, 4.0, 5.0]


def test_curves_with_other_x_are_compared_only_where_all_have_values() -> None:
    one = (np.array([0.0, 10.0]), np.array([0.0, 10.0]))
    two = (np.array([2.0, 6.0]), np.array([4.0, 8.0]))
    grid, mid, low, high = middle([one, two])
    assert (grid[0], grid[-1]) == (2.0, 6.0)
    np.testing.assert_allclose(low, grid)
    np.testing.assert_allclose(high, grid + 2)
    np.testing.assert_allclose(mid, grid + 1)


def test_words_are_swept_in_the_order_given_and_have_an_outcome_chart(sweep_folder: Path) -> None:
    names = ["pame", "dpsgd", "choco"]
    runs = [run | {"values": {"algorithm.kind": name}} for run, name in zip(runs_of(sweep_folder), names, strict=False)]
    change_sweep(sweep_folder, keys=["algorithm.kind"], runs=runs)
    sweep = read_sweep(sweep_folder)
    names = ["PaME", "D-PSGD", "CHOCO-SGD"]
    assert [group.label for group in sweep.groups] == names
    assert not sweep.ordered
    (outcome,) = outcome_charts(sweep)
    assert [row["x"] for row in outcome.data["outcome-0-gap"]] == names
    assert {"gap", "bytes", "seconds"} <= outcome.specs.keys()
    assert {row["group"] for row in overlaid_curves(sweep)[0].data["objective-iteration"]} == set(names)


def test_hostile_values_keys_and_folders_stay_words(sweep_folder: Path) -> None:
    (sweep_folder / "01-run").rename(sweep_folder / 'a"&<b')
    runs = [{"folder": 'a"&<b', "values": {HOSTILE: HOSTILE}, "status": HOSTILE}, *runs_of(sweep_folder)[1:]]
    change_sweep(sweep_folder, name=HOSTILE, keys=[HOSTILE], runs=runs)
    html = write_sweep_report(sweep_folder).read_text(encoding="utf-8")
    assert "<script>alert" not in html
    assert 'href="a%22%26%3Cb/report.html"' in html


def test_a_run_folder_outside_the_sweep_is_refused(sweep_folder: Path) -> None:
    change_sweep(sweep_folder, runs=[{"folder": "../elsewhere", "values": {}, "status": "finished"}])
    with pytest.raises(ReportError, match="not below"):
        write_sweep_report(sweep_folder)


def test_a_number_and_a_word_swept_together_have_an_outcome_chart_each(sweep_folder: Path) -> None:
    grid = [{"nu": nu, "kind": kind} for nu in (0.1, 0.2) for kind in ("pame", "choco")]
    runs = [run | {"values": values} for run, values in zip(runs_of(sweep_folder), grid, strict=False)]
    change_sweep(sweep_folder, keys=["nu", "kind"], runs=runs)
    by_number, by_word = outcome_charts(read_sweep(sweep_folder))
    assert [row["x"] for row in by_number.data["outcome-0-gap"]] == [0.1, 0.1, 0.2, 0.2]
    assert [row["x"] for row in by_word.data["outcome-1-gap"]] == ["pame", "choco", "pame", "choco"]
    assert [row["group"] for row in by_word.data["outcome-1-gap"]] == ["0.1", "0.1", "0.2", "0.2"]


def test_curves_start_in_seconds_only_when_every_run_has_a_clock(words_folder: Path) -> None:
    assert list(x_switch(read_sweep(words_folder)).options) == ["seconds", "iteration", "bytes"]
    change_summary(words_folder / "02-run", seconds=None)
    assert list(x_switch(read_sweep(words_folder)).options) == ["iteration", "seconds", "bytes"]
    assert "Shortest run" not in write_sweep_report(words_folder).read_text(encoding="utf-8")


def test_the_shortest_run_is_named_with_its_setting_and_has_finished(words_folder: Path) -> None:
    html = unwrapped(write_sweep_report(words_folder).read_text(encoding="utf-8"))
    tile = re.compile(r'<dt>Shortest run</dt><dd class="figure">(.*?)</dd><dd class="below">(.*?)</dd>')
    assert tile.findall(html) == [("840 ms", "simulated seconds; exchange.spare = all")]
    *others, last = runs_of(words_folder)
    change_sweep(words_folder, runs=[*others, last | {"status": "diverged"}])
    html = unwrapped(write_sweep_report(words_folder).read_text(encoding="utf-8"))
    assert tile.findall(html) == [("1.26 s", "simulated seconds; exchange.spare = 2")]


def test_a_full_disk_is_one_sentence_for_a_sweep(words_folder: Path) -> None:
    (words_folder / "report.html").symlink_to("/dev/full")
    with pytest.raises(CannotWrite, match="free some space"):
        write_sweep_report(words_folder)


def test_a_run_that_never_started_is_listed_without_numbers(sweep_folder: Path) -> None:
    late = {"folder": "13-run", "values": {"algorithm.share": 0.8, "seed": 1}, "status": "interrupted"}
    change_sweep(sweep_folder, runs=[*runs_of(sweep_folder), late])
    html = write_sweep_report(sweep_folder).read_text(encoding="utf-8")
    assert "13-run: interrupted" in unwrapped(html)
    assert "11 of 13 runs finished" in html


def test_keys_are_shortened_only_where_they_stay_distinct() -> None:
    keys = ["algorithm.nu", "links.delay", "compute.delay"]
    assert list(short_names(keys).values()) == ["nu", "links.delay", "compute.delay"]
