"""Keys that sign passports: Ed25519, as PEM."""

import hashlib
import os
from pathlib import Path
from typing import Final, TypeAlias

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
    load_pem_public_key,
)

from workbench.system.errors import UserError
from workbench.system.files import write_private
from workbench.system.paths import PRIVATE, data_dir

PASSPHRASE: Final = "IGZ_CLUSTERS_PASSPORT_PASSPHRASE"  # noqa: S105 the variable's name
"""Variable with the passphrase of the private key. Default: the key has none."""

PublicKey: TypeAlias = Ed25519PublicKey | EllipticCurvePublicKey
"""Keys that verify: our own kind, and that of most key services and of cosign."""

PUBLIC: Final = ".pub"
"""Suffix of the file of a public key."""

_CREATE: Final = "Create one: igz-clusters passport key"


def default_file() -> Path:
    """Return the file of the private key if no other is named."""
    return data_dir() / "passport" / "key.pem"


def create(file: Path) -> str:
    """Create a private key, readable by its owner only, and return its public key as PEM.

    The public key is also written next to it, with the suffix ``PUBLIC``.

    Raises
    ------
    UserError
        One of the files exists, or cannot be written.
    """
    public_file = file.with_suffix(PUBLIC)
    if file == public_file:
        raise UserError(f"{file}: {PUBLIC} is for the public key.", "Name the private key's file, such as key.pem.")
    for each in (file, public_file):
        if each.exists():
            raise UserError(f"{each} exists; it was not changed.", "Name another file, or move it away.")
    key, passphrase = Ed25519PrivateKey.generate(), os.environ.get(PASSPHRASE, "").encode()
    encryption = BestAvailableEncryption(passphrase) if passphrase else NoEncryption()
    public = public_pem(key.public_key())
    try:
        file.parent.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        write_private(file, key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, encryption))
        public_file.write_text(public)
    except OSError as error:
        raise UserError(f"{error.filename or file} cannot be written: {error.strerror}.") from None
    return public


def private_key(file: Path) -> Ed25519PrivateKey:
    """Return the private key in a file.

    Raises
    ------
    UserError
        It is missing, readable by others, of another kind, or its passphrase is missing or wrong.
    """
    try:
        if file.stat().st_mode & 0o077:
            raise UserError(f"{file}: others can read this private key; it was not used.", f"chmod 600 {file}")
        content = file.read_bytes()
    except OSError as error:
        raise UserError(f"{file}: the private key cannot be read: {error.strerror}.", _CREATE) from None
    passphrase = os.environ.get(PASSPHRASE, "").encode() or None
    try:
        key = load_pem_private_key(content, passphrase if b"ENCRYPTED" in content else None)
    except TypeError:
        raise UserError(f"{file}: the private key has a passphrase.", f"Set {PASSPHRASE}.") from None
    except (ValueError, UnsupportedAlgorithm):
        why = f"{PASSPHRASE} is wrong, or it" if passphrase else "it"
        raise UserError(f"{file}: the private key cannot be used: {why} is not a PEM private key.", _CREATE) from None
    if not isinstance(key, Ed25519PrivateKey):
        raise UserError(f"{file}: the private key is not Ed25519.", _CREATE)
    return key


def public_key(file: Path) -> PublicKey:
    """Return the public key in a file.

    Raises
    ------
    UserError
        It cannot be read, or is not a public key of a kind that is allowed.
    """
    hint = "Give the public key of the passport's maker, as PEM: Ed25519, or ECDSA on the curve P-256."
    try:
        content = file.read_bytes()
    except OSError as error:
        raise UserError(f"{file}: the public key cannot be read: {error.strerror}.", hint) from None
    if b"PRIVATE KEY" in content:
        raise UserError(f"{file} is a private key.", hint)
    try:
        key = load_pem_public_key(content)
    except (ValueError, UnsupportedAlgorithm):
        raise UserError(f"{file} is not a public key.", hint) from None
    if isinstance(key, Ed25519PublicKey) or (
        isinstance(key, EllipticCurvePublicKey) and isinstance(key.curve, SECP256R1)
    ):
        return key
    raise UserError(f"{file} is a public key of a kind that is not allowed.", hint)


def public_pem(key: PublicKey) -> str:
    """Return a public key as PEM."""
    return key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()


def key_id(key: PublicKey) -> str:
    """Return the SHA-256 of a public key: only a hint for people."""
    return hashlib.sha256(key.public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)).hexdigest()
