"""Signed envelopes: what is signed, what is refused, and what others may sign."""

import base64
import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256

from workbench.passport import envelope
from workbench.passport.envelope import opened, signed
from workbench.system.errors import UserError

KEY = Ed25519PrivateKey.from_private_bytes(b"k" * 32)
PUBLIC = KEY.public_key()
PAYLOAD = b'{"a": 1}'
NOT_OURS = "The signature is not of this key"


def changed(**fields: Any) -> bytes:
    return json.dumps({**json.loads(signed(PAYLOAD, KEY)), **fields}).encode()


def signature(text: str) -> dict[str, str]:
    return {"sig": text}


def ours() -> dict[str, str]:
    found: dict[str, str] = json.loads(signed(PAYLOAD, KEY))["signatures"][0]
    return found


def test_what_was_signed_is_returned() -> None:
    assert opened(signed(PAYLOAD, KEY).encode(), PUBLIC) == PAYLOAD


def test_what_is_signed_is_the_standards_encoding() -> None:
    """The example of DSSE's ``protocol.md``."""
    kind = "http://example.com/HelloWorld"
    assert envelope._encoded(kind, b"hello world") == b"DSSEv1 29 http://example.com/HelloWorld 11 hello world"


def test_a_signature_of_the_standards_example_is_valid() -> None:
    """Its key and signature, the latter in the encoding that key services use; only the type is not ours."""
    x = 46950820868899156662930047687818585632848591499744589407958293238635476079160
    y = 5640078356564379163099075877009565129882514886557779369047442380624545832820
    raw = base64.b64decode("A3JqsQGtVsJ2O2xqrI5IcnXip5GToJ3F+FnZ+O88SjtR6rDAajabZKciJTfUiHqJPcIAriEGAHTVeCUjW2JIZA==")
    encoded = encode_dss_signature(int.from_bytes(raw[:32]), int.from_bytes(raw[32:]))
    example = {
        "payload": "aGVsbG8gd29ybGQ=",
        "payloadType": "http://example.com/HelloWorld",
        "signatures": [signature(base64.b64encode(encoded).decode())],
    }
    key = ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key()
    with pytest.raises(UserError, match="is not a statement of in-toto"):
        opened(json.dumps(example).encode(), key)
    example["payload"] = "aGVsbG8gd29ybGQh"
    with pytest.raises(UserError, match=NOT_OURS):
        opened(json.dumps(example).encode(), key)


def test_a_key_service_may_sign() -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    by_service = key.sign(envelope._encoded(envelope.PAYLOAD_TYPE, PAYLOAD), ec.ECDSA(SHA256()))
    content = changed(signatures=[signature(base64.b64encode(by_service).decode())])
    assert opened(content, key.public_key()) == PAYLOAD
    with pytest.raises(UserError, match=NOT_OURS):
        opened(content, PUBLIC)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(changed(payload=base64.b64encode(b'{"a": 2}').decode()), id="another payload"),
        pytest.param(changed(payloadType="application/json"), id="another type"),
        pytest.param(changed(signatures=[]), id="no signature"),
        pytest.param(changed(signatures=[signature("AAAA")]), id="another signature"),
        pytest.param(changed(signatures=[signature("")]), id="an empty signature"),
        pytest.param(
            signed(PAYLOAD, Ed25519PrivateKey.from_private_bytes(b"o" * 32)).encode(), id="a signature of another key"
        ),
    ],
)
def test_a_forged_envelope_is_refused(content: bytes) -> None:
    with pytest.raises(UserError, match=NOT_OURS):
        opened(content, PUBLIC)


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(changed(signatures=[signature("AAAA"), ours()]), id="a further signature"),
        pytest.param(changed(signatures=[{**ours(), "keyid": "another"}]), id="another hint for the key"),
        pytest.param(changed(more="fields"), id="fields of later versions"),
        pytest.param(
            changed(signatures=[signature(base64.urlsafe_b64encode(base64.b64decode(ours()["sig"])).decode())]),
            id="the other alphabet",
        ),
    ],
)
def test_what_the_standard_allows_is_accepted(content: bytes) -> None:
    assert opened(content, PUBLIC) == PAYLOAD


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff",
        b"[]",
        b"{}",
        PAYLOAD,
        changed(payload=1),
        changed(payload="?"),
        changed(signatures=[signature("?")]),
        changed(signatures=[signature("AAAA")] * 17),
    ],
)
def test_what_is_no_envelope_is_refused(content: bytes) -> None:
    with pytest.raises(UserError, match="It is not a signed passport"):
        opened(content, PUBLIC)
