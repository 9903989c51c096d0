from contract.rpc import refusal_pb2 as _refusal_pb2
from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from typing import ClassVar as _ClassVar, Iterable as _Iterable, Mapping as _Mapping, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class FromNode(_message.Message):
    __slots__ = ("join", "ready", "report", "snapshot", "done", "finished", "failure", "goodbye", "heartbeat", "fault", "moved", "probed", "data_wanted")
    JOIN_FIELD_NUMBER: _ClassVar[int]
    READY_FIELD_NUMBER: _ClassVar[int]
    REPORT_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_FIELD_NUMBER: _ClassVar[int]
    DONE_FIELD_NUMBER: _ClassVar[int]
    FINISHED_FIELD_NUMBER: _ClassVar[int]
    FAILURE_FIELD_NUMBER: _ClassVar[int]
    GOODBYE_FIELD_NUMBER: _ClassVar[int]
    HEARTBEAT_FIELD_NUMBER: _ClassVar[int]
    FAULT_FIELD_NUMBER: _ClassVar[int]
    MOVED_FIELD_NUMBER: _ClassVar[int]
    PROBED_FIELD_NUMBER: _ClassVar[int]
    DATA_WANTED_FIELD_NUMBER: _ClassVar[int]
    join: Join
    ready: Ready
    report: Report
    snapshot: SnapshotChunk
    done: Done
    finished: Finished
    failure: Failure
    goodbye: Goodbye
    heartbeat: Heartbeat
    fault: FaultReport
    moved: Moved
    probed: Probed
    data_wanted: DataWanted
    def __init__(self, join: _Optional[_Union[Join, _Mapping]] = ..., ready: _Optional[_Union[Ready, _Mapping]] = ..., report: _Optional[_Union[Report, _Mapping]] = ..., snapshot: _Optional[_Union[SnapshotChunk, _Mapping]] = ..., done: _Optional[_Union[Done, _Mapping]] = ..., finished: _Optional[_Union[Finished, _Mapping]] = ..., failure: _Optional[_Union[Failure, _Mapping]] = ..., goodbye: _Optional[_Union[Goodbye, _Mapping]] = ..., heartbeat: _Optional[_Union[Heartbeat, _Mapping]] = ..., fault: _Optional[_Union[FaultReport, _Mapping]] = ..., moved: _Optional[_Union[Moved, _Mapping]] = ..., probed: _Optional[_Union[Probed, _Mapping]] = ..., data_wanted: _Optional[_Union[DataWanted, _Mapping]] = ...) -> None: ...

class ToNode(_message.Message):
    __slots__ = ("welcome", "refused", "assignment", "start", "neighbours", "stop", "dismissed", "faults", "probe", "data_piece", "hold")
    WELCOME_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    ASSIGNMENT_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    NEIGHBOURS_FIELD_NUMBER: _ClassVar[int]
    STOP_FIELD_NUMBER: _ClassVar[int]
    DISMISSED_FIELD_NUMBER: _ClassVar[int]
    FAULTS_FIELD_NUMBER: _ClassVar[int]
    PROBE_FIELD_NUMBER: _ClassVar[int]
    DATA_PIECE_FIELD_NUMBER: _ClassVar[int]
    HOLD_FIELD_NUMBER: _ClassVar[int]
    welcome: Welcome
    refused: Refused
    assignment: Assignment
    start: Start
    neighbours: Neighbours
    stop: Stop
    dismissed: Dismissed
    faults: Faults
    probe: Probe
    data_piece: DataPiece
    hold: Hold
    def __init__(self, welcome: _Optional[_Union[Welcome, _Mapping]] = ..., refused: _Optional[_Union[Refused, _Mapping]] = ..., assignment: _Optional[_Union[Assignment, _Mapping]] = ..., start: _Optional[_Union[Start, _Mapping]] = ..., neighbours: _Optional[_Union[Neighbours, _Mapping]] = ..., stop: _Optional[_Union[Stop, _Mapping]] = ..., dismissed: _Optional[_Union[Dismissed, _Mapping]] = ..., faults: _Optional[_Union[Faults, _Mapping]] = ..., probe: _Optional[_Union[Probe, _Mapping]] = ..., data_piece: _Optional[_Union[DataPiece, _Mapping]] = ..., hold: _Optional[_Union[Hold, _Mapping]] = ...) -> None: ...

