"""How things of IAM, KMS, CloudWatch Logs and Auto Scaling are found."""

from collections.abc import Iterator
from typing import Any, Final

from workbench.recovery.cloud.aws.queries import AwsQueries
from workbench.recovery.cloud.lookup import LookupQuery, LookupResult

ENABLED: Final = frozenset({"Enabled", "Disabled", "Creating"})
"""States of a key that is not on its way out."""


def role(account: AwsQueries, wanted: LookupQuery) -> list[LookupResult]:
    """Return the role of the wanted name."""
    names = account.listed("iam", "list_roles", "Roles[].RoleName")
    return [found for name in names if wanted.is_called("name", name) for found in describe_role(account, name)]


def describe_role(account: AwsQueries, name: str) -> list[LookupResult]:
    """Return one role; a list of roles comes without tags."""
    answer = account.look_up("iam", "get_role", RoleName=name).get("Role")
    if not answer:
        return []
    return [
        LookupResult(name, tags={tag["Key"]: tag["Value"] for tag in answer.get("Tags", ())}, inputs={"name": name})
    ]


def role_policy(account: AwsQueries, wanted: LookupQuery) -> list[LookupResult]:
    """Return the wanted policy inside the wanted role."""
    inside = wanted.inputs["role"]
    names = account.listed("iam", "list_role_policies", "PolicyNames", RoleName=inside)
    return [LookupResult(f"{inside}:{name}", inputs={"name": name}) for name in names if wanted.is_called("name", name)]


def role_policy_attachment(account: AwsQueries, wanted: LookupQuery) -> list[LookupResult]:
    """Return the bond of the wanted policy to the wanted role.

    The provider reads it by its inputs, so any id would do; this is the one by which it imports.
    Source: hashicorp/terraform-provider-aws, internal/service/iam/role_policy_attachment.go.
    """
    inside, policy = wanted.inputs["role"], wanted.inputs["policyArn"]
    given = account.listed("iam", "list_attached_role_policies", "AttachedPolicies[].PolicyArn", RoleName=inside)
    return [LookupResult(f"{inside}/{policy}") for each in given if each == policy]


def keys(account: AwsQueries) -> Iterator[tuple[str, LookupResult]]:
    """Yield the keys of the stack with their descriptions, but none that waits for its end."""
    arns = account.listed(
        "resourcegroupstaggingapi",
        "get_resources",
        "ResourceTagMappingList[].ResourceARN",
        TagFilters=[{"Key": key, "Values": [value]} for key, value in account.tags.items()],
        ResourceTypeFilters=["kms:key"],
    )
    for arn in arns:
        answer: dict[str, Any] = account.look_up("kms", "describe_key", KeyId=arn).get("KeyMetadata") or {}
        if answer.get("KeyState") in ENABLED:
            yield answer.get("Description", ""), LookupResult(answer["KeyId"], answer["KeyState"], tags=account.tags)


def key(account: AwsQueries, wanted: LookupQuery) -> list[LookupResult]:
    """Return the stack's key of the wanted description: a key has no name, and its description names the cluster."""
    return [found for description, found in keys(account) if description == wanted.inputs["description"]]


def alias(account: AwsQueries, wanted: LookupQuery) -> list[LookupResult]:
    """Return the alias of the wanted name, if it is one of the wanted key."""
    name, target = wanted.inputs["name"], wanted.inputs["targetKeyId"]
    aliases = account.listed("kms", "list_aliases", "Aliases", KeyId=target)
    return [LookupResult(name) for each in aliases if each["AliasName"] == name]


def log_group(account: AwsQueries, wanted: LookupQuery) -> list[LookupResult]:
    """Return the log group of the wanted name."""
    name = wanted.inputs["name"]
    return [found for found in log_groups(account, name) if found.id == name]


def log_groups(account: AwsQueries, prefix: str) -> Iterator[LookupResult]:
    """Yield the log groups whose names begin with ``prefix``."""
    for group in account.listed("logs", "describe_log_groups", "logGroups", logGroupNamePrefix=prefix):
        arn = group["arn"].removesuffix(":*")
        tags = account.look_up("logs", "list_tags_for_resource", resourceArn=arn).get("tags") or {}
        yield LookupResult(group["logGroupName"], tags=tags)


def autoscaling_tag(account: AwsQueries, wanted: LookupQuery) -> list[LookupResult]:
    """Return the wanted tag of the wanted Auto Scaling group."""
    group, key_ = wanted.inputs["autoscalingGroupName"], wanted.inputs["tag"]["key"]
    filters = [{"Name": "auto-scaling-group", "Values": [group]}, {"Name": "key", "Values": [key_]}]
    tags = account.listed("autoscaling", "describe_tags", "Tags", Filters=filters)
    return [LookupResult(f"{group},{key_}") for tag in tags if tag["ResourceId"] == group and tag["Key"] == key_]
