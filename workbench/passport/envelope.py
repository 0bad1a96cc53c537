"""Signed envelopes: DSSE 1.0.2 (secure-systems-lab/dsse eebf7b59, ``protocol.md`` and ``envelope.md``)."""

import base64
import binascii
import json
from typing import Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.hashes import SHA256
from pydantic import BaseModel, Field, ValidationError

from workbench.passport.keys import PublicKey, key_id
from workbench.system.errors import UserError

PAYLOAD_TYPE: Final = "application/vnd.in-toto+json"
"""in-toto/attestation 051624ce, ``spec/v1/envelope.md``."""

_SIGNATURES_MAX: Final = 16
"""Each is checked against the whole content: a file with a million of them would take hours."""

_ANY_ALPHABET: Final = bytes.maketrans(b"-_", b"+/")
"""Verifiers must accept both alphabets of base64."""


class _Signature(BaseModel):
    sig: str


class _Envelope(BaseModel):
    """Unknown fields are ignored, as the standard says; so is the key's id, which no signature covers."""

    payload: str
    payloadType: str  # noqa: N815 the standard's spelling
    signatures: list[_Signature] = Field(max_length=_SIGNATURES_MAX)


def signed(payload: bytes, key: Ed25519PrivateKey) -> str:
    """Return the envelope of a payload as JSON."""
    signature = {"keyid": key_id(key.public_key()), "sig": _text(key.sign(_encoded(PAYLOAD_TYPE, payload)))}
    envelope: dict[str, Any] = {
        "payload": _text(payload),
        "payloadType": PAYLOAD_TYPE,
        "signatures": [signature],
    }
    return json.dumps(envelope, indent=1) + "\n"


def opened(content: bytes, key: PublicKey) -> bytes:
    """Return the payload of an envelope that a key signed: exactly the bytes that were verified.

    Raises
    ------
    UserError
        It is not an envelope, none of its signatures is by this key, or it holds something else.
    """
    try:
        envelope = _Envelope.model_validate_json(content)
        payload = _bytes(envelope.payload)
        signatures = [_bytes(each.sig) for each in envelope.signatures]
        message = _encoded(envelope.payloadType, payload)
    except (ValidationError, binascii.Error, UnicodeEncodeError):
        raise UserError("It is not a signed passport: no DSSE envelope.") from None
    if not any(_is_of(key, each, message) for each in signatures):
        raise UserError(
            "The signature is not of this key, or the passport was changed after it was signed.",
            "Get passport and public key again, each from a source that you trust.",
        )
    if envelope.payloadType != PAYLOAD_TYPE:
        raise UserError(f"The signed content is not a statement of in-toto: its type is not {PAYLOAD_TYPE}.")
    return payload


def _encoded(kind: str, payload: bytes) -> bytes:
    """Return what is signed: the pre-authentication encoding."""
    name = kind.encode()
    return b"DSSEv1 %d %b %d %b" % (len(name), name, len(payload), payload)


def _is_of(key: PublicKey, signature: bytes, message: bytes) -> bool:
    try:
        if isinstance(key, Ed25519PublicKey):
            key.verify(signature, message)
        else:
            key.verify(signature, message, ECDSA(SHA256()))
    except InvalidSignature:
        return False
    return True


def _text(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _bytes(text: str) -> bytes:
    return base64.b64decode(text.encode("ascii").translate(_ANY_ALPHABET), validate=True)
