"""NG-27: schedules keep the maximum of node groups, and in production the running work."""

import re
from collections.abc import Iterator
from typing import Final

from components.contract.eks.hours import LEFT_ALONE
from components.contract.environments import Environment
from policies.resource import Resource
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity, resources_of
from policies.views.node_groups.aws_machines import SCHEDULE
from policies.views.type_tokens import azure_native

WORKFLOW: Final = azure_native("logic", "Workflow")

_STOP: Final = re.compile(r"/managedClusters/[^/]+/stop\b", re.IGNORECASE)
"""End of the address at which AKS stops a cluster."""


def check(resource: Resource, context: Context) -> Iterator[Finding]:
    """Reject changes of the maximum, and in production of the number of nodes."""
    is_production = context.environment is Environment.PROD
    if resource.type == SCHEDULE:
        yield from _schedule(resource, is_production=is_production)
    elif is_production:
        actions = resource.props.at("definition", "actions")
        for name in actions.keys():  # noqa: SIM118 no mapping
            if _STOP.search(actions.at(name, "inputs", "uri").text() or ""):
                yield Finding(f"Workflow '{resource.name}' stops a cluster; expected no such workflow in production.")


def _schedule(schedule: Resource, *, is_production: bool) -> Iterator[Finding]:
    if (most := schedule.props.at("maxSize").integer() or 0) != LEFT_ALONE:
        yield Finding(f"Schedule '{schedule.name}' sets the maximum to {most}; expected maxSize: {LEFT_ALONE}.")
    size = schedule.props.at("desiredCapacity").integer() or 0
    if is_production and size != LEFT_ALONE:
        yield Finding(
            f"Schedule '{schedule.name}' sets the number of nodes to {size}; expected desiredCapacity: {LEFT_ALONE} in "
            "production."
        )


RULE = Rule(
    id="NG-27",
    slug="schedules-spare-maximum-and-work",
    title="Scheduled actions must keep the maximum of a group, and in production its nodes",
    severity=Severity.MEDIUM,
    level=MANDATORY_EVERYWHERE,
    source="EKS user guide, Managed node groups (a maximum of at least 1; draining ignores disruption budgets); AKS "
    "documentation, Stop and start a cluster",
    applies_to=resources_of(
        "each scheduled action of an Auto Scaling group and each Logic Apps workflow", SCHEDULE, WORKFLOW
    ),
    why="EKS refuses updates of a group whose maximum is 0. A smaller size terminates nodes with the pods on them, and "
    "a stopped cluster on AKS has none.",
    fix="Lower the minimum only: the autoscaler then removes nodes once they are empty. `officeHours` of a pool does "
    "so; those of a cluster are for development.",
    check=check,
)
