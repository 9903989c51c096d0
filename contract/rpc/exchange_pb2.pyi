from contract.rpc import refusal_pb2 as _refusal_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class NodeMessage(_message.Message):
    __slots__ = ("run", "sender", "incarnation", "iteration", "n", "vectors")
    RUN_FIELD_NUMBER: _ClassVar[int]
    SENDER_FIELD_NUMBER: _ClassVar[int]
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    N_FIELD_NUMBER: _ClassVar[int]
    VECTORS_FIELD_NUMBER: _ClassVar[int]
    run: int
    sender: int
    incarnation: int
    iteration: int
    n: int
    vectors: _containers.RepeatedCompositeFieldContainer[Vector]
    def __init__(self, run: _Optional[int] = ..., sender: _Optional[int] = ..., incarnation: _Optional[int] = ..., iteration: _Optional[int] = ..., n: _Optional[int] = ..., vectors: _Optional[_Iterable[_Union[Vector, _Mapping]]] = ...) -> None: ...

class Vector(_message.Message):
    __slots__ = ("name", "partial", "dense", "sparse", "quantized", "levels", "signs")
    NAME_FIELD_NUMBER: _ClassVar[int]
    PARTIAL_FIELD_NUMBER: _ClassVar[int]
    DENSE_FIELD_NUMBER: _ClassVar[int]
    SPARSE_FIELD_NUMBER: _ClassVar[int]
    QUANTIZED_FIELD_NUMBER: _ClassVar[int]
    LEVELS_FIELD_NUMBER: _ClassVar[int]
    SIGNS_FIELD_NUMBER: _ClassVar[int]
    name: str
    partial: bytes
    dense: bytes
    sparse: bytes
    quantized: bytes
    levels: bytes
    signs: bytes
    def __init__(self, name: _Optional[str] = ..., partial: _Optional[bytes] = ..., dense: _Optional[bytes] = ..., sparse: _Optional[bytes] = ..., quantized: _Optional[bytes] = ..., levels: _Optional[bytes] = ..., signs: _Optional[bytes] = ...) -> None: ...

class ProbeMessage(_message.Message):
    __slots__ = ("run", "sender", "number", "sent_ns", "filling")
    RUN_FIELD_NUMBER: _ClassVar[int]
    SENDER_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    SENT_NS_FIELD_NUMBER: _ClassVar[int]
    FILLING_FIELD_NUMBER: _ClassVar[int]
    run: int
    sender: int
    number: int
    sent_ns: int
    filling: bytes
    def __init__(self, run: _Optional[int] = ..., sender: _Optional[int] = ..., number: _Optional[int] = ..., sent_ns: _Optional[int] = ..., filling: _Optional[bytes] = ...) -> None: ...

class Receipt(_message.Message):
    __slots__ = ("seen", "late", "refused")
    SEEN_FIELD_NUMBER: _ClassVar[int]
    LATE_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    seen: int
    late: int
    refused: _containers.RepeatedCompositeFieldContainer[RefusedMessage]
    def __init__(self, seen: _Optional[int] = ..., late: _Optional[int] = ..., refused: _Optional[_Iterable[_Union[RefusedMessage, _Mapping]]] = ...) -> None: ...

class RefusedMessage(_message.Message):
    __slots__ = ("number", "refusal", "detail")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    number: int
    refusal: _refusal_pb2.Refusal
    detail: str
    def __init__(self, number: _Optional[int] = ..., refusal: _Optional[_Union[_refusal_pb2.Refusal, str]] = ..., detail: _Optional[str] = ...) -> None: ...
