"""HE-05: control plane and nodes run a supported Kubernetes version."""

import re
from collections.abc import Iterator
from typing import Final

from components.contract.environments import Environment
from components.contract.kubernetes_minors import calendar, offered
from policies.resource import Resource, Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.values import NotJudgeableError, Value
from policies.views.clusters import eks_clusters
from policies.views.node_groups.eks import NODE_GROUP

NOTICE_DAYS: Final = 60
"""Days of warning before support ends: enough to upgrade development, then production."""


def check(stack: Stack, context: Context) -> Iterator[Finding]:
    """Require an explicit version in standard support, and node groups that are not newer than their cluster."""
    clusters = list(eks_clusters(stack))
    for cluster in clusters:
        yield from _supported(cluster, context)
    for group in stack:
        # Most groups use the cluster's output, which is unknown until the cluster exists.
        if group.type == NODE_GROUP and not {c.urn for c in clusters} & set(group.depends_on.get("version", ())):
            yield from _not_ahead(group, clusters)


def _supported(cluster: Resource, context: Context) -> Iterator[Finding]:
    version = cluster.props.at("version").text() or "no version"
    found = f"Cluster '{cluster.name}' has {version}"
    if version not in offered("eks"):
        yield Finding(f"{found}; expected one of {', '.join(offered('eks'))}.", urn=cluster.urn)
    elif end := calendar("eks")[version].ends:
        left = (end - context.today).days
        if left < 0:
            yield Finding(f"{found}, whose standard support ended on {end}; expected a newer version.", urn=cluster.urn)
        elif left < NOTICE_DAYS:
            message = f"{found}, whose standard support ends on {end}; expected a newer version by then."
            yield Finding(message, advice=True, urn=cluster.urn)


def _not_ahead(group: Resource, clusters: list[Resource]) -> Iterator[Finding]:
    own = _minor(group.props.at("version"))
    theirs = [minor for cluster in clusters if (minor := _minor(cluster.props.at("version"))) is not None]
    if own is not None and theirs and own > max(theirs):
        message = f"Node group '{group.name}' has version 1.{own}; expected the cluster's 1.{max(theirs)} or older."
        yield Finding(message, urn=group.urn)


def _minor(version: Value) -> int | None:
    text = version.text()
    match = re.fullmatch(r"1\.(\d+)", text or "")
    if text and not match:
        raise NotJudgeableError(version.path, "is not a Kubernetes version such as 1.35")
    return int(match[1]) if match else None


RULE = Rule(
    id="HE-05",
    slug="version-is-supported",
    title="EKS must run an explicit version in standard support",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="EKS user guide, Kubernetes versions (calendar of support); checkov, CKV_AWS_339",
    applies_to=WholeStack(),
    why="After standard support ends, AWS charges more or upgrades the cluster on a day of its choosing.",
    fix="Upgrade one minor version at a time: first the cluster, then its node groups.",
    check=check,
)
