"""What EKS refuses about a managed node group, whether it is made or changed."""

import base64
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from email import message_from_bytes
from typing import Any, Final

from emulators.aws.server import placement_groups
from emulators.aws.server.autoscaling import Size
from emulators.aws.server.eks import account
from emulators.aws.server.eks.refusals import invalid_parameter, invalid_request
from emulators.core.fault_outcome import HealthIssue

NAME_PATTERN: Final = r"[0-9A-Za-z][0-9A-Za-z_-]{0,62}"
"""https://docs.aws.amazon.com/eks/latest/userguide/create-managed-node-group.html."""

TYPES_MAX: Final = 20
TAINTS_MAX: Final = 50
"""https://docs.aws.amazon.com/eks/latest/userguide/node-taints-managed-node-groups.html."""

NODES_MAX: Final = 450
"""Of a group, by default: https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html."""

UNAVAILABLE_MAX: Final = 100
"""Nodes that one update may drain at once."""

WARM_DEFAULTS: Final = {"minSize": 0, "poolState": "STOPPED", "reuseOnScaleIn": False}
"""Of a warm pool: botocore's model of ``WarmPoolConfig``."""

RESERVED_LABELS: Final = ("kubernetes.io/", "k8s.io/", "eks.amazonaws.com/")
"""Domains of labels that EKS keeps to itself: https://docs.aws.amazon.com/eks/latest/APIReference/API_CreateNodegroup.html."""

_NOT_IN_TEMPLATE: Final = ("IamInstanceProfile", "HibernationOptions")
"""https://docs.aws.amazon.com/eks/latest/userguide/launch-templates.html."""


def check_name(name: str) -> None:
    """Refuse a name that EKS does not accept."""
    if not re.fullmatch(NAME_PATTERN, name):
        raise invalid_parameter(f"The nodegroup name {name} must match {NAME_PATTERN}")


def size(given: Mapping[str, int], present: Size) -> Size:
    """Return the size that results from a scaling configuration, or refuse what contradicts itself.

    What is not given stays as it is; so a larger minimum alone is refused while fewer nodes are wanted
    (terraform-aws-modules/terraform-aws-eks#3306 and sassoftware/viya4-iac-aws#298 have the words).
    """
    wanted = merged(given, present)
    if wanted.minimum > wanted.desired:
        raise invalid_parameter(
            f"Minimum capacity {wanted.minimum} can't be greater than desired size {wanted.desired}"
        )
    if wanted.desired > wanted.maximum:
        raise invalid_parameter(f"desiredSize {wanted.desired} can't be greater than maxSize {wanted.maximum}")
    if wanted.maximum > NODES_MAX:
        raise invalid_parameter(f"maxSize {wanted.maximum} exceeds the {NODES_MAX} nodes of a group")
    return wanted


def merged(given: Mapping[str, int], present: Size) -> Size:
    """Return a size with what is given in place of what is there."""
    return Size(
        given.get("minSize", present.minimum),
        given.get("maxSize", present.maximum),
        given.get("desiredSize", present.desired),
    )


def check_labels(labels: Mapping[str, str]) -> None:
    """Refuse labels of Kubernetes and of EKS."""
    for key in labels:
        domain = f"{key.rpartition('/')[0]}/"
        if any(domain == reserved or domain.endswith(f".{reserved}") for reserved in RESERVED_LABELS):
            raise invalid_parameter(
                f"Label cannot contain reserved prefixes [{', '.join(RESERVED_LABELS)}], given {key}"
            )


def check_taints(taints: Sequence[Mapping[str, str]]) -> None:
    """Refuse too many taints, or two with the same key and effect."""
    if len(taints) > TAINTS_MAX:
        raise invalid_parameter(f"{len(taints)} taints, at most {TAINTS_MAX} are allowed")
    twice = [key for key, count in Counter(map(identity, taints)).items() if count > 1]
    if twice:
        raise invalid_parameter(f"Duplicate taints: {', '.join(':'.join(each) for each in twice)}")


def identity(taint: Mapping[str, str]) -> tuple[str, str]:
    """Return what makes a taint one and the same: key and effect."""
    return taint.get("key", ""), taint.get("effect", "")


