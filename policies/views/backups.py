"""Backups of clusters as rules see them: plans of AWS Backup with their selections and vaults."""

import re
from collections.abc import Iterator
from typing import Final

from policies.resource import Resource, Stack
from policies.values import Value

VAULT: Final = "aws:backup/vault:Vault"
PLAN: Final = "aws:backup/plan:Plan"
SELECTION: Final = "aws:backup/selection:Selection"

_EVERY_DAY: Final = re.compile(r"cron\(\S+ \S+ [?*] \* [?*] \*\)")
"""Schedules that leave out no day: https://docs.aws.amazon.com/aws-backup/latest/devguide/API_BackupRule.html."""

_DEFAULT: Final = "cron(0 5 ? * * *)"
"""AWS's own, of a rule without a schedule."""


def plans_of(cluster: Resource, stack: Stack) -> Iterator[Resource]:
    """Return the plans whose selections name an EKS cluster."""
    for selection in stack:
        if selection.type == SELECTION and _names(selection, cluster):
            wanted = selection.depends_on.get("planId", ())
            yield from (each for each in stack if each.type == PLAN and each.urn in wanted)


def daily_rules(plan: Resource) -> Iterator[Value]:
    """Return the rules of a plan that make a backup on every day."""
    for rule in plan.props.at("rules").elements():
        if _EVERY_DAY.fullmatch(rule.at("schedule").text() or _DEFAULT):
            yield rule


def _names(selection: Resource, cluster: Resource) -> bool:
    # In a first preview the cluster's ARN is unknown, but not which resource it comes from.
    if cluster.urn in selection.depends_on.get("resources", ()):
        return True
    arn = re.compile(rf"\*|arn:[\w-]+:eks:.*:cluster/(\*|{re.escape(cluster.props.at('name').text() or '')})")
    return any(arn.fullmatch(each.text() or "") for each in selection.props.at("resources").elements())
