"""FSx for Lustre: file systems, what changes them, their tags and the backups that their deletion leaves.

Sources are named in ``checks.py``; states and administrative actions are those of the provider's waiters
(internal/service/fsx/lustre_file_system.go) and of doc_source/managing-storage-capacity.md. Assumed: a change of
anything else goes through the same states as growth does, a failed change leaves the file system AVAILABLE, and a file
system has a network interface for its metadata and one for each 2400 GiB.
"""

import base64
import math
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any, Final

from emulators.aws.server import ACCOUNT, REGION, store
from emulators.aws.server.fsx import checks
from emulators.aws.server.fsx.lustre import (
    OPTIMIZATION,
    OWN_KEY,
    FileSystem,
    add_interfaces,
    arn,
    backups,
    bad_request,
    file_system,
    file_systems,
    mount_name,
    new_id,
    now,
    refusal,
    remove,
    tag,
    tagged,
    tags_of,
)
from emulators.core.clock import Clock
from emulators.core.fault_outcome import AS_USUAL, FaultOutcome

PAGE_MAX: Final = 50
"""Descriptions of a page: ``FileSystems`` of the model has no more."""

WINDOW: Final = "7:03:00"
"""When FSx maintains a file system that names no time; which one AWS chooses is not known."""

BACKUP_TIME: Final = "05:00"
"""When FSx backs up a file system that names no time; likewise."""

CHANGEABLE: Final = (
    "AutomaticBackupRetentionDays",
    "DailyAutomaticBackupStartTime",
    "DataCompressionType",
    "PerUnitStorageThroughput",
    "RootSquashConfiguration",
    "WeeklyMaintenanceStartTime",
)
"""``UpdateFileSystemLustreConfiguration`` of the model, without ``checks.UNMADE``."""


