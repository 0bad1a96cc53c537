"""An account of the Azure emulator in which AKS can begin: group, network, identity, rights; and clusters in it."""

import itertools
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import pytest

from emulators.azure.client import Emulator, Told
from support.minors import EARLIER

SUBSCRIPTION: Final = "/subscriptions/0b1f6471-1bf0-4dda-aec3-cb9272f09590"
LOCATION: Final = "westeurope"

VERSIONS: Final = {
    "Microsoft.Authorization": "2022-04-01",
    "Microsoft.Authorization/roleDefinitions": "2022-05-01-preview",
    "Microsoft.Compute": "2024-03-02",
    "Microsoft.Compute/proximityPlacementGroups": "2024-11-01",
    "Microsoft.ContainerService": "2025-09-01",
    "Microsoft.DataProtection": "2025-01-01",
    "Microsoft.Insights": "2022-06-01",
    "Microsoft.Insights/diagnosticSettings": "2021-05-01-preview",
    "Microsoft.KubernetesConfiguration": "2023-05-01",
    "Microsoft.Logic": "2019-05-01",
    "Microsoft.ManagedIdentity": "2023-01-31",
    "Microsoft.Network": "2024-05-01",
    "Microsoft.Network/privateDnsZones": "2024-06-01",
    "Microsoft.OperationalInsights": "2023-09-01",
    "Microsoft.Resources": "2024-03-01",
    "Microsoft.Storage": "2024-01-01",
}
"""Version of the API by who answers, or by the one type that has its own."""

NETWORK_CONTRIBUTOR: Final = "4d97b98b-1d4f-4787-a291-c67834d212e7"
PRIVATE_DNS: Final = "b12aa53e-6015-4669-85d0-8515ebb3ae7f"
CRYPTO_USER: Final = "12338af0-0e69-4776-bea7-57ae8d297424"
IDENTITY_OPERATOR: Final = "f1a07417-d97a-45cb-824c-7a7467783830"

SPOT: Final = {"scaleSetPriority": "Spot", "scaleSetEvictionPolicy": "Delete", "spotMaxPrice": -1}
ELASTIC: Final = {"enableAutoScaling": True, "minCount": 1, "maxCount": 5}

_NUMBERS: Final = itertools.count(1)


def unique(prefix: str) -> str:
    return f"{prefix}{next(_NUMBERS)}"


def version_of(id_: str) -> str:
    _, _, path = id_.rpartition("/providers/")
    namespace, _, words = (path if "/providers/" in id_ else "Microsoft.Resources").partition("/")
    return VERSIONS.get(f"{namespace}/{words.partition('/')[0]}") or VERSIONS[namespace]


