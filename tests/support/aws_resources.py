"""Resources of the AWS emulator as the engine would have them: checked, made, changed and deleted by the provider."""

import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from emulators.aws.provider import AwsEmulator
from support.minors import OLDER
from workbench.offline.provider import Existing

VPC, SUBNET = "aws:ec2/vpc:Vpc", "aws:ec2/subnet:Subnet"
ROLE, ATTACHMENT = "aws:iam/role:Role", "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
CLUSTER, GROUP = "aws:eks/cluster:Cluster", "aws:eks/nodeGroup:NodeGroup"
TEMPLATE, KEY, LOGS = (
    "aws:ec2/launchTemplate:LaunchTemplate",
    "aws:kms/key:Key",
    "aws:cloudwatch/logGroup:LogGroup",
)


def trust(service: str) -> str:
    """Return a document that lets a service assume a role, written as no server would write it."""
    statement = {"Principal": {"Service": service}, "Effect": "Allow", "Action": ["sts:AssumeRole", "sts:TagSession"]}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]}, indent=1)


_STACKS = itertools.count(1)


@dataclass
class Stack:
    """What one test makes, under names that no other test uses; the newest goes first when it ends."""

    provider: AwsEmulator
    number: int = field(default_factory=lambda: next(_STACKS))
    made: list[Existing] = field(default_factory=list)

    def checked(self, type_: str, name: str, inputs: Mapping[str, Any], kept: dict[str, Any]) -> dict[str, Any]:
        """Return inputs as the engine gets them from the check, of which none may be wrong."""
        checked = self.provider.check(type_, name, dict(inputs), seed=f"{self.number}{name}".encode(), kept=kept)
        assert checked.problems == ()
        return {**inputs, **checked.filled, **checked.added}

    def make(self, type_: str, name: str = "main", /, **inputs: Any) -> Existing:
        """Make a resource."""
        given = self.checked(type_, name, inputs, {})
        identifier, outputs = self.provider.create(type_, name, given)
        self.made.append(Existing(type_, name, identifier, given, outputs))
        return self.made[-1]

    def change(self, resource: Existing, /, *dropped: str, **inputs: Any) -> Existing:
        """Give a resource other inputs, and take those in ``dropped`` from it."""
        left = {n: v for n, v in resource.inputs.items() if n not in (*dropped, "tagsAll")}
        given = self.checked(resource.type_, resource.name, {**left, **inputs}, resource.inputs)
        outputs = self.provider.update(resource, given)
        self.made[self.made.index(resource)] = changed = replace(resource, inputs=given, outputs=outputs)
        return changed

    def delete(self, resource: Existing) -> None:
        """Delete a resource."""
        self.provider.delete(resource)
        self.made.remove(resource)

    def delete_all(self) -> None:
        """Delete what is left, the newest first."""
        while self.made:
            self.delete(self.made[-1])

    # --- What other things need ---------------------------------------------------------------------------------------

    def network(self, zones: str = "ab") -> tuple[Existing, list[Existing]]:
        """Make a VPC with a subnet in each zone."""
        vpc = self.make(VPC, "vpc", cidrBlock="10.0.0.0/16", enableDnsSupport=True, enableDnsHostnames=True)
        return vpc, [
            self.make(SUBNET, zone, vpcId=vpc.id, cidrBlock=f"10.0.{index}.0/24", availabilityZone=f"eu-west-1{zone}")
            for index, zone in enumerate(zones)
        ]

    def role(self, service: str, *policies: str) -> Existing:
        """Make a role that a service of AWS assumes, with policies of AWS's own."""
        role = self.make(ROLE, service.partition(".")[0], assumeRolePolicy=trust(service))
        for policy in policies:
            self.make(ATTACHMENT, policy, role=role.id, policyArn=f"arn:aws:iam::aws:policy/{policy}")
        return role

    def cluster(self, subnets: list[Existing], **inputs: Any) -> Existing:
        """Make a cluster as our component asks for one."""
        return self.make(
            CLUSTER,
            "cluster",
            **{
                "name": f"dev-{self.number}",
                "roleArn": self.role("eks.amazonaws.com", "AmazonEKSClusterPolicy").outputs["arn"],
                "version": OLDER,
                "vpcConfig": {
                    "subnetIds": [subnet.id for subnet in reversed(subnets)],
                    "endpointPrivateAccess": True,
                    "endpointPublicAccess": True,
                    "publicAccessCidrs": ["203.0.113.0/24"],
                },
                "kubernetesNetworkConfig": {"ipFamily": "ipv4", "serviceIpv4Cidr": "172.20.0.0/16"},
                "enabledClusterLogTypes": ["scheduler", "api"],
                "accessConfig": {"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": False},
                "bootstrapSelfManagedAddons": False,
                "deletionProtection": False,
                "upgradePolicy": {"supportType": "STANDARD"},
                **inputs,
            },
        )

    def group(self, cluster: Existing, subnets: list[Existing], **inputs: Any) -> Existing:
        """Make a node group as our component asks for one, with its role and its launch template."""
        role = self.role("ec2.amazonaws.com", "AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly")
        template = self.make(
            TEMPLATE, "template", updateDefaultVersion=True, metadataOptions={"httpTokens": "required"}
        )
        return self.make(
            GROUP,
            "group",
            **{
                "clusterName": cluster.id,
                "version": cluster.outputs["version"],
                "nodeRoleArn": role.outputs["arn"],
                "subnetIds": [subnet.id for subnet in subnets],
                "amiType": "AL2023_x86_64_STANDARD",
                "capacityType": "ON_DEMAND",
                "instanceTypes": ["m6i.2xlarge", "m5.2xlarge"],
                "launchTemplate": {"id": template.id, "version": "1"},
                "labels": {"a": "1", "b": "2"},
                "taints": [{"key": "k", "value": "v", "effect": "NO_SCHEDULE"}],
                "scalingConfig": {"minSize": 1.0, "maxSize": 5.0, "desiredSize": 2.0},  # as they come over the wire
                "updateConfig": {"maxUnavailablePercentage": 33.0},
                "nodeRepairConfig": {"enabled": True},
                **inputs,
            },
        )