class Join(_message.Message):
    __slots__ = ("token", "member", "address", "metrics_address", "code_version", "fingerprint", "pid", "run", "incarnation", "capabilities")
    TOKEN_FIELD_NUMBER: _ClassVar[int]
    MEMBER_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    METRICS_ADDRESS_FIELD_NUMBER: _ClassVar[int]
    CODE_VERSION_FIELD_NUMBER: _ClassVar[int]
    FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    PID_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    CAPABILITIES_FIELD_NUMBER: _ClassVar[int]
    token: str
    member: str
    address: str
    metrics_address: str
    code_version: str
    fingerprint: str
    pid: int
    run: int
    incarnation: int
    capabilities: _containers.RepeatedScalarFieldContainer[str]
    def __init__(self, token: _Optional[str] = ..., member: _Optional[str] = ..., address: _Optional[str] = ..., metrics_address: _Optional[str] = ..., code_version: _Optional[str] = ..., fingerprint: _Optional[str] = ..., pid: _Optional[int] = ..., run: _Optional[int] = ..., incarnation: _Optional[int] = ..., capabilities: _Optional[_Iterable[str]] = ...) -> None: ...

class Welcome(_message.Message):
    __slots__ = ("member",)
    MEMBER_FIELD_NUMBER: _ClassVar[int]
    member: str
    def __init__(self, member: _Optional[str] = ...) -> None: ...

class Refused(_message.Message):
    __slots__ = ("refusal", "detail")
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    refusal: _refusal_pb2.Refusal
    detail: str
    def __init__(self, refusal: _Optional[_Union[_refusal_pb2.Refusal, str]] = ..., detail: _Optional[str] = ...) -> None: ...

class Assignment(_message.Message):
    __slots__ = ("run", "seed", "index", "nodes", "edges", "periods", "problem", "algorithm", "exchange", "messages", "compute", "link", "stop", "snapshot_every", "neighbours", "incarnation", "resume", "tls", "plan", "secret", "data")
    RUN_FIELD_NUMBER: _ClassVar[int]
    SEED_FIELD_NUMBER: _ClassVar[int]
    INDEX_FIELD_NUMBER: _ClassVar[int]
    NODES_FIELD_NUMBER: _ClassVar[int]
    EDGES_FIELD_NUMBER: _ClassVar[int]
    PERIODS_FIELD_NUMBER: _ClassVar[int]
    PROBLEM_FIELD_NUMBER: _ClassVar[int]
    ALGORITHM_FIELD_NUMBER: _ClassVar[int]
    EXCHANGE_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    COMPUTE_FIELD_NUMBER: _ClassVar[int]
    LINK_FIELD_NUMBER: _ClassVar[int]
    STOP_FIELD_NUMBER: _ClassVar[int]
    SNAPSHOT_EVERY_FIELD_NUMBER: _ClassVar[int]
    NEIGHBOURS_FIELD_NUMBER: _ClassVar[int]
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    RESUME_FIELD_NUMBER: _ClassVar[int]
    TLS_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    SECRET_FIELD_NUMBER: _ClassVar[int]
    DATA_FIELD_NUMBER: _ClassVar[int]
    run: int
    seed: int
    index: int
    nodes: int
    edges: _containers.RepeatedScalarFieldContainer[int]
    periods: _containers.RepeatedScalarFieldContainer[int]
    problem: str
    algorithm: str
    exchange: str
    messages: str
    compute: str
    link: str
    stop: str
    snapshot_every: int
    neighbours: _containers.RepeatedCompositeFieldContainer[Neighbour]
    incarnation: int
    resume: Resumption
    tls: bool
    plan: str
    secret: bytes
    data: DataNotice
    def __init__(self, run: _Optional[int] = ..., seed: _Optional[int] = ..., index: _Optional[int] = ..., nodes: _Optional[int] = ..., edges: _Optional[_Iterable[int]] = ..., periods: _Optional[_Iterable[int]] = ..., problem: _Optional[str] = ..., algorithm: _Optional[str] = ..., exchange: _Optional[str] = ..., messages: _Optional[str] = ..., compute: _Optional[str] = ..., link: _Optional[str] = ..., stop: _Optional[str] = ..., snapshot_every: _Optional[int] = ..., neighbours: _Optional[_Iterable[_Union[Neighbour, _Mapping]]] = ..., incarnation: _Optional[int] = ..., resume: _Optional[_Union[Resumption, _Mapping]] = ..., tls: bool = ..., plan: _Optional[str] = ..., secret: _Optional[bytes] = ..., data: _Optional[_Union[DataNotice, _Mapping]] = ...) -> None: ...

