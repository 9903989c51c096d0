"""`pame check` passes the documented examples, and names what is wrong with broken ones, with the line in them."""

import re
from pathlib import Path

import pytest

from tests.command import call, mistake

pytestmark = pytest.mark.timeout(400)  # each calls `pame` once or twice, with four real nodes
EXAMPLES = Path(__file__).parents[4] / "docs" / "examples"

HEAD = """\
from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal
import numpy as np
from annotated_types import Gt
from pame.algorithms import Context, Form, NodeBase, Who

@dataclass(frozen=True)
class Spec:
    kind: Literal["mine"] = "mine"
    eta: Annotated[float, Gt(0)] = 0.05
    share: ClassVar = 1.0
    who: ClassVar = Who.CHOSEN
    fan_out: ClassVar = 0
    def first_step(self, enough): return self.eta
    def node(self, context): return Mine(self, context)

class Mine(NodeBase):
    vectors: ClassVar = {"x": Form.DENSE}
    bundles: ClassVar = [frozenset({"x"})]
    def __init__(self, spec, context):
        super().__init__(context)
        self.eta, self.mean, self.copies, self.sent = spec.eta, None, {}, context.start
    def message(self, k):
        return {"x": self._model}
    def absorb(self, k, received):
        others = [one.message["x"] for one in sorted(received, key=lambda one: one.sender)]
        self.mean = np.mean([self._model, *others], axis=0)
        return float(len(received))
    def step(self, k):
        start = self._model if self.mean is None else self.mean
        self._model = start - self.eta * self._context.objective.gradient(self._model, k)
        self.mean = None

ALGORITHMS = [Spec]
"""
LINES = HEAD.splitlines()
DELTAS = """\
    def message(self, k):
        change, self.sent = self._model - self.sent, self._model
        return {"x": change}
    def absorb(self, k, received):
        for one in sorted(received, key=lambda one: one.sender):
            copy = self.copies.get(one.sender, self._context.start)
            self.copies[one.sender] = copy + one.message["x"]
        self.mean = np.mean([self._model, *(self.copies[j] for j in sorted(self.copies))], axis=0)
        return float(len(received))
"""


def line_of(text: str) -> int:
    """Where a line begins with this."""
    return next(number for number, line in enumerate(LINES, 1) if line.strip().startswith(text))


def looks(tmp_path: Path, code: int, file: Path, *more: str) -> dict[str, tuple[str, str]]:
    """By what was looked at: ok or failed, and the words."""
    done = call(tmp_path, "check", file, *more)
    assert done.returncode == code, done.stdout + done.stderr
    assert done.stderr == ""
    return {
        what: (verdict, words)
        for verdict, what, words in re.findall(r"^  (ok|failed) +(.+?): (.+)$", done.stdout, re.M)
    }


def broken(tmp_path: Path, code: int, old: str, new: str) -> dict[str, tuple[str, str]]:
    assert HEAD.count(old) == 1
    (tmp_path / "mine.py").write_text(HEAD.replace(old, new))
    return looks(tmp_path, code, tmp_path / "mine.py")


ALGORITHM = ["messages", "one step", "the same bits", "lost messages", "a restart"]


@pytest.mark.parametrize(
    ("name", "expected", "more"),
    [
        ("median_gossip.py", ALGORITHM, []),
        ("push_sum.py", ALGORITHM, []),
        ("meeting_point.py", ["built", "gradient", "all nodes at once", "one step", "the same bits"], []),
        ("wheel.py", ["graphs", "the same bits"], []),
        ("blackout.py", ["plan", "a run with it"], ["faults=[{kind: blackout, nodes: [0], at: {iteration: 9}}]"]),
    ],
)
def test_the_documented_examples_pass(name: str, expected: list[str], more: list[str], tmp_path: Path) -> None:
    found = looks(tmp_path, 0, EXAMPLES / name, *(word for one in more for word in ("--set", one)))
    assert list(found) == expected
    assert {verdict for verdict, _ in found.values()} == {"ok"}


