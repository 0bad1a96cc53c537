import shutil
import stat
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from workbench.local.pki import CERTIFICATES, CLIENTS, Certificate, ensure_pki

NOW = datetime(2030, 1, 1, tzinfo=UTC)
BY_NAME = {each.name: each for each in CERTIFICATES}


@pytest.fixture
def pki(tmp_path: Path) -> Path:
    ensure_pki(tmp_path, NOW)
    return tmp_path


def load(pki: Path, name: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate((pki / f"{name}.crt").read_bytes())


def contents(pki: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in pki.iterdir()}


@pytest.mark.parametrize("certificate", CERTIFICATES, ids=lambda each: each.name)
def test_a_certificate_comes_from_its_own_authority_and_from_no_other(pki: Path, certificate: Certificate) -> None:
    other = {"ca": "etcd-ca", "etcd-ca": "front-proxy-ca", "front-proxy-ca": "ca"}[certificate.ca]
    load(pki, certificate.name).verify_directly_issued_by(load(pki, certificate.ca))
    with pytest.raises(ValueError, match="not match"):
        load(pki, certificate.name).verify_directly_issued_by(load(pki, other))


@pytest.mark.parametrize("certificate", CERTIFICATES, ids=lambda each: each.name)
def test_openssl_accepts_a_certificate_for_its_purpose_only(pki: Path, certificate: Certificate) -> None:
    openssl = shutil.which("openssl")
    if not openssl:
        pytest.skip("no openssl on PATH")

    def accepts(purpose: str) -> bool:
        chain = ["-CAfile", str(pki / f"{certificate.ca}.crt"), str(pki / f"{certificate.name}.crt")]
        command = [openssl, "verify", "-attime", str(int(NOW.timestamp())), "-purpose", purpose, *chain]
        return subprocess.run(command, capture_output=True, check=False).returncode == 0

    assert accepts("sslserver") == bool(certificate.hosts)
    assert accepts("sslclient") == certificate.client


@pytest.mark.parametrize("authority", ["ca", "etcd-ca", "front-proxy-ca"])
def test_an_authority_signs_certificates_and_no_further_authority(pki: Path, authority: str) -> None:
    extensions = load(pki, authority).extensions
    constraints = extensions.get_extension_for_class(x509.BasicConstraints)
    assert constraints.critical
    assert (constraints.value.ca, constraints.value.path_length) == (True, 0)
    assert extensions.get_extension_for_class(x509.KeyUsage).value.key_cert_sign


def test_the_api_server_can_be_called_by_every_name_that_clients_use(pki: Path) -> None:
    names = load(pki, "kube-apiserver").extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    hosts = {str(each.value) for each in names}
    assert {"127.0.0.1", "localhost", "kubernetes.default.svc", "10.96.0.1"} <= hosts


def test_only_the_administrator_is_in_the_group_that_may_do_everything(pki: Path) -> None:
    groups = {
        each.name: [
            group.value for group in load(pki, each.name).subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
        ]
        for each in CERTIFICATES
    }
    assert [name for name, value in groups.items() if value] == ["admin"]
    assert groups["admin"] == ["system:masters"]


def test_a_client_certificate_cannot_serve(pki: Path) -> None:
    for client in CLIENTS:
        uses = load(pki, client.name).extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
        assert list(uses) == [ExtendedKeyUsageOID.CLIENT_AUTH]


def test_every_file_is_for_its_owner_only(pki: Path) -> None:
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in pki.iterdir()}
    assert "admin.key" in modes
    assert set(modes.values()) == {0o600}


def test_certificates_live_a_year_and_authorities_ten(pki: Path) -> None:
    assert load(pki, "admin").not_valid_after_utc - NOW == timedelta(days=365)
    assert load(pki, "ca").not_valid_after_utc - NOW == timedelta(days=3650)


def test_nothing_changes_while_more_than_30_days_are_left(pki: Path) -> None:
    before = contents(pki)
    ensure_pki(pki, NOW + timedelta(days=334))
    assert contents(pki) == before


def test_certificates_are_renewed_by_the_same_authority_when_30_days_are_left(pki: Path) -> None:
    before = contents(pki)
    later = NOW + timedelta(days=335)
    ensure_pki(pki, later)
    after = contents(pki)
    changed = {name for name in after if after[name] != before[name]}
    assert changed == {f"{name}.{kind}" for name in BY_NAME for kind in ("crt", "key")}
    assert load(pki, "admin").not_valid_after_utc == later + timedelta(days=365)
    load(pki, "admin").verify_directly_issued_by(load(pki, "ca"))


def test_a_renewed_authority_renews_what_it_signed_and_nothing_else(pki: Path) -> None:
    before = contents(pki)
    (pki / "etcd-ca.crt").unlink()
    ensure_pki(pki, NOW)
    after = contents(pki)
    changed = {name.removesuffix(".crt") for name in after if name.endswith(".crt") and after[name] != before[name]}
    assert changed == {"etcd-ca", "etcd", "etcd-client"}


def test_a_certificate_that_says_something_else_is_made_again(pki: Path) -> None:
    for kind in ("crt", "key"):
        shutil.copyfile(pki / f"kwok.{kind}", pki / f"admin.{kind}")
    ensure_pki(pki, NOW)
    assert load(pki, "admin").subject != load(pki, "kwok").subject


def test_certificates_of_a_clock_that_was_ahead_are_made_again(pki: Path) -> None:
    now = NOW - timedelta(days=400)
    ensure_pki(pki, now)
    for name in ("ca", *BY_NAME):
        assert load(pki, name).not_valid_before_utc <= now