def update_config(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return how many nodes an update may drain at once; one if nothing is given. Refuse two ways to say it."""
    ways = [given[name] for name in ("maxUnavailable", "maxUnavailablePercentage") if given.get(name) is not None]
    if len(ways) > 1:
        raise invalid_parameter("updateConfig needs either maxUnavailable or maxUnavailablePercentage")
    if ways and ways[0] > UNAVAILABLE_MAX:
        raise invalid_parameter(f"updateConfig: at most {UNAVAILABLE_MAX} nodes can be unavailable, given {ways[0]}")
    return dict(given) if ways else {"maxUnavailable": 1, **given}


def warm_pool(given: Mapping[str, Any], present: Mapping[str, Any]) -> dict[str, Any]:
    """Return the warm pool that results from what is given: what it does not name stays; empty without one.

    That a minimum above the maximum is refused is assumed.

    https://docs.aws.amazon.com/eks/latest/userguide/warm-pools-managed-node-groups.html

    Raises
    ------
    NotImplementedError
        Machines that hibernate are beyond the emulator.
    """
    if given.get("poolState") == "HIBERNATED":
        raise NotImplementedError("warmPoolConfig with poolState HIBERNATED")
    config = {**WARM_DEFAULTS, **present, **given}
    if not config.get("enabled"):
        return {}
    most = config.get("maxGroupPreparedCapacity")
    if most is not None and 0 <= most < config["minSize"]:
        raise invalid_parameter(f"warmPoolConfig: minSize {config['minSize']} exceeds maxGroupPreparedCapacity {most}")
    return config


def check_repair(given: Mapping[str, Any]) -> None:
    """Refuse limits of node repair that are given as a count and as a percentage."""
    for limit in ("maxUnhealthyNodeThreshold", "maxParallelNodesRepaired"):
        if f"{limit}Count" in given and f"{limit}Percentage" in given:
            raise invalid_parameter(f"nodeRepairConfig: {limit} is a count or a percentage, not both")


CAPACITY_BLOCK: Final = "CAPACITY_BLOCK"


def check_capacity(given: Mapping[str, Any], template: Mapping[str, Any], zones: Iterable[str]) -> None:
    """Refuse a group of a capacity block whose template lacks what leads to the block, or is in several zones.

    https://docs.aws.amazon.com/eks/latest/userguide/capacity-blocks-mng.html. The words are assumed.

    Parameters
    ----------
    given, template
        The request, and what its launch template says.
    zones
        Those of its subnets.
    """
    market = template.get("InstanceMarketOptions", {}).get("MarketType")
    if given.get("capacityType") != CAPACITY_BLOCK:
        if template.get("InstanceMarketOptions"):
            raise invalid_parameter("Launch template should not specify InstanceMarketOptions")
        return
    target = template.get("CapacityReservationSpecification", {}).get("CapacityReservationTarget", {})
    found = {
        "MarketType capacity-block": market == "capacity-block",
        "CapacityReservationId": bool(target.get("CapacityReservationId")),
        "InstanceType": bool(template.get("InstanceType")),
    }
    if lacking := [name for name, is_there in found.items() if not is_there]:
        raise invalid_parameter(f"Capacity type {CAPACITY_BLOCK} needs {', '.join(lacking)} in the launch template")
    if len(set(zones)) > 1:
        raise invalid_parameter(f"Capacity type {CAPACITY_BLOCK} needs subnets of the zone of its reservation")


def placement(template: Mapping[str, Any], zones: Iterable[str]) -> str | None:
    """Return the placement group of a launch template, or refuse zones that it does not reach.

    Words: terraform-aws-modules/terraform-aws-eks#3044.
    """
    if not (name := template.get("Placement", {}).get("GroupName")):
        return None
    placement_groups.require(name)
    taken = placement_groups.zone_of(name)
    if taken and {*zones} != {taken}:
        raise invalid_request(
            f"Instances in the {name} Placement Group must be launched in the {taken} Availability Zone. Specify the "
            f"{taken} Availability Zone and try again."
        )
    return str(name)


def check_interfaces(template: Mapping[str, Any], types: Sequence[str], vpc: str) -> None:
    """Refuse network interfaces that machines of these types cannot have, or without a security group of the VPC.

    EC2 refuses the first when an instance starts; that EKS does it before is assumed, and so are the words.
    https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/efa-acc-inst-types.html
    """
    interfaces: Sequence[Mapping[str, Any]] = template.get("NetworkInterfaces", ())
    places = [(each.get("NetworkCardIndex", 0), each.get("DeviceIndex", 0)) for each in interfaces]
    if len(set(places)) < len(places):
        raise invalid_parameter("Two network interfaces have the same network card index and device index")
    if len(interfaces) > 1 and any(str(each.get("AssociatePublicIpAddress")).lower() == "true" for each in interfaces):
        raise invalid_parameter("A machine with several network interfaces cannot have a public address")
    for each, (card, device) in zip(interfaces, places, strict=True):
        kind = each.get("InterfaceType", "interface")
        if groups := each.get("Groups"):
            account.check_security_groups(groups, vpc)
        if kind == "efa-only" and not (card or device):
            raise invalid_parameter("An EFA-only network interface cannot be the primary network interface")
        for name in types:
            account.check_interface(name, (card, device), kind)
    for name in types:
        account.check_adapters(name, sum(each.get("InterfaceType", "").startswith("efa") for each in interfaces))


def check_empty(size: Size) -> None:
    """Refuse an update of a group of a capacity block that has nodes: the same page; the words are assumed."""
    if size.desired:
        raise invalid_parameter(f"Capacity type {CAPACITY_BLOCK} needs a desired size of 0, given {size.desired}")


def check_template(template: account.LaunchTemplate, given: Mapping[str, Any]) -> None:
    """Refuse a launch template that EKS cannot take, or that says what the request says too."""
    for name in ("diskSize", "remoteAccess"):
        if given.get(name) is not None:
            raise invalid_parameter(f"{name} cannot be specified together with a launch template")
    if given.get("instanceTypes") and template.data.get("InstanceType"):
        raise invalid_parameter("Instance types are specified in the launch template and in the request")
    strange = [name for name in _NOT_IN_TEMPLATE if template.data.get(name)]
    if any(each.get("SubnetId") for each in template.data.get("NetworkInterfaces", ())):
        strange.append("SubnetId")
    if strange:
        raise invalid_parameter(f"Launch template {template.id} should not specify {', '.join(strange)}")


def user_data_issues(template: account.LaunchTemplate) -> tuple[HealthIssue, ...]:
    """Return why EKS cannot merge user data with its own, which it finds when it makes a group; empty if it can.

    The words are from https://github.com/terraform-aws-modules/terraform-aws-eks/issues/2955.
    """
    given = template.data.get("UserData")
    if not given or message_from_bytes(base64.b64decode(str(given))).is_multipart():
        return ()
    return (HealthIssue("Ec2LaunchTemplateInvalidConfiguration", "User data was not in the MIME multipart format."),)


def check_types(names: Sequence[str], ami_type: str) -> None:
    """Refuse too many machine types, or some that do not exist or do not fit."""
    if len(names) > TYPES_MAX:
        raise invalid_parameter(f"{len(names)} instance types, at most {TYPES_MAX} are allowed")
    account.check_instance_types(names, ami_type)
