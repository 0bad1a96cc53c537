"""HB-01: a production cluster is backed up every day."""

from collections.abc import Iterator
from typing import Final

from components.contract.environments import Environment
from policies.resource import Stack
from policies.rule import Context, Finding, Level, Rule, Severity, WholeStack
from policies.views.backups import kept_days

KEPT_MIN: Final = 7
"""Minimum days to keep a backup, so that a loss over a weekend or a holiday can still be undone."""


def check(stack: Stack, _: Context) -> Iterator[Finding]:
    """Require a plan or a policy that names the cluster, backs it up every day and keeps the backups for a week."""
    for cluster, kept in kept_days(stack):
        if not kept:
            message = f"Cluster '{cluster.name}' is not backed up every day; expected a plan or a policy that names it."
            yield Finding(message, urn=cluster.urn)
        elif all(days is not None and days < KEPT_MIN for days in kept):
            most = max(days for days in kept if days is not None)
            message = f"Backups of cluster '{cluster.name}' are kept for {most} days; expected at least {KEPT_MIN}."
            yield Finding(message, urn=cluster.urn)


RULE = Rule(
    id="HB-01",
    slug="production-is-backed-up",
    title="A production cluster should be backed up every day, for at least a week",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.OFF, Environment.PROD: Level.ADVISORY},
    source="AWS Backup developer guide, Amazon EKS backups",
    applies_to=WholeStack(),
    why="A dropped table, a deleted namespace or a damaged volume would destroy MLRun's projects, runs and models.",
    fix="Add `backup: {}` to the cluster, or a waiver that says who backs it up.",
    check=check,
)
