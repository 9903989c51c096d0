"""What is kept of a run's models: each once, as exact as it is judged, and readable after any crash."""

from pathlib import Path

import numpy as np
import pytest

from orchestrator.errors import TooLittleDisk
from orchestrator.evaluation.kept_models import FOLDER, KeptModels, read_kept
from orchestrator.evaluation.room import require_room, room_of, said_of_room
from pame.observe import StoredModels, UnjudgedPoint
from pame.problems import LogisticSpec, build
from tests.orchestrator.evaluation.builders import convex, vision
from tests.pame.vision.builders import problem

LINEAR = build(LogisticSpec(n=3, samples=4), 2, 1)
MODELS = np.array([[0.1, 0.2, 0.3], [0.5, 0.25, 1 / 3]])
MEAN = np.array([0.3, 0.225, 0.7])


def point(iteration: int, models: StoredModels) -> UnjudgedPoint:
    return UnjudgedPoint("iteration", iteration, None, 10 * iteration, 0.5, models)


def test_what_is_kept_comes_back_with_every_bit(tmp_path: Path) -> None:
    with KeptModels(tmp_path, LINEAR) as kept:
        stored = kept.put(MEAN, MODELS, 0.1)
        kept.add(point(5, stored))
    found = read_kept(tmp_path)
    assert found is not None
    assert found.points == (point(5, StoredModels(0, (1, 2), 0.1)),)
    assert found.models([0]).tobytes() == MEAN.tobytes()
    assert found.models((1, 2)).tobytes() == MODELS.tobytes()
    assert found.bytes == 3 * 3 * 8


def test_a_model_that_two_points_share_is_kept_once(tmp_path: Path) -> None:
    with KeptModels(tmp_path, LINEAR) as kept:
        first, second = kept.put(MEAN, MODELS, 0.1), kept.put(MEAN, MODELS[::-1], 0.1)
    assert (first.mean, first.own) == (0, (1, 2))
    assert (second.mean, second.own) == (0, (2, 1))
    assert (tmp_path / FOLDER / "models.bin").stat().st_size == 3 * 3 * 8


def test_models_of_a_network_are_kept_as_they_are_judged_in_single_precision(tmp_path: Path) -> None:
    made = problem(nodes=2, weight_decay=0.1)
    models = np.stack([made.start + 0.1, made.start - 1 / 3])
    with KeptModels(tmp_path, made) as kept:
        kept.add(point(0, kept.put(models.mean(axis=0), models, 0.1)))
    found = read_kept(tmp_path)
    assert found is not None
    assert found.bytes == 3 * made.n * 4
    again = found.models((1, 2))
    assert again.tolist() == models.astype(np.float32).tolist()
    assert made.objectives(again).tolist() == made.objectives(models).tolist()
    assert made.metrics(again[0]) == made.metrics(models[0])


def test_a_point_whose_models_were_cut_short_by_a_crash_is_left_out(tmp_path: Path) -> None:
    with KeptModels(tmp_path, LINEAR) as kept:
        for iteration in (0, 5):
            kept.add(point(iteration, kept.put(MEAN + iteration, MODELS + iteration, 0.1)))
    models, lines = tmp_path / FOLDER / "models.bin", tmp_path / FOLDER / "points.jsonl"
    models.write_bytes(models.read_bytes()[:-1])
    lines.write_text(lines.read_text() + '{"by": "iterat')
    found = read_kept(tmp_path)
    assert found is not None
    assert [one.iteration for one in found.points] == [0]


def test_a_full_disk_costs_points_and_nothing_else(tmp_path: Path) -> None:
    with KeptModels(tmp_path, LINEAR, least_free=2**62) as kept:
        kept.add(point(0, kept.put(MEAN, MODELS, 0.1)))
    assert (kept.points, kept.missed) == (0, 1)
    found = read_kept(tmp_path)
    assert found is not None
    assert found.points == ()


def test_a_folder_that_keeps_nothing_says_so(tmp_path: Path) -> None:
    assert read_kept(tmp_path) is None


def test_the_room_is_that_of_all_points_and_their_means() -> None:
    made = problem(nodes=3)
    room = room_of(vision(), made, "lock-step")  # points at 0, 5, 10, 15 and 17; three models and their mean
    assert room is not None
    assert (room.points, room.bytes) == (5, 5 * 4 * made.n * 4)
    on_nodes = room_of(vision(), made, None)  # a curve by time, too
    assert on_nodes is not None
    assert on_nodes.points == 10
    means = room_of(vision(evaluate={"every": 5, "own_models": False}), made, "lock-step")
    assert means is not None
    assert means.bytes == 5 * made.n * 4


def test_what_ends_by_seconds_alone_says_what_a_point_takes() -> None:
    made = problem(nodes=3)
    sentence = said_of_room(vision(stop={"seconds": "5s"}), made, None)
    assert sentence.startswith("models are evaluated after the run; until then each point keeps at most ")


def test_models_that_the_disk_cannot_keep_are_refused_with_what_to_do(tmp_path: Path) -> None:
    made = problem(nodes=3)
    with pytest.raises(TooLittleDisk) as caught:
        require_room(vision(), made, "lock-step", tmp_path, free=2**28 + 1000)
    assert "5 points would keep" in str(caught.value)
    assert "1 000 B" in str(caught.value).replace("\u202f", " ")
    assert "give a larger evaluate.every, or evaluate.when=during" in str(caught.value)
    require_room(vision(), made, "lock-step", tmp_path, free=2**30)


def test_what_is_judged_during_the_run_needs_no_room(tmp_path: Path) -> None:
    require_room(convex(), LINEAR, "lock-step", tmp_path, free=0)
    assert said_of_room(convex(), LINEAR, "lock-step") == ""
