"""An account of the AWS emulator in which EKS can begin: network, roles, key, launch template; and clusters in it."""

import base64
import itertools
import json
import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final

from emulators.aws.client import Emulator
from support.aws import eventually
from support.minors import OLDER

ZONES: Final = ("eu-west-1a", "eu-west-1b", "eu-west-1c")
_NUMBERS = itertools.count(1)


def unique(prefix: str) -> str:
    return f"{prefix}-{next(_NUMBERS)}"


@dataclass(frozen=True)
class Account:
    """What a cluster and its node groups are made from."""

    aws: Emulator
    eks: Any
    """boto3's client; making one takes longer than most calls."""
    vpc: str
    subnets: tuple[str, ...]
    cluster_role: str
    node_role: str
    pod_role: str
    key: str

    def cluster_args(self, **changes: Any) -> dict[str, Any]:
        """Return a request for a cluster as this project makes them."""
        return {
            "name": unique("cluster"),
            "version": OLDER,
            "roleArn": self.cluster_role,
            "resourcesVpcConfig": {"subnetIds": list(self.subnets)},
            "accessConfig": {"authenticationMode": "API", "bootstrapClusterCreatorAdminPermissions": False},
            "bootstrapSelfManagedAddons": False,
            **changes,
        }

    def cluster(self, **changes: Any) -> str:
        """Make a cluster and return its name."""
        made: str = self.eks.create_cluster(**self.cluster_args(**changes))["cluster"]["name"]
        return made

    def group_args(self, cluster: str, **changes: Any) -> dict[str, Any]:
        return {
            "clusterName": cluster,
            "nodegroupName": unique("group"),
            "scalingConfig": {"minSize": 1, "maxSize": 3, "desiredSize": 2},
            "subnets": list(self.subnets),
            "instanceTypes": ["m6i.large"],
            "nodeRole": self.node_role,
            **changes,
        }

    def group(self, cluster: str, **changes: Any) -> str:
        """Make a node group and return its name."""
        made: str = self.eks.create_nodegroup(**self.group_args(cluster, **changes))["nodegroup"]["nodegroupName"]
        return made

    def template(self, **more: Any) -> str:
        """Make a launch template and return its id."""
        data = {"MetadataOptions": {"HttpTokens": "required"}, **more}
        made = self.aws.api("ec2").create_launch_template(
            LaunchTemplateName=unique("template"), LaunchTemplateData=data
        )
        template: str = made["LaunchTemplate"]["LaunchTemplateId"]
        return template

    def read_group(self, cluster: str, group: str) -> Any:
        return self.eks.describe_nodegroup(clusterName=cluster, nodegroupName=group)["nodegroup"]

    def read_addon(self, cluster: str, addon: str) -> Any:
        return self.eks.describe_addon(clusterName=cluster, addonName=addon)["addon"]

    def wait(self, cluster: str) -> None:
        """Wait until the cluster is settled."""
        assert eventually(lambda: self.eks.describe_cluster(name=cluster)["cluster"]["status"] == "ACTIVE")


def role(aws: Emulator, service: str, actions: Iterable[str] = ("sts:AssumeRole",)) -> str:
    """Make a role that a service may assume, and return its ARN."""
    statement = {"Effect": "Allow", "Principal": {"Service": service}, "Action": list(actions)}
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    made: str = aws.api("iam").create_role(RoleName=unique("role"), AssumeRolePolicyDocument=document)["Role"]["Arn"]
    return made


def pod_token(subject: str = "system:serviceaccount:vision:igz-jobs", **claims: Any) -> str:
    """Return what the kubelet puts into a pod whose service account has an association; it is not signed."""
    about = {"sub": subject, "aud": ["pods.eks.amazonaws.com"], "exp": time.time() + 3600, **claims}
    parts = (b"{}", json.dumps(about).encode(), b"signature")
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


def account(aws: Emulator) -> Account:
    """Make everything that a cluster needs."""
    ec2 = aws.api("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnets = tuple(
        ec2.create_subnet(VpcId=vpc, CidrBlock=f"10.0.{index}.0/24", AvailabilityZone=zone)["Subnet"]["SubnetId"]
        for index, zone in enumerate(ZONES)
    )
    return Account(
        aws=aws,
        eks=aws.api("eks"),
        vpc=vpc,
        subnets=subnets,
        cluster_role=role(aws, "eks.amazonaws.com"),
        node_role=role(aws, "ec2.amazonaws.com"),
        pod_role=role(aws, "pods.eks.amazonaws.com", ("sts:AssumeRole", "sts:TagSession")),
        key=aws.api("kms").create_key()["KeyMetadata"]["Arn"],
    )
