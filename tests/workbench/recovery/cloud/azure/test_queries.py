import pytest
from azure.identity import (
    AzureCliCredential,
    ClientAssertionCredential,
    ClientSecretCredential,
    ManagedIdentityCredential,
)

from support.offline import ALL_COMMANDS, imported_by
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


def test_the_command_line_does_not_load_a_clouds_sdk() -> None:
    assert not {"boto3", "azure.core", "pulumi"} & imported_by(ALL_COMMANDS)
