"""Why a byte string is not a message: one code per reason."""

from enum import StrEnum


class Refusal(StrEnum):
    """The reasons of the decoder. The names appear in counters and reports."""

    BAD_LENGTH = "bad_length"  # a section ends too early, or bytes are left over
    UNKNOWN_VERSION = "unknown_version"
    BAD_VARINT = "bad_varint"  # too long, or longer than needed
    BAD_SIZE = "bad_size"  # s is not in 1..n
    BAD_SUPPORT = "bad_support"  # the coded support is not s coordinates below n
    BAD_STARS = "bad_stars"  # the coded stars are not some, but not all, of the s selected
    BAD_PADDING = "bad_padding"  # an unused bit is not zero
    NOT_CANONICAL = "not_canonical"  # a valid coding, but not the one an encoder chooses
    UNKNOWN_DRAW = "unknown_draw"  # seed coding, and the receiver has no draw for it
    CHECKSUM_MISMATCH = "checksum_mismatch"  # sender and receiver drew different supports
    NOT_FINITE = "not_finite"
    ZERO_VALUE = "zero_value"  # +0.0 among the values: it should have been a star


class Refused(Exception):
    """The bytes are not a message; `code` says why for a machine, the text for a person."""

    def __init__(self, code: Refusal, text: str) -> None:
        super().__init__(text)
        self.code = code
