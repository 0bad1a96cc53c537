"""What EKS sees of the rest of the account: networks, roles, keys and launch templates, as moto keeps them."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any, Final

from moto.core.exceptions import ServiceException
from moto.ec2.models.instance_types import INSTANCE_TYPES

from emulators.aws.server import ACCOUNT, REGION, store
from emulators.aws.server.eks.refusals import invalid_parameter
from emulators.aws.server.errors import AwsError
from emulators.core.fault_outcome import HealthIssue

CLUSTER_SERVICE: Final = "eks.amazonaws.com"
NODE_SERVICE: Final = "ec2.amazonaws.com"
POD_SERVICE: Final = "pods.eks.amazonaws.com"
"""Who must be trusted by the roles of a cluster, of nodes and of pods."""

MADE_FOR: Final = "aws:eks:cluster-name"
"""Tag on what EKS creates in addition to a cluster, with the cluster's name."""


@dataclass(frozen=True)
class Subnets:
    """Subnets that exist, in the order in which they were named."""

    vpc: str
    zones: Mapping[str, str]
    """Zone by subnet."""


def subnets(ids: Sequence[str]) -> Subnets:
    """Return what is known of subnets, or refuse those that do not exist or lie in several VPCs."""
    known = {subnet.id: subnet for zone in store.ec2().subnets.values() for subnet in zone.values()}
    for each in ids:
        if each not in known:
            raise invalid_parameter(f"The subnet ID '{each}' does not exist")
    vpcs = sorted({known[each].vpc_id for each in ids})
    if len(vpcs) != 1:
        raise invalid_parameter(f"Subnets must lie in one VPC, given subnets of {', '.join(vpcs) or 'none'}")
    return Subnets(vpcs[0], {each: known[each].availability_zone for each in ids})


def check_zones(cluster: str, places: Subnets, closed: Collection[str]) -> None:
    """Refuse a control plane in a zone that has none.

    The words are those that users quote; the page on troubleshooting has them too.
    """
    ec2 = store.ec2()
    zones = {each.name: each.zone_id for each in ec2.describe_availability_zones()}
    for zone in (zone for zone in places.zones.values() if zones[zone] in closed):
        offered = ", ".join(sorted(name for name, id_ in zones.items() if id_ not in closed))
        raise AwsError(
            "UnsupportedAvailabilityZoneException",
            400,
            f"Cannot create cluster '{cluster}' because {zone}, the targeted availability zone, does not currently "
            "have sufficient capacity to support the cluster. "
            f"Retry and choose from these availability zones: {offered}",
        )


def check_security_groups(ids: Iterable[str], vpc: str) -> None:
    """Refuse security groups that are not in the VPC."""
    known = store.ec2().groups[vpc]
    for each in ids:
        if each not in known:
            raise invalid_parameter(f"The security group '{each}' does not exist in {vpc}")


def is_outside(cidr: str, vpc: str) -> bool:
    """Return whether no address of a range is one of the VPC's."""
    ranges = (each["cidr_block"] for each in store.ec2().vpcs[vpc].get_cidr_block_association_set())
    return not any(IPv4Network(cidr).overlaps(IPv4Network(each)) for each in ranges)


def check_cluster_role(arn: str) -> None:
    """Refuse a role that the control plane cannot assume (terraform-aws-modules/terraform-aws-eks#2406)."""
    if not _trusts(arn, CLUSTER_SERVICE, {"sts:AssumeRole"}):
        raise invalid_parameter(
            f"Role with arn: {arn}, could not be assumed because it does not exist or the trusted entity is not correct"
        )


def check_node_role(arn: str) -> None:
    """Refuse a role that instances cannot assume (eksctl-io/eksctl#3290)."""
    if arn not in _roles():
        raise invalid_parameter(f"The role with name {arn.rpartition('/')[2]} cannot be found.")
    if not _trusts(arn, NODE_SERVICE, {"sts:AssumeRole"}):
        raise invalid_parameter(
            f"Following required service principals [{NODE_SERVICE}] were not found in the trust relationships of "
            f"nodeRole {arn}"
        )


def check_pod_role(arn: str) -> None:
    """Refuse a role that EKS Pod Identity cannot assume (hashicorp/terraform-provider-aws#41483)."""
    if arn not in _roles():
        raise invalid_parameter(f"Role provided in the request does not exist: {arn}")
    if not _trusts(arn, POD_SERVICE, {"sts:AssumeRole", "sts:TagSession"}):
        raise invalid_parameter("Trust policy of the role provided is invalid")


