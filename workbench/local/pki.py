"""Certificate authorities, certificates and keys of an instance."""

import ipaddress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePrivateKey, generate_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from components.contract.local.config import SERVICE_CIDR
from workbench.system.files import write_private

CA_LIFE = timedelta(days=3650)
LIFE = timedelta(days=365)
RENEW_BEFORE = timedelta(days=30)
SERVICE_NETWORK = ipaddress.ip_network(SERVICE_CIDR)
"""Service addresses; not reachable, since nodes are simulated."""

CLUSTER_CA, ETCD_CA, FRONT_PROXY_CA = "ca", "etcd-ca", "front-proxy-ca"

METRICS_SERVICE = ("metrics-server", "kube-system")
"""Name and namespace of the Service of pod metrics."""

_LOOPBACK = ("localhost", "127.0.0.1")
_API_SERVER = (
    *("kubernetes", "kubernetes.default", "kubernetes.default.svc", "kubernetes.default.svc.cluster.local"),
    str(SERVICE_NETWORK[1]),
)


@dataclass(frozen=True)
class Certificate:
    """A certificate to issue.

    Parameters
    ----------
    name
        File name without suffix.
    ca
        File name of the authority.
    user
        Common name: to the API server, the user's name.
    group
        Organization: to the API server, the user's group. Empty for none.
    hosts
        Names and addresses of a server. Empty for a client.
    client
        Whether it can be used as a client certificate.
    """

    name: str
    ca: str
    user: str
    group: str = ""
    hosts: tuple[str, ...] = ()
    client: bool = True


CLIENTS = (
    Certificate("admin", CLUSTER_CA, "igz-clusters:admin", "system:masters"),
    Certificate("kube-controller-manager", CLUSTER_CA, "system:kube-controller-manager"),
    Certificate("kube-scheduler", CLUSTER_CA, "system:kube-scheduler"),
    Certificate("kwok", CLUSTER_CA, "igz-clusters:kwok"),
    Certificate("cluster-autoscaler", CLUSTER_CA, "igz-clusters:cluster-autoscaler"),
    Certificate("karpenter", CLUSTER_CA, "igz-clusters:karpenter"),
)
"""Users of the API server; each gets a kubeconfig."""

CERTIFICATES = (
    *CLIENTS,
    Certificate("kube-apiserver", CLUSTER_CA, "kube-apiserver", hosts=(*_LOOPBACK, *_API_SERVER), client=False),
    Certificate("health", CLUSTER_CA, "health", hosts=_LOOPBACK, client=False),
    # etcd uses its own certificate as a client of itself and of its peers.
    Certificate("etcd", ETCD_CA, "etcd", hosts=_LOOPBACK),
    Certificate("etcd-client", ETCD_CA, "kube-apiserver"),
    # The API server presents it to aggregated API servers, which accept user names only with a certificate of this CA.
    Certificate("front-proxy-client", FRONT_PROXY_CA, "front-proxy-client"),
    Certificate("metrics", CLUSTER_CA, "metrics", hosts=(f"{'.'.join(METRICS_SERVICE)}.svc",), client=False),
)


def ensure_pki(folder: Path, now: datetime | None = None) -> None:
    """Create missing certificates and renew those that expire within 30 days or are not valid yet.

    CAs are valid for ten years, certificates for one. Renewing a CA renews all certificates that it issued. The key
    pair that signs service account tokens does not expire.

    Parameters
    ----------
    folder
        Where ``<name>.crt`` and ``<name>.key`` go, mode 0600.
    now
        The current time, with time zone. Default: the system clock's.
    """
    now = now or datetime.now(UTC)
    for ca in (CLUSTER_CA, ETCD_CA, FRONT_PROXY_CA):
        if not _lasts(_read(folder, ca), now):
            _make_ca(folder, ca, now)
    for certificate in CERTIFICATES:
        if not _is_current(folder, certificate, now):
            _make(folder, certificate, now)
    if not (folder / "sa.pub").exists():
        key = generate_private_key(SECP256R1())
        write_private(folder / "sa.key", _pem(key))
        form = serialization.PublicFormat.SubjectPublicKeyInfo
        write_private(folder / "sa.pub", key.public_key().public_bytes(serialization.Encoding.PEM, form))


