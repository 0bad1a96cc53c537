"""Backups of clusters as rules see them: plans of AWS Backup, instances and policies of Azure Backup, and vaults."""

import re
from collections.abc import Iterator
from typing import Final

from policies.resource import Resource, Stack
from policies.values import Value
from policies.views.clusters import aks_clusters, eks_clusters
from policies.views.type_tokens import azure_native

VAULT: Final = "aws:backup/vault:Vault"
PLAN: Final = "aws:backup/plan:Plan"
SELECTION: Final = "aws:backup/selection:Selection"

AZURE_VAULT: Final = azure_native("dataprotection", "BackupVault")
INSTANCE: Final = azure_native("dataprotection", "BackupInstance")
POLICY: Final = azure_native("dataprotection", "BackupPolicy")

_EVERY_DAY: Final = re.compile(r"cron\(\S+ \S+ [?*] \* [?*] \*\)")
"""Schedules that leave out no day: https://docs.aws.amazon.com/aws-backup/latest/devguide/API_BackupRule.html."""

_DEFAULT: Final = "cron(0 5 ? * * *)"
"""AWS's default for a rule without a schedule."""


def kept_days(stack: Stack) -> Iterator[tuple[Resource, list[int | None]]]:
    """Return each cluster with the days for which its daily backups are kept; None: for ever or not known."""
    for cluster in eks_clusters(stack):
        rules = [rule for plan in _plans_of(cluster, stack) for rule in _daily_rules(plan)]
        yield cluster, [rule.at("lifecycle", "deleteAfter").integer() for rule in rules]
    for cluster in aks_clusters(stack):
        yield cluster, [days for policy in _policies_of(cluster, stack) for days in _days_of(policy)]


def _plans_of(cluster: Resource, stack: Stack) -> Iterator[Resource]:
    """Return the plans whose selections name an EKS cluster."""
    for selection in stack:
        if selection.type == SELECTION and _names(selection, cluster):
            wanted = selection.depends_on.get("planId", ())
            yield from (each for each in stack if each.type == PLAN and each.urn in wanted)


def _daily_rules(plan: Resource) -> Iterator[Value]:
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


def _policies_of(cluster: Resource, stack: Stack) -> Iterator[Resource]:
    """Return the policies by which an AKS cluster is backed up."""
    name = re.escape(cluster.props.at("resourceName").text() or "")
    for instance in stack:
        if not re.fullmatch(INSTANCE, instance.type):
            continue
        source = instance.props.at("properties", "dataSourceInfo", "resourceID").text() or ""
        if re.fullmatch(rf"(?i)/subscriptions/.*/managedClusters/{name}", source):
            wanted = instance.depends_on.get("properties", ())
            yield from (each for each in stack if re.fullmatch(POLICY, each.type) and each.urn in wanted)


def _days_of(policy: Resource) -> Iterator[int | None]:
    """Return the days for which a policy keeps backups, if it makes one on every day."""
    rules = policy.props.at("properties", "policyRules").elements()
    made = [rule for rule in rules if rule.at("objectType").text() == "AzureBackupRule"]
    times = [each for rule in made for each in rule.at("trigger", "schedule", "repeatingTimeIntervals").elements()]
    if not any(re.fullmatch(r"R/\S+/(P1D|PT\d+H)", each.text() or "") for each in times):
        return
    for rule in rules:
        for life in rule.at("lifecycles").elements() if rule.at("isDefault").flag() else ():
            days = re.fullmatch(r"P(\d+)D", life.at("deleteAfter", "duration").text() or "")
            yield int(days[1]) if days else None