class DataNotice(_message.Message):
    __slots__ = ("manifest", "samples")
    MANIFEST_FIELD_NUMBER: _ClassVar[int]
    SAMPLES_FIELD_NUMBER: _ClassVar[int]
    manifest: str
    samples: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, manifest: _Optional[str] = ..., samples: _Optional[_Iterable[int]] = ...) -> None: ...

class DataWanted(_message.Message):
    __slots__ = ("run", "offset")
    RUN_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    run: int
    offset: int
    def __init__(self, run: _Optional[int] = ..., offset: _Optional[int] = ...) -> None: ...

class DataPiece(_message.Message):
    __slots__ = ("run", "offset", "content", "checksum")
    RUN_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    CONTENT_FIELD_NUMBER: _ClassVar[int]
    CHECKSUM_FIELD_NUMBER: _ClassVar[int]
    run: int
    offset: int
    content: bytes
    checksum: int
    def __init__(self, run: _Optional[int] = ..., offset: _Optional[int] = ..., content: _Optional[bytes] = ..., checksum: _Optional[int] = ...) -> None: ...

class Neighbour(_message.Message):
    __slots__ = ("index", "address", "incarnation", "name", "link", "link_in")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    INCARNATION_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    LINK_FIELD_NUMBER: _ClassVar[int]
    LINK_IN_FIELD_NUMBER: _ClassVar[int]
    index: int
    address: str
    incarnation: int
    name: str
    link: str
    link_in: str
    def __init__(self, index: _Optional[int] = ..., address: _Optional[str] = ..., incarnation: _Optional[int] = ..., name: _Optional[str] = ..., link: _Optional[str] = ..., link_in: _Optional[str] = ...) -> None: ...

class Resumption(_message.Message):
    __slots__ = ("iteration", "model", "seconds")
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    MODEL_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    iteration: int
    model: bytes
    seconds: float
    def __init__(self, iteration: _Optional[int] = ..., model: _Optional[bytes] = ..., seconds: _Optional[float] = ...) -> None: ...

class Ready(_message.Message):
    __slots__ = ("run", "links", "boot", "lossless", "torch_fingerprint")
    RUN_FIELD_NUMBER: _ClassVar[int]
    LINKS_FIELD_NUMBER: _ClassVar[int]
    BOOT_FIELD_NUMBER: _ClassVar[int]
    LOSSLESS_FIELD_NUMBER: _ClassVar[int]
    TORCH_FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    run: int
    links: _containers.RepeatedCompositeFieldContainer[RealisedLink]
    boot: str
    lossless: str
    torch_fingerprint: str
    def __init__(self, run: _Optional[int] = ..., links: _Optional[_Iterable[_Union[RealisedLink, _Mapping]]] = ..., boot: _Optional[str] = ..., lossless: _Optional[str] = ..., torch_fingerprint: _Optional[str] = ...) -> None: ...

class RealisedLink(_message.Message):
    __slots__ = ("sender", "receiver", "property", "asked", "mechanism", "held")
    SENDER_FIELD_NUMBER: _ClassVar[int]
    RECEIVER_FIELD_NUMBER: _ClassVar[int]
    PROPERTY_FIELD_NUMBER: _ClassVar[int]
    ASKED_FIELD_NUMBER: _ClassVar[int]
    MECHANISM_FIELD_NUMBER: _ClassVar[int]
    HELD_FIELD_NUMBER: _ClassVar[int]
    sender: int
    receiver: int
    property: str
    asked: float
    mechanism: str
    held: float
    def __init__(self, sender: _Optional[int] = ..., receiver: _Optional[int] = ..., property: _Optional[str] = ..., asked: _Optional[float] = ..., mechanism: _Optional[str] = ..., held: _Optional[float] = ...) -> None: ...

