from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from typing import ClassVar as _ClassVar

DESCRIPTOR: _descriptor.FileDescriptor

class Refusal(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    REFUSAL_UNSPECIFIED: _ClassVar[Refusal]
    REFUSAL_BAD_LENGTH: _ClassVar[Refusal]
    REFUSAL_UNKNOWN_VERSION: _ClassVar[Refusal]
    REFUSAL_BAD_VARINT: _ClassVar[Refusal]
    REFUSAL_BAD_SIZE: _ClassVar[Refusal]
    REFUSAL_BAD_SUPPORT: _ClassVar[Refusal]
    REFUSAL_BAD_STARS: _ClassVar[Refusal]
    REFUSAL_BAD_PADDING: _ClassVar[Refusal]
    REFUSAL_NOT_CANONICAL: _ClassVar[Refusal]
    REFUSAL_UNKNOWN_DRAW: _ClassVar[Refusal]
    REFUSAL_CHECKSUM_MISMATCH: _ClassVar[Refusal]
    REFUSAL_NOT_FINITE: _ClassVar[Refusal]
    REFUSAL_ZERO_VALUE: _ClassVar[Refusal]
    REFUSAL_WRONG_RUN: _ClassVar[Refusal]
    REFUSAL_UNKNOWN_SENDER: _ClassVar[Refusal]
    REFUSAL_OLD_INCARNATION: _ClassVar[Refusal]
    REFUSAL_WRONG_DIMENSION: _ClassVar[Refusal]
    REFUSAL_DUPLICATE: _ClassVar[Refusal]
    REFUSAL_WRONG_VECTORS: _ClassVar[Refusal]
    REFUSAL_BAD_ITERATION: _ClassVar[Refusal]
    REFUSAL_NOT_A_PARCEL: _ClassVar[Refusal]
    REFUSAL_TOO_LARGE: _ClassVar[Refusal]
    REFUSAL_WRONG_TOKEN: _ClassVar[Refusal]
    REFUSAL_WRONG_CODE_VERSION: _ClassVar[Refusal]
    REFUSAL_WRONG_FINGERPRINT: _ClassVar[Refusal]
    REFUSAL_BAD_ADDRESS: _ClassVar[Refusal]
    REFUSAL_BAD_JOIN: _ClassVar[Refusal]
    REFUSAL_BAD_EXPERIMENT: _ClassVar[Refusal]
    REFUSAL_BUSY: _ClassVar[Refusal]
REFUSAL_UNSPECIFIED: Refusal
REFUSAL_BAD_LENGTH: Refusal
REFUSAL_UNKNOWN_VERSION: Refusal
REFUSAL_BAD_VARINT: Refusal
REFUSAL_BAD_SIZE: Refusal
REFUSAL_BAD_SUPPORT: Refusal
REFUSAL_BAD_STARS: Refusal
REFUSAL_BAD_PADDING: Refusal
REFUSAL_NOT_CANONICAL: Refusal
REFUSAL_UNKNOWN_DRAW: Refusal
REFUSAL_CHECKSUM_MISMATCH: Refusal
REFUSAL_NOT_FINITE: Refusal
REFUSAL_ZERO_VALUE: Refusal
REFUSAL_WRONG_RUN: Refusal
REFUSAL_UNKNOWN_SENDER: Refusal
REFUSAL_OLD_INCARNATION: Refusal
REFUSAL_WRONG_DIMENSION: Refusal
REFUSAL_DUPLICATE: Refusal
REFUSAL_WRONG_VECTORS: Refusal
REFUSAL_BAD_ITERATION: Refusal
REFUSAL_NOT_A_PARCEL: Refusal
REFUSAL_TOO_LARGE: Refusal
REFUSAL_WRONG_TOKEN: Refusal
REFUSAL_WRONG_CODE_VERSION: Refusal
REFUSAL_WRONG_FINGERPRINT: Refusal
REFUSAL_BAD_ADDRESS: Refusal
REFUSAL_BAD_JOIN: Refusal
REFUSAL_BAD_EXPERIMENT: Refusal
REFUSAL_BUSY: Refusal
