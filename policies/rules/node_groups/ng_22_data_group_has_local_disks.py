"""NG-22: data nodes have the disks that the data layer is made for."""

from collections.abc import Iterator

from components.contract.environments import Environment
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.views.node_groups import DATA_GROUPS, NodeGroupFacts


def check(group: NodeGroupFacts, _: Context) -> Iterator[Finding]:
    """Demand instance storage on NVMe of every machine type."""
    machines = group.instances
    without = [machine.name for machine in machines if not machine.local_nvme_gib]
    if without or not machines:
        yield Finding(f"{group} has no NVMe disks ({', '.join(without) or 'no type given'}), wanted types with them.")


RULE = Rule(
    id="NG-22",
    slug="data-group-has-local-disks",
    title="A data group consists of machines with NVMe disks",
    severity=Severity.MEDIUM,
    level=dict.fromkeys(Environment, Level.ADVISORY),
    source="Iguazio best practices, data nodes",
    applies_to=DATA_GROUPS,
    why="The data layer keeps its data on these disks; on network disks it is slow, or does not start.",
    fix="Choose types with instance storage, such as i4i on AWS or Lsv3 on Azure.",
    check=check,
)