@dataclass(frozen=True)
class Account:
    """One resource group with what a cluster is made from."""

    az: Emulator
    group: str
    subnet: str
    identity: str

    def ask(self, method: str, id_: str, body: Mapping[str, Any] | None = None, **query: str) -> Told:
        return self.az.ask(method, id_, version_of(id_), body, **query)

    def put(self, id_: str, body: Mapping[str, Any]) -> Told:
        """Write something that ARM must take."""
        told = self.ask("PUT", id_, body)
        assert told.status in {200, 201}, told
        return told

    def get(self, id_: str) -> dict[str, Any]:
        told = self.ask("GET", id_)
        assert told.status == 200, told
        return told.body

    def delete(self, id_: str) -> Told:
        """Remove something that ARM must let go."""
        told = self.ask("DELETE", id_)
        assert told.status in {200, 202}, told
        return told

    def refused(self, method: str, id_: str, body: Mapping[str, Any] | None = None, **query: str) -> Told:
        """Ask for something that ARM must refuse."""
        told = self.ask(method, id_, body, **query)
        assert told.code, told
        return told

    def operation(self, told: Told) -> dict[str, Any]:
        """Return the result of the operation that an answer started."""
        return self.az.follow(told.headers["azure-asyncoperation"]).body

    def network(self, kind: str, name: str = "") -> str:
        return f"{self.group}/providers/Microsoft.Network/{kind}/{name or unique(kind[:3])}"

    def new_identity(self) -> str:
        id_ = f"{self.group}/providers/Microsoft.ManagedIdentity/userAssignedIdentities/{unique('identity')}"
        return str(self.put(id_, {"location": LOCATION}).body["id"])

    def principal(self, identity: str) -> str:
        return str(self.get(identity)["properties"]["principalId"])

    def grant_body(self, identity: str, role: str) -> dict[str, Any]:
        definition = f"{SUBSCRIPTION}/providers/Microsoft.Authorization/roleDefinitions/{role}"
        who = {"principalId": self.principal(identity), "principalType": "ServicePrincipal"}
        return {"properties": {**who, "roleDefinitionId": definition}}

    def grant(self, identity: str, role: str, scope: str) -> str:
        """Give an identity a role on something and return the id of that."""
        id_ = f"{scope}/providers/Microsoft.Authorization/roleAssignments/{uuid.uuid4()}"
        return str(self.put(id_, self.grant_body(identity, role)).body["id"])

    def vault(self, name: str = "vault") -> str:
        """Return the id of a key vault; the emulator has none and takes it to exist."""
        return f"{self.group}/providers/Microsoft.KeyVault/vaults/{name}"

    def system_pool(self, **changes: Any) -> dict[str, Any]:
        plain = {"name": "initial", "mode": "System", "count": 2, "vmSize": "Standard_D4s_v5"}
        return {**plain, "vnetSubnetID": self.subnet, **changes}

    def cluster_body(self, **changes: Any) -> dict[str, Any]:
        """Return a cluster as this project makes them, with changes of its properties."""
        name = unique("nodes")
        properties = {
            "dnsPrefix": "mlrun",
            "kubernetesVersion": EARLIER,
            "nodeResourceGroup": f"mlrun-{name}",
            "aadProfile": {"managed": True, "enableAzureRBAC": True},
            "disableLocalAccounts": True,
            "agentPoolProfiles": [self.system_pool()],
            "networkProfile": {
                "networkPlugin": "azure",
                "networkPluginMode": "overlay",
                "podCidr": "10.244.0.0/16",
                "serviceCidr": "10.100.0.0/16",
                "dnsServiceIP": "10.100.0.10",
            },
            **changes,
        }
        identity = {"type": "UserAssigned", "userAssignedIdentities": {self.identity: {}}}
        return {"location": LOCATION, "identity": identity, "properties": properties}

    def cluster_id(self) -> str:
        return f"{self.group}/providers/Microsoft.ContainerService/managedClusters/{unique('cluster')}"

    def cluster(self, **changes: Any) -> str:
        """Make a cluster and return its id."""
        return str(self.put(self.cluster_id(), self.cluster_body(**changes)).body["id"])

    def pool_body(self, **changes: Any) -> dict[str, Any]:
        plain = {"count": 1, "vmSize": "Standard_D8s_v5", "vnetSubnetID": self.subnet, "mode": "User"}
        return {"properties": {**plain, **changes}}

    def pool(self, cluster: str, **changes: Any) -> str:
        """Make an agent pool and return its id."""
        return str(self.put(f"{cluster}/agentPools/{unique('pool')}", self.pool_body(**changes)).body["id"])

    def properties(self, id_: str) -> dict[str, Any]:
        """Return the ``properties`` of a resource."""
        properties: dict[str, Any] = self.get(id_)["properties"]
        return properties

    def state(self, id_: str) -> str:
        return str(self.properties(id_)["provisioningState"])


def account(az: Emulator) -> Account:
    """Make everything that a cluster needs."""
    group = f"{SUBSCRIPTION}/resourceGroups/{unique('mlrun-')}"
    bare = Account(az, group, "", "")
    bare.put(group, {"location": LOCATION})
    network = bare.network("virtualNetworks")
    space = {"addressSpace": {"addressPrefixes": ["10.1.0.0/16"]}}
    bare.put(network, {"location": LOCATION, "properties": space})
    subnet = f"{network}/subnets/nodes"
    bare.put(subnet, {"properties": {"addressPrefix": "10.1.0.0/20"}})
    identity = bare.new_identity()
    bare.grant(identity, NETWORK_CONTRIBUTOR, subnet)
    return Account(az, group, subnet, identity)


def parametrized(*rows: tuple[dict[str, Any], str, str]) -> pytest.MarkDecorator:
    """Return a mark for refusals: what is sent, and code and words of the refusal."""
    ids = ["; ".join(f"{name}={value}" for name, value in row[0].items()) for row in rows]
    return pytest.mark.parametrize(("changes", "code", "words"), rows, ids=ids)
