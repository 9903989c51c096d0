"""A network with mutual TLS: an orchestrator in this process, nodes as processes of their own, and people who lie."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

import grpc
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from prometheus_client.parser import text_string_to_metric_families

from contract.credentials import Credentials, expecting, mutual_channel
from contract.keypair import SigningRequest, private_pem
from contract.refusals import refusal_name
from contract.rpc import enrolment_pb2
from node.link_stream import PUSH
from node.stream_proof import shown
from node.tls_enrolment import ENROL
from orchestrator.control import ControlPlane, ExperimentsService, Submissions, Tls
from orchestrator.control.members import Member
from orchestrator.control.security import Authority, keep_token, leave_authority
from tests.harness import BOUND_S, until
from tests.orchestrator.backends.harness import receipts
from tests.orchestrator.control.harness import experiment_of as small_experiment
from tests.orchestrator.control.harness import scrape

ROOT = Path(__file__).parents[4]


experiment_of = partial(small_experiment, nodes=5)


@dataclass
class Secured:
    control: ControlPlane
    desk: Submissions
    authority: Authority
    vault: Path
    processes: list[asyncio.subprocess.Process] = field(default_factory=list)

    async def start(self, *members: str, module: str = "node") -> None:
        for member in members:
            command = ["-m", module, "--orchestrator", self.control.address, "--security", str(self.vault)]
            with (self.vault / f"{member}.log").open("wb") as log:
                self.processes.append(
                    await asyncio.create_subprocess_exec(
                        sys.executable, *command, "--member", member, cwd=ROOT, stderr=log
                    )
                )
        await until(lambda: {member.name for member in self.control.members.alive()} >= set(members))

    def member(self, name: str) -> Member:
        found = self.control.members.get(name)
        assert found is not None
        return found

    async def enrol(self, member: str, token: str | None = None) -> enrolment_pb2.Enrolled:
        return (await self.enrolled(member, token))[0]

    async def enrolled(
        self, member: str, token: str | None = None
    ) -> tuple[enrolment_pb2.Enrolled, Callable[[], Credentials]]:
        """Ask for a certificate; the answer, and what can be made of it."""
        request = SigningRequest()
        trust = grpc.ssl_channel_credentials(self.authority.certificate)
        async with grpc.aio.secure_channel(
            self.control.address, trust, options=expecting("orchestrator.pame")
        ) as channel:
            enrol = channel.unary_unary(
                ENROL, enrolment_pb2.EnrolRequest.SerializeToString, enrolment_pb2.Enrolled.FromString
            )
            question = enrolment_pb2.EnrolRequest(
                token=self.control.token if token is None else token, member=member, signing_request=request.der
            )
            answer = await enrol(question, timeout=BOUND_S)
        return answer, lambda: request.answered(self.authority.certificate, answer.certificate.pem)

    async def push_as(
        self, credentials: grpc.ChannelCredentials | None, member: str, data: bytes, secret: bytes = b""
    ) -> list[str]:
        """Push a message to a node; the reasons for which it is refused."""
        target = self.member(member)
        options = expecting(target.certificate_name)
        channel = (
            grpc.aio.insecure_channel(target.address)
            if credentials is None
            else grpc.aio.secure_channel(target.address, credentials, options=options)
        )
        async with channel, asyncio.timeout(BOUND_S):
            told = await receipts(channel, PUSH, shown(secret, target.address), data)
        codes = [refused.refusal for receipt in told for refused in receipt.refused]
        return [refusal_name(code) for code in codes]

    async def forged(self, own: bool, valid: timedelta) -> grpc.ChannelCredentials:
        """A certificate of this network's authority or of another one, valid until so long from now."""
        key = ec.generate_private_key(ec.SECP256R1())
        issuer = self.authority._key if own else ec.generate_private_key(ec.SECP256R1())
        name = self.authority._name if own else x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "somebody")])
        now = datetime.now(UTC)
        made = x509.CertificateBuilder().issuer_name(name).subject_name(x509.Name([])).public_key(key.public_key())
        made = made.serial_number(7).not_valid_before(now - timedelta(days=2)).not_valid_after(now + valid)
        made = made.add_extension(x509.SubjectAlternativeName([x509.DNSName("1.ab.node.pame")]), critical=True)
        pem = made.sign(issuer, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
        return mutual_channel(Credentials(self.authority.certificate, pem, private_pem(key)))


@asynccontextmanager
async def secured(folder: Path, life: timedelta = timedelta(hours=1), join_port: int = 0) -> AsyncIterator[Secured]:
    vault = folder / "security"
    authority = Authority(life)
    control = ControlPlane("127.0.0.1", token=keep_token(vault), tls=Tls(authority, join_port))
    desk = Submissions(control, folder / "runs")
    await control.open(ExperimentsService(control.token, desk))
    leave_authority(vault, authority.certificate)
    world = Secured(control, desk, authority, vault)
    try:
        yield world
    finally:
        if desk.cancel(0):
            await desk.ending()
        await control.close("the test is over")
        for process in world.processes:
            if process.returncode is None:
                try:
                    await asyncio.wait_for(process.wait(), 10.0)
                except TimeoutError:
                    process.kill()
                    await process.wait()


def scraped(address: str, name: str) -> dict[str, float]:
    """Samples of one metric, by their reason."""
    families = text_string_to_metric_families(scrape(address))
    samples = [sample for family in families for sample in family.samples if sample.name == name]
    return {sample.labels["reason"]: sample.value for sample in samples}
