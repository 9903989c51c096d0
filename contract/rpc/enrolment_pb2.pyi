from contract.rpc import refusal_pb2 as _refusal_pb2
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class EnrolRequest(_message.Message):
    __slots__ = ("token", "member", "signing_request")
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    MEMBER_FIELD_NUMBER: _ClassVar[int]
    SIGNING_REQUEST_FIELD_NUMBER: _ClassVar[int]
    token: str
    member: str
    signing_request: bytes
    def __init__(self, token: _Optional[str] = ..., member: _Optional[str] = ..., signing_request: _Optional[bytes] = ...) -> None: ...

class Enrolled(_message.Message):
    __slots__ = ("certificate", "refused")
    CERTIFICATE_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    certificate: Certificate
    refused: NotEnrolled
    def __init__(self, certificate: _Optional[_Union[Certificate, _Mapping]] = ..., refused: _Optional[_Union[NotEnrolled, _Mapping]] = ...) -> None: ...

class Certificate(_message.Message):
    __slots__ = ("pem", "control_port")
    PEM_FIELD_NUMBER: _ClassVar[int]
    CONTROL_PORT_FIELD_NUMBER: _ClassVar[int]
    pem: bytes
    control_port: int
    def __init__(self, pem: _Optional[bytes] = ..., control_port: _Optional[int] = ...) -> None: ...

class NotEnrolled(_message.Message):
    __slots__ = ("refusal", "detail")
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    refusal: _refusal_pb2.Refusal
    detail: str
    def __init__(self, refusal: _Optional[_Union[_refusal_pb2.Refusal, str]] = ..., detail: _Optional[str] = ...) -> None: ...
