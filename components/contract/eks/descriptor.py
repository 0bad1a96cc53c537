"""What distinguishes EKS from the other kinds of clusters."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from components.contract.egress import HTTPS, AllowedEgress, to_api_server
from components.contract.eks.checks import creation_problems, environment_problems, mismatches
from components.contract.eks.config import EksConfig
from components.contract.eks.egress import egress_problems
from components.contract.eks.hours import HASH_LENGTH
from components.contract.eks.identity import identity_problems
from components.contract.eks.nodes import NODES
from components.contract.eks.shared_storage import storage_problems, volume_problems
from components.contract.environments import ClusterKind, Environment
from components.contract.groups import NodeGroup, by_zone
from components.contract.ingress import WaysIn
from components.contract.kind import KindDescriptor, made_by_the_stack
from components.contract.ranges import service_address
from components.contract.shared_storage import StorageType

POD_IDENTITY: Final = AllowedEgress(name="pod-identity", cidrs=("169.254.170.23/32",), ports=(80,))
"""The agent on each node that hands a pod the credentials of its own service account.

https://docs.aws.amazon.com/eks/latest/userguide/pod-id-how-it-works.html
"""


def _egress(choices: EksConfig) -> tuple[AllowedEgress, ...]:
    # Public or private, the API's endpoints are network interfaces in the cluster's subnets, as are VPC endpoints.
    # https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
    return to_api_server(service_address(choices.service_cidr), choices.network.cidr, ports=(HTTPS,)), POD_IDENTITY


def _split(choices: EksConfig, group: NodeGroup) -> Iterator[NodeGroup]:
    reservation = group.reservation
    if reservation and reservation.block:
        # A group cannot change its launch template, so a change of what that contains must create another group.
        chosen = f"{reservation.id} {group.instances[0].name}" + (f" {group.fabric.name}" if group.fabric else "")
        group = replace(group, name=f"{group.name}-{hashlib.sha256(chosen.encode()).hexdigest()[:HASH_LENGTH]}")
    return by_zone(group, choices.zones)


def _ways_in(choices: EksConfig) -> WaysIn | None:
    if not choices.ingress:
        return None
    return choices.ingress.ways_in(
        cluster=choices.name, region=choices.region, network=choices.network, tags=choices.tags
    )


def _group_note(choices: EksConfig, group: str) -> str | None:
    if any(group in entry.groups for entry in choices.access.entries.values()):
        return None
    return (
        f"no entry in cluster.access.entries has the group '{group}', so its role has no effect, unless an identity "
        "provider of your own names it; add it to `groups` of an entry"
    )


EKS: Final = KindDescriptor(
    kind=ClusterKind.EKS,
    config=EksConfig,
    mismatches=mismatches,
    owner_problem=made_by_the_stack(ClusterKind.EKS),
    environment_problems=environment_problems,
    creation_problems=creation_problems,
    storage_problems=storage_problems,
    volume_problems=volume_problems,
    provisioned=frozenset({StorageType.FILES}),
    split=_split,
    egress=_egress,
    egress_problems=egress_problems,
    egress_note="AWS does not support network policies on pods without an owner, such as those of MLRun's jobs, and a "
    "new pod may reach everything at first: egress is no boundary for them; docs/eks.md names what is one",
    identity_problems=identity_problems,
    ways_in=_ways_in,
    group_note=_group_note,
    zones=lambda choices: choices.zones,
    nodes=NODES,
    stack_files={Environment.DEV: "Pulumi.dev.yaml", Environment.PROD: "Pulumi.prod.yaml"},
    names={
        "EKS cluster": "1 to 63 lower-case letters, digits or `-`, starting with a letter",
        "access entry": "1 to 63 lower-case letters, digits or `-`",
    },
    in_production=(
        "no `publicAccessCidrs`: the API is private (HE-01)",
        "`apiClientCidrs`, to create a cluster: nothing else reaches a private API",
        "`ingress.certificateArn`, if there is `ingress`",
    ),
)
