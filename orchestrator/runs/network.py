"""The part of summary.json that only a run on a network has: what the nodes and their links say of themselves."""

from dataclasses import asdict
from hashlib import sha256
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orchestrator.network import NetworkRun

_CPU_BOUND = 0.05


def network_section(run: "NetworkRun", wall_s: float) -> dict[str, Any]:
    """Figures, faults, cost of measuring, digests of the results."""
    figures, collection = run.totals.figures(), run.collection
    steps_have_times = run.setting.compute.step_s > 0
    return {
        **asdict(figures),
        "suspects": list(figures.suspects),
        "overran_share": figures.overran_share if steps_have_times else None,
        "cpu_bound": steps_have_times and figures.overran_share > _CPU_BOUND,
        "deaths": run.deaths,
        "departures": run.departures,
        "restarts": run.restarts,
        "evaluation": {
            "cpu_s": collection.cpu_s,
            "bytes": collection.snapshot_bytes,
            "share_of_wall": collection.cpu_s / wall_s if wall_s else None,
        },
        "results": {
            str(node): {"iteration": k, "sha256": sha256(model.astype("<f8").tobytes()).hexdigest()}
            for node, (k, model) in sorted(collection.results.items())
        },
    }
