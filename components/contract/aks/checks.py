"""Checks of an AKS cluster against the rest of its stack file."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from components.contract.aks.agent_pools import SUFFIX_LENGTH, nodes_at_most, pool_name
from components.contract.aks.config import AksConfig
from components.contract.aks.maintenance import NodeImageChannel, UpgradeChannel
from components.contract.aks.network import is_isolated, nodes_that_fit, nodes_with_pods
from components.contract.aks.reservations import reservation_problems
from components.contract.aks.sharing import sharing_problems
from components.contract.checks import (
    NO_HOURS_IN_PROD,
    data_beside_cluster_hours,
    data_problems,
    foreign_types,
    no_fabric,
    no_headroom,
    no_pool_hours,
    no_warm_pool,
    other_devices,
    prepull_problems,
    unreachable_images,
    upgrades_of_data,
    without_spot,
)
from components.contract.constraint_violation import Mismatch
from components.contract.environments import Environment
from components.contract.groups import NodeGroup
from components.contract.ingress import unencrypted_in_prod
from components.contract.instances import InstanceType, Provider, Variant
from components.contract.lifecycle import Lifecycle
from components.contract.pool_names import POOL_NAME_MAX
from components.contract.pool_size import NODES_MAX as POOL_SIZE_MAX
from components.contract.pool_upgrade import UpgradeOrder
from components.contract.pools import NodePool, PoolRole

POOLS_MAX: Final = 100
"""Maximum number of agent pools per cluster: https://learn.microsoft.com/azure/aks/quotas-skus-regions."""

NODES_MAX: Final = {Environment.DEV: 1000, Environment.PROD: 5000}
"""Maximum number of nodes per cluster, by the tier of its environment.

https://learn.microsoft.com/azure/aks/free-standard-pricing-tiers
"""

SYSTEM_NODES_WANTED: Final = {Environment.DEV: 2, Environment.PROD: 3}
"""Nodes that Microsoft requires or recommends for a cluster's only system pool, here the initial pool: https://learn.microsoft.com/azure/aks/use-system-pools.

One of several system pools needs the smaller number. The platform needs fewer nodes (Iguazio best practices), and AKS
accepts them, so fewer only cause a warning.
"""

SYSTEM_VCPUS_MIN: Final = 4
SYSTEM_MEMORY_MIN_MIB: Final = 4096
"""vCPUs and memory that a type of a system pool needs; burstable ones (series B) are advised against: https://learn.microsoft.com/azure/aks/use-system-pools."""

_NO_POOL_HOURS: Final = "is impossible on AKS, which has no schedules for single pools; remove it"

_NO_HEADROOM: Final = "is impossible on AKS, whose autoscaler takes no flags from a stack; raise size.min"

# https://learn.microsoft.com/azure/backup/azure-kubernetes-service-cluster-backup-support-matrix: an x86 pool is needed
# too, but the page does not say that the extension's pods select it.
_NO_ARM: Final = "has arm64 machines, on which Azure's backup extension cannot run; use amd64, or remove cluster.backup"

FETCHED_DRIVERS: Final = ("A10",)
"""GPU models whose driver (GRID) is in no node image: nodes fetch it from Microsoft's registry and from no cache.

Azure/AgentBaker 06836ee2, ``pkg/agent/datamodel/gpu_components.go``, and ``pullGPUDriverImage`` of
``parts/linux/cloud-init/artifacts/cse_config.sh``: its ``ctr image pull`` is given no folder of mirrors.
"""

NAME_MAX: Final = POOL_NAME_MAX - SUFFIX_LENGTH
"""Maximum length of a pool's name, which leaves room for a suffix that distinguishes its replacements."""


