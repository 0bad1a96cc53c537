"""EFS: file systems, their mount targets, access points and policies. Sources: internal/service/efs/*.go."""

from typing import Final

from emulators.aws.resources.kinds import Change, DescribeCall, Kind, Minutes, Removal, State, Tagging
from workbench.offline.aws.operations import Request

_FILES: Final = {"FileSystemId": "{id}"}
_OF: Final = {"FileSystemId": "{fileSystemId}"}
_NO_FILES: Final = frozenset({"FileSystemNotFound"})
_STATE: Final = State("LifeCycleState", "available", frozenset({"creating", "updating"}), frozenset({"deleted"}))
_TAGGING: Final = Tagging("efs", "TagResource", "UntagResource", {"ResourceId": "{id}"}, "Tags", "TagKeys")

FILE_SYSTEM: Final = Kind(
    noun="EFS File System",
    made="FileSystemId",
    keys=_FILES,
    look=DescribeCall("efs", "DescribeFileSystems", _FILES, "FileSystems[0]"),
    gone=_NO_FILES,
    # Of no use here: a lifecycle and the protection from replication are refused as inputs.
    untold=frozenset({"lifecyclePolicies", "protection"}),
    outputs={
        "arn": "FileSystemArn",
        "name": "Name",
        "ownerId": "OwnerId",
        "numberOfMountTargets": "NumberOfMountTargets",
    },
    state=_STATE,
    changes=(
        Change(inputs=("throughputMode", "provisionedThroughputInMibps"), request=Request("efs", "UpdateFileSystem")),
    ),
    tagging=_TAGGING,
    removal=Removal((("efs", "DeleteFileSystem", _FILES),)),
)

_TARGET: Final = {"MountTargetId": "{id}"}

MOUNT_TARGET: Final = Kind(
    noun="EFS Mount Target",
    made="MountTargetId",
    keys=_TARGET,
    look=DescribeCall("efs", "DescribeMountTargets", _TARGET, "MountTargets[0]"),
    more={"groups": DescribeCall("efs", "DescribeMountTargetSecurityGroups", _TARGET, "SecurityGroups")},
    gone=frozenset({"MountTargetNotFound"}),
    told={"securityGroups": "groups"},
    outputs={"networkInterfaceId": "NetworkInterfaceId", "ownerId": "OwnerId"},
    state=_STATE,
    minutes=Minutes(create=30, delete=10),
    changes=(Change(inputs=("securityGroups",), request=Request("efs", "ModifyMountTargetSecurityGroups")),),
    removal=Removal((("efs", "DeleteMountTarget", _TARGET),)),
)

_POINT: Final = {"AccessPointId": "{id}"}

ACCESS_POINT: Final = Kind(
    noun="EFS Access Point",
    made="AccessPointId",
    keys=_POINT,
    look=DescribeCall("efs", "DescribeAccessPoints", _POINT, "AccessPoints[0]"),
    gone=frozenset({"AccessPointNotFound"}),
    outputs={"arn": "AccessPointArn", "ownerId": "OwnerId"},
    state=_STATE,
    tagging=_TAGGING,
    removal=Removal((("efs", "DeleteAccessPoint", _POINT),)),
)

BACKUP_POLICY: Final = Kind(
    noun="EFS Backup Policy",
    id="{fileSystemId}",
    keys=_OF,
    look=DescribeCall("efs", "DescribeBackupPolicy", _OF, "@"),
    gone=_NO_FILES,
    changes=(Change(inputs=("backupPolicy",), request=Request("efs", "PutBackupPolicy")),),
    removal=Removal((("efs", "PutBackupPolicy", {**_OF, "BackupPolicy": {"Status": "DISABLED"}}),)),
)

FILE_SYSTEM_POLICY: Final = Kind(
    noun="EFS File System Policy",
    id="{fileSystemId}",
    keys=_OF,
    look=DescribeCall("efs", "DescribeFileSystemPolicy", _OF, "@"),
    gone=frozenset({*_NO_FILES, "PolicyNotFound"}),
    carried=frozenset({"bypassPolicyLockoutSafetyCheck"}),
    changes=(Change(inputs=("policy",), request=Request("efs", "PutFileSystemPolicy")),),
    removal=Removal((("efs", "DeleteFileSystemPolicy", _OF),)),
)

KINDS: Final = {
    "aws:efs/accessPoint:AccessPoint": ACCESS_POINT,
    "aws:efs/backupPolicy:BackupPolicy": BACKUP_POLICY,
    "aws:efs/fileSystem:FileSystem": FILE_SYSTEM,
    "aws:efs/fileSystemPolicy:FileSystemPolicy": FILE_SYSTEM_POLICY,
    "aws:efs/mountTarget:MountTarget": MOUNT_TARGET,
}
"""By type token."""
