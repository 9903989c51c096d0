"""What a run came to, in one sentence: every part of it with figures that can be worked out by hand."""

from dataclasses import replace

import pytest

from orchestrator.experiment.faults import FaultOutcomes
from orchestrator.results.health import Health, State
from orchestrator.results.network_summary import NetworkSummary, WireSummary
from orchestrator.results.run_sentence import run_sentence, share_words
from orchestrator.results.summary import (
    FinalFigures,
    MessageBits,
    MessageCounts,
    OptimumFigures,
    RunSummary,
    SentBytes,
)
from pame.observe import Own

RUN = RunSummary(
    status="finished",
    iterations=300,
    final=FinalFigures(objective=0.222),
    optimum=OptimumFigures(0.2),
    bytes=SentBytes(total=728 * 1024),
    messages=MessageCounts(sent=2318, late=0, lost=0, dropped=0, starved=0),
    message_bits=MessageBits(sent=2560, dense=12800),
    health=Health(State.SOUND),
)
ACCURATE = replace(RUN, metric="test_accuracy", final=FinalFigures(0.222, metrics={"test_accuracy": 0.832}))


def test_a_run_without_trouble_says_how_near_it_came_and_what_that_cost() -> None:
    assert run_sentence(RUN, 0.7) == (
        "Within 11 % of the optimum after 300 iterations; 728 KiB of payload, a fifth of whole models; nothing lost."
    )


def test_bytes_on_the_wire_stand_beside_the_payload() -> None:
    wired = replace(RUN, network=NetworkSummary(wire=WireSummary(model={"total": 1.67 * 1024**2})))
    assert "728 KiB of payload, a fifth of whole models, and 1.67 MiB on the wire;" in run_sentence(wired, 0.7)


@pytest.mark.parametrize(
    ("final", "least", "start", "words"),
    [
        (0.2, 0.2, 0.7, "At the optimum after 300 iterations"),
        (0.01, 1e-9, 1.0, "1 % of the way to the optimum left after 300 iterations"),
        (0.5, 0.2, 1.2, "30 % of the way to the optimum left after 300 iterations"),
        (1.5, 0.2, 1.2, "No nearer to the optimum than at the start after 300 iterations"),
        (0.2002, 0.2, 0.7, "Within 0.1 % of the optimum after 300 iterations"),
    ],
)
def test_the_distance_to_the_optimum_is_a_share_of_it_or_of_the_way(
    final: float, least: float, start: float, words: str
) -> None:
    run = replace(RUN, final=FinalFigures(final), optimum=OptimumFigures(least))
    assert run_sentence(run, start).partition(";")[0] == words


def test_of_an_unknown_optimum_nothing_is_said() -> None:
    for run in (replace(RUN, optimum=None), replace(ACCURATE, optimum=None)):
        assert "optimum" not in run_sentence(run, 0.7)
    assert run_sentence(replace(RUN, optimum=None), 0.7).startswith("The objective went from 0.7 to 0.222 after")
    assert run_sentence(replace(ACCURATE, optimum=None), 0.7).startswith("Test accuracy 83.2 % after 300 iterations; ")


def test_accuracy_is_said_beside_the_optimum_and_of_the_nodes_own_models() -> None:
    assert "of the optimum after 300 iterations, test accuracy 83.2 %; " in run_sentence(ACCURATE, 0.7)
    share = [{"test_accuracy": value} for value in (0.8, 0.75, 0.85)]
    own = Own(objective=0.3, worst=0.4, metrics=share[0], lowest=share[1], highest=share[2])
    judged = replace(ACCURATE, final=replace(ACCURATE.final, own=own))
    words = "test accuracy 83.2 % of the mean model and 80.0 % of the nodes' own (75.0 … 85.0\u202f%)"
    assert words in run_sentence(judged, 0.7)


def test_what_was_not_heard_is_counted_and_faults_are_compared_with_the_plan() -> None:
    met = MessageCounts(sent=90, lost=1205, dropped=0, late=11, evicted=2, starved=1)
    all_of_them = replace(RUN, messages=met, faults=FaultOutcomes(planned=3, happened=3))
    assert run_sentence(all_of_them, 0.7).endswith(
        "; 1\u202f205 messages lost on purpose, 2 evicted from full mailboxes, 11 too late to count, "
        "1 round in which nothing came; all 3 planned faults happened."
    )
    some = replace(RUN, faults=FaultOutcomes(planned=3, happened=1, failed=1, never_began=1))
    assert run_sentence(some, 0.7).endswith("; nothing lost; 2 of 3 faults did not happen.")


def test_nothing_is_called_lost_or_not_where_nobody_counted() -> None:
    assert "lost" not in run_sentence(replace(RUN, messages=MessageCounts(sent=4)), 0.7)


@pytest.mark.parametrize(
    ("status", "state", "begins"),
    [
        ("diverged", State.SOUND, "Diverged after 300 iterations; 728 KiB"),
        ("interrupted", State.SOUND, "Interrupted: within 11 % of the optimum after 300 iterations; "),
        ("failed", State.BROKEN, "Broken after 300 iterations: its figures mean nothing; 728 KiB"),
    ],
)
def test_how_it_ended_comes_first_where_it_did_not_finish(status: str, state: State, begins: str) -> None:
    run = replace(RUN, status=status, health=Health(state, "nobody hears anybody"))
    assert run_sentence(run, 0.7).startswith(begins)


def test_a_degraded_run_ends_its_sentence_with_that() -> None:
    assert run_sentence(replace(RUN, health=Health(State.DEGRADED, "2 messages refused")), 0.7).endswith(
        "; but the run is degraded."
    )


def test_a_run_that_left_nothing_says_its_status_alone() -> None:
    assert run_sentence(RunSummary(status="broken off"), None) == "Broken off."


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.2, "a fifth of"),
        (0.501, "half of"),
        (0.305, "30.5 % of"),
        (1.01, "as much as"),
        (2.0, "twice"),
        (1.52, "1.5 times"),
    ],
)
def test_a_share_of_whole_models_is_said_as_people_say_it(share: float, words: str) -> None:
    assert share_words(share) == words