def mismatches(
    choices: AksConfig, pools: Mapping[str, NodePool], groups: Sequence[NodeGroup], environment: Environment | None
) -> Iterator[Mismatch]:
    """Find everything that Azure, or this package on Azure, would reject later.

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
        for message in _pool_problems(name, pool, choices):
            yield Mismatch((name,), message)
    yield from no_pool_hours(pools, _NO_POOL_HOURS)
    if choices.office_hours:
        yield from data_beside_cluster_hours(pools)
    yield from sharing_problems(pools, groups)
    yield from reservation_problems(choices, pools)
    yield from no_fabric(pools, "is for cluster.kind eks; remove it")
    yield from no_headroom(pools, _NO_HEADROOM)
    for name, pool in pools.items() if choices.backup else ():
        if pool.is_arm:
            yield Mismatch((name,), _NO_ARM)
    yield from no_warm_pool(pools, "is impossible on AKS, which has no warm pools; remove it")
    yield from prepull_problems(pools, choices.version_of_nodes)
    yield from _upgrade_problems(pools)
    if is_isolated(choices.network) and not choices.proxy:
        images = unreachable_images(groups, choices.image_registries, "cluster.imageRegistries")
        yield from dict.fromkeys((*images, *_unreachable_drivers(pools)))
    made = [group for group in groups if not _has_too_many_types(pools[group.pool])]
    yield from _mismatches_of_numbers(choices, made, environment)
    yield from _mismatches_of_names(choices, made)
    if environment is Environment.PROD and not any(pool.role is PoolRole.DATA for pool in pools.values()):
        for key in _channels_off(choices):
            yield Mismatch((), f"HA-05: in prod cluster.{key} may be none only with data pools; remove it")


def environment_problems(choices: AksConfig, environment: Environment) -> Iterator[Mismatch]:
    """Find what the environment requires of the cluster itself, regardless of its pools; paths begin at the cluster."""
    if environment is Environment.PROD:
        if choices.office_hours:
            yield Mismatch(("officeHours",), NO_HOURS_IN_PROD)
        for key, given, what, which in (
            ("secretsKeyId", choices.secrets_key_id, "Secrets", "a version of a Key Vault key"),
            ("diskEncryptionSetId", choices.disk_encryption_set_id, "disks", "a disk encryption set"),
        ):
            if not given:
                yield Mismatch(
                    (key,), f"HA-08: in prod {what} must be encrypted with a customer-managed key; set this to {which}"
                )
    yield from unencrypted_in_prod(choices.ingress, environment)
    yield from _isolation_problems(choices)


def _isolation_problems(choices: AksConfig) -> Iterator[Mismatch]:
    """Find what a network isolated cluster cannot have: https://learn.microsoft.com/azure/aks/concepts-network-isolated."""
    if not is_isolated(choices.network):
        return
    if not choices.is_private:
        yield Mismatch(
            ("authorizedRanges",), "must be empty if network.internet is none: nodes reach a private API only"
        )
    if choices.node_image_channel is NodeImageChannel.SECURITY_PATCH:
        why = "must be node-image or none if network.internet is none: Azure documents no other channel there"
        yield Mismatch(("nodeImageChannel",), why)
    if choices.backup:
        why = "is impossible if network.internet is none: Azure documents no backups of such clusters; remove it"
        yield Mismatch(("backup",), why)


def _has_too_many_types(pool: NodePool) -> bool:
    return not pool.size.is_elastic and len(pool.instances) > 1


def _pool_problems(name: str, pool: NodePool, choices: AksConfig) -> Iterator[str]:
    if len(name) > NAME_MAX:
        why = f"AKS allows {POOL_NAME_MAX}, and a generated suffix takes {SUFFIX_LENGTH}"
        yield f"on AKS a pool's name must have at most {NAME_MAX} characters: {why}"
    yield from foreign_types(pool, Provider.AZURE, "Azure", "Standard_D8s_v5")
    yield from other_devices(pool, "AKS")
    yield from without_spot(pool, "Azure")
    if pool.role is PoolRole.INITIAL and (weak := [i.name for i in pool.instances if _is_weak(i)]):
        yield (
            f"AKS's system pool, which is the initial pool, needs types of at least {SYSTEM_VCPUS_MIN} vCPUs and "
            f"{SYSTEM_MEMORY_MIN_MIB // 1024} GiB that are not burstable; {', '.join(weak)} cannot be used"
        )
    if _has_too_many_types(pool) and pool.role is not PoolRole.DATA:
        yield f"a pool of fixed size ({pool.size}) must have one machine type on AKS; use one type or an elastic size"
    if pool.role is PoolRole.DATA:
        yield from data_problems(pool, len(choices.zones), "Standard_L8s_v3")
        for key in _channels_on(choices):
            yield f"NG-20: cluster.{key} replaces data nodes and erases their disks; remove it or set it to none"


