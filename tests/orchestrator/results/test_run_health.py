from dataclasses import replace
from typing import Any

import pytest

from orchestrator.results.health import RefusedLink, State, Symptoms, judge

WELL = Symptoms(expected=600.0, averaged=600, is_silence_certain=True, rounds=300)


def test_a_run_in_which_everything_was_heard_is_sound() -> None:
    health = judge(WELL)
    assert (health.state, health.reason, health.counts) == (State.SOUND, "", {})


@pytest.mark.parametrize(
    ("symptom", "count", "words"),
    [
        ({"starved": 7}, {"starved": 7}, "7 of 300 rounds starved"),
        ({"unheard_links": [(3, 0)]}, {"unheard_links": 1}, "nothing of what was sent was ever averaged on link 3→0"),
        ({"unheard_links": [(n, 0) for n in range(9)]}, {"unheard_links": 9}, "on links 0→0, 1→0, 2→0, 3→0, 4→0"),
        ({"dropped": 1}, {"dropped": 1}, "1 message pushed out of full queues"),
        ({"evicted": 2}, {"evicted": 2}, "2 messages pushed out of full mailboxes"),
        ({"desynchronised": 4}, {"desynchronised": 4}, "4 updates missing in what neighbours know"),
        ({"gone": [3]}, {"gone": 1}, "node 3 died, left or fell silent, which was not planned"),
        ({"gone": list(range(10))}, {"gone": 10}, "nodes 0, 1, 2, 3, 4, 5, 6, 7 and 2 more died, left or fell silent"),
        ({"failed_faults": 1}, {"failed_faults": 1}, "1 fault failed"),
        ({"nonsense": {2: 9, 5: 0}}, {"nonsense": 9}, "node 2 sent the orchestrator what makes no sense"),
    ],
)
def test_every_symptom_alone_degrades_a_run_and_is_named(
    symptom: dict[str, Any], count: dict[str, int], words: str
) -> None:
    health = judge(replace(WELL, **symptom))
    assert health.state is State.DEGRADED
    assert words in health.reason
    assert health.counts == count


def test_several_symptoms_are_one_sentence() -> None:
    health = judge(replace(WELL, starved=7, dropped=2))
    assert health.reason == "7 of 300 rounds starved; 2 messages pushed out of full queues"


def test_some_refused_messages_of_a_neighbour_that_is_heard_degrade() -> None:
    link = RefusedLink(0, 1, {"bad_length": 5, "bad_stars": 1}, accepted=40, detail="A vector of 50 takes 401 bytes.")
    health = judge(replace(WELL, refused=[link]))
    assert health.state is State.DEGRADED
    assert health.reason == "6 messages refused by neighbours (bad_length, A vector of 50 takes 401 bytes)"
    assert health.counts == {"refused": 6}


def test_a_neighbour_of_whom_everything_is_refused_breaks_a_run_that_is_otherwise_well() -> None:
    link = RefusedLink(sender=4, receiver=2, refused={"wrong_vectors": 3}, accepted=0, told=3, detail="x is no scalar")
    health = judge(replace(WELL, refused=[link]))
    assert health.state is State.BROKEN
    assert health.reason == "node 2 refuses everything from node 4: wrong_vectors, x is no scalar"


@pytest.mark.parametrize(("refused", "told"), [(2, 2), (1000, 0), (1000, 2)])
def test_two_messages_are_too_few_to_break_a_run_and_so_is_the_word_of_the_receiver_alone(
    refused: int, told: int
) -> None:
    link = RefusedLink(4, 2, {"wrong_vectors": refused}, accepted=0, told=told)
    assert judge(replace(WELL, refused=[link])).state is State.DEGRADED


def test_one_message_on_each_of_several_links_is_enough() -> None:
    links = [RefusedLink(sender, 0, {"bad_length": 1}, accepted=0, told=1) for sender in (1, 2, 3)]
    health = judge(replace(WELL, refused=links))
    assert health.state is State.BROKEN
    assert health.reason == "node 0 refuses everything from node 1 (2 other links alike): bad_length"


def test_nobody_hears_anybody_is_broken_once_that_is_certain() -> None:
    silent = replace(WELL, averaged=0, starved=300)
    health = judge(silent)
    assert health.state is State.BROKEN
    assert health.reason == "nobody hears anybody: 300 rounds asked for messages, and none was averaged"
    assert judge(replace(silent, is_silence_certain=False)).state is State.DEGRADED


def test_a_run_that_asked_for_nothing_is_not_broken() -> None:
    assert judge(Symptoms(is_silence_certain=True)).state is State.SOUND


def test_a_node_that_cannot_be_heard_says_why() -> None:
    health = judge(replace(WELL, unheard="weight: a vector of 1 is not declared"))
    assert (health.state, health.reason) == (State.BROKEN, "weight: a vector of 1 is not declared")
