"""HE-04: EKS keeps all control plane logs."""

from collections.abc import Iterator
from functools import partial

from components.contract.eks.config import LOG_TYPES
from components.contract.environments import Environment
from policies.resource import Resource
from policies.rule import Context, Finding, Level, Rule, Severity
from policies.values import Value, some
from policies.views.clusters import EKS_CLUSTERS


def check(cluster: Resource, _: Context) -> Iterator[Finding]:
    """Require every log type of EKS."""
    enabled = cluster.props.at("enabledClusterLogTypes").elements()
    missing = [kind for kind in LOG_TYPES if not some(enabled, partial(_is, kind))]
    if missing:
        yield Finding(f"Cluster '{cluster.name}' does not log {', '.join(missing)}; expected {', '.join(LOG_TYPES)}.")


def _is(kind: str, enabled: Value) -> bool:
    return enabled.text() == kind


RULE = Rule(
    id="HE-04",
    slug="control-plane-is-logged",
    title="EKS must keep all control plane logs",
    severity=Severity.MEDIUM,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="CIS EKS benchmark, 2.1.1 (audit logs); checkov, CKV_AWS_37",
    applies_to=EKS_CLUSTERS,
    why="EKS keeps no logs by default, so an incident cannot be traced afterwards.",
    fix=f"Set enabledClusterLogTypes to [{', '.join(LOG_TYPES)}].",
    check=check,
)
