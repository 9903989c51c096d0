"""What real nodes would refuse, every simulator refuses, with a sentence that says what to declare."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from pame.algorithms import AlgorithmSpec, Context, DpsgdSpec, Form, Message, NodeBase, PameSpec, Received, Who
from pame.byte_account import ByteAccount
from pame.compressors import Signs, Sparse
from pame.errors import Diverged, MessageRefused
from pame.exchange import PartialMessage, Vector
from pame.message_check import MessageCheck
from pame.observe import RunOutcome
from pame.problems import LinearSpec
from pame.resolved_run import ResolvedRun
from pame.rules import Messages
from pame.simulator import DRIVERS
from tests.harness import Watcher
from tests.pame.builders import small_run

N, NODES, ITERATIONS = 20, 3, 4
PAIRS = NODES * (NODES - 1)
Make = Callable[[int, Vector], Any]


@dataclass(frozen=True)
class ToySpec:
    """Sends whatever it is told to, under whatever declaration."""

    make: Make
    vectors: Mapping[str, Form]
    lengths: Mapping[str, int]
    bundles: Collection[frozenset[str]]
    kind: str = "toy"
    share: ClassVar = 1.0
    who: ClassVar = Who.CHOSEN
    fan_out: ClassVar = 0

    def first_step(self, enough: int) -> float:
        return 1.0

    def node(self, context: Context) -> "Toy":
        return Toy(self, context)


class Toy(NodeBase):
    """Its model is k at iteration k."""

    def __init__(self, spec: ToySpec, context: Context) -> None:
        super().__init__(context)
        self._spec = spec
        self.vectors, self.lengths, self.bundles = spec.vectors, spec.lengths, spec.bundles

    def message(self, k: int) -> Message:
        message: Message = self._spec.make(k, self._model)
        return message

    def absorb(self, k: int, received: Sequence[Received]) -> float:
        return float(len(received))

    def step(self, k: int) -> None:
        self._model = self._model + 1.0


def toy(make: Make, vectors: Mapping[str, Form], lengths: Mapping[str, int], *bundles: set[str]) -> ToySpec:
    return ToySpec(make, vectors, lengths, [frozenset(bundle) for bundle in bundles or [set(vectors)]])


def setting(algorithm: AlgorithmSpec, **changes: Any) -> ResolvedRun:
    problem = LinearSpec(n=N, samples=3, test_samples=2)
    return small_run(problem, algorithm, nodes=NODES, iterations=ITERATIONS, **changes)


def run(driver: str, made: ResolvedRun) -> tuple[RunOutcome, ByteAccount]:
    account = ByteAccount(NODES)
    return DRIVERS[driver](made, Watcher(), account), account


X = {"x": Form.DENSE}
BOTH = {"x": Form.DENSE, "weight": Form.DENSE}
ONE = np.ones(1)
WITH_OBJECTS = pytest.mark.parametrize("driver", ["lock-step", "virtual-time"])


@WITH_OBJECTS
def test_a_declared_single_number_is_taken_and_accounted_to_the_byte(driver: str) -> None:
    outcome, account = run(driver, setting(toy(lambda _, x: {"x": x, "weight": ONE}, BOTH, {"weight": 1})))
    assert outcome.exact
    assert sum(account.links().bytes) == ITERATIONS * PAIRS * (1 + 8 * N + 1 + 8)
    assert account.kinds.values == ITERATIONS * PAIRS * 8 * (N + 1)


REFUSED: dict[str, tuple[ToySpec, str]] = {
    "a single number that is not declared": (
        toy(lambda _, x: {"x": x, "weight": ONE}, BOTH, {}),
        "vector 'weight' has length 1, and 20 is expected: declare it with `lengths = {'weight': 1}`",
    ),
    "a model longer than n": (
        toy(lambda _, x: {"x": np.append(x, 1.0)}, X, {}),
        "vector 'x' has length 21, and 20 is expected",
    ),
    "a length that changes later": (
        toy(lambda k, x: {"x": x, "weight": np.ones(1 + (k == 3))}, BOTH, {"weight": 1}),
        "vector 'weight' has length 2, and 1 is expected",
    ),
    "signs of another length that fit into the same bytes": (
        toy(lambda _, x: {"x": Signs(1.0, x[1:] > 0)}, {"x": Form.SIGNS}, {}),
        "vector 'x' has length 19, and 20 is expected",
    ),
    "a sparse vector of more coordinates": (
        toy(lambda *_: {"x": Sparse(30, np.array([2]), ONE)}, {"x": Form.SPARSE}, {}),
        "vector 'x' has length 30, and 20 is expected",
    ),
    "a name that is not declared": (
        toy(lambda _, x: {"x": x, "weight": ONE}, X, {}),
        "declare every vector with its form in `vectors`, in `bundles` which are sent together, and in `lengths`",
    ),
    "another form": (
        toy(lambda *_: {"x": Sparse(N, np.array([2]), ONE)}, X, {}),
        "vectors {'x': 'sparse'}, and this algorithm sends 'x' (dense, length 20) in the bundles [['x']]: declare",
    ),
    "declared vectors that are not declared together": (
        toy(lambda _, x: {"x": x, "weight": ONE}, BOTH, {"weight": 1}, {"x"}, {"weight"}),
        "in the bundles [['weight'], ['x']]",
    ),
    "nothing, undeclared": (toy(lambda *_: {}, X, {}), "vectors {}, and this algorithm sends"),
    "a Python number": (
        toy(lambda _, x: {"x": x, "weight": 1.0}, BOTH, {"weight": 1}),
        "vector 'weight' is a float: send vectors of float64, np.array([value]) for a single number",
    ),
    "an array without a dimension": (
        toy(lambda _, x: {"x": x, "weight": np.array(1.0)}, BOTH, {"weight": 1}),
        "vector 'weight' is an array of shape () and type float64",
    ),
    "integers": (
        toy(lambda _, x: {"x": x.astype(np.int64)}, X, {}),
        "vector 'x' is an array of shape (20,) and type int64",
    ),
    "a support that is not that of the draw": (
        toy(lambda *_: {"x": PartialMessage(900, np.arange(0, 900, 9), np.ones(100))}, {"x": Form.PARTIAL}, {"x": 900}),
        "vector 'x': The receiver drew another support",
    ),
    "an empty support": (
        toy(lambda *_: {"x": Sparse(N, np.array([], dtype=np.int64), np.ones(0))}, {"x": Form.SPARSE}, {}),
        "not a message: 0 coordinates",
    ),
    "values of a type that does not arrive": (
        toy(lambda *_: {"x": Sparse(N, np.array([2], dtype=np.int32), ONE)}, {"x": Form.SPARSE}, {}),
        "vector 'x' would not arrive as it is",
    ),
}


@WITH_OBJECTS
@pytest.mark.parametrize(("algorithm", "complaint"), REFUSED.values(), ids=REFUSED)
def test_what_real_nodes_refuse_ends_a_simulation_with_what_to_do(
    driver: str, algorithm: ToySpec, complaint: str
) -> None:
    with pytest.raises(MessageRefused) as refused:
        run(driver, setting(algorithm))
    assert str(refused.value).startswith("algorithm 'toy': nodes would refuse its messages: ")
    assert complaint in str(refused.value)


@WITH_OBJECTS
def test_numbers_that_are_not_rounded_to_float32_are_found_although_the_first_model_is_zero(driver: str) -> None:
    exact = toy(lambda _, x: {"x": 0.1 * x}, X, {})
    run(driver, setting(exact))
    with pytest.raises(MessageRefused, match="must be float32 numbers"):
        run(driver, setting(exact, messages=Messages(values="float32")))


def test_a_message_that_is_not_finite_means_divergence_as_on_a_node() -> None:
    with pytest.raises(Diverged, match="node 0 at iteration 0"):
        run("lock-step", setting(toy(lambda _, x: {"x": x * np.nan}, X, {})))


def test_nodes_that_declare_different_messages_are_refused() -> None:
    @dataclass(frozen=True)
    class Uneven(ToySpec):
        def node(self, context: Context) -> Toy:
            return Toy(replace(self, lengths={"weight": 1 + context.node}), context)

    uneven = Uneven(lambda _, x: {"x": x, "weight": ONE}, BOTH, {}, [frozenset(BOTH)])
    with pytest.raises(MessageRefused, match="its nodes declare different messages"):
        run("lock-step", setting(uneven))


def test_the_vectorised_driver_sends_what_its_nodes_declare() -> None:
    class Whole(PameSpec):
        def node(self, context: Context) -> Any:
            node = super().node(context)
            node.vectors = {"w": Form.DENSE}  # type: ignore[misc]
            return node

    outcome, _ = run("vectorised", setting(PameSpec()))
    assert outcome.exact
    with pytest.raises(MessageRefused, match=r"algorithm 'pame': .* vectors {'w': 'partial'}"):
        run("vectorised", setting(Whole()))


def test_few_messages_of_a_kind_are_looked_at_and_every_new_kind_at_once() -> None:
    looked = 0

    class Counting(np.ndarray[Any, Any]):
        """Its bytes are asked for when it is compared with what came out."""

        def tobytes(self, order: Any = "C") -> bytes:
            nonlocal looked
            looked += 1
            return super().tobytes(order)

    made = setting(DpsgdSpec())
    check = MessageCheck(made, made.nodes())
    counting = np.zeros(N).view(Counting)
    for k in range(1000):
        check.look(0, k, {"x": counting})
    assert looked == 10  # the first, the second, the fourth, ..., the 512th
    with pytest.raises(MessageRefused):
        check.look(0, 1000, {"x": counting[1:]})
