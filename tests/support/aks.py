"""An AKS stack with a pool of every kind, and what its program declares."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from infra.config import StackConfig, parse
from infra.program import run
from support.edits import edited
from support.minors import CHOSEN
from support.recorder import Recorder, record

Props = dict[str, Any]

SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
TENANT = "99999999-9999-9999-9999-999999999999"
DEPLOYER = "11111111-1111-1111-1111-111111111111"
ADMINS = "22222222-2222-2222-2222-222222222222"
GROUP_ID = f"/subscriptions/{SUBSCRIPTION}/resourceGroups/research"
CLUSTER_ID = f"{GROUP_ID}/providers/Microsoft.ContainerService/managedClusters/research"
SUBNET_ID = f"{GROUP_ID}/providers/Microsoft.Network/virtualNetworks/research/subnets/nodes"
KEY_ID = (
    f"/subscriptions/{SUBSCRIPTION}/resourceGroups/keys/providers/Microsoft.KeyVault/vaults/research"
    "/keys/aks/versions/0123456789abcdef0123456789abcdef"
)
DISK_SET_ID = (
    f"/subscriptions/{SUBSCRIPTION}/resourceGroups/keys/providers/Microsoft.Compute/diskEncryptionSets/research"
)

CLUSTER = "azure-native:containerservice:ManagedCluster"
AGENT_POOL = "azure-native:containerservice:AgentPool"
ZONE_ID = (
    f"/subscriptions/{SUBSCRIPTION}/resourceGroups/dns"
    "/providers/Microsoft.Network/privateDnsZones/privatelink.westeurope.azmk8s.io"
)
ROLE_ASSIGNMENT = "azure-native:authorization:RoleAssignment"
SUBNET = "azure-native:network:Subnet"
KUBERNETES = "pulumi:providers:kubernetes"
CREDENTIALS = "azure-native:containerservice:listManagedClusterUserCredentials"

CREATED = {"kind": "created", "cidr": "10.30.0.0/16"}
EXISTING = {
    "kind": "existing",
    "cidr": "10.30.0.0/16",
    "nodeSubnetId": f"/subscriptions/{SUBSCRIPTION}/resourceGroups/network"
    "/providers/Microsoft.Network/virtualNetworks/shared/subnets/nodes",
    "nodeCidr": "10.30.0.0/20",
}
REGISTRY_ID = (
    f"/subscriptions/{SUBSCRIPTION}/resourceGroups/images/providers/Microsoft.ContainerRegistry/registries/research"
)
ISOLATED = {**EXISTING, "internet": "none", "registryId": REGISTRY_ID}
NO_INTERNET = {"cluster.network": ISOLATED, "cluster.imageRegistries": {"nvcr.io": "research.azurecr.io/nvidia"}}
"""Changes for a network isolated cluster."""

DOCUMENT: dict[str, Any] = {
    "schemaVersion": 1,
    "environment": "dev",
    "cluster": {
        "kind": "aks",
        "name": "research",
        "subscriptionId": SUBSCRIPTION,
        "tenantId": TENANT,
        "location": "westeurope",
        "zones": ["1", "2", "3"],
        "version": CHOSEN,
        "network": CREATED,
        "access": {"deployerObjectId": DEPLOYER, "adminGroupIds": [ADMINS]},
        "secretsKeyId": KEY_ID,
        "diskEncryptionSetId": DISK_SET_ID,
        "tags": {"team": "ml", "cost-center": "4711"},
    },
    "pools": {
        "initial": {"role": "initial", "size": {"min": 3, "max": 3}, "instanceTypes": ["Standard_D4s_v5"]},
        "workload": {"role": "workload", "size": {"min": 1, "max": 10}, "instanceTypes": ["Standard_D8s_v5"]},
        "spot": {
            "role": "workload",
            "lifecycle": "spot",
            "size": {"min": 0, "max": 20},
            "instanceTypes": ["Standard_D8s_v5", "Standard_D8as_v5"],
            "labels": {"example.com/team": "ml"},
        },
        "jupyter": {"role": "jupyter", "size": {"min": 0, "max": 5}, "instanceTypes": ["Standard_D4s_v5"]},
        "gpu": {"role": "gpu", "size": {"min": 0, "max": 4}, "instanceTypes": ["Standard_NC4as_T4_v3"]},
        "data": {"role": "data", "size": {"min": 3, "max": 3}, "instanceTypes": ["Standard_L8s_v3"]},
    },
}


def document(changes: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the stack's choices with ``changes``, whose keys are dotted paths; None removes a key."""
    return edited(DOCUMENT, changes or {})


def config(changes: dict[str, Any] | None = None) -> StackConfig:
    """Return the stack with ``changes``."""
    return parse(document(changes))


def build(
    changes: dict[str, Any] | None = None, *, first_preview: bool = False, live_sizes: Mapping[str, int] | None = None
) -> Recorder:
    """Return everything that the program declares for the stack with ``changes``, with groups of these live sizes."""
    choices = config(changes)
    return record(lambda: run(choices, live_sizes=live_sizes), first_preview=first_preview)


@lru_cache(maxsize=4)
def built(environment: str = "dev") -> Recorder:
    """Return what the unchanged stack declares; do not change it."""
    return build({"environment": environment})


def pools(recorder: Recorder) -> dict[str, dict[str, Any]]:
    """Return the inputs of all pools by logical name without the stack's, the initial one among them."""
    (initial,) = recorder.of_type(CLUSTER)["test-cluster"]["agentPoolProfiles"]
    others = {name.removeprefix("test-pools-"): pool for name, pool in recorder.of_type(AGENT_POOL).items()}
    return {initial["name"]: initial, **others}