class Fsx:
    """The service."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._outcome = AS_USUAL
        self._answered: dict[tuple[str, str], tuple[dict[str, Any], dict[str, Any]]] = {}
        self._handlers: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "CreateFileSystem": self._create,
            "DeleteBackup": self._delete_backup,
            "DeleteFileSystem": self._delete,
            "DescribeBackups": self._describe_backups,
            "DescribeFileSystems": self._describe,
            "ListTagsForResource": self._tags,
            "TagResource": self._tag,
            "UntagResource": self._untag,
            "UpdateFileSystem": self._update,
        }

    def handle(self, operation: str, params: dict[str, Any], outcome: FaultOutcome = AS_USUAL) -> dict[str, Any]:
        """Execute a request and return the members of the answer; parameters as of ``Service.handle``.

        A request that comes again with its token is that request: ``CreateFileSystem``, ``UpdateFileSystem`` and
        ``DeleteFileSystem`` of the model. The first returns the current file system.
        """
        if operation not in self._handlers:
            raise NotImplementedError(f"fsx:{operation}")
        self._outcome = outcome
        token = params.get("ClientRequestToken", "")
        before, answer = self._answered.get((operation, token), (params, None))
        if before != params:
            told = f"The client request token {token} was used before with other parameters."
            raise refusal("IncompatibleParameterError", told)
        if answer is None:
            answer = deepcopy(self._handlers[operation](params))
            if token:
                self._answered[operation, token] = (params, answer)
        elif operation == "CreateFileSystem":
            answer = {"FileSystem": file_system(answer["FileSystem"]["FileSystemId"]).described}
        return deepcopy(answer)

    def inventory(self) -> Mapping[str, list[str]]:
        """Return the ids of what exists by type, as Pulumi's state has them, and backups, which no state has."""
        found = {"AWS::FSx::Backup": [*backups()], "aws:fsx/lustreFileSystem:LustreFileSystem": [*file_systems()]}
        return {type_: sorted(ids) for type_, ids in found.items() if ids}

    # --- File systems -------------------------------------------------------------------------------------------------

    def _create(self, params: dict[str, Any]) -> dict[str, Any]:
        checks.refuse_unmade(params)
        checks.check_new(params)
        files = _made(params)
        file_systems()[files.id] = files
        tag(files.resource_arn, params.get("Tags", []))
        add_interfaces(files, _interfaces(files.body["StorageCapacity"]))
        answer = {"FileSystem": deepcopy(files.described)}

        def done() -> None:
            files.body["Lifecycle"] = "AVAILABLE"

        def failed(message: str) -> None:
            files.body.update(Lifecycle="FAILED", FailureDetails={"Message": message})

        self._work("CreateFileSystem", files, done, failed)
        return answer

    def _describe(self, params: dict[str, Any]) -> dict[str, Any]:
        found = [file_system(id_) for id_ in params.get("FileSystemIds", [])] or [*file_systems().values()]
        return _page(params, "FileSystems", [each.described for each in found])

    def _update(self, params: dict[str, Any]) -> dict[str, Any]:
        files = file_system(params["FileSystemId"])
        checks.refuse_unmade(params)
        checks.check_change(files, params)
        changed = {name: value for name, value in params.get("LustreConfiguration", {}).items() if name in CHANGEABLE}
        target = {name: params[name] for name in params if name in ("StorageCapacity", "FileSystemTypeVersion")}
        is_growing = "StorageCapacity" in params
        if is_growing:
            files.begin_action(OPTIMIZATION, Status="PENDING")
        values = target | ({"LustreConfiguration": changed} if changed else {})
        action = files.begin_action("FILE_SYSTEM_UPDATE", Status="IN_PROGRESS", TargetFileSystemValues=values)
        files.body["Lifecycle"] = "UPDATING"
        answer = {"FileSystem": deepcopy(files.described)}

        def done() -> None:
            files.body.update(target, Lifecycle="AVAILABLE")
            files.lustre.update(changed)
            if files.lustre.get("AutomaticBackupRetentionDays"):
                files.lustre.setdefault("DailyAutomaticBackupStartTime", BACKUP_TIME)
            if is_growing:
                add_interfaces(files, _interfaces(target["StorageCapacity"]))
                self._optimize(files, action)
            else:
                action["Status"] = "COMPLETED"

        def failed(message: str) -> None:
            files.body["Lifecycle"] = "AVAILABLE"
            action.update(Status="FAILED", FailureDetails={"Message": message})
            files.end_optimization()

        self._work("UpdateFileSystem", files, done, failed)
        return answer

    def _optimize(self, files: FileSystem, action: dict[str, Any]) -> None:
        """Spread the data over the new servers, while the file system can be used."""
        action["Status"] = "UPDATED_OPTIMIZING"
        for each in files.actions:
            if each["AdministrativeActionType"] == OPTIMIZATION:
                each.update(Status="IN_PROGRESS", ProgressPercent=0)

        def done() -> None:
            action["Status"] = "COMPLETED"
            files.end_optimization()

        self._clock.later("fsx:StorageOptimization", done)

    def _delete(self, params: dict[str, Any]) -> dict[str, Any]:
        files = file_system(params["FileSystemId"])
        given = params.get("LustreConfiguration")
        if given is not None and not files.is_persistent:
            # The provider sends none "at all, even when empty": a file system of this type has no final backup.
            raise bad_request(f"LustreConfiguration cannot be set for type {files.lustre['DeploymentType']}.")
        answer: dict[str, Any] = {"FileSystemId": files.id, "Lifecycle": "DELETING"}
        if files.lifecycle == "DELETING":
            return answer
        if given and given.get("SkipFinalBackup") is False:
            answer["LustreResponse"] = _back_up(files, given.get("FinalBackupTags", []))
        files.body["Lifecycle"] = "DELETING"

        def failed(message: str) -> None:
            files.body.update(Lifecycle="FAILED", FailureDetails={"Message": message})

        self._work("DeleteFileSystem", files, lambda: remove(files), failed)
        return answer

    def _work(self, operation: str, files: FileSystem, done: Callable[[], None], failed: Callable[[str], None]) -> None:
        """Let FSx work on a file system as long as it does, and as the request's outcome has it."""
        outcome, begun = self._outcome, files.lifecycle

        def finish() -> None:
            if files.lifecycle == begun:  # a deletion takes the place of any other work
                if outcome.issues:
                    failed("; ".join(each.message for each in outcome.issues))
                else:
                    done()

        if not outcome.is_stuck:
            self._clock.later(f"fsx:{operation}", finish)

    # --- Backups and tags ---------------------------------------------------------------------------------------------

    @staticmethod
    def _describe_backups(params: dict[str, Any]) -> dict[str, Any]:
        if params.get("Filters"):
            raise NotImplementedError("fsx:DescribeBackups with Filters")
        named = params.get("BackupIds", [])
        if missing := [id_ for id_ in named if id_ not in backups()]:
            raise refusal("BackupNotFound", f"Backups do not exist: {', '.join(missing)}.")
        found = [backups()[id_] for id_ in named] or [*backups().values()]
        return _page(params, "Backups", [_described(each) for each in found])

    @staticmethod
    def _delete_backup(params: dict[str, Any]) -> dict[str, Any]:
        id_ = params["BackupId"]
        if id_ not in backups():
            raise refusal("BackupNotFound", f"Backup '{id_}' does not exist.")
        store.fsx().tagger.delete_all_tags_for_resource(backups().pop(id_)["ResourceARN"])
        return {"BackupId": id_, "Lifecycle": "DELETED"}

    @staticmethod
    def _tags(params: dict[str, Any]) -> dict[str, Any]:
        found = tags_of(tagged(params["ResourceARN"]))
        return {"Tags": found} if found else {}

    @staticmethod
    def _tag(params: dict[str, Any]) -> dict[str, Any]:
        tag(tagged(params["ResourceARN"]), params["Tags"])
        return {}

    @staticmethod
    def _untag(params: dict[str, Any]) -> dict[str, Any]:
        store.fsx().untag_resource(tagged(params["ResourceARN"]), params["TagKeys"])
        return {}


