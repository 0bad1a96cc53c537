"""NG-22: data nodes have NVMe disks."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.node_groups import DATA_GROUPS, NodeGroupFacts


def check(group: NodeGroupFacts, _: Context) -> Iterator[Finding]:
    """Require local NVMe storage on every machine type."""
    machines = group.instances
    without = [machine.name for machine in machines if not machine.local_nvme_gib]
    if without or not machines:
        yield Finding(
            f"{group} has no NVMe disks ({', '.join(without) or 'no type given'}); expected machine types with NVMe "
            "storage."
        )


RULE = Rule(
    id="NG-22",
    slug="data-group-has-local-disks",
    title="A data group should use machine types with NVMe disks",
    severity=Severity.MEDIUM,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="Iguazio best practices, data nodes",
    applies_to=DATA_GROUPS,
    why="The data layer stores its data on these disks; on network disks it is slow or fails to start.",
    fix="Choose machine types with local NVMe storage, such as i4i on AWS or Lsv3 on Azure.",
    check=check,
)
