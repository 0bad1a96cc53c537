"""Warnings about settings that are allowed, but that their author may not have meant."""

from collections.abc import Iterator
from ipaddress import IPv4Network, ip_network
from typing import Final

from components.contract.aks.checks import SYSTEM_NODES_WANTED
from components.contract.aks.config import AksConfig
from components.contract.aks.identity import USE_LABEL
from components.contract.aks.network import ExistingNetwork, is_isolated
from components.contract.constraint_violation import Mismatch
from components.contract.eks.config import EksConfig
from components.contract.eks.network import VPC_RANGES, is_closed
from components.contract.environments import ClusterKind, Environment
from components.contract.hours import OfficeHours
from components.contract.local.config import LocalConfig
from components.contract.mlrun_choices import CLAIM
from components.contract.namespaces import SYSTEM_NAMESPACES
from components.contract.placement import offers_mutation
from components.contract.policy_guard import PolicyGuard
from components.contract.pools import PoolRole
from components.contract.ranges import EVERYWHERE, PUBLIC_PREFIX_MIN
from infra.config.model import StackConfig

_NOT_OURS: Final = ("default", *SYSTEM_NAMESPACES)


def warnings_of(config: StackConfig) -> Iterator[Mismatch]:
    """Yield warnings about dangerous settings and probable mistakes; paths begin at the stack file's settings."""
    is_local = ClusterKind(config.cluster.kind) is ClusterKind.LOCAL
    if config.environment is Environment.PROD and config.policy_guard is PolicyGuard.OFF and not is_local:
        yield Mismatch(
            ("policyGuard",), "is off in prod: protected resources are deleted without an approval; use required"
        )
    yield from _entries(config)
    yield from _system_pools(config)
    yield from _public_clients(config)
    yield from _identities(config, is_local=is_local)
    yield from _labels(config)
    yield from _isolated(config)
    yield from _claims(config)
    yield from _storage(config)
    yield from _hours(config)
    yield from _warmth(config)
    yield from _backup(config)
    yield from _ways_in(config)
    for name, namespace in config.namespaces.items():
        for cidr in namespace.egress_cidrs:
            if ip_network(cidr).prefixlen < PUBLIC_PREFIX_MIN:
                yield Mismatch(
                    ("namespaces", name, "egressCidrs"),
                    f"{cidr} is the internet or much of it: the namespace's pods can send data anywhere",
                )


def _identities(config: StackConfig, *, is_local: bool) -> Iterator[Mismatch]:
    for name in config.identities if is_local else ():
        yield Mismatch(
            ("namespaces", name, "identity"),
            "gives no rights on a local cluster, which has no cloud: it only creates the service accounts",
        )


def _labels(config: StackConfig) -> Iterator[Mismatch]:
    if isinstance(config.cluster, AksConfig) and not offers_mutation(config.cluster.model_dump(by_alias=True)):
        for name in config.identities:
            yield Mismatch(
                ("namespaces", name, "identity"),
                f"before Kubernetes 1.36 nothing gives pods the label {'='.join(USE_LABEL)} that they need for it",
            )


def _isolated(config: StackConfig) -> Iterator[Mismatch]:
    """Find settings with which pods must reach Entra ID or Azure's API, which an isolated network prevents."""
    cluster = config.cluster
    if not isinstance(cluster, AksConfig) or not is_isolated(cluster.network) or cluster.proxy:
        return
    for name in config.identities:
        yield Mismatch(
            ("namespaces", name, "identity"),
            "gives no rights while cluster.network.internet is none: pods cannot log in at login.microsoftonline.com",
        )
    if cluster.ingress and cluster.ingress.dns_zone_id:
        yield Mismatch(
            ("cluster", "ingress", "dnsZoneId"),
            "external-dns makes no names while network.internet is none: it does not reach management.azure.com",
        )


def _storage(config: StackConfig) -> Iterator[Mismatch]:
    for name in config.storage if isinstance(config.cluster, LocalConfig) else ():
        yield Mismatch(("storage", name), "keeps nothing on a local cluster: claims are bound, and nothing mounts them")
    yield from _lustre(config)
    if not config.storage or not isinstance(config.cluster, AksConfig):
        return
    if isinstance(config.cluster.network, ExistingNetwork):
        yield _endpoint("the accounts of `storage`")
    for name, pool in config.pools.items():
        if pool.is_arm:  # deploy/example/nfs/README.md, kept so by kubernetes-sigs/azurefile-csi-driver#3359
            yield Mismatch(
                ("pools", name),
                "mounts no `storage`: the driver's release 1.35 has no TLS for NFS on arm64 nodes; use amd64 for pods "
                "that mount it, or try a pod first",
            )


def _lustre(config: StackConfig) -> Iterator[Mismatch]:
    zones = {group.zone for group in config.groups if group.role.holds_user_work}
    for name, storage in config.storage.items():
        if storage.is_lustre and storage.zone not in zones and isinstance(config.cluster, EksConfig):
            yield Mismatch(
                ("storage", name, "zone"),
                f"no pool for user work has a group in zone {storage.zone} alone: the autoscaler adds nodes in any "
                f"zone, and pods that mount it may wait forever; set zone: {storage.zone} or zonal: true on a pool",
            )


