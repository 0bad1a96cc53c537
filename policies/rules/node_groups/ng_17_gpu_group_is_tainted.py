"""NG-17: only work that asks for a GPU lands on GPU machines."""

from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.taints import gpu_taint
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.node_groups import NODE_GROUPS, NodeGroupFacts


def check(group: NodeGroupFacts, context: Context) -> Iterator[Finding]:
    """Demand the taint whose toleration the API server gives to pods that ask for the GPU."""
    wanted = [gpu_taint(resource) for resource in dict.fromkeys([*group.gpu_resources, *context.gpu_resources])]
    if group.has_gpus and not group.carries_one_of(*wanted):
        yield Finding(f"{group} is open to pods without a GPU, wanted the taint {' or '.join(map(str, wanted))}.")


RULE = Rule(
    id="NG-17",
    slug="gpu-group-is-tainted",
    title="GPU nodes are tainted with their resource's name",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="Iguazio best practices, Development Cluster (GPUs)",
    applies_to=NODE_GROUPS,
    why="Pods without a GPU would fill GPU machines; pods that ask for one get this taint's toleration by themselves.",
    fix="Taint the group with <GPU resource>=present:NoSchedule.",
    check=check,
)