def _read(folder: Path, name: str) -> x509.Certificate | None:
    try:
        return x509.load_pem_x509_certificate((folder / f"{name}.crt").read_bytes())
    except (FileNotFoundError, ValueError):
        return None


def _lasts(certificate: x509.Certificate | None, now: datetime) -> bool:
    if certificate is None or certificate.not_valid_before_utc > now:  # made while the clock was ahead
        return False
    return certificate.not_valid_after_utc - now > RENEW_BEFORE


def _is_current(folder: Path, certificate: Certificate, now: datetime) -> bool:
    issued, ca = _read(folder, certificate.name), _read(folder, certificate.ca)
    if issued is None or ca is None or not _lasts(issued, now):
        return False
    try:
        issued.verify_directly_issued_by(ca)
    except (ValueError, InvalidSignature):
        return False
    same = [(extension.oid, extension.value) for extension in _purpose(certificate)]
    return issued.subject == _subject(certificate) and all(
        (oid, value) in [(extension.oid, extension.value) for extension in issued.extensions] for oid, value in same
    )


def _make_ca(folder: Path, name: str, now: datetime) -> None:
    key = generate_private_key(SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"igz-clusters local {name}")])
    builder = (
        _builder(subject, subject, key, now, CA_LIFE)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(_key_usage(ca=True), critical=True)
    )
    _write(folder, name, builder.sign(key, hashes.SHA256()), key)


def _make(folder: Path, certificate: Certificate, now: datetime) -> None:
    ca = x509.load_pem_x509_certificate((folder / f"{certificate.ca}.crt").read_bytes())
    ca_key = serialization.load_pem_private_key((folder / f"{certificate.ca}.key").read_bytes(), None)
    if not isinstance(ca_key, EllipticCurvePrivateKey):
        raise TypeError(f"{certificate.ca}.key is not an elliptic curve key")
    key = generate_private_key(SECP256R1())
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(ca_key.public_key())
    builder = (
        _builder(_subject(certificate), ca.subject, key, now, LIFE)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(_key_usage(ca=False), critical=True)
        .add_extension(issuer, critical=False)
    )
    for extension in _purpose(certificate):
        builder = builder.add_extension(extension.value, extension.critical)
    _write(folder, certificate.name, builder.sign(ca_key, hashes.SHA256()), key)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: EllipticCurvePrivateKey, now: datetime, life: timedelta
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))  # tolerates a clock that is set back a little
        .not_valid_after(now + life)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _subject(certificate: Certificate) -> x509.Name:
    attributes = [x509.NameAttribute(NameOID.COMMON_NAME, certificate.user)]
    if certificate.group:
        attributes.insert(0, x509.NameAttribute(NameOID.ORGANIZATION_NAME, certificate.group))
    return x509.Name(attributes)


def _purpose(certificate: Certificate) -> list[x509.Extension[x509.ExtensionType]]:
    uses = [ExtendedKeyUsageOID.SERVER_AUTH] if certificate.hosts else []
    uses += [ExtendedKeyUsageOID.CLIENT_AUTH] if certificate.client else []
    values: list[x509.ExtensionType] = [x509.ExtendedKeyUsage(uses)]
    if certificate.hosts:
        values.append(x509.SubjectAlternativeName([_general_name(host) for host in certificate.hosts]))
    return [x509.Extension(value.oid, critical=False, value=value) for value in values]


def _general_name(host: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        return x509.DNSName(host)


def _key_usage(*, ca: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=ca,
        crl_sign=ca,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(key: EllipticCurvePrivateKey) -> bytes:
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption())


def _write(folder: Path, name: str, certificate: x509.Certificate, key: EllipticCurvePrivateKey) -> None:
    # Remove the certificate first: after a crash in between, the missing certificate is issued again.
    (folder / f"{name}.crt").unlink(missing_ok=True)
    write_private(folder / f"{name}.key", _pem(key))
    write_private(folder / f"{name}.crt", certificate.public_bytes(serialization.Encoding.PEM))
