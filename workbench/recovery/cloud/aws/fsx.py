"""Finds Lustre file systems of FSx."""

from collections.abc import Iterator
from typing import Final

from workbench.recovery.cloud.aws.queries import AwsQueries
from workbench.recovery.cloud.lookup import LookupQuery, LookupResult

MOVING: Final = frozenset({"CREATING", "UPDATING"})
GONE: Final = "DELETING"


def file_systems(account: AwsQueries) -> Iterator[tuple[str, LookupResult]]:
    """Yield all file systems of the account with their names, which are tags."""
    for found in account.listed("fsx", "describe_file_systems", "FileSystems"):
        tags = {tag["Key"]: tag["Value"] for tag in found.get("Tags", ())}
        if (state := found["Lifecycle"]) != GONE:
            result = LookupResult(found["FileSystemId"], state, state in MOVING, tags, holds_data=True)
            yield tags.get("Name", ""), result


def file_system(account: AwsQueries, query: LookupQuery) -> list[LookupResult]:
    """Return the stack's file systems of the queried name; FSx sets their tags at creation."""
    name = query.inputs["tags"].get("Name")
    found = (result for at, result in file_systems(account) if at == name)
    return [each for each in found if account.is_ours(each.tags or {})]
