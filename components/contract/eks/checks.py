"""Checks of an EKS cluster against the rest of its stack file."""

from collections.abc import Iterator, Mapping, Sequence
from math import ceil
from typing import Final

from components.contract.checks import (
    NO_HOURS_IN_PROD,
    data_beside_cluster_hours,
    data_problems,
    foreign_types,
    headroom_problems,
    no_pool_hours,
    no_warm_pool,
    other_devices,
    prepull_problems,
    unreachable_images,
    upgrades_of_data,
    without_spot,
)
from components.contract.constraint_violation import Mismatch
from components.contract.eks.autoscaling import autoscaling_tags
from components.contract.eks.config import EksConfig
from components.contract.eks.ingress import Scheme
from components.contract.eks.network import is_closed, prefixes_of
from components.contract.eks.reservations import reservation_problems
from components.contract.eks.reserves import PREFIX_ADDRESSES, PREFIXES_BESIDE, RESERVES, has_interfaces_for_pods, pods
from components.contract.eks.user_data import USER_DATA_MAX
from components.contract.environments import Environment
from components.contract.groups import NodeGroup
from components.contract.instances import Provider
from components.contract.lifecycle import Lifecycle
from components.contract.pools import JOB_ROLES, NodePool, PoolRole

GROUPS_MAX: Final = 30
"""Maximum number of managed node groups per cluster, by default: https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html."""

NODES_MAX: Final = 450
"""Maximum number of nodes per group, by default: https://docs.aws.amazon.com/eks/latest/userguide/service-quotas.html."""

ASG_TAGS_MAX: Final = 50
"""Maximum number of tags per Auto Scaling group: https://docs.aws.amazon.com/autoscaling/ec2/userguide/ec2-auto-scaling-tagging.html."""

EKS_ASG_TAGS: Final = 5
"""Number of tags that EKS itself sets on the group: cluster, node group, ownership and two for autoscaler discovery."""

SPOT_TYPES_MIN: Final = 3
"""Minimum number of machine types of a spot pool.

With fewer, one shortage of capacity stops the whole pool (EKS best practices, cost).
"""

UPDATED_MAX: Final = 100
"""Maximum number of nodes that an update drains at once: https://docs.aws.amazon.com/eks/latest/APIReference/API_NodegroupUpdateConfig.html."""


def mismatches(
    choices: EksConfig, pools: Mapping[str, NodePool], groups: Sequence[NodeGroup], environment: Environment | None
) -> Iterator[Mismatch]:
    """Find everything that AWS, or this package on AWS, would reject later.

    Parameters
    ----------
    choices
        The cluster.
    pools, groups
        The pools by name, and the groups that they become.
    environment
        None if the stack file names none or an unknown one; checks that depend on it are then left out.
    """
    for name, pool in pools.items():
        for message in _pool_problems(pool, choices):
            yield Mismatch((name,), message)
    yield from _hours_problems(choices, pools, environment)
    yield from reservation_problems(choices, pools)
    yield from headroom_problems(groups, pools, RESERVES)
    yield from prepull_problems(pools, choices.version_of_nodes)
    yield from _upgrade_problems(pools)
    yield from dict.fromkeys((*_address_problems(choices, groups), *_image_problems(choices, groups)))
    # The groups of one pool have the same labels, so they may have the same problem.
    yield from dict.fromkeys(_mismatches_of_groups(choices, groups))
    if len(groups) > GROUPS_MAX:
        which = "one per shape, and per zone for zonal pools"
        yield Mismatch((), f"result in {len(groups)} node groups ({which}), EKS allows {GROUPS_MAX}; merge pools")


def environment_problems(choices: EksConfig, environment: Environment) -> Iterator[Mismatch]:
    """Find settings of the cluster itself that an environment does not allow."""
    if choices.office_hours and environment is Environment.PROD:
        yield Mismatch(("officeHours",), f"{NO_HOURS_IN_PROD}, or give single pools officeHours")
    if choices.ingress and not choices.ingress.certificate_arn and environment is Environment.PROD:
        yield Mismatch(("ingress", "certificateArn"), "is required in prod, where clients must use TLS")
    if is_closed(choices.network) and choices.ingress and choices.ingress.scheme is Scheme.INTERNET_FACING:
        why = "must be internal if network.internet is none: the VPC has no way to the internet"
        yield Mismatch(("ingress", "scheme"), why)
    if is_closed(choices.network) and not choices.is_private:
        # The VPC endpoints, created for a private API, are the only way to AWS.
        yield Mismatch(("publicAccessCidrs",), "must be empty if network.internet is none; list apiClientCidrs instead")
    size = len(choices.user_data.encode())
    if size > USER_DATA_MAX:
        parts = {
            "trustedCertificates": choices.trusted_certificates,
            "proxy": choices.proxy,
            "nodeMirrors": choices.node_mirrors,
        }
        first, *others = (key for key, value in parts.items() if value)
        beside = f" with {' and '.join(others)}" if others else ""
        yield Mismatch(
            (first,),
            f"needs {size} bytes of user data{beside}, and AWS leaves room for {USER_DATA_MAX}; remove entries that no "
            "node needs",
        )


def creation_problems(choices: EksConfig) -> Iterator[Mismatch]:
    """Find what would stop the first `up`: by default only nodes reach a private endpoint of EKS."""
    if choices.is_private and not choices.api_client_cidrs:
        yield Mismatch(
            ("apiClientCidrs",),
            "is required to create a cluster with a private API: nothing but its nodes could reach it, so `up` would "
            "stop at the first Kubernetes object; add the private ranges of the pipeline and the VPN, such as "
            "[10.60.0.0/16]",
        )


