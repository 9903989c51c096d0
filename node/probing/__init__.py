"""Measuring links before a run: each property through the mechanism that realises it.

    datagram.py   what a datagram of ours says, a pure function each way
    udp.py        datagrams through the kernel's queues, stamped by the kernel when they arrive
    stream.py     messages through the in-process shaper: an `OutLink` of its own
    machine.py    whose clocks are one clock, and what a machine can carry at all
    prober.py     one node's part: sends when it is told to, and keeps what comes

The orchestrator decides who measures what and when, and judges (`orchestrator/control/verification`).
May import: `pame` and the rest of `node` but its process and sessions.
"""

from node.probing.machine import boot_id
from node.probing.prober import Prober

__all__ = ["Prober", "boot_id"]
