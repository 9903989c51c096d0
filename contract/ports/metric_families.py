"""What nodes and the orchestrator tell Prometheus in the same way."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import grpc
from prometheus_client import Metric, core

from contract.ports.refused_requests import REASONS as REQUEST_REASONS
from contract.ports.tls_failures import REASONS

NAMED = 32
"""At most so many peers, or reasons, have series of their own: what 128 nodes expose stays bounded."""
OTHERS = "others"
Samples = dict[tuple[str, ...], float | None]


@dataclass(frozen=True, slots=True)
class Build:
    code_version: str
    python_version: str = platform.python_version()
    grpc_version: str = grpc.__version__


def build_info(build: Build) -> Metric:
    return core.InfoMetricFamily("pame_build", "Versions of what runs here.", value=asdict(build))


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


def refused_handshakes(whose: str, counts: Mapping[str, int]) -> Metric:
    name = f"pame_{whose}_refused_handshakes_total"
    known = dict.fromkeys(REASONS, 0) | dict(counts)
    return family(name, "Refused TLS handshakes, by reason.", ["reason"], by_reason(known))


def refused_requests(whose: str, counts: Mapping[str, int]) -> Metric:
    name = f"pame_{whose}_refused_requests_total"
    known = dict.fromkeys(REQUEST_REASONS, 0) | dict(counts)
    return family(name, "Refused HTTP requests and connections, by reason.", ["reason"], by_reason(known))
