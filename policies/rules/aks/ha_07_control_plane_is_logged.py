"""HA-07: AKS keeps an audit trail and container logs."""

import re
from collections.abc import Iterator
from functools import partial
from typing import Final

from components.contract.environments import Environment
from policies.resource import Resource, Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.values import Value, some
from policies.views.clusters import aks_clusters
from policies.views.type_tokens import azure_native

SETTING: Final = re.compile(azure_native("insights|monitor", "DiagnosticSetting"))

AUDIT: Final = ("kube-audit", "kube-audit-admin")
AUDIT_GROUPS: Final = ("audit", "allLogs")
"""Categories and groups of them: https://learn.microsoft.com/azure/aks/monitor-aks-reference."""

COLLECTORS: Final = (("addonProfiles", "omsagent"), ("azureMonitorProfile", "containerInsights"))
"""Property that enables collection of container logs."""

ISOLATED: Final = ("none", "block")
"""Outbound types of network isolated clusters: https://learn.microsoft.com/azure/aks/concepts-network-isolated."""


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Require collection of container logs, and a diagnostic setting that keeps the audit log.

    The agent of a network isolated cluster only reaches a workspace by private endpoints, which others may own.
    """
    for cluster in aks_clusters(stack):
        is_isolated = cluster.props.at("networkProfile", "outboundType").text() in ISOLATED
        if not is_isolated and not some(COLLECTORS, partial(_collects, cluster)):
            message = f"Cluster '{cluster.name}' collects no container logs; expected addonProfiles.omsagent enabled."
            yield Finding(message, urn=cluster.urn)
        settings = [resource for resource in stack if SETTING.fullmatch(resource.type)]
        if not some(settings, partial(_keeps_audit, cluster)):
            message = f"Cluster '{cluster.name}' keeps no audit log; expected a DiagnosticSetting with {AUDIT[1]}."
            yield Finding(message, urn=cluster.urn)


def _collects(cluster: Resource, path: tuple[str, str]) -> bool:
    return bool(cluster.props.at(*path, "enabled").flag())


def _keeps_audit(cluster: Resource, setting: Resource) -> bool:
    return some(setting.props.at("logs").elements(), _is_audit) and _is_about(cluster, setting)


def _is_audit(log: Value) -> bool:
    if not log.at("enabled").flag():
        return False
    return log.at("category").text() in AUDIT or log.at("categoryGroup").text() in AUDIT_GROUPS


def _is_about(cluster: Resource, setting: Resource) -> bool:
    if cluster.urn in setting.depends_on.get("resourceUri", ()):
        return True
    return "/managedclusters/" in (setting.props.at("resourceUri").text() or "").lower()


RULE = Rule(
    id="HA-07",
    slug="control-plane-is-logged",
    title="AKS must keep its audit log and container logs",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="CIS AKS benchmark, 2.1.1 (audit logs); checkov, CKV_AZURE_4",
    applies_to=WholeStack(),
    why="Azure keeps no logs by default, so an incident cannot be traced afterwards. A network isolated cluster "
    "(outboundType none or block) needs the audit log only: its agent reaches the workspace by private endpoints or "
    "not at all.",
    fix="Enable addonProfiles.omsagent, and add a DiagnosticSetting for the cluster with category kube-audit-admin.",
    check=check,
)