def _made(params: Mapping[str, Any]) -> FileSystem:
    """Return a new file system as a request wants it, with all defaults."""
    id_, lustre = new_id("fs"), params.get("LustreConfiguration", {})
    deployment = lustre.get("DeploymentType", checks.DEPLOYMENT)
    subnet = store.ec2().get_subnet(params["SubnetIds"][0])
    is_persistent = deployment.startswith("PERSISTENT")
    backed_up: dict[str, Any] = {"AutomaticBackupRetentionDays": 0, "CopyTagsToBackups": False} if is_persistent else {}
    if lustre.get("AutomaticBackupRetentionDays"):
        backed_up["DailyAutomaticBackupStartTime"] = BACKUP_TIME
    body = {
        "OwnerId": ACCOUNT,
        "CreationTime": now(),
        "FileSystemId": id_,
        "FileSystemType": "LUSTRE",
        "FileSystemTypeVersion": params.get("FileSystemTypeVersion", checks.default_version(deployment)),
        "Lifecycle": "CREATING",
        "StorageCapacity": params["StorageCapacity"],
        "StorageType": "SSD",
        "VpcId": subnet.vpc_id,
        "SubnetIds": [subnet.id],
        "NetworkInterfaceIds": [],
        "DNSName": f"{id_}.fsx.{REGION}.amazonaws.com",
        "ResourceARN": arn("file-system", id_),
        "LustreConfiguration": {
            "DeploymentType": deployment,
            "MountName": mount_name(deployment),
            "DataCompressionType": "NONE",
            "WeeklyMaintenanceStartTime": WINDOW,
            **backed_up,
            **{name: value for name, value in lustre.items() if name not in checks.UNMADE},
        },
    }
    if is_persistent:
        body["KmsKeyId"] = params.get("KmsKeyId", OWN_KEY)
    groups = checks.security_groups(subnet.id, params.get("SecurityGroupIds", []))
    return FileSystem(body, groups)


def _interfaces(capacity: int) -> int:
    """Return how many network interfaces a file system of so many GiB has."""
    return 1 + math.ceil(capacity / 2400)


def _back_up(files: FileSystem, tags: list[dict[str, str]]) -> dict[str, Any]:
    """Make the final backup of a file system and return what the answer to its deletion says of it."""
    id_ = new_id("backup")
    copied = tags_of(files.resource_arn) if files.lustre["CopyTagsToBackups"] else []
    backups()[id_] = {
        "BackupId": id_,
        "Lifecycle": "AVAILABLE",
        "Type": "USER_INITIATED",
        "CreationTime": now(),
        "KmsKeyId": files.body["KmsKeyId"],
        "ResourceARN": arn("backup", id_),
        "OwnerId": ACCOUNT,
        "ResourceType": "FILE_SYSTEM",
        "FileSystem": deepcopy(files.body),
    }
    tag(backups()[id_]["ResourceARN"], tags or copied)
    return {"FinalBackupId": id_, **({"FinalBackupTags": tags} if tags else {})}


def _described(backup: dict[str, Any]) -> dict[str, Any]:
    tags = tags_of(backup["ResourceARN"])
    return {**backup, **({"Tags": tags} if tags else {})}


def _page(params: Mapping[str, Any], member: str, found: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the page that a request asks for, with the token of the next one if there is one."""
    given = params.get("NextToken")
    start = int(base64.b64decode(given)) if given else 0
    end = start + min(params.get("MaxResults", PAGE_MAX), PAGE_MAX)
    answer: dict[str, Any] = {member: found[start:end]}
    if end < len(found):
        answer["NextToken"] = base64.b64encode(str(end).encode()).decode()
    return answer