class Probe(_message.Message):
    __slots__ = ("run", "number", "kind", "peer", "seconds", "echo")
    class Kind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
        __slots__ = ()
        KIND_UNSPECIFIED: _ClassVar[Probe.Kind]
        KIND_TIMING: _ClassVar[Probe.Kind]
        KIND_RATE: _ClassVar[Probe.Kind]
        KIND_CAPACITY: _ClassVar[Probe.Kind]
        KIND_COLLECT: _ClassVar[Probe.Kind]
    KIND_UNSPECIFIED: Probe.Kind
    KIND_TIMING: Probe.Kind
    KIND_RATE: Probe.Kind
    KIND_CAPACITY: Probe.Kind
    KIND_COLLECT: Probe.Kind
    RUN_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    PEER_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    ECHO_FIELD_NUMBER: _ClassVar[int]
    run: int
    number: int
    kind: Probe.Kind
    peer: int
    seconds: float
    echo: bool
    def __init__(self, run: _Optional[int] = ..., number: _Optional[int] = ..., kind: _Optional[_Union[Probe.Kind, str]] = ..., peer: _Optional[int] = ..., seconds: _Optional[float] = ..., echo: bool = ...) -> None: ...

class Probed(_message.Message):
    __slots__ = ("run", "number", "peer", "datagrams", "messages", "capacity_bps", "trouble")
    RUN_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    PEER_FIELD_NUMBER: _ClassVar[int]
    DATAGRAMS_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    CAPACITY_BPS_FIELD_NUMBER: _ClassVar[int]
    TROUBLE_FIELD_NUMBER: _ClassVar[int]
    run: int
    number: int
    peer: int
    datagrams: Sample
    messages: Sample
    capacity_bps: float
    trouble: str
    def __init__(self, run: _Optional[int] = ..., number: _Optional[int] = ..., peer: _Optional[int] = ..., datagrams: _Optional[_Union[Sample, _Mapping]] = ..., messages: _Optional[_Union[Sample, _Mapping]] = ..., capacity_bps: _Optional[float] = ..., trouble: _Optional[str] = ...) -> None: ...

class Sample(_message.Message):
    __slots__ = ("sent", "bytes", "arrival_ns", "age_ns", "round_trip_ns", "overrun")
    SENT_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    ARRIVAL_NS_FIELD_NUMBER: _ClassVar[int]
    AGE_NS_FIELD_NUMBER: _ClassVar[int]
    ROUND_TRIP_NS_FIELD_NUMBER: _ClassVar[int]
    OVERRUN_FIELD_NUMBER: _ClassVar[int]
    sent: int
    bytes: int
    arrival_ns: _containers.RepeatedScalarFieldContainer[int]
    age_ns: _containers.RepeatedScalarFieldContainer[int]
    round_trip_ns: _containers.RepeatedScalarFieldContainer[int]
    overrun: int
    def __init__(self, sent: _Optional[int] = ..., bytes: _Optional[int] = ..., arrival_ns: _Optional[_Iterable[int]] = ..., age_ns: _Optional[_Iterable[int]] = ..., round_trip_ns: _Optional[_Iterable[int]] = ..., overrun: _Optional[int] = ...) -> None: ...

class Start(_message.Message):
    __slots__ = ("run", "held")
    RUN_FIELD_NUMBER: _ClassVar[int]
    HELD_FIELD_NUMBER: _ClassVar[int]
    run: int
    held: bool
    def __init__(self, run: _Optional[int] = ..., held: bool = ...) -> None: ...

class Hold(_message.Message):
    __slots__ = ("run", "on")
    RUN_FIELD_NUMBER: _ClassVar[int]
    ON_FIELD_NUMBER: _ClassVar[int]
    run: int
    on: bool
    def __init__(self, run: _Optional[int] = ..., on: bool = ...) -> None: ...

class Neighbours(_message.Message):
    __slots__ = ("run", "neighbours")
    RUN_FIELD_NUMBER: _ClassVar[int]
    NEIGHBOURS_FIELD_NUMBER: _ClassVar[int]
    run: int
    neighbours: _containers.RepeatedCompositeFieldContainer[Neighbour]
    def __init__(self, run: _Optional[int] = ..., neighbours: _Optional[_Iterable[_Union[Neighbour, _Mapping]]] = ...) -> None: ...

