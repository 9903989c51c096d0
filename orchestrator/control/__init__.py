"""The control plane: who is there, what they are told, what they report, and when a run ends.

    run_state.py    one run: all that is known of it
    run_phase.py    the phases and their order              run_phases.py   what is done in each
    run_messages.py message kind -> handler                 run_membership.py   nodes that come and go
    end_of_run.py   when it ends without being told         rejoin.py       nodes that come back
    members.py      who has joined                          run_figures.py, state.py   what watchers are told
    index_table.py  which member is which node of a run     totals.py       link totals -> byte account, exactness
    node_reports.py reports and snapshots -> curves         link_check.py   links measured before the start
    service.py      the service for nodes                   server.py       the server, open and closed
    experiments.py  the service for clients                 submissions.py  one run at a time
    broadcast.py    one run, told to many watchers          recorded_run.py a run and its folder
    summary.py      what only a network has                 fault_events.py what nodes say of the plan

May import: `orchestrator.results`, `orchestrator.experiment`, `orchestrator.report` (to leave a report behind),
`contract`, `pame`; grpc.
"""

from orchestrator.control.experiments import ExperimentsService
from orchestrator.control.run_state import NetworkRunState
from orchestrator.control.server import ControlPlane, Tls
from orchestrator.control.state import NetworkObserver, NetworkState
from orchestrator.control.submissions import Busy, Submissions

__all__ = [
    "Busy",
    "ControlPlane",
    "ExperimentsService",
    "NetworkObserver",
    "NetworkRunState",
    "NetworkState",
    "Submissions",
    "Tls",
]
