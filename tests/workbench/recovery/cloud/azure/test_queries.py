from collections.abc import Callable
from email.message import Message
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError

import pytest
from azure.identity import (
    AzureCliCredential,
    ClientAssertionCredential,
    ClientSecretCredential,
    ManagedIdentityCredential,
)

from support.offline import ALL_COMMANDS, imported_by
from workbench.recovery.cloud.azure import credentials
from workbench.recovery.cloud.azure.credentials import credential_of
from workbench.system.errors import UserError

TENANT = "99999999-9999-9999-9999-999999999999"
CLIENT = "11111111-1111-1111-1111-111111111111"


@pytest.fixture(autouse=True)
def _nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ARM_USE_MSI", "ARM_USE_OIDC", "ARM_CLIENT_ID", "ARM_CLIENT_SECRET", "ARM_CLIENT_CERTIFICATE_PATH"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("variables", "kind"),
    [
        ({}, AzureCliCredential),
        ({"ARM_USE_MSI": "true"}, ManagedIdentityCredential),
        ({"ARM_CLIENT_ID": CLIENT, "ARM_CLIENT_SECRET": "canary"}, ClientSecretCredential),
        ({"ARM_CLIENT_ID": CLIENT, "ARM_USE_OIDC": "true", "ARM_OIDC_TOKEN": "canary"}, ClientAssertionCredential),
    ],
)
def test_whoever_the_provider_takes_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], kind: type
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert isinstance(credential_of(TENANT), kind)


def test_a_workflow_without_a_token_is_told_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ARM_OIDC_TOKEN", "ARM_OIDC_TOKEN_FILE_PATH", "ARM_OIDC_REQUEST_URL", "ACTIONS_ID_TOKEN_REQUEST_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("ARM_USE_OIDC", "true")
    with pytest.raises(UserError, match="no source of the token is configured"):
        credential_of(TENANT)


@pytest.mark.parametrize("variable", ["ARM_CLIENT_SECRET", "ARM_CLIENT_CERTIFICATE_PATH"])
def test_a_credential_without_its_application_is_said(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "canary")
    with pytest.raises(UserError, match=f"{variable} is set, but ARM_CLIENT_ID is not") as refused:
        credential_of(TENANT)
    assert "canary" not in str(refused.value)


@pytest.mark.parametrize("content", [None, "", "-----BEGIN CERTIFICATE-----"], ids=["missing", "empty", "malformed"])
def test_a_certificate_that_cannot_be_used_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str | None
) -> None:
    file = tmp_path / "client.pem"
    if content is not None:
        file.write_text(content)
    monkeypatch.setenv("ARM_CLIENT_ID", CLIENT)
    monkeypatch.setenv("ARM_CLIENT_CERTIFICATE_PATH", str(file))
    with pytest.raises(UserError, match=f"ARM_CLIENT_CERTIFICATE_PATH: {file} cannot be used"):
        credential_of(TENANT)


def unreachable(*_: Any, **__: Any) -> BytesIO:
    raise URLError(OSError(-2, "Name or service not known"))


def forbidden(*_: Any, **__: Any) -> BytesIO:
    raise HTTPError("https://tokens.example.com/?id=1", 403, "Forbidden", Message(), None)


def empty(*_: Any, **__: Any) -> BytesIO:
    return BytesIO(b"{}")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (unreachable, "Name or service not known"),
        (forbidden, "HTTP Error 403: Forbidden"),
        (empty, "its answer has none"),
    ],
)
def test_a_workflow_that_gets_no_token_is_told_why(
    monkeypatch: pytest.MonkeyPatch, answer: Callable[..., BytesIO], said: str
) -> None:
    monkeypatch.delenv("ARM_OIDC_TOKEN", raising=False)
    monkeypatch.delenv("ARM_OIDC_TOKEN_FILE_PATH", raising=False)
    monkeypatch.setenv("ARM_OIDC_REQUEST_URL", "https://tokens.example.com/?id=1")
    monkeypatch.setenv("ARM_OIDC_REQUEST_TOKEN", "canary")
    monkeypatch.setattr(credentials, "urlopen", answer)
    with pytest.raises(UserError) as refused:
        credentials._assertion()()
    assert refused.value.message.startswith("tokens.example.com gave the workflow no OIDC token: ")
    assert said in refused.value.message


def test_the_command_line_does_not_load_a_clouds_sdk() -> None:
    assert not {"boto3", "azure.core", "pulumi"} & imported_by(ALL_COMMANDS)
