"""The command `pame`, one file per verb. The only place where errors become exit codes.

May import: everything in `orchestrator`.
"""

import os
import sys

from node.handshakes import verbosity

# Before grpc: what fails is told in our own words, and what a secured orchestrator refuses is counted from gRPC's log.
os.environ.setdefault(
    "GRPC_VERBOSITY",
    verbosity("serve" in sys.argv[1:2] and any(word.startswith("--security") for word in sys.argv)),
)

from orchestrator.cli.app import main

__all__ = ["main"]
