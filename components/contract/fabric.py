"""Fast networks between the nodes of a pool, and placement close together: for distributed work."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, NamedTuple, TypeAlias

from components.contract.choices import Explained, Findings
from components.contract.instances import INSTANCE_TYPES, InstanceType, Provider, Variant
from components.contract.labels import LabelKey
from components.contract.reservation import ROLES
from components.contract.roles import PoolRole

EFA: Final = "efa"
"""Value of the node label ``FABRIC`` if nodes have Elastic Fabric Adapters."""

EFA_RESOURCE: Final = "vpc.amazonaws.com/efa"
"""Resource of AWS's device plug-in for these adapters.

https://docs.aws.amazon.com/eks/latest/userguide/device-management-efa.html
"""

HUGE_PAGES: Final = "hugepages-2Mi"

"""Resource of huge pages of 2 MiB: Kubernetes' name for them."""

_PAGES_OF_A_VCPU: Final = 110
"""Huge pages that EFA's installer reserves for each vCPU, plus one for the machine.

bottlerocket-os/bottlerocket-core-kit, pull request 141. Nodes show the same: 21,122 MiB with 96 vCPUs
(aws-samples/awsome-distributed-training, ``3.test_cases/2.nemo-launcher/EKS/README.md``), 42,242 MiB with 192.
"""

_PLACED_ANYWHERE: Final = frozenset({Variant.BURSTABLE, Variant.FLEX})
"""Variants of AWS's machines that placement groups do not accept.

https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/placement-groups.html
"""


class Fabric(NamedTuple):
    """What a node with a fast network offers to pods."""

    name: str
    """Value of the node label ``FABRIC``."""
    resource: str
    """Name under which pods request an interface."""
    interfaces: int
    """How many a node has."""
    huge_pages_mib: int
    """Memory that is usable as huge pages only."""


def fabric_of(machine: InstanceType) -> Fabric:
    """Return what a node of a machine type offers; the only such network so far is EFA."""
    return Fabric(EFA, EFA_RESOURCE, machine.fabric, 2 * (_PAGES_OF_A_VCPU * machine.vcpus + 1))


def require_closeness(key: str, choices: Mapping[str, Any]) -> None:
    """Refuse a fast network, or placement close together, that its pool cannot have.

    Parameters
    ----------
    key
        ``fabric`` or ``close_together``.
    choices
        The pool's valid fields so far.

    Raises
    ------
    ValidationError
        With every problem.
    """
    findings, role = Findings(), choices.get("role")
    roles = (PoolRole.GPU,) if key == "fabric" else ROLES
    if role not in (*roles, None):
        findings.add(f"is for pools of role {' or '.join(roles)}; remove it")
    elif "zone" in choices and not choices["zone"]:
        findings.add("needs zone: nodes are near each other inside one zone only")
    types = [INSTANCE_TYPES[name] for name in choices.get("instance_types", ())]
    if len(types) > 1:
        findings.add("needs a pool with one machine type, so that its nodes form one group of equal nodes")
    for message in _of_fabric(types, choices) if key == "fabric" else _of_closeness(types, choices):
        findings.add(message)
    findings.raise_if_any()


def _of_fabric(types: list[InstanceType], choices: Mapping[str, Any]) -> list[str]:
    if choices.get("machine"):
        return ["needs instanceTypes: nothing is known about the network of other machines"]
    found = []
    if without := [each.name for each in types if each.provider is Provider.AWS and not each.fabric]:
        found.append(f"needs machine types with EFA, unlike {', '.join(without)}; use larger sizes, or remove it")
    if choices.get("sharing"):
        found.append("is impossible with sharing: NCCL gives each process its own GPU; remove one of the two")
    return found


def _of_closeness(types: list[InstanceType], choices: Mapping[str, Any]) -> list[str]:
    found = []
    if never := [each.name for each in types if each.provider is Provider.AWS and each.variants & _PLACED_ANYWHERE]:
        found.append(f"is impossible with {', '.join(never)}, which the cloud places anywhere; use other types")
    if choices.get("reservation"):
        found.append("is impossible with reservation, whose machines are already placed; remove it")
    return found


PoolFabric: TypeAlias = Annotated[
    bool,
    Explained(
        "Pods communicate over the usual network.",
        f"Network interfaces of the nodes, their device plug-in, the resource {EFA_RESOURCE}, and the label "
        f"{LabelKey.FABRIC} (docs/gpus.md).",
    ),
]

PoolCloseness: TypeAlias = Annotated[
    bool,
    Explained(
        "Machines anywhere in a zone are available more often.",
        "A placement group for the pool's machines: less delay between them, but new ones start only if there is room "
        "next to the others (docs/gpus.md).",
    ),
]
