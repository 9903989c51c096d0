from contract.rpc import refusal_pb2 as _refusal_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Submission(_message.Message):
    __slots__ = ("experiment", "token", "files")
    class FilesEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: str
        def __init__(self, key: _Optional[str] = ..., value: _Optional[str] = ...) -> None: ...
    EXPERIMENT_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    FILES_FIELD_NUMBER: _ClassVar[int]
    experiment: str
    token: str
    files: _containers.ScalarMap[str, str]
    def __init__(self, experiment: _Optional[str] = ..., token: _Optional[str] = ..., files: _Optional[_Mapping[str, str]] = ...) -> None: ...

class Submitted(_message.Message):
    __slots__ = ("accepted", "denied")
    ACCEPTED_FIELD_NUMBER: _ClassVar[int]
    DENIED_FIELD_NUMBER: _ClassVar[int]
    accepted: Accepted
    denied: Denied
    def __init__(self, accepted: _Optional[_Union[Accepted, _Mapping]] = ..., denied: _Optional[_Union[Denied, _Mapping]] = ...) -> None: ...

class Accepted(_message.Message):
    __slots__ = ("run", "folder")
    RUN_FIELD_NUMBER: _ClassVar[int]
    FOLDER_FIELD_NUMBER: _ClassVar[int]
    run: int
    folder: str
    def __init__(self, run: _Optional[int] = ..., folder: _Optional[str] = ...) -> None: ...

class Denied(_message.Message):
    __slots__ = ("refusal", "detail")
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    refusal: _refusal_pb2.Refusal
    detail: str
    def __init__(self, refusal: _Optional[_Union[_refusal_pb2.Refusal, str]] = ..., detail: _Optional[str] = ...) -> None: ...

