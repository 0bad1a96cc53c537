"""NG-17: GPU nodes are tainted, so that only pods that request a GPU run there."""

from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.taints import gpu_taint
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.node_groups import NODE_GROUPS, NodeGroupFacts


def check(group: NodeGroupFacts, context: Context) -> Iterator[Finding]:
    """Require the taint for which the API server adds a toleration to pods that request the GPU."""
    wanted = [gpu_taint(resource) for resource in dict.fromkeys([*group.gpu_resources, *context.gpu_resources])]
    if group.has_gpus and not group.carries_one_of(*wanted):
        yield Finding(f"{group} accepts pods without a GPU; expected the taint {' or '.join(map(str, wanted))}.")


RULE = Rule(
    id="NG-17",
    slug="gpu-group-is-tainted",
    title="GPU nodes must have a taint named like their GPU resource",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="Iguazio best practices, Development Cluster (GPUs)",
    applies_to=NODE_GROUPS,
    why="The taint keeps other pods off GPU machines. Pods that request a GPU get the toleration automatically.",
    fix="Add the taint RESOURCE=present:NoSchedule, where RESOURCE is the pool's gpuResource.",
    check=check,
)
