"""Lists all AWS resources of a stack by its tags, including those missing from the state."""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from components.contract.aws import ROLE_NAME_MAX, OwnTag
from components.contract.names import beginning
from workbench.recovery.cloud.aws import backup, ec2, efs, eks, fsx, non_ec2
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
"""EC2 resources created by node groups and controllers, by display name. They come and go with the cluster."""

SECURITY_GROUP: Final = "security group"

_BY_CONTROLLERS: Final[Mapping[str, Kind]] = {
    **BYPRODUCTS,
    SECURITY_GROUP: replace(ec2.KINDS["aws:ec2/securityGroup:SecurityGroup"], name_key="GroupName"),
}
"""The same plus security groups; security groups created by controllers lack our tags."""

FILE_SYSTEM: Final = "aws:efs/fileSystem:FileSystem"
LUSTRE: Final = "aws:fsx/lustreFileSystem:LustreFileSystem"

_ROLE_OF_BACKUPS: Final = "AWS Backup deletes expired backups with it; delete it after the vaults"

_OF_EKS: Final = "aws:eks:cluster-name"

_BALANCING: Final = ("load balancer", "target group")
"""Resources of controllers in Elastic Load Balancing, in deletion order."""

WITH_DATA: Final = frozenset({"instance", "volume"})
"""Kinds among them whose deletion loses data."""


def tagged_resources(account: AwsQueries) -> list[CloudResource]:
    """Return all resources with the stack's tags, and those of its cluster's controllers; sorted by type.

    Queries EC2 kind by kind: the tagging API lists deleted resources for hours, and does not list roles.

    Raises
    ------
    UserError
        AWS cannot be queried.
    """
    resources = [
        *_in_ec2(account),
        *_by_controllers(account),
        *_in_eks(account),
        *_roles(account),
        *_log_groups(account),
        *_keys(account),
        *_file_systems(account),
        *_backups(account),
    ]
    return sorted(dict.fromkeys(resources), key=lambda resource: (resource.type, resource.id))


def _in_ec2(account: AwsQueries) -> Iterator[CloudResource]:
    for type_, kind in {**ec2.KINDS, **BYPRODUCTS}.items():
        for item, result in ec2.tagged(account, kind, account.tags):
            # EC2 creates and deletes the default group with the VPC.
            if item.get("GroupName") != "default":
                yield _ec2_resource(account, type_, kind, result, item.get(kind.name_key))


def _by_controllers(account: AwsQueries) -> Iterator[CloudResource]:
    """Yield resources without our tags: volumes of claims, interfaces of pods, load balancers of services.

    Sources: kubernetes-sigs/aws-ebs-csi-driver, docs/tagging.md; aws/amazon-vpc-cni-k8s, README.md;
    kubernetes/cloud-provider-aws, docs/prerequisites.md; kubernetes-sigs/aws-load-balancer-controller,
    pkg/deploy/tracking/provider.go.
    """
    by_cluster = {f"kubernetes.io/cluster/{account.cluster}": "owned"}
    by_controller = {"elbv2.k8s.aws/cluster": account.cluster}  # AWS Load Balancer Controller
    tags_by_type = (
        ("volume", by_cluster),
        ("network interface", {"cluster.k8s.amazonaws.com/name": account.cluster}),
        (SECURITY_GROUP, by_cluster),
        (SECURITY_GROUP, by_controller),
    )
    for type_, tags in tags_by_type:
        kind = _BY_CONTROLLERS[type_]
        for item, result in ec2.tagged(account, kind, tags):
            # EKS creates and deletes this one with the cluster.
            if _OF_EKS not in (result.tags or {}):
                yield _ec2_resource(account, type_, kind, result, item.get(kind.name_key))
    for type_ in _BALANCING:
        for tags in (by_cluster, by_controller):
            yield from _balancing(account, type_, tags)


def _balancing(account: AwsQueries, type_: str, tags: Mapping[str, str]) -> Iterator[CloudResource]:
    """Yield load balancers or target groups that have all of ``tags``."""
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
        service, by, identifier = ("elb", "name", name) if is_classic else ("elbv2", "arn", arn)
        yield CloudResource(
            type_,
            arn,
            name,
            "",
            _aws(account, service, f"describe-{noun}s --{noun}-{by}s {identifier}"),
            _aws(account, service, f"delete-{noun} --{noun}-{by} {identifier}"),
            is_byproduct=True,
        )


def _ec2_resource(
    account: AwsQueries, type_: str, kind: Kind, result: LookupResult, name: str | None = None
) -> CloudResource:
    option = re.sub(r"(?<!^)(?=[A-Z])", "-", kind.id_key).lower()
    return CloudResource(
        type_,
        result.id,
        name or (result.tags or {}).get("Name", ""),
        result.state,
        _aws(account, "ec2", f"{kind.operation.replace('_', '-')} --{option}s {result.id}"),
        _aws(account, "ec2", f"{kind.delete} {result.id}"),
        holds_data=type_ in WITH_DATA,
        is_byproduct=type_ in _BY_CONTROLLERS,
    )


@dataclass(frozen=True)
class _Component:
    """How EKS lists one kind of component in a cluster, and its names in the AWS CLI."""

    operation: str
    key: str
    describe: Callable[[AwsQueries, str, str], list[LookupResult]]
    noun: str
    option: str


_COMPONENTS: Final[Mapping[str, _Component]] = {
    "aws:eks/accessEntry:AccessEntry": _Component(
        "list_access_entries", "accessEntries", eks.describe_access_entry, "access-entry", "principal-arn"
    ),
    "aws:eks/addon:Addon": _Component("list_addons", "addons", eks.describe_addon, "addon", "addon-name"),
    "aws:eks/nodeGroup:NodeGroup": _Component(
        "list_nodegroups", "nodegroups", eks.describe_node_group, "nodegroup", "nodegroup-name"
    ),
    "aws:eks/podIdentityAssociation:PodIdentityAssociation": _Component(
        "list_pod_identity_associations",
        "associations[].associationId",
        eks.describe_pod_identity,
        "pod-identity-association",
        "association-id",
    ),
}


