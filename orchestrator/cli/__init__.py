"""The command `pame`, one file per verb. The only place where errors become exit codes.

May import: everything in `orchestrator`.
"""

import os

os.environ.setdefault("GRPC_VERBOSITY", "NONE")  # before grpc: what fails is told in our own words

from orchestrator.cli.app import main

__all__ = ["main"]
