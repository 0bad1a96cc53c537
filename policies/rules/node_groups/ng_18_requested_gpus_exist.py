"""NG-18: a pod that asks for a GPU has a group to run on."""

from collections.abc import Callable, Iterator

from components.contract.environments import Environment
from components.contract.pools import PoolRole
from policies.resource import Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.views.gpus import asks_for
from policies.views.node_groups import NodeGroupFacts, makes_groups, some_group
from policies.views.node_groups.facts import GPU_RESOURCES
from policies.views.pods import pods


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Demand a group that offers the resource by the same name, in a stack that makes the groups itself."""
    if not makes_groups(stack):
        return
    for resource in stack:
        for pod in pods(resource):
            for gpu in GPU_RESOURCES:
                if asks_for(pod, gpu) and not some_group(stack, _offers(gpu)):
                    yield Finding(f"{pod} asks for {gpu}, which no node group offers.", urn=resource.urn)


def _offers(gpu: str) -> Callable[[NodeGroupFacts], bool]:
    return lambda group: group.has_gpus and gpu in group.gpu_resources


RULE = Rule(
    id="NG-18",
    slug="requested-gpus-exist",
    title="GPUs that pods ask for are offered by a group",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="Iguazio best practices, Development Cluster (GPUs)",
    applies_to=WholeStack(),
    why="The pod would wait for ever: no autoscaler can make a node that no group describes.",
    fix=f"Add a pool of role {PoolRole.GPU} whose gpuResource is what the pod asks for, or drop the request.",
    check=check,
)
