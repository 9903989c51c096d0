"""The control plane: who is there, what they are told, what they report, and when a run ends.

    members.py      who has joined                          run.py          one run: gather, prepare, run, end
    collection.py   reports and snapshots -> curves         totals.py       link totals -> ledger, exactness
    service.py      the gRPC services                       server.py       the server, open and closed

May import: `orchestrator.experiment`, `plan`, `runs`, `metrics`, `errors`; `node` for what travels; `pame`; grpc.
"""

from orchestrator.network.run import NetworkRun
from orchestrator.network.server import Control
from orchestrator.network.state import NetworkObserver, NetworkState

__all__ = ["Control", "NetworkObserver", "NetworkRun", "NetworkState"]
