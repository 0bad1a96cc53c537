"""SP-08: work on a capacity block has a restart plan."""

from collections.abc import Iterator

from components.contract.environments import Environment
from components.contract.labels import AnnotationKey, LabelKey
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.pods import USER_PODS, PodFacts
from policies.views.spot import has_restart_plan


def check(pod: PodFacts, context: Context) -> Iterator[Finding]:
    """Require a plan from pods that select a pool whose block ends. Other GPU work may run there or elsewhere."""
    chosen = pod.selected(LabelKey.POOL)
    if chosen in context.block_pools and not has_restart_plan(pod):
        yield Finding(
            f"{pod} selects pool '{chosen}', whose capacity block ends, without a valid restart plan in the annotation "
            f"{AnnotationKey.RESTART_PLAN}; expected retry, checkpoint:PATH or manual:WHO."
        )


# No admission: the parameter object of the API server's rules has no room for further lists.
RULE = Rule(
    id="SP-08",
    slug="work-of-a-block-has-a-restart-plan",
    title="Work on a capacity block should declare a restart plan",
    severity=Severity.MEDIUM,
    # MLRun annotates no pod by itself.
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="EKS user guide, Create a managed node group with Capacity Blocks for ML",
    applies_to=USER_PODS,
    why="EKS drains the nodes 40 minutes before the block ends, whatever runs there.",
    fix=f"Annotate the pods with {AnnotationKey.RESTART_PLAN}: retry if their controller retries (backoffLimit), "
    "checkpoint:PATH or manual:WHO.",
    check=check,
)
