"""A no-op Azure provider: ids and outputs are made up, and identical for identical names."""

import json
from base64 import b64encode
from typing import Any, Final

from typing_extensions import override

from workbench.offline.azure import shapes
from workbench.offline.azure.provider import LIST_CREDENTIALS, OfflineAzure
from workbench.offline.noop import NoopProvider
from workbench.offline.provider import Existing

SUBSCRIPTION: Final = "00000000-0000-0000-0000-000000000000"

OUTPUTS: Final[dict[str, dict[str, Any]]] = {
    "azure-native:containerservice:ManagedCluster": {
        "fqdn": "none.invalid",
        "oidcIssuerProfile": {"enabled": True, "issuerURL": "https://none.invalid/"},
    },
    "azure-native:managedidentity:UserAssignedIdentity": dict.fromkeys(
        ("clientId", "principalId", "tenantId"), "11111111-2222-3333-4444-555555555555"
    ),
}
"""Outputs of Azure resources, besides ``name``, that programs read."""

KUBECONFIG: Final = {
    "clusters": [
        {"name": "none", "cluster": {"server": "https://127.0.0.1:1", "certificate-authority-data": "bm9uZQ=="}}
    ]
}
"""Kubeconfig of an AKS cluster."""


class NoopAzure(NoopProvider, OfflineAzure):
    """Accepts every operation on Azure resources without performing it."""

    @override
    def create(self, type_: str, name: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        identifier = shapes.id_of(type_, inputs, SUBSCRIPTION)
        return identifier, _azure_outputs(type_, identifier, inputs)

    @override
    def update(self, resource: Existing, inputs: dict[str, Any]) -> dict[str, Any]:
        return _azure_outputs(resource.type_, resource.id, inputs)

    @override
    def invoke(self, token: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if token != LIST_CREDENTIALS:
            return super().invoke(token, arguments)
        return {"kubeconfigs": [{"name": "clusterUser", "value": b64encode(json.dumps(KUBECONFIG).encode()).decode()}]}


def _azure_outputs(type_: str, identifier: str, inputs: dict[str, Any]) -> dict[str, Any]:
    body = shapes.body(type_, inputs)
    return {**shapes.outputs(type_, body), "name": identifier.rpartition("/")[2], **OUTPUTS.get(type_, {})}


PROVIDER: Final = NoopAzure
