"""A key that never leaves this process, and the question for its certificate. Imports `cryptography`: 9 MiB."""

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from contract.credentials import Credentials


class SigningRequest:
    """A new key, and the question for its certificate."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        request = x509.CertificateSigningRequestBuilder().subject_name(x509.Name([]))
        self.der = request.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.DER)

    def answered(self, authority: bytes, certificate: bytes) -> Credentials:
        found = x509.load_pem_x509_certificate(certificate)
        begin, end = found.not_valid_before_utc.timestamp(), found.not_valid_after_utc.timestamp()
        return Credentials(authority, certificate, private_pem(self._key), (begin + end) / 2)


def private_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    """For gRPC, which wants it so; kept in memory only."""
    return key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
