"""The command `pame`, one file per verb. The only place where errors become exit codes.

May import: everything in `orchestrator`.
"""

import sys

from contract.ports.tls_failures import set_verbosity

set_verbosity("serve" in sys.argv[1:2] and any(word.startswith("--security") for word in sys.argv))

from orchestrator.cli.app import main  # noqa: E402  after the verbosity is set

__all__ = ["main"]
