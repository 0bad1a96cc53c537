"""HI-03: roles in the cloud name what they allow, and on what."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from components.contract.environments import Environment
from policies.resource import Resource
from policies.rule import Context, Finding, Level, Rule, Severity, resources_of
from policies.values import Value
from policies.views.iam_policies import principals, statements, texts
from policies.views.type_tokens import azure_native

_ROLE: Final = "aws:iam/role:Role"
_INLINE: Final = "aws:iam/rolePolicy:RolePolicy"
_ATTACHED: Final = "aws:iam/rolePolicyAttachment:RolePolicyAttachment"
_POLICY: Final = "aws:iam/policy:Policy"
_ASSIGNMENT: Final = azure_native("authorization", "RoleAssignment")

_DATA: Final = ("dynamodb", "ecr", "kms", "route53", "s3", "secretsmanager", "ssm", "sts")
"""Services whose resources are data, keys, images, DNS zones or other roles, so that every statement must name
them."""

_WITHOUT_RESOURCE: Final = (
    "ecr:GetAuthorizationToken",
    "route53:GetChange",
    "route53:ListHostedZones",
    "route53:ListHostedZonesByName",
    "route53:ListResourceRecordSets",
    "route53:ListTagsForResource",
    "route53:ListTagsForResources",
    "s3:ListAllMyBuckets",
)
"""Actions of these services that IAM cannot restrict to a resource, or that only read names that DNS publishes."""

_BROAD_POLICIES: Final = ("AdministratorAccess", "IAMFullAccess", "PowerUserAccess")
_FULL: Final = "FullAccess"
"""Managed policies of AWS that allow everything, or everything of one service."""

_POD_TAGS: Final = ("eks-cluster-arn", "kubernetes-namespace", "kubernetes-service-account")
"""Request tags of EKS Pod Identity: https://docs.aws.amazon.com/eks/latest/userguide/pod-id-abac.html."""

_PODS: Final = "pods.eks.amazonaws.com"

_BROAD_ROLES: Final = {
    "8e3af657-a8ff-443c-a75c-2fe8c4bcb635": "Owner",
    "b24988ac-6180-42a0-ab88-20f7382dd24c": "Contributor",
    "18d7d88d-d35e-4fb5-a5c3-7773c20a72d9": "User Access Administrator",
    "f58310d9-a9f6-439a-9e8d-f62e7b41a168": "Role Based Access Control Administrator",
}
"""https://learn.microsoft.com/azure/role-based-access-control/built-in-roles."""

_OF_SNAPSHOTS: Final = re.compile(r"/subscriptions/[^/]+/resourceGroups/[^/]+-snapshots")
"""A resource group of snapshots alone, on which Azure Backup requires the role Contributor for the cluster.

https://learn.microsoft.com/azure/backup/azure-kubernetes-service-cluster-backup-concept#required-roles-and-permissions
"""

_BLOB_ROLES: Final = {
    "2a2b9908-6ea1-4ae2-8e65-a410df84e7d1": "Storage Blob Data Reader",
    "ba92f5b4-2d11-453d-a403-e96b0029c9fe": "Storage Blob Data Contributor",
    "b7e6dc6d-f1e8-4753-8033-0f276bb0955b": "Storage Blob Data Owner",
}

_SUBSCRIPTION_PARTS: Final = 2
"""Parts of a subscription's id; a resource group's has four."""


def check(resource: Resource, _: Context) -> Iterator[Finding]:
    """Reject wildcards in actions, data without a name, roles that any pod or account may assume, and broad roles."""
    subject = f"{resource.type.rpartition(':')[2]} '{resource.name}'"
    yield from _CHECKS.get(resource.type, _assignment)(resource.props, subject)


