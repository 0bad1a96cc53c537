"""Certificates of private authorities, which nodes trust in addition to the public ones."""

from typing import Annotated, Final

from pydantic import AfterValidator, Field

CERTIFICATES_MAX: Final = 10
"""Maximum number of certificates, the limit of AKS: https://learn.microsoft.com/azure/aks/custom-certificate-authority."""

EXAMPLE: Final = """\
-----BEGIN CERTIFICATE-----
MIHpMIGcoAMCAQICAQEwBQYDK2VwMBQxEjAQBgNVBAMMCUNvcnAgUm9vdDAeFw0y
NjAxMDEwMDAwMDBaFw00NjAxMDEwMDAwMDBaMBQxEjAQBgNVBAMMCUNvcnAgUm9v
dDAqMAUGAytlcAMhAEko37sk4M4AnwA17Ct9q22JDrpZ2ZtgpuexZ3rfZ4y3oxMw
ETAPBgNVHRMBAf8EBTADAQH/MAUGAytlcANBABfCVLAzAAjH7K0r+AVOR7E9QJIX
3/zy1BggWJ26RiRz4Ok79/CJl92YCqjzWAX7L1QsTO8VEsNWQQz3+AXkAwc=
-----END CERTIFICATE-----
"""
"""Certificate of a fictitious authority; its private key was not kept."""

_BEGIN: Final = "-----BEGIN CERTIFICATE-----"


def _certificate(text: str) -> str:
    """Return a certificate in canonical PEM: without comments, with line breaks of Linux, as AKS requires it."""
    if "PRIVATE KEY" in text:
        raise ValueError(
            "contains a private key, which must not be in a stack file; remove it, and replace the key, because others "
            "may have read it"
        )
    count = text.count(_BEGIN)
    if not count:
        raise ValueError(f"must be a certificate in PEM, which begins with {_BEGIN}")
    if count > 1:
        raise ValueError(f"holds {count} certificates; make each an entry of its own")
    # Only stacks with certificates load the library.
    from cryptography import x509  # noqa: PLC0415
    from cryptography.hazmat.primitives.serialization import Encoding  # noqa: PLC0415

    try:
        found = x509.load_pem_x509_certificate(text.encode())
        constraints = [each.value for each in found.extensions if isinstance(each.value, x509.BasicConstraints)]
    except (ValueError, x509.DuplicateExtension):
        raise ValueError("cannot be read as a certificate; copy it again, whole") from None
    # Go, in which containerd is written, trusts these: crypto/x509, verify.go, ``checkSignatureFrom`` and ``Verify``.
    is_authority = constraints[0].ca if constraints else found.version is x509.Version.v1
    if not is_authority and found.issuer != found.subject:
        raise ValueError("is the certificate of a server; give the one of the authority that signed it")
    return found.public_bytes(Encoding.PEM).decode()


def _differing(certificates: tuple[str, ...]) -> tuple[str, ...]:
    for place, certificate in enumerate(certificates):
        if certificate in certificates[:place]:
            first, second = certificates.index(certificate) + 1, place + 1
            raise ValueError(f"lists one certificate as entries {first} and {second}; remove one")
    return certificates


Certificate = Annotated[str, AfterValidator(_certificate), Field(json_schema_extra={"pattern": _BEGIN})]
"""A certificate in PEM."""

Certificates = Annotated[
    tuple[Certificate, ...],
    Field(
        max_length=CERTIFICATES_MAX,
        description="Certificates in PEM of private authorities that nodes trust, such as that of a registry.",
        examples=[[EXAMPLE]],
    ),
    AfterValidator(_differing),
]
"""The field ``trusted_certificates`` of a cloud's cluster; each cloud adds the effect of a change."""