class WatchRequest(_message.Message):
    __slots__ = ("run", "token")
    RUN_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    run: int
    token: str
    def __init__(self, run: _Optional[int] = ..., token: _Optional[str] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ("phase", "point", "network", "ended")
    PHASE_FIELD_NUMBER: _ClassVar[int]
    POINT_FIELD_NUMBER: _ClassVar[int]
    NETWORK_FIELD_NUMBER: _ClassVar[int]
    ENDED_FIELD_NUMBER: _ClassVar[int]
    phase: Phase
    point: Point
    network: Network
    ended: Ended
    def __init__(self, phase: _Optional[_Union[Phase, _Mapping]] = ..., point: _Optional[_Union[Point, _Mapping]] = ..., network: _Optional[_Union[Network, _Mapping]] = ..., ended: _Optional[_Union[Ended, _Mapping]] = ...) -> None: ...

class Phase(_message.Message):
    __slots__ = ("run", "name", "folder", "nodes", "iterations", "phase", "seconds")
    RUN_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    FOLDER_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    ITERATIONS_FIELD_NUMBER: _ClassVar[int]
    PHASE_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    run: int
    name: str
    folder: str
    nodes: int
    iterations: int
    phase: str
    seconds: float
    def __init__(self, run: _Optional[int] = ..., name: _Optional[str] = ..., folder: _Optional[str] = ..., nodes: _Optional[int] = ..., iterations: _Optional[int] = ..., phase: _Optional[str] = ..., seconds: _Optional[float] = ...) -> None: ...

class Point(_message.Message):
    __slots__ = ("by", "iteration", "seconds", "bytes", "objective", "consensus", "coverage", "metrics", "own")
    class MetricsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    BY_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    OBJECTIVE_FIELD_NUMBER: _ClassVar[int]
    CONSENSUS_FIELD_NUMBER: _ClassVar[int]
    COVERAGE_FIELD_NUMBER: _ClassVar[int]
    METRICS_FIELD_NUMBER: _ClassVar[int]
    OWN_FIELD_NUMBER: _ClassVar[int]
    by: str
    iteration: int
    seconds: float
    bytes: int
    objective: float
    consensus: float
    coverage: float
    metrics: _containers.ScalarMap[str, float]
    own: OwnModels
    def __init__(self, by: _Optional[str] = ..., iteration: _Optional[int] = ..., seconds: _Optional[float] = ..., bytes: _Optional[int] = ..., objective: _Optional[float] = ..., consensus: _Optional[float] = ..., coverage: _Optional[float] = ..., metrics: _Optional[_Mapping[str, float]] = ..., own: _Optional[_Union[OwnModels, _Mapping]] = ...) -> None: ...

class OwnModels(_message.Message):
    __slots__ = ("objective", "worst", "metrics", "lowest", "highest")
    class MetricsEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    class LowestEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    class HighestEntry(_message.Message):
        __slots__ = ("key", "value")
        KEY_FIELD_NUMBER: _ClassVar[int]
        VALUE_FIELD_NUMBER: _ClassVar[int]
        key: str
        value: float
        def __init__(self, key: _Optional[str] = ..., value: _Optional[float] = ...) -> None: ...
    OBJECTIVE_FIELD_NUMBER: _ClassVar[int]
    WORST_FIELD_NUMBER: _ClassVar[int]
    METRICS_FIELD_NUMBER: _ClassVar[int]
    LOWEST_FIELD_NUMBER: _ClassVar[int]
    HIGHEST_FIELD_NUMBER: _ClassVar[int]
    objective: float
    worst: float
    metrics: _containers.ScalarMap[str, float]
    lowest: _containers.ScalarMap[str, float]
    highest: _containers.ScalarMap[str, float]
    def __init__(self, objective: _Optional[float] = ..., worst: _Optional[float] = ..., metrics: _Optional[_Mapping[str, float]] = ..., lowest: _Optional[_Mapping[str, float]] = ..., highest: _Optional[_Mapping[str, float]] = ...) -> None: ...

class Network(_message.Message):
    __slots__ = ("ready", "alive", "slowest", "median", "fastest", "bytes", "late", "starved", "seconds", "health", "health_reason", "judged", "to_judge")
    READY_FIELD_NUMBER: _ClassVar[int]
    ALIVE_FIELD_NUMBER: _ClassVar[int]
    SLOWEST_FIELD_NUMBER: _ClassVar[int]
    MEDIAN_FIELD_NUMBER: _ClassVar[int]
    FASTEST_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    LATE_FIELD_NUMBER: _ClassVar[int]
    STARVED_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    HEALTH_FIELD_NUMBER: _ClassVar[int]
    HEALTH_REASON_FIELD_NUMBER: _ClassVar[int]
    JUDGED_FIELD_NUMBER: _ClassVar[int]
    TO_JUDGE_FIELD_NUMBER: _ClassVar[int]
    ready: int
    alive: int
    slowest: int
    median: int
    fastest: int
    bytes: int
    late: int
    starved: int
    seconds: float
    health: str
    health_reason: str
    judged: int
    to_judge: int
    def __init__(self, ready: _Optional[int] = ..., alive: _Optional[int] = ..., slowest: _Optional[int] = ..., median: _Optional[int] = ..., fastest: _Optional[int] = ..., bytes: _Optional[int] = ..., late: _Optional[int] = ..., starved: _Optional[int] = ..., seconds: _Optional[float] = ..., health: _Optional[str] = ..., health_reason: _Optional[str] = ..., judged: _Optional[int] = ..., to_judge: _Optional[int] = ...) -> None: ...

class Ended(_message.Message):
    __slots__ = ("status", "reason", "iterations", "seconds", "exact", "health", "health_reason")
    STATUS_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    ITERATIONS_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    EXACT_FIELD_NUMBER: _ClassVar[int]
    HEALTH_FIELD_NUMBER: _ClassVar[int]
    HEALTH_REASON_FIELD_NUMBER: _ClassVar[int]
    status: str
    reason: str
    iterations: int
    seconds: float
    exact: bool
    health: str
    health_reason: str
    def __init__(self, status: _Optional[str] = ..., reason: _Optional[str] = ..., iterations: _Optional[int] = ..., seconds: _Optional[float] = ..., exact: bool = ..., health: _Optional[str] = ..., health_reason: _Optional[str] = ...) -> None: ...

class CancelRequest(_message.Message):
    __slots__ = ("run", "token")
    RUN_FIELD_NUMBER: _ClassVar[int]
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    run: int
    token: str
    def __init__(self, run: _Optional[int] = ..., token: _Optional[str] = ...) -> None: ...

class Cancelled(_message.Message):
    __slots__ = ("was_running",)
    WAS_RUNNING_FIELD_NUMBER: _ClassVar[int]
    was_running: bool
    def __init__(self, was_running: bool = ...) -> None: ...

class InjectRequest(_message.Message):
    __slots__ = ("token", "fault")
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    FAULT_FIELD_NUMBER: _ClassVar[int]
    token: str
    fault: str
    def __init__(self, token: _Optional[str] = ..., fault: _Optional[str] = ...) -> None: ...

class Injected(_message.Message):
    __slots__ = ("planned", "denied")
    PLANNED_FIELD_NUMBER: _ClassVar[int]
    DENIED_FIELD_NUMBER: _ClassVar[int]
    planned: Planned
    denied: Denied
    def __init__(self, planned: _Optional[_Union[Planned, _Mapping]] = ..., denied: _Optional[_Union[Denied, _Mapping]] = ...) -> None: ...

class Planned(_message.Message):
    __slots__ = ("events", "begun", "failures", "silent")
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    BEGUN_FIELD_NUMBER: _ClassVar[int]
    FAILURES_FIELD_NUMBER: _ClassVar[int]
    SILENT_FIELD_NUMBER: _ClassVar[int]
    events: _containers.RepeatedScalarFieldContainer[str]
    begun: _containers.RepeatedScalarFieldContainer[str]
    failures: _containers.RepeatedScalarFieldContainer[str]
    silent: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, events: _Optional[_Iterable[str]] = ..., begun: _Optional[_Iterable[str]] = ..., failures: _Optional[_Iterable[str]] = ..., silent: _Optional[_Iterable[int]] = ...) -> None: ...

class ListNodesRequest(_message.Message):
    __slots__ = ("token",)
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    token: str
    def __init__(self, token: _Optional[str] = ...) -> None: ...

class NodeList(_message.Message):
    __slots__ = ("members", "run", "page")
    MEMBERS_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    PAGE_FIELD_NUMBER: _ClassVar[int]
    members: _containers.RepeatedCompositeFieldContainer[Member]
    run: int
    page: str
    def __init__(self, members: _Optional[_Iterable[_Union[Member, _Mapping]]] = ..., run: _Optional[int] = ..., page: _Optional[str] = ...) -> None: ...

class Member(_message.Message):
    __slots__ = ("name", "address", "metrics_address", "index", "incarnation", "alive", "iteration", "joined_seconds_ago", "code_version")
    NAME_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    METRICS_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    ALIVE_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    JOINED_SECONDS_AGO_FIELD_NUMBER: _ClassVar[int]
    CODE_VERSION_FIELD_NUMBER: _ClassVar[int]
    name: str
    address: str
    metrics_address: str
    index: int
    incarnation: int
    alive: bool
    iteration: int
    joined_seconds_ago: float
    code_version: str
    def __init__(self, name: _Optional[str] = ..., address: _Optional[str] = ..., metrics_address: _Optional[str] = ..., index: _Optional[int] = ..., incarnation: _Optional[int] = ..., alive: bool = ..., iteration: _Optional[int] = ..., joined_seconds_ago: _Optional[float] = ..., code_version: _Optional[str] = ...) -> None: ...