def _in_eks(account: AwsQueries) -> Iterator[CloudResource]:
    inside = account.cluster
    for result in eks.describe_cluster(account, inside):
        yield from _eks_resource(account, "aws:eks/cluster:Cluster", result, f"cluster --name {inside}")
    for type_, component in _COMPONENTS.items():
        for name in account.listed("eks", component.operation, component.key, clusterName=inside):
            for result in component.describe(account, inside, name):
                description = f"{component.noun} --cluster-name {inside} --{component.option} {name}"
                yield from _eks_resource(account, type_, result, description)


def _eks_resource(account: AwsQueries, type_: str, result: LookupResult, description: str) -> Iterator[CloudResource]:
    if account.is_ours(result.tags or {}):
        look, delete = (_aws(account, "eks", f"{verb}-{description}") for verb in ("describe", "delete"))
        yield CloudResource(type_, result.id, "", result.state, look, delete, holds_data=result.holds_data)


def _roles(account: AwsQueries) -> Iterator[CloudResource]:
    for name in account.listed("iam", "list_roles", "Roles[].RoleName"):
        # Listings lack tags, and accounts have many roles; ours start with the stack's name.
        if name.startswith(beginning(account.stack, ROLE_NAME_MAX)):
            for result in non_ec2.describe_role(account, name):
                if account.is_ours(result.tags or {}):
                    look, delete = (
                        _aws(account, "iam", f"{verb}-role --role-name {name}") for verb in ("get", "delete")
                    )
                    # AWS deletes no role with policies.
                    detach = (
                        _aws(account, "iam", f"detach-role-policy --role-name {name} --policy-arn {policy}")
                        for policy in non_ec2.attached_policies(account, name)
                    )
                    kept = _ROLE_OF_BACKUPS if OwnTag.KEPT.value in (result.tags or {}) else ""
                    delete = " && ".join([*detach, delete])
                    yield CloudResource("aws:iam/role:Role", result.id, "", "", look, delete, kept=kept)


def _log_groups(account: AwsQueries) -> Iterator[CloudResource]:
    for prefix in (f"/aws/eks/{account.cluster}/", f"/igz-clusters/{account.cluster}/"):
        for result in non_ec2.log_groups(account, prefix):
            commands = (
                f"describe-log-groups --log-group-name-prefix {result.id}",
                f"delete-log-group --log-group-name {result.id}",
            )
            if account.is_ours(result.tags or {}):
                look, delete = (_aws(account, "logs", each) for each in commands)
                yield CloudResource(
                    "aws:cloudwatch/logGroup:LogGroup", result.id, "", "", look, delete, holds_data=True
                )


def _keys(account: AwsQueries) -> Iterator[CloudResource]:
    for description, result in non_ec2.keys(account):
        look = _aws(account, "kms", f"describe-key --key-id {result.id}")
        delete = _aws(account, "kms", f"schedule-key-deletion --key-id {result.id}")
        yield CloudResource("aws:kms/key:Key", result.id, description, result.state, look, delete, holds_data=True)


def _file_systems(account: AwsQueries) -> Iterator[CloudResource]:
    for token, result in efs.file_systems(account):
        if account.is_ours(result.tags or {}):
            look = _aws(account, "efs", f"describe-file-systems --file-system-id {result.id}")
            delete = _aws(account, "efs", f"delete-file-system --file-system-id {result.id}")
            yield CloudResource(FILE_SYSTEM, result.id, token, result.state, look, delete, holds_data=True)
    for path, result in efs.access_points(account):
        if account.is_ours(result.tags or {}):
            look = _aws(account, "efs", f"describe-access-points --access-point-id {result.id}")
            delete = _aws(account, "efs", f"delete-access-point --access-point-id {result.id}")
            yield CloudResource("aws:efs/accessPoint:AccessPoint", result.id, path, result.state, look, delete)
    for name, result in fsx.file_systems(account):
        if account.is_ours(result.tags or {}):
            look = _aws(account, "fsx", f"describe-file-systems --file-system-ids {result.id}")
            delete = _aws(account, "fsx", f"delete-file-system --file-system-id {result.id}")
            yield CloudResource(LUSTRE, result.id, name, result.state, look, delete, holds_data=True)


def _backups(account: AwsQueries) -> Iterator[CloudResource]:
    for vault in filter(lambda each: account.is_ours(each.tags or {}), backup.vaults(account)):
        look, delete = (
            _aws(account, "backup", f"{verb}-backup-vault --backup-vault-name {vault.id}")
            for verb in ("describe", "delete")
        )
        count, last = backup.kept_until(account, vault.id)
        until = f"the last one until {last:%Y-%m-%d}" if last else "kept until you delete them"
        kept = f"holds {count} recovery points, {until}; it can be deleted after that" if count else "is empty"
        yield CloudResource(
            "aws:backup/vault:Vault", vault.id, "", vault.state, look, delete, holds_data=True, kept=kept
        )
    for name, plan in backup.plans(account):
        if account.is_ours(plan.tags or {}):
            look = _aws(account, "backup", f"get-backup-plan --backup-plan-id {plan.id}")
            delete = _aws(account, "backup", f"delete-backup-plan --backup-plan-id {plan.id}")
            yield CloudResource("aws:backup/plan:Plan", plan.id, name, "", look, delete)


def _aws(account: AwsQueries, service: str, description: str) -> str:
    return f"aws {service} {description} --region {account.region}"
