"""A client of a served orchestrator: the Experiments service, with errors that say what to do."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self
from urllib.parse import quote

import grpc
from google.protobuf.message import Message

from contract.credentials import ORCHESTRATOR_NAME, expecting
from contract.refusals import refusal_name
from contract.rpc import experiments_pb2 as pb
from contract.rpc.experiments_pb2_grpc import ExperimentsStub
from orchestrator.control import NetworkObserver, NetworkState
from orchestrator.control.run_phase import Phase
from orchestrator.control.state import TOLD
from orchestrator.errors import SubmissionRefused, Unreachable
from orchestrator.results.health import Health, State
from pame.observe import Evaluation, Own

_ANSWER_S = 10.0
_INJECT_S = 30.0
"""The orchestrator answers when the nodes have."""
_SUBMIT_S = 300.0
"""The orchestrator draws the data of all nodes before it answers."""
_EVERYWHERE = ("0.0.0.0", "::", "")
_NOT_THERE = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.CANCELLED)


class Client:
    def __init__(self, address: str, token: str, authority: bytes | None = None) -> None:
        """`address`: HOST:PORT; `authority`: the certificate (PEM) to believe; None: no TLS."""
        self.address = address
        self._token = token
        options = [("grpc.enable_http_proxy", 0)]
        if authority is None:
            self._channel = grpc.insecure_channel(address, options=options)
        else:
            options = [*options, *expecting(ORCHESTRATOR_NAME)]
            self._channel = grpc.secure_channel(address, grpc.ssl_channel_credentials(authority), options=options)
        self._stub = ExperimentsStub(self._channel)  # type: ignore[no-untyped-call]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._channel.close()

    def submit(self, experiment: str, files: Mapping[str, str]) -> pb.Accepted:
        """Begin a run; `files`: the texts of those that the experiment names, by their paths."""
        request = pb.Submission(experiment=experiment, token=self._token, files=files)
        answer: pb.Submitted = self._ask(self._stub.Submit, request, _SUBMIT_S)
        return answer.accepted

    def watch(self, run: int) -> Iterator[pb.Event]:
        """What happened so far, then everything until the run ends; 0: the run under way, or the next."""
        seen = False
        try:
            with self._asking():
                for event in self._stub.Watch(pb.WatchRequest(run=run, token=self._token)):
                    seen = True
                    yield event
        except Unreachable:
            if not seen:
                raise
            raise Unreachable(
                f"the connection to the orchestrator at {self.address} broke; the run may go on: see `pame watch` and "
                "its run folder"
            ) from None

    def cancel(self, run: int) -> bool:
        """End a run in order; whether it was the one under way."""
        request = pb.CancelRequest(run=run, token=self._token)
        answer: pb.Cancelled = self._ask(self._stub.Cancel, request, _ANSWER_S)
        return answer.was_running

    def inject(self, fault: str) -> pb.Planned:
        """A fault by hand, into the run under way; what will happen, and what has begun, in words."""
        request = pb.InjectRequest(token=self._token, fault=fault)
        answer: pb.Injected = self._ask(self._stub.Inject, request, _INJECT_S)
        return answer.planned

    def page(self) -> str:
        """The live page of the orchestrator, with the token where a browser keeps it; empty: it has none."""
        address = self.nodes().page
        if not address:
            return ""
        host, _, port = address.rpartition(":")
        reached = self.address.rpartition(":")[0]
        return f"http://{reached if host in _EVERYWHERE else host}:{port}/#token={quote(self._token)}"

    def nodes(self) -> pb.NodeList:
        answer: pb.NodeList = self._ask(self._stub.ListNodes, pb.ListNodesRequest(token=self._token), _ANSWER_S)
        return answer

    def _ask(self, call: Callable[..., Any], request: Message, seconds: float) -> Any:
        """The answer; SubmissionRefused if it says that this is denied."""
        with self._asking():
            answer = call(request, timeout=seconds)
        if isinstance(answer, pb.Submitted | pb.Injected) and answer.HasField("denied"):
            raise SubmissionRefused(f"{answer.denied.detail} ({refusal_name(answer.denied.refusal)})")
        return answer

    @contextmanager
    def _asking(self) -> Iterator[None]:
        try:
            yield
        except grpc.RpcError as error:
            code = error.code()
            if code in _NOT_THERE:
                raise Unreachable(
                    f"no orchestrator answers at {self.address}: start one with `pame serve`, or say where it is "
                    "with --on HOST:PORT"
                ) from None
            raise SubmissionRefused(f"the orchestrator at {self.address} refuses: {error.details()}") from None


class Retelling:
    """Tells an observer what the events of a watched run say."""

    def __init__(self, observer: NetworkObserver) -> None:
        self._observer = observer
        self._phase = Phase.IDLE
        self._nodes = 0

    def tell(self, event: pb.Event) -> None:
        match event.WhichOneof("kind"):
            case "phase" if event.phase.phase in list(Phase):
                self._phase, self._nodes = Phase(event.phase.phase), event.phase.nodes
            case "point":
                self._observer.evaluated(_evaluation(event.point))
            case "network":
                told = {name: getattr(event.network, name) for name in TOLD}
                self._observer.state(NetworkState(self._phase, self._nodes, **told, health=health_of(event.network)))


def health_of(told: pb.Network | pb.Ended) -> Health | None:
    """As it was told; None: nothing is known."""
    states = {state.value: state for state in State}
    return Health(states[told.health], told.health_reason) if told.health in states else None


def _evaluation(point: pb.Point) -> Evaluation:
    return Evaluation(
        by="time" if point.by == "time" else "iteration",
        iteration=point.iteration,
        seconds=point.seconds,
        bytes=point.bytes,
        objective=point.objective,
        consensus=point.consensus,
        coverage=point.coverage if point.HasField("coverage") else None,
        metrics=dict(point.metrics),
        own=_own(point.own) if point.HasField("own") else None,
    )


def _own(told: pb.OwnModels) -> Own:
    metrics, lowest, highest = (dict(each) for each in (told.metrics, told.lowest, told.highest))
    return Own(told.objective, told.worst, metrics, lowest, highest)
