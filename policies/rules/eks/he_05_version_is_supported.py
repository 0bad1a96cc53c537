"""HE-05: control plane and nodes run a version that somebody still mends."""

import re
from collections.abc import Iterator
from typing import Final

from components.contract.eks.config import STANDARD_SUPPORT_ENDS
from components.contract.environments import Environment
from policies.resource import Resource, Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.values import NotJudgeableError, Value
from policies.views.clusters import eks_clusters
from policies.views.node_groups.eks import NODE_GROUP

NOTICE_DAYS: Final = 60
"""How long before the end of support it is mentioned: time for an upgrade of development, then of production."""


def check(stack: Stack, context: Context) -> Iterator[Finding]:
    """Demand a stated version in standard support today, and groups that do not run ahead of their cluster."""
    clusters = list(eks_clusters(stack))
    for cluster in clusters:
        yield from _supported(cluster, context)
    for group in stack:
        # Most groups take the cluster's own answer, which is not known yet where the cluster is not.
        if group.type == NODE_GROUP and not {c.urn for c in clusters} & set(group.depends_on.get("version", ())):
            yield from _not_ahead(group, clusters)


def _supported(cluster: Resource, context: Context) -> Iterator[Finding]:
    version = cluster.props.at("version").text() or "no version"
    found = f"Cluster '{cluster.name}' has {version}"
    if version not in STANDARD_SUPPORT_ENDS:
        yield Finding(f"{found}, wanted one of {', '.join(STANDARD_SUPPORT_ENDS)}.", urn=cluster.urn)
    elif end := STANDARD_SUPPORT_ENDS[version]:
        left = (end - context.today).days
        if left < 0:
            yield Finding(f"{found}, whose support ended on {end}, wanted a newer one.", urn=cluster.urn)
        elif left < NOTICE_DAYS:
            message = f"{found}, whose support ends on {end}, wanted a newer one by then."
            yield Finding(message, advice=True, urn=cluster.urn)


def _not_ahead(group: Resource, clusters: list[Resource]) -> Iterator[Finding]:
    own = _minor(group.props.at("version"))
    theirs = [minor for cluster in clusters if (minor := _minor(cluster.props.at("version"))) is not None]
    if own is not None and theirs and own > max(theirs):
        message = f"Node group '{group.name}' has version 1.{own}, wanted the cluster's 1.{max(theirs)} or older."
        yield Finding(message, urn=group.urn)


def _minor(version: Value) -> int | None:
    text = version.text()
    match = re.fullmatch(r"1\.(\d+)", text or "")
    if text and not match:
        raise NotJudgeableError(version.path, "is no version such as 1.35")
    return int(match[1]) if match else None


RULE = Rule(
    id="HE-05",
    slug="version-is-supported",
    title="EKS runs a stated version in standard support",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="EKS user guide, Kubernetes versions (calendar of support); checkov, CKV_AWS_339",
    applies_to=WholeStack(),
    why="Past its support a version costs more or is upgraded by AWS, on a day that AWS chooses.",
    fix="Raise version by one minor at a time, the cluster first, its node groups after.",
    check=check,
)
