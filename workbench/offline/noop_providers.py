"""Plug-ins that say they made what they were told to make: a state to plan changes onto, with no cloud and no cluster.

``python -m workbench.offline.noop_providers aws`` serves one to the engine. Nothing is ever made: ids
and outputs are invented, the same for the same name, so that equal programs give equal states.
"""

import json
import sys
from base64 import b64encode
from typing import Any, Final

from typing_extensions import override

from workbench.offline.aws.provider import OfflineAws
from workbench.offline.azure import shapes
from workbench.offline.azure.provider import LIST_CREDENTIALS, OfflineAzure
from workbench.offline.kubernetes.provider import OfflineKubernetes
from workbench.offline.plugin import serve
from workbench.offline.provider import Existing, Provider, ReadResult

ACCOUNT: Final = "arn:aws:service:eu-west-1:111122223333"

SUBSCRIPTION: Final = "00000000-0000-0000-0000-000000000000"

OUTPUTS: Final[dict[str, dict[str, Any]]] = {
    "aws:ec2/launchTemplate:LaunchTemplate": {"latestVersion": 1, "defaultVersion": 1},
    "aws:eks/cluster:Cluster": {
        "endpoint": "https://127.0.0.1:1",
        "certificateAuthority": {"data": "bm9uZQ=="},
        "status": "ACTIVE",
    },
    "aws:kms/key:Key": {"keyId": "11111111-2222-3333-4444-555555555555"},
}
"""Outputs of AWS resources, beside ``arn``, that programs read."""

AZURE_OUTPUTS: Final[dict[str, dict[str, Any]]] = {
    "azure-native:containerservice:ManagedCluster": {
        "fqdn": "none.invalid",
        "oidcIssuerProfile": {"enabled": True, "issuerURL": "https://none.invalid/"},
    },
    "azure-native:managedidentity:UserAssignedIdentity": dict.fromkeys(
        ("clientId", "principalId", "tenantId"), "11111111-2222-3333-4444-555555555555"
    ),
}
"""Outputs of Azure resources, beside ``name``, that programs read."""

KUBECONFIG: Final = {
    "clusters": [
        {"name": "none", "cluster": {"server": "https://127.0.0.1:1", "certificate-authority-data": "bm9uZQ=="}}
    ]
}
"""Of an AKS cluster."""


class _NoopProvider(Provider):
    """Plans as the offline provider does that it is mixed with, and then pretends."""

    @override
    def create(self, type_: str, name: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        return f"{name}-id", inputs

    @override
    def read(self, resource: Existing) -> ReadResult:
        return ReadResult(resource.inputs, resource.outputs)

    @override
    def update(self, resource: Existing, inputs: dict[str, Any]) -> dict[str, Any]:
        return {**resource.outputs, **inputs}

    @override
    def delete(self, resource: Existing) -> None:
        pass


class NoopAws(_NoopProvider, OfflineAws):
    """AWS that is not there."""

    @override
    def create(self, type_: str, name: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        identifier, repeated = super().create(type_, name, inputs)
        outputs = {**repeated, "arn": f"{ACCOUNT}:{name}", **OUTPUTS.get(type_, {})}
        if type_ == "aws:eks/nodeGroup:NodeGroup":
            outputs["resources"] = [{"autoscalingGroups": [{"name": f"eks-{inputs['nodeGroupName']}"}]}]
        return identifier, outputs


class NoopAzure(_NoopProvider, OfflineAzure):
    """Azure that is not there."""

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
    return {**shapes.outputs(type_, body), "name": identifier.rpartition("/")[2], **AZURE_OUTPUTS.get(type_, {})}


class NoopKubernetes(_NoopProvider, OfflineKubernetes):
    """A cluster that is not there."""


PROVIDERS: Final = {"aws": NoopAws, "azure-native": NoopAzure, "kubernetes": NoopKubernetes}
"""By package."""

if __name__ == "__main__":
    serve(PROVIDERS[sys.argv[1]]())