class Moved(_message.Message):
    __slots__ = ("run", "neighbours")
    RUN_FIELD_NUMBER: _ClassVar[int]
    NEIGHBOURS_FIELD_NUMBER: _ClassVar[int]
    run: int
    neighbours: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, run: _Optional[int] = ..., neighbours: _Optional[_Iterable[int]] = ...) -> None: ...

class Report(_message.Message):
    __slots__ = ("run", "records", "out", "into", "totals")
    RUN_FIELD_NUMBER: _ClassVar[int]
    RECORDS_FIELD_NUMBER: _ClassVar[int]
    OUT_FIELD_NUMBER: _ClassVar[int]
    INTO_FIELD_NUMBER: _ClassVar[int]
    TOTALS_FIELD_NUMBER: _ClassVar[int]
    run: int
    records: _containers.RepeatedCompositeFieldContainer[Record]
    out: _containers.RepeatedCompositeFieldContainer[Counted]
    into: _containers.RepeatedCompositeFieldContainer[Counted]
    totals: Counted
    def __init__(self, run: _Optional[int] = ..., records: _Optional[_Iterable[_Union[Record, _Mapping]]] = ..., out: _Optional[_Iterable[_Union[Counted, _Mapping]]] = ..., into: _Optional[_Iterable[_Union[Counted, _Mapping]]] = ..., totals: _Optional[_Union[Counted, _Mapping]] = ...) -> None: ...

class Record(_message.Message):
    __slots__ = ("iteration", "seconds", "waited_s", "wanted", "received", "coverage", "starved", "late", "messages", "bytes", "lost", "staleness")
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    WAITED_S_FIELD_NUMBER: _ClassVar[int]
    WANTED_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_FIELD_NUMBER: _ClassVar[int]
    COVERAGE_FIELD_NUMBER: _ClassVar[int]
    STARVED_FIELD_NUMBER: _ClassVar[int]
    LATE_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    BYTES_FIELD_NUMBER: _ClassVar[int]
    LOST_FIELD_NUMBER: _ClassVar[int]
    STALENESS_FIELD_NUMBER: _ClassVar[int]
    iteration: int
    seconds: float
    waited_s: float
    wanted: int
    received: int
    coverage: float
    starved: bool
    late: int
    messages: int
    bytes: int
    lost: int
    staleness: float
    def __init__(self, iteration: _Optional[int] = ..., seconds: _Optional[float] = ..., waited_s: _Optional[float] = ..., wanted: _Optional[int] = ..., received: _Optional[int] = ..., coverage: _Optional[float] = ..., starved: bool = ..., late: _Optional[int] = ..., messages: _Optional[int] = ..., bytes: _Optional[int] = ..., lost: _Optional[int] = ..., staleness: _Optional[float] = ...) -> None: ...

class Counted(_message.Message):
    __slots__ = ("peer", "whole", "seconds", "refused_by", "refused_detail", "sockets")
    PEER_FIELD_NUMBER: _ClassVar[int]
    WHOLE_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    REFUSED_BY_FIELD_NUMBER: _ClassVar[int]
    REFUSED_DETAIL_FIELD_NUMBER: _ClassVar[int]
    SOCKETS_FIELD_NUMBER: _ClassVar[int]
    peer: int
    whole: _containers.RepeatedScalarFieldContainer[int]
    seconds: _containers.RepeatedScalarFieldContainer[float]
    refused_by: _containers.RepeatedCompositeFieldContainer[RefusedCount]
    refused_detail: str
    sockets: _containers.RepeatedScalarFieldContainer[int]
    def __init__(self, peer: _Optional[int] = ..., whole: _Optional[_Iterable[int]] = ..., seconds: _Optional[_Iterable[float]] = ..., refused_by: _Optional[_Iterable[_Union[RefusedCount, _Mapping]]] = ..., refused_detail: _Optional[str] = ..., sockets: _Optional[_Iterable[int]] = ...) -> None: ...

