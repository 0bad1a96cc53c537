"""Finds file systems of EFS, and what belongs to them."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from workbench.recovery.cloud.aws.queries import AwsQueries
from workbench.recovery.cloud.lookup import LookupQuery, LookupResult

MOVING: Final = frozenset({"creating", "updating"})
GONE: Final = frozenset({"deleting", "deleted"})


def file_systems(account: AwsQueries) -> Iterator[tuple[str, LookupResult]]:
    """Yield all file systems of the account with their creation tokens."""
    for found in account.listed("efs", "describe_file_systems", "FileSystems"):
        if result := _result(found, "FileSystemId", holds_data=True):
            yield found["CreationToken"], result


def file_system(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the file system with the queried creation token, which is unique in an account and region."""
    return [result for token, result in file_systems(account) if token == query.inputs["creationToken"]]


def mount_target(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the mount target of the queried file system in the queried subnet."""
    inside = query.inputs["fileSystemId"]
    found = account.listed("efs", "describe_mount_targets", "MountTargets", FileSystemId=inside)
    results = (_result(each, "MountTargetId") for each in found if each["SubnetId"] == query.inputs["subnetId"])
    return [each for each in results if each]


def access_point(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the access point of the queried directory.

    If the provider loses AWS's response, it retries with another token, and AWS creates a second access point. Both
    are equal; the one with the lowest id is adopted.
    """
    inside, path = query.inputs["fileSystemId"], query.inputs["rootDirectory"]["path"]
    found = (result for at, result in access_points(account, FileSystemId=inside) if at == path)
    return sorted(found, key=lambda each: each.id)[:1]


def access_points(account: AwsQueries, **inside: str) -> Iterator[tuple[str, LookupResult]]:
    """Yield all access points of the account, or of one file system, with their directories."""
    for found in account.listed("efs", "describe_access_points", "AccessPoints", **inside):
        if result := _result(found, "AccessPointId"):
            yield found["RootDirectory"]["Path"], result


def backup_policy(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the queried file system's backup policy, if backups are on."""
    inside = query.inputs["fileSystemId"]
    found = account.look_up("efs", "describe_backup_policy", FileSystemId=inside).get("BackupPolicy") or {}
    return [LookupResult(inside)] if found.get("Status") in ("ENABLED", "ENABLING") else []


def file_system_policy(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the queried file system's resource policy, which restricts its clients."""
    inside = query.inputs["fileSystemId"]
    found = account.look_up("efs", "describe_file_system_policy", FileSystemId=inside)
    return [LookupResult(inside)] if found.get("Policy") else []


def _result(found: Mapping[str, Any], key: str, *, holds_data: bool = False) -> LookupResult | None:
    state = found["LifeCycleState"]
    if state in GONE:
        return None
    tags = {tag["Key"]: tag["Value"] for tag in found["Tags"]} if "Tags" in found else None
    return LookupResult(found[key], state, state in MOVING, tags, holds_data=holds_data)
