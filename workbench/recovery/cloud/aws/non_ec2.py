"""Finds resources of IAM, KMS, CloudWatch Logs and Auto Scaling."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from components.contract.aws import control_plane_logs
from workbench.recovery.cloud.aws.queries import AwsQueries
from workbench.recovery.cloud.lookup import LookupQuery, LookupResult

ENABLED: Final = frozenset({"Enabled", "Disabled", "Creating"})
"""States of a key that is not scheduled for deletion."""


def role(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the role of the queried name."""
    names = account.listed("iam", "list_roles", "Roles[].RoleName")
    return [result for name in names if query.is_called("name", name) for result in describe_role(account, name)]


def describe_role(account: AwsQueries, name: str) -> list[LookupResult]:
    """Return one role with its tags, which role listings lack."""
    answer = account.look_up("iam", "get_role", RoleName=name).get("Role")
    if not answer:
        return []
    return [
        LookupResult(name, tags={tag["Key"]: tag["Value"] for tag in answer.get("Tags", ())}, inputs={"name": name})
    ]


def role_policy(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the queried inline policy of the queried role."""
    inside = query.inputs["role"]
    names = account.listed("iam", "list_role_policies", "PolicyNames", RoleName=inside)
    return [LookupResult(f"{inside}:{name}", inputs={"name": name}) for name in names if query.is_called("name", name)]


def role_policy_attachment(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the attachment of the queried policy to the queried role.

    The provider reads it by its inputs and ignores the id; this is its import id.
    Source: hashicorp/terraform-provider-aws, internal/service/iam/role_policy_attachment.go.
    """
    inside, policy = query.inputs["role"], query.inputs["policyArn"]
    return [LookupResult(f"{inside}/{policy}") for each in attached_policies(account, inside) if each == policy]


def attached_policies(account: AwsQueries, role_name: str) -> list[str]:
    """Return the ARNs of the managed policies of a role."""
    return account.listed("iam", "list_attached_role_policies", "AttachedPolicies[].PolicyArn", RoleName=role_name)


def keys(account: AwsQueries) -> Iterator[tuple[str, LookupResult]]:
    """Yield the stack's keys with their descriptions, except those scheduled for deletion."""
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


def key(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the stack's key of the queried description; keys have no name, and the description names the cluster.

    If the provider loses AWS's response, it retries, and AWS creates a second key. The key to adopt is the one that
    already has an alias, else the one that the cluster uses; if nothing refers to any of them, any will do.
    """
    found = [result for description, result in keys(account) if description == query.inputs["description"]]
    if len(found) < 2:  # noqa: PLR2004
        return found
    cluster = account.look_up("eks", "describe_cluster", name=account.cluster).get("cluster") or {}
    used = {each["provider"]["keyArn"].rpartition("/")[2] for each in cluster.get("encryptionConfig") or ()}

    def rank(result: LookupResult) -> tuple[bool, bool, str]:
        has_alias = bool(account.listed("kms", "list_aliases", "Aliases", KeyId=result.id))
        return not has_alias, result.id not in used, result.id

    return [min(found, key=rank)]


def alias(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the alias of the queried name, if it belongs to the queried key."""
    name, target = query.inputs["name"], query.inputs["targetKeyId"]
    aliases = account.listed("kms", "list_aliases", "Aliases", KeyId=target)
    return [LookupResult(name) for each in aliases if each["AliasName"] == name]


def log_group(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the log group of the queried name.

    EKS creates a log group without tags if a deleted cluster writes its last logs after its group was deleted
    (terraform-aws-modules/terraform-aws-eks#2446). Such a group belongs to the cluster of its name.
    """
    name = query.inputs["name"]
    found = [result for result in log_groups(account, name) if result.id == name]
    return [replace(each, tags=None) if _is_by_eks(account, each) else each for each in found]


def _is_by_eks(account: AwsQueries, group: LookupResult) -> bool:
    if group.tags or group.id != control_plane_logs(account.cluster):
        return False
    cluster = account.look_up("eks", "describe_cluster", name=account.cluster).get("cluster")
    return cluster is None or account.is_ours(cluster.get("tags") or {})


def log_groups(account: AwsQueries, prefix: str) -> Iterator[LookupResult]:
    """Yield the log groups whose names start with ``prefix``."""
    for group in account.listed("logs", "describe_log_groups", "logGroups", logGroupNamePrefix=prefix):
        arn = group["arn"].removesuffix(":*")
        tags = account.look_up("logs", "list_tags_for_resource", resourceArn=arn).get("tags") or {}
        yield LookupResult(group["logGroupName"], tags=tags)


def autoscaling_tag(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the queried tag of the queried Auto Scaling group."""
    group, key_ = query.inputs["autoscalingGroupName"], query.inputs["tag"]["key"]
    filters = [{"Name": "auto-scaling-group", "Values": [group]}, {"Name": "key", "Values": [key_]}]
    tags = account.listed("autoscaling", "describe_tags", "Tags", Filters=filters)
    return [LookupResult(f"{group},{key_}") for tag in tags if tag["ResourceId"] == group and tag["Key"] == key_]


def scheduled_action(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the queried scheduled action of the queried Auto Scaling group.

    The provider finds it by the group of its inputs; its id is the name alone.
    Source: hashicorp/terraform-provider-aws, internal/service/autoscaling/schedule.go.
    """
    group, name = query.inputs["autoscalingGroupName"], query.inputs["scheduledActionName"]
    place = "ScheduledUpdateGroupActions[].ScheduledActionName"
    names = account.listed("autoscaling", "describe_scheduled_actions", place, AutoScalingGroupName=group)
    return [LookupResult(each) for each in names if each == name]
