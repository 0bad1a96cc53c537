"""What distinguishes AKS from the other kinds of clusters."""

from typing import Final

from components.contract.aks.agent_pools import SUFFIX_LENGTH, agent_pools
from components.contract.aks.checks import NAME_MAX, environment_problems, mismatches
from components.contract.aks.config import AksConfig
from components.contract.aks.dns_names import aks_ways_in
from components.contract.aks.identity import identity_problems
from components.contract.aks.nodes import NODES
from components.contract.aks.shared_storage import storage_problems, volume_problems
from components.contract.azure import GUID_SHAPE, is_guid
from components.contract.egress import HTTPS, AllowedEgress, to_api_server
from components.contract.environments import ClusterKind
from components.contract.ingress import IN_PRODUCTION
from components.contract.kind import KindDescriptor, made_by_the_stack
from components.contract.ranges import EVERYWHERE, NEVER_PUBLIC, service_address
from components.contract.taints import AKS_SPOT_TAINT


def _egress(choices: AksConfig) -> tuple[AllowedEgress, ...]:
    service = service_address(choices.service_cidr)
    if choices.is_private:  # a private endpoint in the subnet of nodes
        return (to_api_server(service, choices.network.node_cidr, ports=(HTTPS,)),)
    # Azure chooses the address of a public API when it creates the cluster, and may change it.
    return (to_api_server(service, str(EVERYWHERE), ports=(HTTPS,), but=tuple(map(str, NEVER_PUBLIC))),)


def _group_problem(_: AksConfig, group: str) -> str | None:
    if is_guid(group):
        return None
    return f"'{group}' is not the object id of a group in Entra ID, and AKS passes no group names; use {GUID_SHAPE}"


AKS: Final = KindDescriptor(
    kind=ClusterKind.AKS,
    config=AksConfig,
    mismatches=mismatches,
    owner_problem=made_by_the_stack(ClusterKind.AKS),
    split=agent_pools,
    egress=_egress,
    identity_problems=identity_problems,
    storage_problems=storage_problems,
    volume_problems=volume_problems,
    ways_in=lambda choices: aks_ways_in(choices.ingress, f"{choices.name}-{choices.subscription_id}"),
    group_problem=_group_problem,
    zones=lambda choices: choices.zones,
    nodes=NODES,
    environment_problems=environment_problems,
    spot_taint=AKS_SPOT_TAINT,
    names={
        "pool on AKS": f"at most {NAME_MAX} characters: a generated suffix takes {SUFFIX_LENGTH} of those that AKS "
        "allows, so that a replacement can exist next to the old pool",
        "AKS cluster": "1 to 54 lower-case letters, digits or `-`, starting with a letter; at least 2 if the stack "
        "creates the network; Azure forbids some words",
    },
    in_production=(
        "`secretsKeyId` and `diskEncryptionSetId` (HA-08)",
        "`upgradeChannel` and `nodeImageChannel` are not `none`, except with data pools (HA-05)",
        IN_PRODUCTION,
        "`upgradeChannel: none` with an older `nodeVersion` needs a waiver of HA-05",
    ),
)
