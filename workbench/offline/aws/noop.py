"""A no-op AWS provider: ids and outputs are made up, and identical for identical names."""

import hashlib
from typing import Any, Final

from typing_extensions import override

from workbench.offline.aws.provider import OfflineAws
from workbench.offline.noop import NoopProvider

ACCOUNT: Final = "arn:aws:service:eu-west-1:111122223333"

OUTPUTS: Final[dict[str, dict[str, Any]]] = {
    "aws:ec2/launchTemplate:LaunchTemplate": {"latestVersion": 1, "defaultVersion": 1},
    "aws:eks/cluster:Cluster": {
        "endpoint": "https://127.0.0.1:1",
        "certificateAuthority": {"data": "bm9uZQ=="},
        "status": "ACTIVE",
    },
    "aws:fsx/lustreFileSystem:LustreFileSystem": {
        "dnsName": "fs-0.fsx.eu-west-1.amazonaws.com",
        "mountName": "abcdefgh",
    },
    "aws:kms/key:Key": {"keyId": "11111111-2222-3333-4444-555555555555"},
}
"""Outputs of AWS resources, besides ``arn``, that programs read."""


ID_PREFIXES: Final = {
    "aws:ec2/securityGroup:SecurityGroup": "sg",
    "aws:ec2/subnet:Subnet": "subnet",
    "aws:efs/fileSystem:FileSystem": "fs",
}
"""Prefixes of ids whose form AWS's model of EFS prescribes where they are inputs."""


class NoopAws(NoopProvider, OfflineAws):
    """Accepts every operation on AWS resources without performing it."""

    @override
    def create(self, type_: str, name: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        identifier, repeated = super().create(type_, name, inputs)
        if prefix := ID_PREFIXES.get(type_):
            identifier = f"{prefix}-{hashlib.sha256(name.encode()).hexdigest()[:17]}"
        outputs = {**repeated, "arn": f"{ACCOUNT}:{name}", **OUTPUTS.get(type_, {})}
        if type_ == "aws:eks/nodeGroup:NodeGroup":
            outputs["resources"] = [{"autoscalingGroups": [{"name": f"eks-{inputs['nodeGroupName']}"}]}]
        return identifier, outputs


PROVIDER: Final = NoopAws
