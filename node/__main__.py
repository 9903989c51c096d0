"""`python -m node --orchestrator HOST:PORT`: one participant."""

import argparse
import os
import socket
import sys
import traceback
import uuid

from contract.ports.tls_failures import set_verbosity

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: two cores, many nodes
set_verbosity(any(word.startswith("--security") for word in sys.argv))

from contract.logs import log_to_stderr  # noqa: E402
from contract.plugins import load_plugins  # noqa: E402
from contract.unexpected_errors import in_one_line  # noqa: E402
from node.orchestrator_channel import JoinRefused  # noqa: E402  from here on, grpc and numpy
from node.precise_loop import run_precisely  # noqa: E402
from node.process import Node, Options  # noqa: E402
from pame.errors import PameError  # noqa: E402


def main() -> int:
    """Run until dismissed; 0 after a good end, 1 if there is no orchestrator or no port, 2 if the node was refused."""
    parser = argparse.ArgumentParser(prog="python -m node", description=__doc__)
    parser.add_argument("--orchestrator", required=True, type=_address, metavar="HOST:PORT", help="where to join")
    parser.add_argument("--token", default=os.environ.get("PAME_TOKEN", ""), help="to be let in (or PAME_TOKEN)")
    parser.add_argument("--security", metavar="DIR", help="the orchestrator's authority and token: mutual TLS")
    name = os.environ.get("PAME_MEMBER") or f"{socket.gethostname()}-{uuid.uuid4().hex[:8]}"
    parser.add_argument("--member", default=name, help="its name (or PAME_MEMBER)")
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on and to tell neighbours, or auto")
    parser.add_argument("--port", type=_port, default=0, help="0: any free one")
    parser.add_argument("--metrics-port", type=_port, default=0, help="0: any free one")
    parser.add_argument("--shape", action="store_true", help="let the kernel shape links: its network is its own")
    parser.add_argument("--health-port", type=_port, help="answer gRPC health checks there, on loopback")
    patience = "seconds without an orchestrator before giving up"
    parser.add_argument("--patience", type=float, default=30.0, dest="patience_s", metavar="PATIENCE", help=patience)
    options = Options(**vars(parser.parse_args()))
    log_to_stderr(member=options.member)
    try:
        load_plugins()
        run_precisely(Node(options).run())
    except JoinRefused as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (PameError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except Exception as error:
        traceback.print_exception(error)
        print(f"error: {in_one_line(error)}", file=sys.stderr)
        return 1
    return 0


def _address(text: str) -> str:
    host, _, port = text.rpartition(":")
    if not text.startswith("unix:") and not (host and port.isdecimal()):
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT, e.g. 127.0.0.1:4750")
    return text


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port; give 0 to 65535")
    return int(text)


if __name__ == "__main__":
    sys.exit(main())
