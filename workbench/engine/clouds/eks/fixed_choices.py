"""What EKS fixes when it creates a cluster: the key of its Secrets, its zones, its VPC, and addresses of pods."""

import json
from collections.abc import Mapping
from typing import Any, Final

from components.contract.eks.config import EksConfig
from components.contract.eks.network import ExistingNetwork
from components.contract.eks.values import CNI, PREFIX_DELEGATION
from workbench.engine.clouds.eks.cluster_components import ADDON, CLUSTER, GROUP
from workbench.engine.clouds.fixed_choice import FixedChoice, resources_of
from workbench.report.events import STACK_TYPE

KEY: Final = "aws:kms/key:Key"
SUBNET: Final = "aws:ec2/subnet:Subnet"
VPC: Final = "aws:ec2/vpc:Vpc"

BLOCK: Final = "aws:ec2/vpcIpv4CidrBlockAssociation:VpcIpv4CidrBlockAssociation"

_OWN_KEY: Final = "the stack's own key"
_NO_PODS: Final = "no range of pods"
_PREFIXES: Final = {True: "addresses in prefixes", False: "single addresses"}


def _cluster(deployment: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return inputs and outputs of the cluster; empty without one."""
    found = next(resources_of(deployment, CLUSTER), {})
    return {**(found.get("inputs") or {}), **(found.get("outputs") or {})}


def _declared_key(choices: EksConfig) -> str:
    return choices.secrets_key_arn or _OWN_KEY


def _live_key(deployment: Mapping[str, Any]) -> str:
    config = _cluster(deployment).get("encryptionConfig") or {}
    arn = str((config.get("provider") or {}).get("keyArn") or "")
    own = {(key.get("outputs") or {}).get("arn") for key in resources_of(deployment, KEY)}
    return _OWN_KEY if arn in own else arn


def _declared_zones(choices: EksConfig) -> str:
    return ", ".join(sorted(choices.zones))


def _live_zones(deployment: Mapping[str, Any]) -> str:
    used = set((_cluster(deployment).get("vpcConfig") or {}).get("subnetIds") or ())
    placed = {each["id"]: (each.get("inputs") or {}).get("availabilityZone") for each in _subnets(deployment)}
    zones = {subnet: str(zone)[-1] for subnet, zone in placed.items() if zone}
    for stack in resources_of(deployment, STACK_TYPE):
        given = ((stack.get("outputs") or {}).get("cluster") or {}).get("nodeSubnetIds") or {}
        zones |= {subnet: zone for zone, subnet in given.items()}
    return ", ".join(sorted({zones[each] for each in used})) if used <= zones.keys() else ""


def _declared_network(choices: EksConfig) -> str:
    network = choices.network
    return network.vpc_id if isinstance(network, ExistingNetwork) else _own_vpc(network.cidr)


def _live_network(deployment: Mapping[str, Any]) -> str:
    config = _cluster(deployment).get("vpcConfig") or {}
    used = config.get("subnetIds") or ()
    places = ((each.get("inputs") or {}).get("vpcId") for each in _subnets(deployment) if each["id"] in used)
    vpc = config.get("vpcId") or next(places, "")
    own = {each.get("id"): (each.get("inputs") or {}).get("cidrBlock") for each in resources_of(deployment, VPC)}
    if vpc not in own:
        return str(vpc or "")
    cidr = own[vpc]
    return _own_vpc(str(cidr)) if cidr else ""


def _own_vpc(cidr: str) -> str:
    return f"the stack's own VPC {cidr}"


def _declared_pods(choices: EksConfig) -> str:
    return choices.pod_cidr or _NO_PODS


def _live_pods(deployment: Mapping[str, Any]) -> str:
    if not _cluster(deployment):
        return ""
    block = next(resources_of(deployment, BLOCK), {"inputs": {"cidrBlock": _NO_PODS}})
    return str((block.get("inputs") or {}).get("cidrBlock") or "")


def _declared_prefixes(choices: EksConfig) -> str:
    return _PREFIXES[choices.prefix_delegation]


def _live_prefixes(deployment: Mapping[str, Any]) -> str:
    # Until there are groups, EKS has calculated nothing from the setting.
    if not next(resources_of(deployment, GROUP), None):
        return ""
    addons = (each.get("inputs") or {} for each in resources_of(deployment, ADDON))
    given = next((each.get("configurationValues") for each in addons if each.get("addonName") == CNI), None)
    if given is None:
        return ""
    return _PREFIXES[(json.loads(given).get("env") or {}).get(PREFIX_DELEGATION) == "true"]


def _subnets(deployment: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [each for each in resources_of(deployment, SUBNET) if each.get("id")]


_ANOTHER: Final = "For another one, create a second stack with a cluster of another name and move there."

FIXED: Final = (
    FixedChoice(
        key="cluster.secretsKeyArn",
        declared=_declared_key,
        live=_live_key,
        # https://docs.aws.amazon.com/eks/latest/userguide/enable-kms.html
        step=(
            "Set it back, or remove it for the stack's own key. Do not unprotect, disable or delete the cluster's key: "
            f"without it no Secret can be read. {_ANOTHER}"
        ),
    ),
    FixedChoice(
        key="cluster.zones",
        declared=_declared_zones,
        live=_live_zones,
        # https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
        step=f"Set them back: a cluster's subnets must be in exactly the zones of its creation. {_ANOTHER}",
    ),
    FixedChoice(
        key="cluster.network",
        declared=_declared_network,
        live=_live_network,
        # https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
        step=f"Set kind and VPC, or its range, back: a cluster stays in its first VPC. {_ANOTHER}",
    ),
    FixedChoice(
        key="cluster.prefixDelegation",
        declared=_declared_prefixes,
        live=_live_prefixes,
        # https://docs.aws.amazon.com/eks/latest/userguide/cni-increase-ip-addresses-procedure.html
        step=f"Set it back. {_ANOTHER}",
        why="EKS calculates the number of pods on the nodes of a group when it makes the group, and without prefixes "
        "there are fewer addresses",
    ),
    FixedChoice(
        key="cluster.podCidr",
        declared=_declared_pods,
        live=_live_pods,
        # https://docs.aws.amazon.com/eks/latest/userguide/cni-subnet-selection.html
        step=f"Set it back. {_ANOTHER}",
        why="nodes keep the subnets in which their pods got addresses, and AWS releases no range that is in use",
    ),
)
"""The choices whose change loses most come first."""
