"""HI-02: stacks create no permanent keys for a cloud."""

from collections.abc import Iterator
from typing import Final

from policies.resource import Resource
from policies.rule import MANDATORY_EVERYWHERE, Context, Finding, Rule, Severity, resources_of

_KEYS: Final = (
    "aws:iam/accessKey:AccessKey",
    "aws:iam/serviceSpecificCredential:ServiceSpecificCredential",
    "aws:iam/user:User",
    r"azuread:index/\w+Password:(ApplicationPassword|ServicePrincipalPassword)",
)
"""Keys that do not expire, and IAM users, whose purpose is to have such keys; all of them end up in the state."""


def check(resource: Resource, _: Context) -> Iterator[Finding]:
    """Reject each of them, except a key that is switched off."""
    if resource.props.at("status").text() == "Inactive":
        return
    kind = resource.type.rpartition(":")[2]
    yield Finding(f"{kind} '{resource.name}' is for permanent keys; expected a role or an identity.")


RULE = Rule(
    id="HI-02",
    slug="nobody-has-a-permanent-key",
    title="Stacks must create no users and no permanent keys of a cloud",
    severity=Severity.HIGH,
    level=MANDATORY_EVERYWHERE,
    source="AWS security best practices in IAM, temporary credentials for workloads",
    applies_to=resources_of("each user and each key of a cloud", *_KEYS),
    why="A permanent key works from anywhere until it is revoked, and Pulumi's state contains it.",
    fix="Remove it; use `identity` of a namespace for pods, and a role for pipelines.",
    check=check,
)
