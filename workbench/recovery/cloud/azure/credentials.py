"""Selects Azure credentials by the same variables and in the same order as Pulumi's provider.

https://www.pulumi.com/registry/packages/azure-native/installation-configuration/
"""

import json
import os
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import Final
from urllib.parse import urlencode, urlsplit
from urllib.request import Request, urlopen

from azure.core.credentials import TokenCredential
from azure.identity import (
    AzureCliCredential,
    CertificateCredential,
    ClientAssertionCredential,
    ClientSecretCredential,
    ManagedIdentityCredential,
)

from workbench.system.errors import UserError

AUDIENCE: Final = "api://AzureADTokenExchange"
"""Audience of GitHub's token for Entra's workload identity federation.

https://docs.github.com/actions/how-tos/secure-your-work/security-harden-deployments/oidc-in-azure
"""

_CERTIFICATE: Final = "ARM_CLIENT_CERTIFICATE_PATH"
_SECONDS: Final = 20


def credential_of(tenant_id: str) -> TokenCredential:
    """Return the user's credential for a tenant, without requesting a token yet.

    Raises
    ------
    UserError
        The variables are incomplete, or the certificate cannot be used.
    """
    if _is_set("ARM_USE_MSI"):
        return ManagedIdentityCredential(client_id=os.environ.get("ARM_CLIENT_ID") or None)
    if certificate := os.environ.get(_CERTIFICATE):
        return _of_certificate(tenant_id, _client(_CERTIFICATE), certificate)
    if secret := os.environ.get("ARM_CLIENT_SECRET"):
        return ClientSecretCredential(tenant_id, _client("ARM_CLIENT_SECRET"), secret)
    if _is_set("ARM_USE_OIDC"):
        assertion = _assertion()
        return ClientAssertionCredential(tenant_id, _client("ARM_USE_OIDC"), assertion)
    return AzureCliCredential(tenant_id=tenant_id)


def _client(variable: str) -> str:
    """Return the id of the application to which the credential in a variable belongs."""
    if client := os.environ.get("ARM_CLIENT_ID"):
        return client
    raise UserError(
        f"{variable} is set, but ARM_CLIENT_ID is not.",
        f"Set ARM_CLIENT_ID to the id of the application, or unset {variable}.",
    )


def _of_certificate(tenant_id: str, client: str, file: str) -> TokenCredential:
    password = os.environ.get("ARM_CLIENT_CERTIFICATE_PASSWORD")
    try:
        return CertificateCredential(tenant_id, client, file, password=password)
    except (OSError, ValueError, TypeError) as error:  # TypeError: it is encrypted, and there is no password
        raise UserError(
            f"{_CERTIFICATE}: {file} cannot be used ({error}).",
            "It must hold an RSA key and its certificate, as PEM or PKCS #12. ARM_CLIENT_CERTIFICATE_PASSWORD must be "
            "its password if it is encrypted.",
        ) from None


def _is_set(name: str) -> bool:
    return os.environ.get(name, "").lower() in ("1", "true")


def _assertion() -> Callable[[], str]:
    """Return a function that fetches the workflow's OIDC token; it is called again when a token expires."""
    if token := os.environ.get("ARM_OIDC_TOKEN"):
        return lambda: token
    if file := os.environ.get("ARM_OIDC_TOKEN_FILE_PATH"):
        return lambda: Path(file).read_text()
    address = os.environ.get("ARM_OIDC_REQUEST_URL") or os.environ.get("ACTIONS_ID_TOKEN_REQUEST_URL")
    bearer = os.environ.get("ARM_OIDC_REQUEST_TOKEN") or os.environ.get("ACTIONS_ID_TOKEN_REQUEST_TOKEN")
    if not (address and bearer and address.startswith("https://")):
        raise UserError(
            "ARM_USE_OIDC is set, but no source of the token is configured.",
            "Give the workflow the permission `id-token: write`, or set ARM_OIDC_TOKEN_FILE_PATH.",
        )
    host = urlsplit(address).hostname
    request = Request(f"{address}&{urlencode({'audience': AUDIENCE})}", headers={"Authorization": f"Bearer {bearer}"})  # noqa: S310

    def ask() -> str:
        try:
            with urlopen(request, timeout=_SECONDS) as answer:  # noqa: S310 - checked to be https above
                return str(json.load(answer)["value"])
        except (OSError, HTTPException) as error:
            problem = str(error).strip("<>")  # around those of the network
        except (ValueError, LookupError, TypeError):
            problem = "its answer has none"
        raise UserError(
            f"{host} gave the workflow no OIDC token: {problem}.",
            "Check the network, and that the job has the permission `id-token: write`; then run it again.",
        )

    return ask
