"""What still carries a stack's tags, whether the state knows of it or not."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from workbench.recovery.cloud.aws import ec2, eks, non_ec2
from workbench.recovery.cloud.aws.ec2 import Kind
from workbench.recovery.cloud.aws.queries import AwsQueries
from workbench.recovery.cloud.cloud_resource import CloudResource
from workbench.recovery.cloud.lookup import LookupResult

BYPRODUCTS: Final[Mapping[str, Kind]] = {
    "instance": Kind(
        "describe_instances",
        "Reservations[].Instances[]",
        "InstanceId",
        "terminate-instances --instance-ids",
        state_key="State.Name",
    ),
    "network interface": Kind(
        "describe_network_interfaces",
        "NetworkInterfaces",
        "NetworkInterfaceId",
        "delete-network-interface --network-interface-id",
        state_key="Status",
    ),
    "volume": Kind("describe_volumes", "Volumes", "VolumeId", "delete-volume --volume-id", state_key="State"),
}
"""What node groups and controllers make in EC2, by what people call it. They come and go with the cluster."""

SECURITY_GROUP: Final = "security group"

_BY_CONTROLLERS: Final[Mapping[str, Kind]] = {
    **BYPRODUCTS,
    SECURITY_GROUP: replace(ec2.KINDS["aws:ec2/securityGroup:SecurityGroup"], name_key="GroupName"),
}
"""The same with security groups, of which those that controllers make carry no tag of ours."""

_OF_EKS: Final = "aws:eks:cluster-name"

_BALANCING: Final = ("load balancer", "target group")
"""What they make in Elastic Load Balancing, in the order in which it can be deleted."""

WITH_DATA: Final = frozenset({"instance", "volume"})
"""What cannot be had back, of these."""


def tagged_resources(account: AwsQueries) -> list[CloudResource]:
    """Return all that carries the stack's tags, and what its cluster's controllers left; sorted by kind.

    Of EC2 that is asked kind by kind, since the tagging API shows what was deleted for hours and knows no roles.

    Raises
    ------
    UserError
        AWS cannot be asked.
    """
    things = [
        *_in_ec2(account),
        *_by_controllers(account),
        *_in_eks(account),
        *_roles(account),
        *_log_groups(account),
        *_keys(account),
    ]
    return sorted(dict.fromkeys(things), key=lambda thing: (thing.type, thing.id))


def _in_ec2(account: AwsQueries) -> Iterator[CloudResource]:
    for type_, kind in {**ec2.KINDS, **BYPRODUCTS}.items():
        for item, found in ec2.tagged(account, kind, account.tags):
            # EC2 makes this one with the VPC and deletes it with the VPC.
            if item.get("GroupName") != "default":
                yield _ec2_resource(account, type_, kind, found, item.get(kind.name_key))


def _by_controllers(account: AwsQueries) -> Iterator[CloudResource]:
    """Yield what carries no tag of ours: volumes of claims, interfaces of pods, what balances load for services.

    Sources: kubernetes-sigs/aws-ebs-csi-driver, docs/tagging.md; aws/amazon-vpc-cni-k8s, README.md;
    kubernetes/cloud-provider-aws, docs/prerequisites.md; kubernetes-sigs/aws-load-balancer-controller,
    pkg/deploy/tracking/provider.go.
    """
    by_cluster = {f"kubernetes.io/cluster/{account.cluster}": "owned"}
    by_controller = {"elbv2.k8s.aws/cluster": account.cluster}  # of AWS's own, which alone makes those of Ingresses
    marks = (
        ("volume", by_cluster),
        ("network interface", {"cluster.k8s.amazonaws.com/name": account.cluster}),
        (SECURITY_GROUP, by_cluster),
        (SECURITY_GROUP, by_controller),
    )
    for type_, tags in marks:
        kind = _BY_CONTROLLERS[type_]
        for item, found in ec2.tagged(account, kind, tags):
            # EKS makes this one with the cluster and deletes it with the cluster.
            if _OF_EKS not in (found.tags or {}):
                yield _ec2_resource(account, type_, kind, found, item.get(kind.name_key))
    for type_ in _BALANCING:
        for tags in (by_cluster, by_controller):
            yield from _balancing(account, type_, tags)


def _balancing(account: AwsQueries, type_: str, tags: Mapping[str, str]) -> Iterator[CloudResource]:
    """Yield what balances load and carries all of ``tags``."""
    arns = account.listed(
        "resourcegroupstaggingapi",
        "get_resources",
        "ResourceTagMappingList[].ResourceARN",
        TagFilters=[{"Key": key, "Values": [value]} for key, value in tags.items()],
        ResourceTypeFilters=[f"elasticloadbalancing:{type_.replace(' ', '')}"],
    )
    noun = type_.replace(" ", "-")
    for arn in arns:
        name = arn.split(":", 5)[5].partition("/")[2]
        is_classic = "/" not in name
        service, by, given = ("elb", "name", name) if is_classic else ("elbv2", "arn", arn)
        yield CloudResource(
            type_,
            arn,
            name,
            "",
            _aws(account, service, f"describe-{noun}s --{noun}-{by}s {given}"),
            _aws(account, service, f"delete-{noun} --{noun}-{by} {given}"),
            is_byproduct=True,
        )


def _ec2_resource(
    account: AwsQueries, type_: str, kind: Kind, found: LookupResult, name: str | None = None
) -> CloudResource:
    option = re.sub(r"(?<!^)(?=[A-Z])", "-", kind.id_key).lower()
    return CloudResource(
        type_,
        found.id,
        name or (found.tags or {}).get("Name", ""),
        found.state,
        _aws(account, "ec2", f"{kind.operation.replace('_', '-')} --{option}s {found.id}"),
        _aws(account, "ec2", f"{kind.delete} {found.id}"),
        holds_data=type_ in WITH_DATA,
        is_byproduct=type_ in _BY_CONTROLLERS,
    )


@dataclass(frozen=True)
class _Part:
    """How EKS tells of one kind of things in a cluster, and what the AWS command line calls it."""

    operation: str
    key: str
    describe: Callable[[AwsQueries, str, str], list[LookupResult]]
    noun: str
    option: str


_PARTS: Final[Mapping[str, _Part]] = {
    "aws:eks/accessEntry:AccessEntry": _Part(
        "list_access_entries", "accessEntries", eks.describe_access_entry, "access-entry", "principal-arn"
    ),
    "aws:eks/addon:Addon": _Part("list_addons", "addons", eks.describe_addon, "addon", "addon-name"),
    "aws:eks/nodeGroup:NodeGroup": _Part(
        "list_nodegroups", "nodegroups", eks.describe_node_group, "nodegroup", "nodegroup-name"
    ),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": _Part(
        "list_pod_identity_associations",
        "associations[].associationId",
        eks.describe_pod_identity,
        "pod-identity-association",
        "association-id",
    ),
}


def _in_eks(account: AwsQueries) -> Iterator[CloudResource]:
    inside = account.cluster
    for found in eks.describe_cluster(account, inside):
        yield from _eks_resource(account, "aws:eks/cluster:Cluster", found, f"cluster --name {inside}")
    for type_, part in _PARTS.items():
        for name in account.listed("eks", part.operation, part.key, clusterName=inside):
            for found in part.describe(account, inside, name):
                words = f"{part.noun} --cluster-name {inside} --{part.option} {name}"
                yield from _eks_resource(account, type_, found, words)


def _eks_resource(account: AwsQueries, type_: str, found: LookupResult, words: str) -> Iterator[CloudResource]:
    if account.is_ours(found.tags or {}):
        look, delete = (_aws(account, "eks", f"{verb}-{words}") for verb in ("describe", "delete"))
        yield CloudResource(type_, found.id, "", found.state, look, delete, holds_data=found.holds_data)


def _roles(account: AwsQueries) -> Iterator[CloudResource]:
    for name in account.listed("iam", "list_roles", "Roles[].RoleName"):
        # A list comes without tags, and accounts have many roles; ours begin with the stack's name.
        if name.startswith(f"{account.stack}-"):
            for found in non_ec2.describe_role(account, name):
                if account.is_ours(found.tags or {}):
                    look, delete = (
                        _aws(account, "iam", f"{verb}-role --role-name {name}") for verb in ("get", "delete")
                    )
                    yield CloudResource("aws:iam/role:Role", found.id, "", "", look, delete)


def _log_groups(account: AwsQueries) -> Iterator[CloudResource]:
    for prefix in (f"/aws/eks/{account.cluster}/", f"/igz-clusters/{account.cluster}/"):
        for found in non_ec2.log_groups(account, prefix):
            commands = (
                f"describe-log-groups --log-group-name-prefix {found.id}",
                f"delete-log-group --log-group-name {found.id}",
            )
            if account.is_ours(found.tags or {}):
                look, delete = (_aws(account, "logs", each) for each in commands)
                yield CloudResource("aws:cloudwatch/logGroup:LogGroup", found.id, "", "", look, delete, holds_data=True)


def _keys(account: AwsQueries) -> Iterator[CloudResource]:
    for description, found in non_ec2.keys(account):
        look = _aws(account, "kms", f"describe-key --key-id {found.id}")
        delete = _aws(account, "kms", f"schedule-key-deletion --key-id {found.id}")
        yield CloudResource("aws:kms/key:Key", found.id, description, found.state, look, delete, holds_data=True)


def _aws(account: AwsQueries, service: str, words: str) -> str:
    return f"aws {service} {words} --region {account.region}"
