"""NG-26: the autoscaler can count the nodes whose GPUs are shared."""

from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.labels import LabelKey
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.node_groups import ELASTIC_GROUPS, NodeGroupFacts


def check(group: NodeGroupFacts, _: Context) -> Iterator[Finding]:
    """Reject what makes the autoscaler wait for whole GPUs, which nodes with shared ones never offer."""
    if (shares := group.shares) and group.waits_for_whole_gpus:
        yield Finding(
            f"{group} is elastic and offers {shares.resource}, but the autoscaler waits on its nodes for whole GPUs; "
            "expected a fixed size, or no label of GPU nodes."
        )


RULE = Rule(
    id="NG-26",
    slug="shared-gpus-can-scale",
    title="The autoscaler must be able to count nodes with shared GPUs",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="Cluster Autoscaler, processors/customresources/gpu_processor.go (nodes with unready GPUs)",
    applies_to=ELASTIC_GROUPS,
    why="It treats each new node as unready, adds no more to the group, and finally stops scaling the cluster.",
    fix=f"Give the pool a fixed size on AKS; elsewhere remove its label of GPU nodes, and keep {LabelKey.GPU_SHARING}.",
    check=check,
)
