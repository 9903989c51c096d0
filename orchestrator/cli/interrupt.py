"""Ctrl-C before a verb has begun: a line and exit code 130, not a traceback out of an import."""

import os
import signal

_INTERRUPTED = 130


def leave_at_interrupt() -> None:
    """From now on Ctrl-C ends the process; not where it is ignored, as in the background of a shell."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def raise_at_interrupt() -> None:
    """From now on Ctrl-C is a `KeyboardInterrupt` again."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave(*_: object) -> None:
    """Nothing has begun yet that would have to be ended."""
    os.write(2, b"interrupted\n")
    os._exit(_INTERRUPTED)
