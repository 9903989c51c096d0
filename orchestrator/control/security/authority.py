"""A certificate authority that lives as long as its process: nothing it signed is believed after that."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from contract.credentials import ORCHESTRATOR_NAME, Credentials, node_name
from contract.keypair import private_pem
from pame.errors import PameError

LIFE = timedelta(hours=24)
_OWN_LIFE = timedelta(days=3650)
_CLOCKS_APART = timedelta(minutes=5)
_REQUEST_BYTES = 4096


class BadSigningRequest(PameError):
    """These bytes ask for nothing that can be signed."""


class Authority:
    """Signs certificates of nodes; every one of a member is a new incarnation of it."""

    def __init__(self, life: timedelta = LIFE) -> None:
        """`life`: of a node's certificate."""
        self._life = life
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "PaME testbed")])
        self._incarnations: Counter[str] = Counter()
        own = self._builder(self._key.public_key(), _OWN_LIFE).subject_name(self._name)
        own = own.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        self.certificate = _pem(own.sign(self._key, hashes.SHA256()))
        self.server = self._own_credentials()
        """What the orchestrator itself shows."""

    def sign(self, member: str, signing_request: bytes) -> bytes:
        """A certificate (PEM) of the member's next incarnation for the key in the request."""
        if len(signing_request) > _REQUEST_BYTES:
            raise BadSigningRequest(f"a signing request of {len(signing_request)} bytes; at most {_REQUEST_BYTES}")
        try:
            request = x509.load_der_x509_csr(signing_request)
            key = request.public_key()
            is_signed = request.is_signature_valid
        except (ValueError, UnsupportedAlgorithm):
            raise BadSigningRequest("these bytes are no signing request (PKCS #10, DER)") from None
        if not isinstance(key, ec.EllipticCurvePublicKey) or not isinstance(key.curve, ec.SECP256R1):
            raise BadSigningRequest("the key of a node is on the curve P-256")
        if not is_signed:
            raise BadSigningRequest("the signing request is not signed by its own key")
        self._incarnations[member] += 1
        names = [x509.DNSName(self.name_of(member)), x509.UniformResourceIdentifier(f"pame:{quote(member)}")]
        return self._issue(key, names)

    def name_of(self, member: str) -> str:
        """The name in the member's newest certificate: the only one that is still good."""
        return node_name(member, self._incarnations[member])

    def _own_credentials(self) -> Credentials:
        key = ec.generate_private_key(ec.SECP256R1())
        certificate = self._issue(key.public_key(), [x509.DNSName(ORCHESTRATOR_NAME)], _OWN_LIFE)
        return Credentials(self.certificate, certificate, private_pem(key))

    def _issue(
        self, key: ec.EllipticCurvePublicKey, names: list[x509.GeneralName], life: timedelta | None = None
    ) -> bytes:
        usage = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH, ExtendedKeyUsageOID.SERVER_AUTH])
        made = self._builder(key, life or self._life).subject_name(x509.Name([]))
        made = made.add_extension(x509.SubjectAlternativeName(names), critical=True)
        made = made.add_extension(usage, critical=False)
        made = made.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        return _pem(made.sign(self._key, hashes.SHA256()))

    def _builder(self, key: ec.EllipticCurvePublicKey, life: timedelta) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        begin = now - min(_CLOCKS_APART, life / 10)  # clocks of several machines differ a little
        made = x509.CertificateBuilder().issuer_name(self._name).public_key(key)
        made = made.serial_number(x509.random_serial_number())
        return made.not_valid_before(begin).not_valid_after(now + life)


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)