def _unreachable_drivers(pools: Mapping[str, NodePool]) -> Iterator[Mismatch]:
    for name, pool in pools.items():
        if fetching := [each.name for each in pool.instances if each.gpu_model in FETCHED_DRIVERS]:
            yield Mismatch(
                (name,),
                f"nodes of {', '.join(fetching)} fetch their GPU driver from mcr.microsoft.com, and "
                "cluster.network.internet is none; use types with another GPU, or set cluster.proxy",
            )


def _upgrade_problems(pools: Mapping[str, NodePool]) -> Iterator[Mismatch]:
    yield from upgrades_of_data(pools)
    for name, pool in pools.items():
        # https://learn.microsoft.com/azure/aks/upgrade-aks-node-pools-rolling
        if pool.upgrade and pool.lifecycle is Lifecycle.SPOT:
            yield Mismatch((name, "upgrade"), "AKS takes no limits for upgrades of spot pools; remove it")
        elif pool.upgrade and pool.role is PoolRole.INITIAL and pool.upgrade.order is UpgradeOrder.OLD_FIRST:
            message = "AKS does not remove old nodes first in its system pool, which is the initial pool; use new-first"
            yield Mismatch((name, "upgrade", "order"), message)


def _is_weak(machine: InstanceType) -> bool:
    is_small = machine.vcpus < SYSTEM_VCPUS_MIN or machine.memory_mib < SYSTEM_MEMORY_MIN_MIB
    return is_small or Variant.BURSTABLE in machine.variants


def _mismatches_of_numbers(
    choices: AksConfig, made: Sequence[NodeGroup], environment: Environment | None
) -> Iterator[Mismatch]:
    if len(made) > POOLS_MAX:
        which = "one per machine type, and per zone for zonal pools"
        yield Mismatch((), f"result in {len(made)} agent pools ({which}), AKS allows {POOLS_MAX}; merge pools")
    for group in made:
        # https://learn.microsoft.com/azure/aks/upgrade-aks-node-pools-rolling
        if group.upgrade and (most := nodes_at_most(group)) > POOL_SIZE_MAX:
            message = f"would have {most} nodes during an upgrade, AKS allows {POOL_SIZE_MAX} in a pool; lower it"
            yield Mismatch((group.pool, "upgrade", "nodes"), message)
    nodes, subnet = sum(map(nodes_at_most, made)), choices.network.node_cidr
    limits = [
        (nodes_that_fit(subnet), f"the node subnet {subnet} of cluster.network has addresses for", "widen it"),
        (
            nodes_with_pods(choices.pod_cidr),
            f"cluster.podCidr {choices.pod_cidr} has room (a /24 per node) for",
            "widen it",
        ),
    ]
    if environment:
        limits.append((NODES_MAX[environment], f"the tier of AKS for {environment} allows", "create another cluster"))
    for most, limit, remedy in limits:
        if nodes > most:
            have = f"may have {nodes} nodes at maximum size during an upgrade"
            yield Mismatch((), f"{have}; {limit} {most}; {remedy} or lower size.max")


def _mismatches_of_names(choices: AksConfig, made: Sequence[NodeGroup]) -> Iterator[Mismatch]:
    names = Counter(pool_name(group, choices) for group in made)
    names.update(filter(None, [choices.created_with_pool]))
    for pool, name in dict.fromkeys((group.pool, pool_name(group, choices)) for group in made):
        if names[name] > 1:
            yield Mismatch((pool,), f"two agent pools would be named '{name}'; rename the pool")


def _channels_on(choices: AksConfig) -> Iterator[str]:
    if choices.upgrade_channel not in (None, UpgradeChannel.NONE):
        yield "upgradeChannel"
    if choices.node_image_channel not in (None, NodeImageChannel.NONE):
        yield "nodeImageChannel"


def _channels_off(choices: AksConfig) -> Iterator[str]:
    # The channel would upgrade rolled-back nodes again; HA-05 requires a waiver for that time.
    if choices.upgrade_channel is UpgradeChannel.NONE and choices.version_of_nodes == choices.version:
        yield "upgradeChannel"
    if choices.node_image_channel is NodeImageChannel.NONE:
        yield "nodeImageChannel"
