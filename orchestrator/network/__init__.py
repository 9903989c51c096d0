"""The control plane: who is there, what they are told, what they report, and when a run ends.

    members.py      who has joined                          run.py          one run: gather, prepare, run, end
    seats.py        who is which node of a run              look.py, state.py   what watchers are told
    collection.py   reports and snapshots -> curves         restart.py      nodes that come back
    evaluations.py  points measured in a thread             totals.py       link totals -> ledger, exactness
    service.py      the service for nodes                   server.py       the server, open and closed
    experiments.py  the service for clients                 desk.py         one run at a time
    broadcast.py    one run, told to many watchers          conduct.py      a run and its folder
    summary.py      what only a network has                 fault_events.py what nodes say of the plan

May import: `orchestrator.experiment`, `faults`, `plan`, `runs`, `report`, `metrics`, `security`, `errors`; `node` for
what travels; `pame`; grpc.
"""

from orchestrator.network.desk import Busy, Desk
from orchestrator.network.experiments import ExperimentsService
from orchestrator.network.run import NetworkRun
from orchestrator.network.server import Control, Tls
from orchestrator.network.state import NetworkObserver, NetworkState

__all__ = ["Busy", "Control", "Desk", "ExperimentsService", "NetworkObserver", "NetworkRun", "NetworkState", "Tls"]
