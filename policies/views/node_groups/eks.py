"""Managed node groups of EKS."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import ClassVar, Final

from typing_extensions import override

from components.contract.aws import OwnTag
from components.contract.eks.autoscaling import ACCELERATOR_LABEL
from components.contract.eks.spelling import CAPACITY_BLOCK, SPELLING
from components.contract.environments import ClusterKind
from components.contract.labels import LabelKey
from components.contract.lifecycle import Lifecycle
from components.contract.taints import Taint
from policies.resource import Resource
from policies.values import NotJudgeableError, Value
from policies.views.node_groups import aws_machines
from policies.views.node_groups.cloud_types import CloudTypes
from policies.views.node_groups.facts import taint_object
from policies.views.node_groups.spelled import SpelledGroup
from policies.views.type_tokens import EKS_CLUSTER, KMS_KEY, LAUNCH_TEMPLATE, SUBNET

NODE_GROUP: Final = "aws:eks/nodeGroup:NodeGroup"
VPC: Final = "aws:ec2/vpc:Vpc"
SECURITY_GROUP: Final = "aws:ec2/securityGroup:SecurityGroup"
LOG_GROUP: Final = "aws:cloudwatch/logGroup:LogGroup"


class EksNodeGroup(SpelledGroup):
    """One managed node group."""

    kind: ClassVar = ClusterKind.EKS
    spelling: ClassVar = SPELLING
    rolling_inputs: ClassVar = ("version", "releaseVersion", "launchTemplate")

    @property
    @override
    def size_min(self) -> int | None:
        return self._props.at("scalingConfig", "minSize").integer()

    @property
    @override
    def scheduled_minimums(self) -> tuple[int, ...]:
        return tuple(map(int, re.findall(r"=(\d+)", self._props.at("tags", OwnTag.HOURS.value).text() or "")))

    @property
    @override
    def min_path(self) -> str:
        return self._props.at("scalingConfig", "minSize").path

    @property
    @override
    def size_max(self) -> int | None:
        return self._props.at("scalingConfig", "maxSize").integer()

    @property
    @override
    def nodes(self) -> int | None:
        # EKS gave up its creation: whatever its size, nothing runs there.
        return 0 if self._props.at("status").text() == "CREATE_FAILED" else super().nodes

    @property
    @override
    def instance_types(self) -> tuple[str, ...]:
        types, named = self._props.at("instanceTypes"), self._props.at("tags", OwnTag.MACHINE_TYPE.value).text()
        if types.is_absent and named:
            return (named,)
        if types.is_absent and not self._props.at("launchTemplate").is_absent:
            raise NotJudgeableError(types.path, "is set in the launch template")
        return tuple(element.text() or "" for element in types.elements())

    @property
    @override
    def lifecycle(self) -> Lifecycle:
        is_block = self._props.at("capacityType").text() == CAPACITY_BLOCK
        return Lifecycle.RESERVED if is_block else super().lifecycle

    @property
    @override
    def is_reserved(self) -> bool:
        # The reservation itself is in the launch template.
        return self.label(LabelKey.RESERVED) == Lifecycle.RESERVED

    @property
    @override
    def zones(self) -> int | None:
        subnets = self._props.at("subnetIds")  # one in each zone
        return None if subnets.is_absent else len(subnets.elements())

    @property
    @override
    def waits_for_whole_gpus(self) -> bool:
        return self.label(ACCELERATOR_LABEL) is not None

    @property
    @override
    def repairs_nodes(self) -> bool:
        return self._props.at("nodeRepairConfig", "enabled").flag() or False

    @override
    def _desired(self) -> Value:
        return self._props.at("scalingConfig", "desiredSize")

    @override
    def _taints(self) -> list[Callable[[], Taint | None]]:
        return [partial(taint_object, entry, self.effects()) for entry in self.taint_entries()]


def managed_node_group(resource: Resource) -> Iterator[EksNodeGroup]:
    """Return the resource as its only group."""
    yield EksNodeGroup(resource, resource.props)


TYPES: Final = CloudTypes(
    group=NODE_GROUP,
    view=EksNodeGroup,
    finders={NODE_GROUP: managed_node_group},
    cluster_input="clusterName",
    clusters=(EKS_CLUSTER,),
    keys=(KMS_KEY,),
    networks=(VPC, SUBNET),
    disks=(
        "aws:ebs/volume:Volume",
        "aws:efs/fileSystem:FileSystem",
        "aws:fsx/lustreFileSystem:LustreFileSystem",
        "aws:s3/bucket(V2)?:Bucket(V2)?",
    ),
    logs=(LOG_GROUP,),
    tagged=(
        LAUNCH_TEMPLATE,
        SUBNET,
        VPC,
        KMS_KEY,
        LOG_GROUP,
        "aws:ec2/securityGroup:SecurityGroup",
        "aws:iam/role:Role",
    ),
    tagged_parts={LAUNCH_TEMPLATE: aws_machines.template_tags},
    public_addresses={SUBNET: aws_machines.subnet_addresses, LAUNCH_TEMPLATE: aws_machines.template_addresses},
    data_risks=aws_machines.data_risks,
)
"""AWS's types."""
