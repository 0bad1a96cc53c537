"""NG-16: GPU machines and other machines are in different groups."""

from collections.abc import Iterator

from components.contract.pools import PoolRole
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity
from policies.views.node_groups import NODE_GROUPS, NodeGroupFacts


def check(group: NodeGroupFacts, _: Context) -> Iterator[Finding]:
    """Require GPU machines in groups of role gpu, and only there."""
    gpus = group.gpus_by_type
    with_gpu = ", ".join(name for name, count in gpus.items() if count)
    without = ", ".join(name for name, count in gpus.items() if not count)
    if with_gpu and without:
        yield Finding(f"{group} mixes types with GPUs ({with_gpu}) and without ({without}); expected only one kind.")
    elif with_gpu and group.role is not PoolRole.GPU:
        yield Finding(f"{group} has GPUs ({with_gpu}) and role {group.role or 'none'}; expected role {PoolRole.GPU}.")
    elif not with_gpu and group.role is PoolRole.GPU:
        yield Finding(f"{group} has role {PoolRole.GPU} and no GPU ({without or 'no type given'}); expected GPU types.")


RULE = Rule(
    id="NG-16",
    slug="gpus-have-their-own-group",
    title="GPU machines must have node groups of their own",
    severity=Severity.MEDIUM,
    level=MANDATORY_EVERYWHERE,
    source="Iguazio best practices, Development Cluster (GPUs)",
    applies_to=NODE_GROUPS,
    why="Otherwise work without a GPU fills expensive GPU machines, and the autoscaler cannot size a mixed group.",
    fix=f"Move GPU types into a pool of role {PoolRole.GPU} and all other types out of it.",
    check=check,
)
