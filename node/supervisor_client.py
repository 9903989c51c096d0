"""Orders for a supervisor, in its node's container: `python -m node.supervisor_client pause 3`; no dependencies."""

import json
import os
import socket
import sys
from collections.abc import Sequence
from typing import Any

from node.supervisor import SOCKET_VARIABLE, SupervisorOrder

_USAGE = f"usage: python -m node.supervisor_client {{{'|'.join(SupervisorOrder)}}} SECONDS"
_ANSWER_S = 5.0


def give(path: str, do: str, seconds: float, run: str = "") -> dict[str, Any]:
    """Give an order and wait for the answer: `{"done": true, ...}`, or false and why. It ends with its run, if any."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(_ANSWER_S)
        connection.connect(path)
        order = {"do": do, "seconds": seconds, "pid": os.getpid(), "run": run}  # a parent of many must know whom
        connection.sendall(json.dumps(order).encode() + b"\n")
        answer: dict[str, Any] = json.loads(connection.makefile("rb").readline())
        return answer


def main(words: Sequence[str]) -> int:
    """0 if the order was carried out."""
    path = os.environ.get(SOCKET_VARIABLE, "/run/pame-supervisor")
    try:
        do, seconds = words[0], float(words[1])
    except (IndexError, ValueError):
        print(_USAGE, file=sys.stderr)
        return 2
    try:
        answer = give(path, do, seconds)
    except (OSError, ValueError) as error:
        print(f"error: no supervisor answers at {path} ({error}): is this the container of a node?", file=sys.stderr)
        return 1
    if not answer.get("done"):
        print(f"error: {answer.get('why')}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