def test_a_message_of_another_type_is_told_with_the_line_of_the_message(tmp_path: Path) -> None:
    found = broken(tmp_path, 2, 'return {"x": self._model}', 'return {"x": self._model.astype(np.float32)}')
    assert list(found) == ["messages"]
    verdict, words = found["messages"]
    assert verdict == "failed"
    assert "nodes would refuse its messages" in words
    assert "float32" in words
    assert f"(mine.py, line {line_of('def message')})" in words


def test_a_vector_that_is_not_declared_is_told(tmp_path: Path) -> None:
    found = broken(tmp_path, 2, 'return {"x": self._model}', 'return {"x": self._model, "y": self._model}')
    verdict, words = found["messages"]
    assert verdict == "failed"
    assert "declare every vector" in words


def test_an_exception_is_told_with_the_line_that_raised_it(tmp_path: Path) -> None:
    found = broken(tmp_path, 2, "self.mean = None\n", "self.mean = None if k < 7 else missing\n")
    raised = next(number for number, line in enumerate(LINES, 1) if line.strip() == "self.mean = None")
    assert found == {"messages": ("failed", f"NameError: name 'missing' is not defined (mine.py, line {raised})")}


def test_a_step_uphill_is_told_with_the_line_of_the_step(tmp_path: Path) -> None:
    found = broken(tmp_path, 2, "start - self.eta", "start + self.eta")
    verdict, words = found["one step"]
    assert verdict == "failed"
    assert f"(mine.py, line {line_of('def step')})" in words
    assert found["the same bits"][0] == "ok"


def test_what_diverges_is_told(tmp_path: Path) -> None:
    found = broken(tmp_path, 2, "= 0.05", "= 50.0")
    assert "diverged" in found["messages"][1]


def test_a_sum_in_the_order_of_arrival_or_a_draw_of_its_own_ends_in_other_bits(tmp_path: Path) -> None:
    noise = "start = (self._model if self.mean is None else self.mean) + 1e-9 * np.random.default_rng().random()"
    found = broken(tmp_path, 2, "start = self._model if self.mean is None else self.mean", noise)
    verdict, words = found["the same bits"]
    assert verdict == "failed"
    assert "draw from pame.randomness alone" in words
    assert found["one step"][0] == "ok"


def test_state_that_a_lost_message_breaks_for_good_is_found(tmp_path: Path) -> None:
    old = HEAD[HEAD.index("    def message") : HEAD.index("    def step")]
    found = broken(tmp_path, 2, old, DELTAS)
    assert found["the same bits"][0] == "ok"
    verdict, words = found["lost messages"]
    assert verdict == "failed"
    assert "it keeps something of its neighbours that is never mended" in words


def test_what_an_algorithm_requires_can_be_given(tmp_path: Path) -> None:
    text = HEAD.replace(" = 0.05", "").replace("dataclass(frozen=True)", "dataclass(frozen=True, kw_only=True)")
    (tmp_path / "mine.py").write_text(text)
    [(verdict, words)] = looks(tmp_path, 2, tmp_path / "mine.py").values()
    assert (verdict, "algorithm.eta: is missing" in words, "--set" in words) == ("failed", True, True)
    found = looks(tmp_path, 0, tmp_path / "mine.py", "--set", "algorithm.eta=0.05")
    assert list(found) == ALGORITHM


def test_a_gradient_that_is_not_that_of_the_value_is_told_with_its_line(tmp_path: Path) -> None:
    text = (EXAMPLES / "meeting_point.py").read_text()
    (tmp_path / "mine.py").write_text(text.replace("return model - self.home\n", "return 2 * (model - self.home)\n", 1))
    found = looks(tmp_path, 2, tmp_path / "mine.py")
    verdict, words = found["gradient"]
    assert verdict == "failed"
    assert re.search(r"full_gradient is not the gradient of value \(mine\.py, line \d+\)", words)


def test_a_file_that_is_no_plugin_is_one_line(tmp_path: Path) -> None:
    assert "is no Python file" in mistake(call(tmp_path, "check", "none.py"))
