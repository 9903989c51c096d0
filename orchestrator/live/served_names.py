"""The names under which the live page is served; another may be one that somebody else has pointed at this machine.

A web page may do so with its own name (DNS rebinding), and would then read this page as a part of itself. Only the name
counts: a port may be forwarded.
"""

import re
from collections.abc import Iterable
from ipaddress import ip_address

LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_HOST = re.compile(r"(?:\[([0-9a-f:.]{2,45})\]|([a-z0-9._-]{1,253}))(?::[0-9]{1,5})?")


class ServedNames:
    def __init__(self, host: str, allowed: Iterable[str] = ()) -> None:
        """`host`: the address it listens on; `allowed`: further names, as in `--allow-host`."""
        self._names = {host.lower(), *(name_of(name) or name.lower() for name in allowed)}
        if _is_loopback_or_any(host):
            self._names |= LOOPBACK

    def know(self, host: str, reached: str) -> bool:
        """Whether a `Host` header is one of them, or `reached`: the address at which the connection came in."""
        name = name_of(host)
        return name is not None and (name in self._names or name == reached.removeprefix("::ffff:"))


def name_of(host: str) -> str | None:
    """`[::1]:8080` -> `::1`, `LocalHost:80` -> `localhost`; None if it is no host at all."""
    found = _HOST.fullmatch(host.lower())
    return None if found is None else found[1] or found[2]


def is_own_origin(origin: str, host: str) -> bool:
    """Whether an `Origin` header names the very page that `Host` does."""
    return origin.lower() in (f"http://{host.lower()}", f"https://{host.lower()}")


def _is_loopback_or_any(host: str) -> bool:
    try:
        address = ip_address(host)
    except ValueError:
        return host.lower() in LOOPBACK
    return address.is_loopback or address.is_unspecified
