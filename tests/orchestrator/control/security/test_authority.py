"""The certificate authority: what it signs, for how long, and what it does not sign."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from hypothesis import given
from hypothesis import strategies as st

from contract.credentials import Credentials, node_name
from contract.keypair import SigningRequest
from orchestrator.control.security import Authority, BadSigningRequest

AUTHORITY = Authority()
NOBODY = x509.Name([])


def read(pem: bytes) -> x509.Certificate:
    return x509.load_pem_x509_certificate(pem)


def test_a_certificate_names_member_and_incarnation_for_the_key_that_asked() -> None:
    authority, request = Authority(timedelta(hours=2)), SigningRequest()
    first, second = (read(authority.sign("node 7/ä", request.der)) for _ in range(2))
    names = second.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    assert names.get_values_for_type(x509.DNSName) == [node_name("node 7/ä", 2)] == [authority.name_of("node 7/ä")]
    assert names.get_values_for_type(x509.UniformResourceIdentifier) == ["pame:node%207/%C3%A4"]
    assert first.serial_number != second.serial_number
    second.verify_directly_issued_by(read(authority.certificate))
    credentials = request.answered(authority.certificate, second.public_bytes(serialization.Encoding.PEM))
    key = serialization.load_pem_private_key(credentials.key, None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    assert key.public_key() == second.public_key()
    assert "PRIVATE" not in repr(credentials)


def test_a_certificate_ends_with_its_life_and_is_to_be_renewed_at_half_of_it() -> None:
    life, request = timedelta(hours=2), SigningRequest()
    pem = Authority(life).sign("a", request.der)
    now = datetime.now(UTC)
    assert abs(read(pem).not_valid_after_utc - now - life) < timedelta(minutes=1)
    half = request.answered(b"", pem).renew_at - now.timestamp()
    assert 0.45 * life.total_seconds() < half <= 0.5 * life.total_seconds()
    assert not request.answered(b"", pem).is_half_over
    assert Credentials(b"", pem, b"", renew_at=now.timestamp()).is_half_over


def test_only_an_authority_may_sign_and_a_node_may_not() -> None:
    own = read(AUTHORITY.certificate).extensions.get_extension_for_class(x509.BasicConstraints).value
    node = read(AUTHORITY.sign("a", SigningRequest().der)).extensions.get_extension_for_class(x509.BasicConstraints)
    assert (own.ca, own.path_length, node.value.ca) == (True, 0, False)


def test_names_of_different_members_never_meet() -> None:
    names = {node_name(member, k) for member in ("a", "b", "1.a", "a.node.pame", "") for k in (1, 2, 11)}
    assert len(names) == 15


def _request(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> bytes:
    made = x509.CertificateSigningRequestBuilder().subject_name(NOBODY).sign(key, hashes.SHA256())
    return made.public_bytes(serialization.Encoding.DER)


WRONG = {
    "nothing": b"",
    "too long": bytes(5000),
    "RSA": _request(rsa.generate_private_key(65537, 2048)),
    "another curve": _request(ec.generate_private_key(ec.SECP384R1())),
    "a broken signature": SigningRequest().der[:-1] + b"\0",
}


@pytest.mark.parametrize("what", WRONG)
def test_what_cannot_be_signed_is_refused_and_makes_no_incarnation(what: str) -> None:
    authority = Authority()
    before = authority.name_of("a")
    with pytest.raises(BadSigningRequest):
        authority.sign("a", WRONG[what])
    assert authority.name_of("a") == before


@given(st.binary(max_size=300), st.integers(0, 400))
def test_any_bytes_are_signed_or_refused(noise: bytes, place: int) -> None:
    good = SigningRequest().der
    for data in (noise, good[:place] + noise[:3] + good[place + len(noise[:3]) :]):
        with suppress(BadSigningRequest):
            read(AUTHORITY.sign("fuzz", data))
