"""What moto leaves out of EFS, on moto's own store: requests, states, and refusals of what is not there.

Backups are turned on and off at once; an access point can be used at once. By botocore's model (efs 2015-02-01).
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from emulators.aws.server import ACCOUNT, REGION, store
from emulators.aws.server.errors import AwsError
from emulators.aws.server.requests import Request
from emulators.core.clock import Clock
from workbench.offline.aws.models import service_model

OWN_KEY: Final = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/00000000-0000-4000-8000-0000000000ef"
"""AWS's own key, which encrypts a file system that names none."""


def refuse(params: dict[str, Any]) -> None:
    """Refuse a request that names a file system or an access point that does not exist."""
    efs = store.efs()
    if (named := params.get("FileSystemId")) and named not in efs.file_systems_by_id:
        raise AwsError("FileSystemNotFound", 404, f"File system '{named}' does not exist.")
    if (named := params.get("AccessPointId")) and named not in efs.access_points:
        raise AwsError("AccessPointNotFound", 404, f"Access point '{named}' does not exist.")


def refuse_until_available(params: dict[str, Any]) -> None:
    """Refuse what a file system can only take once it is made."""
    refuse(params)
    named = params["FileSystemId"]
    if (state := store.efs().file_systems_by_id[named].life_cycle_state) != "available":
        told = f"File system '{named}' is in the state {state}."
        raise AwsError("IncorrectFileSystemLifeCycleState", 409, told)


def made(request: Request, answer: dict[str, Any], clock: Clock) -> None:
    """Let a new file system take its time."""
    files = store.efs().file_systems_by_id[answer["FileSystemId"]]
    if files.encrypted and not files.kms_key_id:
        files.kms_key_id = OWN_KEY
    _takes_time(request, files, clock)
    answer.update(LifeCycleState=files.life_cycle_state, KmsKeyId=files.kms_key_id)


def mounted(request: Request, answer: dict[str, Any], clock: Clock) -> None:
    """Let a new mount target take its time."""
    target = store.efs().mount_targets_by_id[answer["MountTargetId"]]
    _takes_time(request, target, clock)
    answer.update(LifeCycleState=target.life_cycle_state)


def _takes_time(request: Request, thing: Any, clock: Clock) -> None:
    thing.life_cycle_state = "creating"
    clock.later(request.operation, lambda: setattr(thing, "life_cycle_state", "available"))


def _put_backups(params: dict[str, Any]) -> dict[str, Any]:
    files = store.efs().file_systems_by_id[params["FileSystemId"]]
    files._backup = params["BackupPolicy"]["Status"] == "ENABLED"
    return _backups(params)


def _backups(params: dict[str, Any]) -> dict[str, Any]:
    policy = store.efs().file_systems_by_id[params["FileSystemId"]].backup_policy
    return {"BackupPolicy": policy or {"Status": "DISABLED"}}


def _update(params: dict[str, Any]) -> dict[str, Any]:
    files = store.efs().file_systems_by_id[params["FileSystemId"]]
    files.throughput_mode = params.get("ThroughputMode", files.throughput_mode)
    files.provisioned_throughput_in_mibps = params.get("ProvisionedThroughputInMibps")
    members = service_model("efs").shape_for("FileSystemDescription").members
    return {name: each for name, each in files.info_json().items() if name in members and each is not None}


def _delete_policy(params: dict[str, Any]) -> dict[str, Any]:
    store.efs().file_systems_by_id[params["FileSystemId"]].file_system_policy = None
    return {}


OPERATIONS: Final[Mapping[str, Callable[[dict[str, Any]], dict[str, Any]]]] = {
    "efs:DeleteFileSystemPolicy": _delete_policy,
    "efs:DescribeBackupPolicy": _backups,
    "efs:PutBackupPolicy": _put_backups,
    "efs:UpdateFileSystem": _update,
}
"""Requests that moto does not know, or answers otherwise than AWS."""
