"""Keys: how they are kept, and which are refused."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from workbench.passport import keys
from workbench.system.errors import UserError


@pytest.fixture(autouse=True)
def _without_passphrase(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(keys.PASSPHRASE, raising=False)


def refusal(file: Path) -> str:
    with pytest.raises(UserError) as refused:
        keys.private_key(file)
    return str(refused.value)


def test_a_new_key_is_its_owners_and_fits_its_public_key(tmp_path: Path) -> None:
    file = tmp_path / "folder" / "key.pem"
    public = keys.create(file)
    assert file.stat().st_mode & 0o777 == 0o600
    assert file.parent.stat().st_mode & 0o077 == 0
    assert file.with_suffix(".pub").read_text() == public
    assert keys.public_pem(keys.private_key(file).public_key()) == public
    assert keys.key_id(keys.public_key(file.with_suffix(".pub"))) == keys.key_id(keys.private_key(file).public_key())


def test_an_existing_key_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "key.pem"
    keys.create(file)
    before = file.read_bytes()
    with pytest.raises(UserError, match=r"key\.pem exists; it was not changed"):
        keys.create(file)
    assert file.read_bytes() == before


def test_a_public_key_of_somebody_else_is_kept(tmp_path: Path) -> None:
    (tmp_path / "key.pub").write_text("theirs")
    with pytest.raises(UserError, match=r"key\.pub exists; it was not changed"):
        keys.create(tmp_path / "key.pem")
    assert [each.name for each in tmp_path.iterdir()] == ["key.pub"]


def test_the_private_key_is_not_written_where_the_public_one_belongs(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"\.pub is for the public key"):
        keys.create(tmp_path / "key.pub")


def test_a_key_that_others_can_read_is_not_used(tmp_path: Path) -> None:
    file = tmp_path / "key.pem"
    keys.create(file)
    file.chmod(0o640)
    assert f"chmod 600 {file}" in refusal(file)


def test_a_passphrase_encrypts_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "key.pem"
    monkeypatch.setenv(keys.PASSPHRASE, "open sesame")
    keys.create(file)
    assert b"ENCRYPTED" in file.read_bytes()
    keys.private_key(file)
    monkeypatch.setenv(keys.PASSPHRASE, "open barley")
    assert f"{keys.PASSPHRASE} is wrong" in refusal(file)
    monkeypatch.delenv(keys.PASSPHRASE)
    assert f"has a passphrase.\nSet {keys.PASSPHRASE}." in refusal(file)


def test_a_passphrase_that_a_key_does_not_need_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "key.pem"
    keys.create(file)
    monkeypatch.setenv(keys.PASSPHRASE, "of another key")
    keys.private_key(file)


@pytest.mark.parametrize("content", [b"", b"no key", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"])
def test_what_is_no_private_key_is_refused(content: bytes, tmp_path: Path) -> None:
    file = tmp_path / "key.pem"
    file.write_bytes(content)
    file.chmod(0o600)
    assert "is not a PEM private key" in refusal(file)


def test_a_missing_key_says_how_to_create_one(tmp_path: Path) -> None:
    assert "igz-clusters passport key" in refusal(tmp_path / "key.pem")


def test_only_known_kinds_of_public_keys_verify(tmp_path: Path) -> None:
    file = tmp_path / "key.pub"
    pem = (Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    for wrong in (rsa.generate_private_key(65537, 2048), ec.generate_private_key(ec.SECP384R1())):
        file.write_bytes(wrong.public_key().public_bytes(*pem))
        with pytest.raises(UserError, match="of a kind that is not allowed"):
            keys.public_key(file)
    file.write_bytes(ec.generate_private_key(ec.SECP256R1()).public_key().public_bytes(*pem))
    keys.public_key(file)


def test_a_private_key_in_place_of_a_public_one_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "key.pem"
    keys.create(file)
    with pytest.raises(UserError, match="is a private key"):
        keys.public_key(file)
    file.write_text("no key")
    with pytest.raises(UserError, match="is not a public key"):
        keys.public_key(file)


def test_an_rsa_key_does_not_sign(tmp_path: Path) -> None:
    file = tmp_path / "key.pem"
    key = rsa.generate_private_key(65537, 2048)
    file.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    file.chmod(0o600)
    assert "is not Ed25519" in refusal(file)