def trusts_pod(arn: str, context: Mapping[str, str]) -> bool:
    """Return whether a role trusts pods with these request tags, by conditions of ``StringEquals`` alone."""
    role = _roles().get(arn)
    for statement in _list(json.loads(role.assume_role_policy_document)["Statement"]) if role else []:
        if POD_SERVICE in _list(statement["Principal"].get("Service", [])):
            conditions = statement.get("Condition", {})
            if unknown := conditions.keys() - {"StringEquals"}:
                raise NotImplementedError(f"a trust policy with {', '.join(sorted(unknown))}")
            wanted = conditions.get("StringEquals", {})
            return all(context.get(key) in _list(values) for key, values in wanted.items())
    return False


def check_principal(arn: str) -> None:
    """Refuse an access entry for a principal that does not exist (terraform-aws-modules/terraform-aws-eks#2969).

    Whether another account has such a principal cannot be seen from here.
    """
    users = {user.arn for user in store.iam().users.values()}
    if f"::{ACCOUNT}:" in arn and arn not in _roles() and arn not in users:
        raise invalid_parameter("The specified principalArn is invalid: invalid principal.")


def check_key(arn: str) -> None:
    """Refuse a KMS key that cannot encrypt Secrets: symmetric, enabled, of the cluster's region.

    https://docs.aws.amazon.com/eks/latest/userguide/enable-kms.html
    """
    keys = {key.arn: key for key in store.kms().keys.values()}
    if arn not in keys:
        raise invalid_parameter(f"The keyArn {arn} in encryptionConfig is no key of {REGION}")
    key = keys[arn]
    if key.key_state != "Enabled" or key.key_spec != "SYMMETRIC_DEFAULT":
        raise invalid_parameter(
            f"The key {arn} is {key.key_state} and {key.key_spec}; EKS needs an enabled symmetric one"
        )


def key_issues(arn: str) -> tuple[HealthIssue, ...]:
    """Return what keeps a cluster from decrypting its Secrets with a key; KMS lets a key go that a cluster needs.

    Codes: https://docs.aws.amazon.com/eks/latest/APIReference/API_ClusterIssue.html; the words are assumed.
    """
    state = next((key.key_state for key in store.kms().keys.values() if key.arn == arn), None)
    code = {None: "KmsKeyNotFound", "PendingDeletion": "KmsKeyMarkedForDeletion", "Disabled": "KmsKeyDisabled"}.get(
        state
    )
    return (HealthIssue(code, f"The cluster cannot decrypt its Secrets: the key {arn} is {state}"),) if code else ()


def check_instance_types(names: Sequence[str], ami_type: str) -> None:
    """Refuse machine types that EC2 does not have, or that cannot run images of a type."""
    strange = [name for name in names if name not in INSTANCE_TYPES]
    if strange:
        raise invalid_parameter(f"The following supplied instance types do not exist: [{', '.join(strange)}]")
    architecture = "arm64" if "ARM_64" in ami_type else "x86_64"
    unfit = [n for n in names if architecture not in INSTANCE_TYPES[n]["ProcessorInfo"]["SupportedArchitectures"]]
    if unfit:
        raise invalid_parameter(f"[{', '.join(unfit)}] is not a valid instance type for requested amiType {ami_type}")


def check_interface(machine: str, place: tuple[int, int], kind: str) -> None:
    """Refuse an interface on a network card, or at an index of it, that a machine does not have for such interfaces."""
    card, device = place
    cards = {each["NetworkCardIndex"]: each for each in INSTANCE_TYPES[machine]["NetworkInfo"]["NetworkCards"]}
    if kind not in cards.get(card, {}).get("InterfaceTypes", ()):
        raise invalid_parameter(f"{machine} has no {kind} network interface on network card {card}")
    if device >= cards[card]["MaximumNetworkInterfaces"]:
        # Words: aws/aws-k8s-tester#531.
        raise invalid_parameter(f"The specified number '{device}' for the device index exceeds what {machine} has")


def check_adapters(machine: str, wanted: int) -> None:
    """Refuse more Elastic Fabric Adapters than a machine has."""
    most = INSTANCE_TYPES[machine]["NetworkInfo"].get("EfaInfo", {}).get("MaximumEfaInterfaces", 0)
    if wanted > most:
        raise invalid_parameter(f"{machine} has {most} Elastic Fabric Adapters at most, given {wanted}")