def _pool_problems(pool: NodePool, choices: EksConfig) -> Iterator[str]:
    yield from foreign_types(pool, Provider.AWS, "AWS", "m6i.2xlarge")
    yield from other_devices(pool, "EKS")
    yield from without_spot(pool, "AWS")
    if pool.role is PoolRole.DATA:
        yield from data_problems(pool, len(choices.zones), "i4i.2xlarge")


def _address_problems(choices: EksConfig, groups: Sequence[NodeGroup]) -> Iterator[Mismatch]:
    """Find groups whose pods would not get addresses from the pod range."""
    if not choices.pod_cidr:
        return
    for group in groups:
        if few := [each.name for each in group.instances if not has_interfaces_for_pods(each)]:
            names = ", ".join(few)
            message = f"some pods of {names} would get addresses outside cluster.podCidr; use other types"
            yield Mismatch((group.pool,), message)
    wanted = sum(group.size.max * _most_prefixes(group) for group in groups)
    prefixes = prefixes_of(choices.pod_cidr, len(choices.zones))
    if wanted > prefixes:
        yield Mismatch(
            (),
            f"may have nodes for {wanted} prefixes of {PREFIX_ADDRESSES} addresses at maximum size; the subnets of "
            f"cluster.podCidr {choices.pod_cidr} have {prefixes}; lower size.max, or widen it in a new cluster",
        )


def _image_problems(choices: EksConfig, groups: Sequence[NodeGroup]) -> Iterator[Mismatch]:
    if is_closed(choices.network) and not choices.proxy:
        replaced, keys = (
            {*choices.image_registries, *choices.node_mirrors},
            "cluster.imageRegistries or cluster.nodeMirrors",
        )
        yield from unreachable_images(groups, replaced, keys, runs_autoscaler=True)


def _most_prefixes(group: NodeGroup) -> int:
    most = max(pods(each, has_prefixes=True) for each in group.instances)
    return ceil(most / PREFIX_ADDRESSES) + PREFIXES_BESIDE


def _hours_problems(
    choices: EksConfig, pools: Mapping[str, NodePool], environment: Environment | None
) -> Iterator[Mismatch]:
    if choices.office_hours:
        yield from data_beside_cluster_hours(pools)
        yield from no_pool_hours(pools, "has no effect with cluster.officeHours; remove one of the two")
        yield from no_warm_pool(
            pools, "keeps its machines at night, which cluster.officeHours would stop; remove one of the two"
        )
    elif environment is Environment.PROD and not any(map(_is_warm_by_night, pools.values())):
        for name, pool in pools.items():
            if pool.office_hours and _takes_steady_work(pool):
                yield Mismatch(
                    (name, "officeHours", "nightMin"),
                    f"NG-10: in prod one on-demand pool of role {JOB_ROLES} must keep a node at night; set at least 1",
                )


def _upgrade_problems(pools: Mapping[str, NodePool]) -> Iterator[Mismatch]:
    yield from upgrades_of_data(pools)
    for name, pool in pools.items():
        if not pool.upgrade:
            continue
        if pool.reservation and pool.reservation.block:
            yield Mismatch((name, "upgrade"), "has no effect: EKS upgrades no nodes of a capacity block; remove it")
        nodes = pool.upgrade.nodes or ""
        if nodes.isdecimal() and int(nodes) > UPDATED_MAX:
            message = f"EKS replaces at most {UPDATED_MAX} nodes of a group at once, given {nodes}"
            yield Mismatch((name, "upgrade", "nodes"), message)
        for key in pool.upgrade.aks_only:
            yield Mismatch(
                (name, "upgrade", key),
                "is for AKS; EKS gives the pods of a node 15 minutes, then the update fails and the node stays in use; "
                "remove it",
            )


def _takes_steady_work(pool: NodePool) -> bool:
    return pool.role.takes_plain_jobs and pool.lifecycle is Lifecycle.ON_DEMAND


def _is_warm_by_night(pool: NodePool) -> bool:
    by_night = pool.office_hours.night_min if pool.office_hours else pool.size.min
    return _takes_steady_work(pool) and by_night > 0


def _mismatches_of_groups(choices: EksConfig, groups: Sequence[NodeGroup]) -> Iterator[Mismatch]:
    for group in groups:
        for message in _group_problems(group):
            yield Mismatch((group.pool,), message)
        tags = len(autoscaling_tags(group, choices.name, choices.root_volume_gib)) + EKS_ASG_TAGS
        if tags > ASG_TAGS_MAX:
            yield Mismatch(
                (group.pool, "labels"),
                f"the autoscaler needs {tags} tags on the group, AWS allows {ASG_TAGS_MAX}; remove labels",
            )


def _group_problems(group: NodeGroup) -> Iterator[str]:
    if group.size.max > NODES_MAX:
        yield f"size.max: EKS allows at most {NODES_MAX} nodes in a group, given {group.size.max}"
    if group.lifecycle is Lifecycle.SPOT and len(group.instances) < SPOT_TYPES_MIN:
        given = f"{len(group.instances)} of {group.instances[0].shape_name}"
        yield f"HN-07: a spot pool must list at least {SPOT_TYPES_MIN} machine types of each shape, given {given}"
