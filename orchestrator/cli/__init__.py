"""The command `pame`, one file per verb. The only place where errors become exit codes.

Heavy imports are the verbs' own: a verb's module is imported when it is called.

May import: everything in `orchestrator`.
"""

import sys

from contract.ports.tls_failures import set_verbosity
from orchestrator.cli.interrupt import leave_at_interrupt, raise_at_interrupt


def main() -> None:
    leave_at_interrupt()
    set_verbosity("serve" in sys.argv[1:2] and any(word.startswith("--security") for word in sys.argv))
    from orchestrator.cli.app import call

    try:
        call()
    finally:
        raise_at_interrupt()


__all__ = ["main"]