class RefusedCount(_message.Message):
    __slots__ = ("refusal", "messages")
    REFUSAL_FIELD_NUMBER: _ClassVar[int]
    MESSAGES_FIELD_NUMBER: _ClassVar[int]
    refusal: _refusal_pb2.Refusal
    messages: int
    def __init__(self, refusal: _Optional[_Union[_refusal_pb2.Refusal, str]] = ..., messages: _Optional[int] = ...) -> None: ...

class SnapshotChunk(_message.Message):
    __slots__ = ("run", "iteration", "offset", "values", "result")
    RUN_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    run: int
    iteration: int
    offset: int
    values: bytes
    result: bool
    def __init__(self, run: _Optional[int] = ..., iteration: _Optional[int] = ..., offset: _Optional[int] = ..., values: _Optional[bytes] = ..., result: bool = ...) -> None: ...

class Done(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: int
    def __init__(self, run: _Optional[int] = ...) -> None: ...

class Stop(_message.Message):
    __slots__ = ("run", "iteration")
    RUN_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    run: int
    iteration: int
    def __init__(self, run: _Optional[int] = ..., iteration: _Optional[int] = ...) -> None: ...

class Finished(_message.Message):
    __slots__ = ("run",)
    RUN_FIELD_NUMBER: _ClassVar[int]
    run: int
    def __init__(self, run: _Optional[int] = ...) -> None: ...

class Failure(_message.Message):
    __slots__ = ("run", "reason", "diverged", "unheard")
    RUN_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    DIVERGED_FIELD_NUMBER: _ClassVar[int]
    UNHEARD_FIELD_NUMBER: _ClassVar[int]
    run: int
    reason: str
    diverged: bool
    unheard: bool
    def __init__(self, run: _Optional[int] = ..., reason: _Optional[str] = ..., diverged: bool = ..., unheard: bool = ...) -> None: ...

class FaultReport(_message.Message):
    __slots__ = ("run", "number", "begins", "seconds", "iteration", "mechanism", "detail", "failed", "planned", "by_iteration", "took", "held")
    RUN_FIELD_NUMBER: _ClassVar[int]
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    BEGINS_FIELD_NUMBER: _ClassVar[int]
    SECONDS_FIELD_NUMBER: _ClassVar[int]
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    MECHANISM_FIELD_NUMBER: _ClassVar[int]
    DETAIL_FIELD_NUMBER: _ClassVar[int]
    FAILED_FIELD_NUMBER: _ClassVar[int]
    PLANNED_FIELD_NUMBER: _ClassVar[int]
    BY_ITERATION_FIELD_NUMBER: _ClassVar[int]
    TOOK_FIELD_NUMBER: _ClassVar[int]
    HELD_FIELD_NUMBER: _ClassVar[int]
    run: int
    number: int
    begins: bool
    seconds: float
    iteration: int
    mechanism: str
    detail: str
    failed: bool
    planned: float
    by_iteration: bool
    took: float
    held: _containers.RepeatedCompositeFieldContainer[RealisedLink]
    def __init__(self, run: _Optional[int] = ..., number: _Optional[int] = ..., begins: bool = ..., seconds: _Optional[float] = ..., iteration: _Optional[int] = ..., mechanism: _Optional[str] = ..., detail: _Optional[str] = ..., failed: bool = ..., planned: _Optional[float] = ..., by_iteration: bool = ..., took: _Optional[float] = ..., held: _Optional[_Iterable[_Union[RealisedLink, _Mapping]]] = ...) -> None: ...

class Faults(_message.Message):
    __slots__ = ("run", "plan")
    RUN_FIELD_NUMBER: _ClassVar[int]
    PLAN_FIELD_NUMBER: _ClassVar[int]
    run: int
    plan: str
    def __init__(self, run: _Optional[int] = ..., plan: _Optional[str] = ...) -> None: ...

class Heartbeat(_message.Message):
    __slots__ = ("iteration",)
    ITERATION_FIELD_NUMBER: _ClassVar[int]
    iteration: int
    def __init__(self, iteration: _Optional[int] = ...) -> None: ...

class Goodbye(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...

class Dismissed(_message.Message):
    __slots__ = ("reason",)
    REASON_FIELD_NUMBER: _ClassVar[int]
    reason: str
    def __init__(self, reason: _Optional[str] = ...) -> None: ...
