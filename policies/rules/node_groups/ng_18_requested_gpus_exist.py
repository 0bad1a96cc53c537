"""NG-18: a node group offers every GPU and every fast network interface that pods request."""

from collections.abc import Callable, Iterator

from components.contract.environments import Environment
from components.contract.fabric import EFA_RESOURCE
from components.contract.gpus import WHOLE_GPUS
from components.contract.pools import PoolRole
from policies.resource import Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.views.gpus import asks_for, parts_of_gpus
from policies.views.node_groups import NodeGroupFacts, makes_groups, some_group
from policies.views.pods import pods


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Require a group that offers the same resource name, in stacks that create node groups."""
    if not makes_groups(stack):
        return
    for resource in stack:
        for pod in pods(resource):
            for device in (*WHOLE_GPUS, *parts_of_gpus(pod), EFA_RESOURCE):
                if asks_for(pod, device) and not some_group(stack, _offers(device)):
                    yield Finding(f"{pod} requests {device}, which no node group offers.", urn=resource.urn)


def _offers(device: str) -> Callable[[NodeGroupFacts], bool]:
    if device == EFA_RESOURCE:
        return lambda group: group.has_efa
    return lambda group: group.has_gpus and device in group.gpu_resources


RULE = Rule(
    id="NG-18",
    slug="requested-gpus-exist",
    title="Requested devices must be offered by a node group",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="Iguazio best practices, Development Cluster (GPUs)",
    applies_to=WholeStack(),
    why="Otherwise the pod stays pending forever: no node group can provide such a node.",
    fix=f"Add a pool of role {PoolRole.GPU} whose gpuResource, sharing or fabric matches the request, or remove the "
    "request.",
    check=check,
)
