"""Whom a node meets at its rounds, against what can be counted by hand."""

from dataclasses import replace
from pathlib import Path

import pytest

from orchestrator.campaigns.compare.mixing_partners import company_of
from orchestrator.experiment import load_text
from orchestrator.experiment.resolve import make_setting
from pame.resolved_run import ResolvedRun

BASE = "nodes: 6\nproblem: {n: 4, samples: 4, test_samples: 4}\nstop: {iterations: 60}\n"


def setting(algorithm: str, period: str, topology: str = "complete") -> ResolvedRun:
    text = f"{BASE}topology: {{kind: {topology}}}\nalgorithm: {algorithm}\nperiod: {period}\n"
    return make_setting(load_text(text, Path("small.yaml"))[0].experiment, Path())


@pytest.mark.parametrize(
    ("algorithm", "partners", "messages"),
    [
        ("{kind: dpsgd}", 5, 5),
        ("{kind: pame, participation: 0.4}", 2, 2),
        ("{kind: beer}", 5, 5),
        ("{kind: epidemic, sampling: oracle, fan_out: 4}", 4, 4),
        ("{kind: epidemic, fan_out: 3}", 3, 3),
    ],
)
def test_where_everybody_is_at_a_round_it_is_whom_the_algorithm_says(
    algorithm: str, partners: float, messages: float
) -> None:
    company = company_of(setting(algorithm, "1"))
    assert (company.partners, company.messages) == (partners, messages)
    assert company.alone < 0.1  # a local node of epidemic learning may hear of nobody, now and then


def test_an_edge_that_both_ends_must_draw_is_rare_and_replicas_are_told_all_the_same() -> None:
    # A ring, one neighbour of two drawn by each end: an edge counts once in four, both edges of a node never.
    for algorithm, messages in (("nids", 0.5), ("beer", 2.0)):
        company = company_of(setting(f"{{kind: {algorithm}, participation: 0.5}}", "1", "ring"))
        # 360 rounds, probability 1/2 each: 4.5 deviations of 9.5; nodes of an edge are alone together
        assert company.alone == pytest.approx(0.5, abs=0.17)
        assert company.partners == pytest.approx(1 - company.alone)
        assert company.messages == pytest.approx(messages, abs=0.17 if messages < 1 else 1e-9)


def test_rounds_at_which_nobody_else_is_at_a_round_are_lonely() -> None:
    made = setting("{kind: nids}", "1")
    alone = company_of(replace(made, periods=(1, 7, 11, 13, 17, 19)))
    assert alone.alone > 0.4
    assert alone.partners < 1
