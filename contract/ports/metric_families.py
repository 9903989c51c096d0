"""What nodes and the orchestrator tell Prometheus in the same way."""

import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import ClassVar, Generic, TypeVar

import grpc
from prometheus_client import Metric, core
from prometheus_client.registry import Collector

from contract.ports.refused_requests import REASONS as REQUEST_REASONS
from contract.ports.tls_failures import REASONS as TLS_REASONS

NAMED = 32
"""At most so many peers, or reasons, have series of their own: what 128 nodes expose stays bounded."""
OTHERS = "others"
Samples = dict[tuple[str, ...], float | None]
Figures = TypeVar("Figures")


@dataclass(frozen=True, slots=True)
class Build:
    code_version: str
    python_version: str = platform.python_version()
    grpc_version: str = grpc.__version__


def family(name: str, documentation: str, labels: Sequence[str], samples: Samples) -> Metric:
    """A counter if its name says `_total`, else a gauge; a sample without a value is left out."""
    kind = core.CounterMetricFamily if name.endswith("_total") else core.GaugeMetricFamily
    made = kind(name, documentation, labels=labels)
    for values, sample in samples.items():
        if sample is not None:
            made.add_metric(values, sample)
    return made


def by_reason(counts: Mapping[str, int]) -> Samples:
    """Samples by reason, of which there is a bounded number."""
    taken = sorted(dict(counts).items())
    samples: Samples = {(reason,): count for reason, count in taken[:NAMED]}
    if taken[NAMED:]:
        samples[OTHERS,] = sum(count for _, count in taken[NAMED:])
    return samples


class ProcessCollector(Collector, Generic[Figures]):
    """Reads the figures of a process, which may change meanwhile, at every scrape."""

    whose: ClassVar[str]

    def __init__(
        self,
        read: Callable[[], Figures],
        build: Build,
        handshakes: Mapping[str, int] | None = None,
        requests: Mapping[str, int] | None = None,
    ) -> None:
        """`handshakes`, `requests`: refused ones, by reason."""
        self._read = read
        self._build = build
        self._handshakes = {} if handshakes is None else handshakes  # which may be empty now, and not later
        self._requests = requests or {}

    def metrics(self, now: Figures) -> Iterator[Metric]:
        """What only this kind of process tells."""
        raise NotImplementedError

    def collect(self) -> Iterator[Metric]:
        now = self._read()
        yield core.InfoMetricFamily("pame_build", "Versions of what runs here.", value=asdict(self._build))
        yield self._refused("handshakes", "TLS handshakes", dict.fromkeys(TLS_REASONS, 0) | dict(self._handshakes))
        requests = dict.fromkeys(REQUEST_REASONS, 0) | dict(self._requests)
        yield self._refused("requests", "HTTP requests and connections", requests)
        yield from self.metrics(now)

    def _refused(self, name: str, words: str, counts: Mapping[str, int]) -> Metric:
        name = f"pame_{self.whose}_refused_{name}_total"
        return family(name, f"Refused {words}, by reason.", ["reason"], by_reason(counts))
