"""Which address of this machine is whose: `auto` finds the data network's and the control network's.

In a container the two networks are two interfaces whose names and subnets nobody promises. The route tells: the address
from which the orchestrator is reached is on the control network; if there is exactly one other, it is on the data one.
"""

import array
import fcntl
import ipaddress
import socket
import struct

from pame.errors import PameError

AUTO = "auto"
_SIOCGIFCONF = 0x8912
_RECORD = struct.Struct("16s16s8x")
_MOST = 128


class NoAddress(PameError):
    """It cannot be told which address to use."""


def choose(addresses: list[str], control: str) -> str:
    """The data address among those of this machine, given the one on the control network."""
    others = sorted({a for a in addresses if a != control and not ipaddress.ip_address(a).is_loopback})
    if len(others) > 1:
        raise NoAddress(f"addresses {', '.join(others)} may all be on the data network: give one with --host")
    return others[0] if others else control


def control_address(orchestrator: str) -> str:
    """From where this machine reaches it; nothing is sent."""
    host, _, port = orchestrator.rpartition(":")
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect((host, int(port)))
            return str(probe.getsockname()[0])
    except OSError as error:
        raise NoAddress(f"no way to {orchestrator} from here ({error}): check its name, or give --host") from None


def own_addresses() -> list[str]:
    """IPv4, of all interfaces (netdevice(7))."""
    records = array.array("B", bytes(_MOST * _RECORD.size))
    where, size = records.buffer_info()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        answer = fcntl.ioctl(probe, _SIOCGIFCONF, struct.pack("iP", size, where))
    filled: int = struct.unpack("iP", answer)[0]
    found = (end for _, end in _RECORD.iter_unpack(records.tobytes()[:filled]))
    return [socket.inet_ntoa(end[4:8]) for end in found]
