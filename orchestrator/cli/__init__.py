"""The command `pame`, one file per verb. The only place where errors become exit codes.

May import: everything in `orchestrator`.
"""

from orchestrator.cli.app import main

__all__ = ["main"]
