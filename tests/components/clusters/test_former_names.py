"""What is named by several choices stays the resource that an earlier version of the program made."""

from dataclasses import dataclass, field
from typing import Any

import pulumi
import pytest

from infra.program import run
from support import aks, eks
from support.recorder import Recorder, record
from workbench.offline import recorder

ACCOUNTS = ["sparkapp"]
EKS = {"ml": {"identity": {"buckets": [{"bucket": "ml-data"}], "accounts": ACCOUNTS}}}
GROUP = f"/subscriptions/{aks.SUBSCRIPTION}/resourceGroups/data/providers"
AKS = {
    "containers": [{"account": "mldata", "resourceGroup": "data", "container": "raw-data", "access": "write"}],
    "registries": [{"registryId": f"{GROUP}/Microsoft.ContainerRegistry/registries/mlimages"}],
    "vaultKeys": [f"{GROUP}/Microsoft.KeyVault/vaults/ml-keys/keys/models"],
    "accounts": ACCOUNTS,
}
TEAM = {"objectId": "33333333-3333-3333-3333-333333333333", "level": "view", "namespaces": ["ml"]}


@dataclass
class Renamed(Recorder):
    """Keeps the former names of resources that had another one."""

    former: dict[str, str] = field(default_factory=dict)
    """By their names now."""

    def keep(self, urn: str, request: Any) -> None:
        super().keep(urn, request)
        others = {each.spec.name for each in request.aliases} - {"", request.name}
        self.former.update(dict.fromkeys([request.name] if others else [], "".join(others)))


def with_aliases(_: pulumi.ResourceTransformationArgs) -> None:
    """Leave the aliases, which other tests do without."""


@pytest.fixture
def renamed(monkeypatch: pytest.MonkeyPatch) -> Renamed:
    monkeypatch.setattr(recorder, "_without_aliases", with_aliases)
    return Renamed()


@pytest.mark.full
def test_on_eks(renamed: Renamed) -> None:
    config = eks.config({"namespaces": EKS})
    record(lambda: run(config), recorder=renamed)
    assert renamed.former == {
        f"test-cluster-{eks.ACCOUNT}/deployer": "test-cluster-deployer",
        f"test-cluster-{eks.ACCOUNT}/break-glass": "test-cluster-break-glass",
        "test-jobs-ml.igz-jobs": "test-jobs-ml-igz-jobs",
        "test-jobs-ml.sparkapp": "test-jobs-ml-sparkapp",
        "ml.igz-jobs": "ml-igz-jobs",
        "ml.sparkapp": "ml-sparkapp",
    }


def test_on_aks(renamed: Renamed) -> None:
    config = aks.config({"namespaces": {"ml": {"identity": AKS}}, "cluster.access.entries": {"team": TEAM}})
    record(lambda: run(config), recorder=renamed)
    assert renamed.former == {
        f"test-cluster-admins.{aks.ADMINS}": f"test-cluster-admins-{aks.ADMINS}",
        "test-cluster-deployer.user": "test-cluster-deployer-user",
        "test-cluster-team.user": "test-cluster-team-user",
        "test-cluster-team.namespaces.ml": "test-cluster-team-ml",
        "test-identities-secrets-key-research": "test-identities-secrets-key",
        "test-jobs-ml.containers.mldata.raw-data.write": "test-jobs-ml-mldata-raw-data-write",
        "test-jobs-ml.registries.mlimages.read": "test-jobs-ml-mlimages-read",
        "test-jobs-ml.vault_keys.ml-keys.models": "test-jobs-ml-ml-keys-models",
        "test-jobs-ml.igz-jobs": "test-jobs-ml-igz-jobs",
        "test-jobs-ml.sparkapp": "test-jobs-ml-sparkapp",
        "ml.igz-jobs": "ml-igz-jobs",
        "ml.sparkapp": "ml-sparkapp",
    }