def _role(props: Value, subject: str) -> Iterator[Finding]:
    for statement in statements(props.at("assumeRolePolicy")):
        condition = statement.get("Condition") or {}
        if statement.get("Effect") == "Allow" and not condition and "*" in principals(statement, "AWS"):
            yield Finding(f"{subject} trusts every account of AWS; expected its principals by name, or a condition.")
        if _PODS in principals(statement, "Service"):
            tags = condition.get("StringEquals", {})
            for tag in _POD_TAGS:
                if not tags.get(f"aws:RequestTag/{tag}"):
                    yield Finding(f"{subject} trusts pods without the condition aws:RequestTag/{tag}; expected it.")
    for policy in props.at("inlinePolicies").elements():
        yield from _policy(policy, subject)
    for arn in props.at("managedPolicyArns").elements():
        yield from _managed(arn.text(), subject)


def _policy(props: Value, subject: str) -> Iterator[Finding]:
    for statement in statements(props.at("policy")):
        if statement.get("Effect") != "Allow":
            continue
        for word in ("NotAction", "NotResource"):
            if word in statement:
                yield Finding(f"{subject} allows all but {word}; expected what it needs by name.")
        actions = texts(statement.get("Action"))
        for action in actions:
            if "*" in action:
                yield Finding(f"{subject} allows '{action}'; expected the actions by name.")
        about_data = [each for each in actions if each.partition(":")[0] in _DATA and each not in _WITHOUT_RESOURCE]
        for target in texts(statement.get("Resource")) if about_data else ():
            if _is_everything(target):
                yield Finding(f"{subject} allows {about_data[0]} on '{target}'; expected resources by name.")


def _is_everything(target: str) -> bool:
    """Return whether a statement's resource is all data of a service: ``*``, any bucket, any key, any repository."""
    service, _colon, resource = ":".join(target.split(":", 5)[2::3]).partition(":")
    kind, _slash, name = resource.replace(":", "/").partition("/")
    return target == "*" or (kind if service == "s3" else name).startswith("*") or kind == "*"


def _attached(props: Value, subject: str) -> Iterator[Finding]:
    yield from _managed(props.at("policyArn").text(), subject)


def _managed(arn: str | None, subject: str) -> Iterator[Finding]:
    name = (arn or "").rpartition("/")[2]
    if (arn or "").startswith("arn:aws:iam::aws:") and (name in _BROAD_POLICIES or name.endswith(_FULL)):
        yield Finding(f"{subject} has the policy {name}; expected a policy with only the necessary rights.")


def _assignment(props: Value, subject: str) -> Iterator[Finding]:
    role = (props.at("roleDefinitionId").text() or "").rpartition("/")[2]
    scope = props.at("scope").text() or ""
    broad = _BROAD_ROLES.get(role)
    if broad and not (broad == "Contributor" and _OF_SNAPSHOTS.fullmatch(scope)):
        yield Finding(f"{subject} gives the role {broad}; expected a role with only the necessary rights.")
    if (data := _BLOB_ROLES.get(role)) and "/containers/" not in scope and not props.at("condition").text():
        yield Finding(f"{subject} gives the role {data} on '{scope}'; expected a container, or a condition.")
    if len(scope.strip("/").split("/")) <= _SUBSCRIPTION_PARTS or "managementGroups" in scope:
        yield Finding(f"{subject} has the scope '{scope}'; expected a resource or a resource group.")


_CHECKS: Final[Mapping[str, Callable[[Value, str], Iterator[Finding]]]] = {
    _ROLE: _role,
    _INLINE: _policy,
    _POLICY: _policy,
    _ATTACHED: _attached,
}

RULE = Rule(
    id="HI-03",
    slug="identities-are-narrow",
    title="Roles in the cloud must name their actions and the data that they open",
    severity=Severity.HIGH,
    level={Environment.DEV: Level.ADVISORY, Environment.PROD: Level.MANDATORY},
    source="AWS security best practices in IAM, least privilege; Azure RBAC best practices",
    applies_to=resources_of("each role, policy and role assignment of a cloud", *_CHECKS, _ASSIGNMENT),
    why="Otherwise, one compromised pod can access every bucket, key or image of the account.",
    fix="Name the actions and the resources; for pods use `identity` of their namespace.",
    check=check,
)