def _ways_in(config: StackConfig) -> Iterator[Mismatch]:
    if config.ways_in and not config.ways_in.is_encrypted:
        yield Mismatch(("cluster", "ingress"), "has no certificate: clients send passwords and data in plain text")
    cluster = config.cluster
    if not isinstance(cluster, EksConfig) or not (ingress := cluster.ingress):
        return
    if ingress.hosted_zone_id and is_closed(cluster.network):
        yield Mismatch(
            ("cluster", "ingress", "hostedZoneId"),
            "external-dns makes no names in a network without the internet, which has no endpoint for Route 53",
        )
    if str(EVERYWHERE) in ingress.client_cidrs:
        yield Mismatch(
            ("cluster", "ingress", "clientCidrs"),
            "everyone on the internet can run code in the cluster: MLRun, Nuclio and Jupyter ask for no password",
        )


def _hours(config: StackConfig) -> Iterator[Mismatch]:
    found: dict[tuple[str, ...], OfficeHours | None] = {
        ("cluster", "officeHours"): getattr(config.cluster, "office_hours", None),  # some kinds of cluster have none
        **{("pools", name, "officeHours"): pool.office_hours for name, pool in config.pools.items()},
    }
    for path, hours in found.items():
        if hours and hours.doubtful_times:
            times = " and ".join(hours.doubtful_times)
            skip = f"clocks in {hours.time_zone} skip or repeat {times} on one of its days a year"
            yield Mismatch(path, f"{skip}: the schedule may not run then")
        if hours and isinstance(config.cluster, LocalConfig):
            yield Mismatch(path, "has no effect on a local cluster, which has no clock: only rehearsals play it")


def _warmth(config: StackConfig) -> Iterator[Mismatch]:
    for name, pool in config.pools.items():
        zones = {group.zone for group in config.groups if group.pool == name}
        if pool.headroom and pool.role.has_zonal_volumes and len(zones) > 1:
            yield Mismatch(
                ("pools", name, "headroom"),
                "is kept in any zone: a pod whose volume is in another one waits for a node all the same",
            )
        if pool.prepull_images and isinstance(config.cluster, LocalConfig):
            yield Mismatch(
                ("pools", name, "prepullImages"), "has no effect on a local cluster, whose nodes pull no images"
            )


def _backup(config: StackConfig) -> Iterator[Mismatch]:
    cluster = config.cluster
    if not isinstance(cluster, EksConfig | AksConfig) or not cluster.backup:
        return
    is_aks = isinstance(cluster, AksConfig)
    for name, pool in config.pools.items():
        if pool.role is PoolRole.DATA:
            service = "Azure" if is_aks else "AWS"
            yield Mismatch(
                ("cluster", "backup"),
                f"does not reach the data of pool '{name}': {service} Backup copies volumes, and not the NVMe disks of "
                "nodes",
            )
    for name in config.storage if is_aks else ():
        yield Mismatch(
            ("cluster", "backup"),
            f"does not reach the storage '{name}': Azure Backup skips NFS shares of Azure Files",
        )
    if isinstance(cluster.network, ExistingNetwork) and not config.storage:
        yield _endpoint("the account of `backup`")


def _endpoint(accounts: str) -> Mismatch:
    return Mismatch(
        ("cluster", "network", "nodeSubnetId"),
        f"this subnet must have the service endpoint Microsoft.Storage, or Azure refuses {accounts}; its owner adds it "
        "to the subnet's other endpoints",
    )


def _entries(config: StackConfig) -> Iterator[Mismatch]:
    if not isinstance(config.cluster, EksConfig | AksConfig):
        return
    for name, entry in config.cluster.access.entries.items():
        for namespace in entry.namespaces:
            if namespace not in (*config.namespaces, *_NOT_OURS):
                yield Mismatch(
                    ("cluster", "access", "entries", name, "namespaces"),
                    f"'{namespace}' is not a namespace of this stack; the entry has no effect until it exists",
                )


def _system_pools(config: StackConfig) -> Iterator[Mismatch]:
    wanted = SYSTEM_NODES_WANTED[config.environment]
    for name, pool in config.pools.items() if isinstance(config.cluster, AksConfig) else ():
        if pool.role is PoolRole.INITIAL and pool.size.min < wanted:
            yield Mismatch(
                ("pools", name, "size", "min"),
                f"HA-06: AKS's only system pool should have at least {wanted} nodes in {config.environment} (here "
                f"{pool.size.min}): DNS stops while its last node is replaced",
            )


def _public_clients(config: StackConfig) -> Iterator[Mismatch]:
    for cidr in config.cluster.api_client_cidrs if isinstance(config.cluster, EksConfig) else ():
        if not any(IPv4Network(cidr).subnet_of(private) for private in VPC_RANGES):
            yield Mismatch(
                ("cluster", "apiClientCidrs"),
                f"{cidr} is a public range: it reaches the API only where peering or a VPN routes it into the VPC; "
                "publicAccessCidrs is for the internet",
            )


def _claims(config: StackConfig) -> Iterator[Mismatch]:
    for name, choices in config.namespaces.items():
        mounted = config.platform.mlrun.with_own(choices.mlrun).auto_mount
        claim = mounted.parameters.get(CLAIM) if mounted else None
        if choices.core_services and choices.volumes and claim and claim not in choices.volumes:
            yield Mismatch(
                ("namespaces", name, "volumes"),
                f"lists {', '.join(choices.volumes)}, but not '{claim}', which MLRun's autoMount mounts into every "
                "function; unless that claim is created elsewhere, no function starts",
            )
