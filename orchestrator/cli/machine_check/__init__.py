"""`pame doctor`: what this machine can do, what it lacks, and the fix.

    probes.py   looks at the machine (the only edge)      facts.py   what was seen, as values
    verdict.py  what it means, a pure function            fixes.py   packages and settings, by distribution

May import: `node.shaping`, `orchestrator.number_words` and the standard library.
"""

from orchestrator.cli.machine_check.facts import Distribution, MachineFacts
from orchestrator.cli.machine_check.probes import look
from orchestrator.cli.machine_check.verdict import DoctorFinding, backends, judge

__all__ = ["Distribution", "DoctorFinding", "MachineFacts", "backends", "judge", "look"]
