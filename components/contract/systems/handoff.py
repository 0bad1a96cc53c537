"""The specification for Iguazio's installer if it creates the servers (``servers: provazio``), to sign off.

Facts about the installer are from Iguazio's public documentation (Iguazio best practices, provisioning of the servers;
the pages in ``installer_identities``). What they do not contain is listed as not known.
"""

from collections.abc import Iterator
from typing import Any, Final

from components.contract.environments import Provider
from components.contract.existing.config import OLDEST_MINOR, ExistingConfig
from components.contract.groups import NodeGroup
from components.contract.lifecycle import Lifecycle
from components.contract.placement import FIRST_MUTATING_MINOR
from components.contract.pools import PoolRole
from components.contract.systems.app_services import services
from components.contract.systems.installer_identities import identities
from components.contract.systems.platform_cluster import PlatformCluster
from components.contract.taints import AKS_SPOT_TAINT

PURPOSES: Final = {
    PoolRole.INITIAL: "core services of the platform, and nothing else",
    PoolRole.WORKLOAD: "jobs, functions and application services",
    PoolRole.JUPYTER: "notebooks",
    PoolRole.GPU: "work that requests a GPU, and nothing else",
    PoolRole.DATA: "V3IO data nodes",
}
"""What runs on the nodes of each role."""

_OF_DATA: Final = (
    "never stopped, hibernated, replaced or resized: the data on its NVMe disks would be lost",
    "outside every autoscaler, schedule, automatic repair and automatic upgrade of the system image",
    "an alert for each event that stops or ends one of its machines",
)
_OF_DATA_IN: Final = {
    Provider.AWS: (
        "instances with termination protection and stop protection",
        "in an Auto Scaling group: protection from scale-in, ReplaceUnhealthy and AZRebalance suspended",
    ),
    Provider.AZURE: ("no stop of the cluster, and no upgrade or new node image of the group",),
}
_OF_INITIAL: Final = ("outside every autoscaler; never spot",)
_BALANCED: Final = (
    "in an Auto Scaling group over several zones: AZRebalance suspended, which terminates nodes with running work"
)
"""https://docs.aws.amazon.com/autoscaling/ec2/APIReference/API_TerminateInstanceInAutoScalingGroup.html."""

NEVER: Final = (
    "Make no servers before the installation: Provazio makes them itself, and servers of your own get in its way.",
    "Do not stop, replace or remove data nodes: the data on their NVMe disks would be lost.",
    "Do not change Provazio's objects IguazioTenant, IguazioTenantAppServiceSet and IguazioAppCluster.",
    "Do not change or delete the priority classes igz-workload-* and igz-system-*: `up` adopts those of the platform.",
    "Do not change the node selectors of the platform's core services: Iguazio's support sets them.",
    "Do not put the initial group or data groups under an autoscaler, and do not make them of spot machines.",
)
"""Prohibitions for those who install or run the platform."""


def specification(stack: str, cluster: PlatformCluster, choices: ExistingConfig) -> dict[str, Any]:
    """Return the specification as data.

    Parameters
    ----------
    stack
        Name of the stack.
    cluster
        The groups and settings of its stack file.
    choices
        The existing cluster: how nodes are selected.
    """
    providers = dict.fromkeys(each.provider for group in cluster.groups for each in group.instances)
    return {
        "stack": stack,
        "environment": cluster.environment.value,
        "profile": cluster.profile.value,
        "clouds": [each.value for each in providers if each is not Provider.OWN],
        "kubernetes": {"minimum": f"1.{FIRST_MUTATING_MINOR if choices.mutating_admission else OLDEST_MINOR}"},
        "groups": [_group(group, choices) for group in cluster.groups],
        "identities": [each for provider in providers for each in identities(provider)],
        "services": services(cluster),
        "gaps": list(_gaps(cluster, choices)),
        "never": list(NEVER),
        "after": list(_checks_after(stack, cluster, choices)),
    }


