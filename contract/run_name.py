"""The name of a run for everybody; its number is for those who take part in it, and for holders of the token."""

import re
from hashlib import sha256

_DIGITS = 8
NAME = re.compile(f"[0-9a-f]{{{_DIGITS}}}")


def run_name(number: int) -> str:
    """Eight hexadecimal digits that do not lead back to the number; empty for 0, which is no run."""
    return sha256(number.to_bytes(8, "little")).hexdigest()[:_DIGITS] if number else ""
