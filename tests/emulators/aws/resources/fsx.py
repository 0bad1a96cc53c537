"""FSx: Lustre file systems. Source: internal/service/fsx/lustre_file_system.go."""

from typing import Any, Final

from emulators.aws.resources.kinds import Change, DescribeCall, Given, Kind, Minutes, Params, Removal, State, Tagging
from emulators.aws.resources.requests import members_of
from workbench.offline.aws.operations import Request

_TYPE: Final = "aws:fsx/lustreFileSystem:LustreFileSystem"

_FILES: Final = {"FileSystemId": "{id}"}

_CHANGED: Final = (
    "automaticBackupRetentionDays",
    "dailyAutomaticBackupStartTime",
    "dataCompressionType",
    "perUnitStorageThroughput",
    "rootSquashConfiguration",
    "storageCapacity",
    "weeklyMaintenanceStartTime",
)
"""Inputs that one request changes together."""

_INSIDE: Final = (*_CHANGED, "copyTagsToBackups", "deploymentType", "efaEnabled")

_UPDATE: Final = Request(
    "fsx", "UpdateFileSystem", {"storageCapacity": "StorageCapacity"}, inside="LustreConfiguration"
)
_UPGRADE: Final = Request("fsx", "UpdateFileSystem", {"fileSystemTypeVersion": "FileSystemTypeVersion"}, inside=None)

_NEWEST: Final = "AdministrativeActions[?AdministrativeActionType=='FILE_SYSTEM_UPDATE'] | [0].[Status]"
_UNDONE: Final = "[?@ != 'COMPLETED' && @ != 'UPDATED_OPTIMIZING'] | [0]"
_REASONS: Final = "[FailureDetails.Message, AdministrativeActions[0].FailureDetails.Message][?@ != null]"


def _only_changed(given: Given) -> Params:
    """Return the request with what differs alone: FSx takes no size that a file system has."""
    changed = {name: given.new[name] for name in _CHANGED if name in given.new and _differs(given, name)}
    return {"StorageCapacity": None, "LustreConfiguration": {}, **members_of(_TYPE, _UPDATE, changed)}


def _differs(given: Given, name: str) -> bool:
    return bool(given.old.get(name) != given.new[name])


def _deletion(keys: Params) -> dict[str, Any]:
    """Return the request that deletes a file system; one of a scratch type takes no word of a final backup."""
    request = {"FileSystemId": keys["id"]}
    if not str(keys.get("deploymentType", "")).startswith("PERSISTENT"):
        return request
    tags = [{"Key": key, "Value": value} for key, value in (keys.get("finalBackupTags") or {}).items()]
    final = {"SkipFinalBackup": keys.get("skipFinalBackup", True), **({"FinalBackupTags": tags} if tags else {})}
    return {**request, "LustreConfiguration": final}


FILE_SYSTEM: Final = Kind(
    noun="FSx for Lustre File System",
    made="FileSystem.FileSystemId",
    keys=_FILES,
    look=DescribeCall("fsx", "DescribeFileSystems", {"FileSystemIds": ["{id}"]}, "FileSystems[0]"),
    gone=frozenset({"FileSystemNotFound"}),
    told={
        "subnetIds": "SubnetIds[0]",
        **{name: f"LustreConfiguration.{name[0].upper()}{name[1:]}" for name in _INSIDE if name != "storageCapacity"},
    },
    carried=frozenset({"finalBackupTags", "skipFinalBackup"}),
    outputs={
        "arn": "ResourceARN",
        "dnsName": "DNSName",
        "mountName": "LustreConfiguration.MountName",
        "networkInterfaceIds": "NetworkInterfaceIds",
        "ownerId": "OwnerId",
        "vpcId": "VpcId",
    },
    state=State("Lifecycle", "AVAILABLE", frozenset({"CREATING"}), reasons=_REASONS),
    minutes=Minutes(create=30, update=30, delete=30),
    create=lambda _: {"FileSystemType": "LUSTRE"},
    changes=(
        Change(inputs=("fileSystemTypeVersion",), request=_UPGRADE),
        Change(inputs=_CHANGED, request=_UPDATE, build=_only_changed),
    ),
    # What grew can be used while its data are spread over its new servers, and so is ready.
    changed=State(
        f"({_NEWEST} | {_UNDONE}) || Lifecycle",
        "AVAILABLE",
        frozenset({"UPDATING", "PENDING", "IN_PROGRESS"}),
        reasons=_REASONS,
    ),
    tagging=Tagging("fsx", "TagResource", "UntagResource", {"ResourceARN": "{arn}"}, "Tags", "TagKeys"),
    removal=Removal((("fsx", "DeleteFileSystem", _deletion),)),
)

KINDS: Final = {_TYPE: FILE_SYSTEM}
"""By type token."""