def _group(group: NodeGroup, choices: ExistingConfig) -> dict[str, Any]:
    return {
        "pool": group.pool,
        "role": group.role.value,
        "for": PURPOSES[group.role],
        "lifecycle": group.lifecycle.value,
        "scaling": "elastic" if group.is_elastic else "static",
        "nodes": group.size.model_dump(),
        **_machines(group),
        "zones": "one group for each zone" if group.is_zonal else "any",
        "labelsBeforeUp": dict(choices.nodes[group.pool].selector),
        "labels": dict(group.labels),
        "taints": list(map(str, group.taints)),
        "protections": list(_protections(group)),
    }


def _machines(group: NodeGroup) -> dict[str, Any]:
    if any(each.provider is not Provider.OWN for each in group.instances):
        return {"instanceTypes": [each.name for each in group.instances]}
    (machine,) = group.instances
    facts = {
        "vcpus": machine.vcpus,
        "memoryMib": machine.memory_mib,
        "architecture": machine.architecture,
        "gpus": machine.gpus,
        "gpuModel": machine.gpu_model,
        "localNvmeGib": machine.local_nvme_gib,
    }
    return {"machine": {name: value for name, value in facts.items() if value}}


def _protections(group: NodeGroup) -> Iterator[str]:
    if group.role is PoolRole.INITIAL:
        yield from _OF_INITIAL
    if group.role is PoolRole.DATA:
        yield from _OF_DATA
        for key, value in group.annotations.items():
            yield f"the annotation {key}={value} on each node, which `up` sets: Cluster Autoscaler removes none of them"
        for provider in dict.fromkeys(each.provider for each in group.instances):
            yield from _OF_DATA_IN.get(provider, ())
    if group.is_elastic and not group.is_zonal and any(each.provider is Provider.AWS for each in group.instances):
        yield _BALANCED


def _gaps(cluster: PlatformCluster, choices: ExistingConfig) -> Iterator[str]:
    """Yield what the stack file leaves open, as sentences."""
    if choices.is_not_made_yet:
        yield "The cluster does not exist yet: clusterId is a placeholder, with which `up` refuses every cluster."
    if cluster.gap:
        yield f"{cluster.gap[0].upper()}{cluster.gap[1:]}."
    spot = [group for group in cluster.groups if group.lifecycle is Lifecycle.SPOT]
    if any(each.provider is Provider.AZURE for group in spot for each in group.instances):
        yield (
            f"AKS adds the taint {AKS_SPOT_TAINT} to spot nodes, and a stack of kind existing sets no toleration "
            "for it in MLRun and Nuclio: their pods stay off spot nodes unless their authors add the toleration."
        )
    yield "The version of Kubernetes and the names of zones are chosen in the installation; a stack file has neither."


def _checks_after(stack: str, cluster: PlatformCluster, choices: ExistingConfig) -> Iterator[dict[str, Any]]:
    yield _check(
        f"igz-clusters existing identify {choices.context}",
        "the entry `cluster`; put its context and clusterId into the stack file",
        *(
            f"`{key}: {value}` with the number of nodes of pool {group.pool}: {_count(group)}"
            for group in cluster.groups
            for key, value in choices.nodes[group.pool].selector.items()
        ),
    )
    yield _check(f"igz-clusters check {stack}", f"`{stack}: no violations`")
    yield _check(
        f"igz-clusters preview {stack}",
        "a plan with labels for each node, and no refusal: no line with `found` and `required`",
        *(
            ["what the autoscaler's owner must set on new nodes of each pool"]
            if any(group.is_elastic for group in cluster.groups)
            else []
        ),
    )
    yield _check(f"igz-clusters up {stack}", "the same plan, a question, and no refusal; exit code 0")
    yield _check(
        f"igz-clusters status {stack}", *(f"pool {group.pool}: {_count(group)}, all ready" for group in cluster.groups)
    )
    yield _check(f"igz-clusters verify {stack}", f"`{stack}: no deviations`; exit code 0")


def _count(group: NodeGroup) -> str:
    return str(group.size).replace("..", " to ")


def _check(command: str, *prints: str) -> dict[str, Any]:
    return {"run": command, "prints": list(prints)}
