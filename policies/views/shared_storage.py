"""Shared storage as rules see it: EFS file systems with their policies and backups."""

import json
from collections.abc import Iterator
from typing import Any, Final

from components.contract.aws import OwnTag
from components.contract.shared_storage import Purpose
from policies.resource import Resource, Stack

FILE_SYSTEM: Final = "aws:efs/fileSystem:FileSystem"
CLIENT_POLICY: Final = "aws:efs/fileSystemPolicy:FileSystemPolicy"
BACKUP_POLICY: Final = "aws:efs/backupPolicy:BackupPolicy"

TLS: Final = "aws:SecureTransport"
ACCESS_POINT: Final = "elasticfilesystem:AccessPointArn"
"""Condition keys: https://docs.aws.amazon.com/efs/latest/ug/iam-access-control-nfs-efs.html."""


def file_systems(stack: Stack) -> Iterator[Resource]:
    """Return the file systems of a stack."""
    return (resource for resource in stack if resource.type == FILE_SYSTEM)


def parts(stack: Stack, files: Resource, type_: str) -> Iterator[Resource]:
    """Return the resources of a type that belong to a file system."""
    for resource in stack:
        if resource.type == type_ and files.urn in resource.depends_on.get("fileSystemId", ()):
            yield resource


def is_kept(files: Resource) -> bool:
    """Return whether a file system is for other than scratch data; one that does not say what it is for is kept."""
    places = (files.props.at(tags, OwnTag.PURPOSE.value).text() for tags in ("tags", "tagsAll"))
    return next(filter(None, places), None) != Purpose.SCRATCH


def open_statements(policy: Resource) -> int:
    """Return how many statements of a policy let clients in without TLS or past the access points."""
    document = json.loads(policy.props.at("policy").text() or "{}")
    statements = document.get("Statement", [])
    listed = statements if isinstance(statements, list) else [statements]
    return sum(each.get("Effect") == "Allow" and not _is_closed(each.get("Condition") or {}) for each in listed)


def _is_closed(condition: dict[str, Any]) -> bool:
    said = {key: value for operator in condition.values() for key, value in operator.items()}
    return str(said.get(TLS)).lower() == "true" and ACCESS_POINT in said
