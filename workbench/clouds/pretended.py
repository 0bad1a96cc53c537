"""Plug-ins that say they made what they were told to make: a state to plan changes onto, with no cloud and no cluster.

``python -m workbench.clouds.pretended aws`` serves one to the engine. Nothing of what they answer was ever made: ids
and outputs are invented, the same for the same name, so that equal programs give equal states.
"""

import sys
from typing import Any, Final

from typing_extensions import override

from workbench.clouds.aws.provider import OfflineAws
from workbench.clouds.kubernetes.provider import OfflineKubernetes
from workbench.clouds.plugin import Existing, Found, Provider, serve

ACCOUNT: Final = "arn:aws:service:eu-west-1:111122223333"

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


class _Pretended(Provider):
    """Plans as the offline provider does that it is mixed with, and then pretends."""

    @override
    def create(self, type_: str, name: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        return f"{name}-id", inputs

    @override
    def read(self, resource: Existing) -> Found:
        return Found(resource.inputs, resource.outputs)

    @override
    def update(self, resource: Existing, inputs: dict[str, Any]) -> dict[str, Any]:
        return {**resource.outputs, **inputs}

    @override
    def delete(self, resource: Existing) -> None:
        pass


class PretendedAws(_Pretended, OfflineAws):
    """AWS that is not there."""

    @override
    def create(self, type_: str, name: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        identifier, repeated = super().create(type_, name, inputs)
        outputs = {**repeated, "arn": f"{ACCOUNT}:{name}", **OUTPUTS.get(type_, {})}
        if type_ == "aws:eks/nodeGroup:NodeGroup":
            outputs["resources"] = [{"autoscalingGroups": [{"name": f"eks-{inputs['nodeGroupName']}"}]}]
        return identifier, outputs


class PretendedKubernetes(_Pretended, OfflineKubernetes):
    """A cluster that is not there."""


PROVIDERS: Final = {"aws": PretendedAws, "kubernetes": PretendedKubernetes}
"""By package."""

if __name__ == "__main__":
    serve(PROVIDERS[sys.argv[1]]())