@dataclass(frozen=True)
class LaunchTemplate:
    """A version of a launch template."""

    id: str
    name: str
    version: str
    data: Mapping[str, Any]

    @property
    def members(self) -> dict[str, str]:
        """What a node group says of its template."""
        return {"id": self.id, "name": self.name, "version": self.version}


def launch_template(given: Mapping[str, str]) -> LaunchTemplate:
    """Return the version of the launch template that a request names, or refuse.

    ``$Default``, ``$Latest`` and no version at all become the number that they mean.
    """
    if ("id" in given) == ("name" in given):
        # Words: hashicorp/terraform-provider-aws, internal/service/eks/node_group.go.
        raise invalid_parameter("Either provide launch template ID or launch template name in the request.")
    ec2 = store.ec2()
    try:
        found = (
            ec2.get_launch_template(given["id"]) if "id" in given else ec2.get_launch_template_by_name(given["name"])
        )
    except ServiceException as error:
        raise invalid_parameter(f"launchTemplate: {error.message}") from None
    asked = given.get("version") or "$Default"
    named = {"$Default": str(found.default_version_number), "$Latest": str(found.latest_version_number)}
    number = named.get(asked, asked)
    versions = {str(version.number): version for version in found.versions}
    if number not in versions:
        raise invalid_parameter(f"launchTemplate {found.id} has no version {asked}")
    return LaunchTemplate(found.id, found.name, number, versions[number].data)


def add_security_group(cluster: str, vpc: str, unique: str) -> str:
    """Make the security group of a cluster, which its control plane and its nodes share."""
    ec2 = store.ec2()
    group = ec2.create_security_group(
        f"eks-cluster-sg-{cluster}-{unique}",
        f"EKS created security group of cluster {cluster}",
        vpc,
        {f"kubernetes.io/cluster/{cluster}": "owned", MADE_FOR: cluster},
    )
    # Members talk to each other: https://docs.aws.amazon.com/eks/latest/userguide/sec-group-reqs.html.
    members = [{"GroupId": group.id, "OwnerId": group.owner_id}]
    ec2.authorize_security_group_ingress(group.id, "-1", None, None, [], source_groups=members)
    return str(group.id)


def add_interfaces(cluster: str, places: Subnets, groups: Sequence[str]) -> tuple[str, ...]:
    """Make the control plane's network interfaces: one in each of two zones.

    https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html says two to four.
    """
    first_of_zone = {zone: subnet for subnet, zone in reversed(list(places.zones.items()))}
    ec2 = store.ec2()
    return tuple(
        ec2.create_network_interface(
            ec2.get_subnet(subnet),
            "",
            group_ids=list(groups),
            description=f"Amazon EKS {cluster}",
            tags={MADE_FOR: cluster},
        ).id
        for zone, subnet in sorted(first_of_zone.items())[:2]
    )


def remove_interfaces(interfaces: Iterable[str]) -> None:
    """Remove a control plane's network interfaces, as far as they are there."""
    ec2 = store.ec2()
    for interface in interfaces:
        if interface in ec2.enis:
            ec2.delete_network_interface(interface)


def remove_security_group(security_group: str) -> None:
    """Remove a cluster's own security group; one that other resources use stays behind."""
    ec2 = store.ec2()
    used = {group.id for interface in ec2.enis.values() for group in interface.group_set}
    if ec2.get_security_group_from_id(security_group) and security_group not in used:
        ec2.delete_security_group(group_id=security_group)


def log_group(cluster: str) -> str:
    """Return the name of the log group of a control plane."""
    return f"/aws/eks/{cluster}/cluster"


def receive_logs(cluster: str) -> None:
    """Make the log group of a control plane if it is not there; that one keeps its logs for ever.

    https://docs.aws.amazon.com/eks/latest/userguide/control-plane-logs.html
    """
    name = log_group(cluster)
    if name not in store.logs().groups:
        store.logs().create_log_group(name, {})


def _roles() -> dict[str, Any]:
    return {role.arn: role for role in store.iam().roles.values()}


def _trusts(arn: str, service: str, actions: set[str]) -> bool:
    role = _roles().get(arn)
    if role is None:
        return False
    allowed: set[str] = set()
    for statement in _list(json.loads(role.assume_role_policy_document or "{}").get("Statement", [])):
        principal = statement.get("Principal", {})
        services = _list(principal.get("Service", [])) if isinstance(principal, dict) else []
        if statement.get("Effect") == "Allow" and service in services:
            allowed.update(_list(statement.get("Action", [])))
    return actions <= allowed or bool(allowed & {"*", "sts:*"})


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
