"""What FSx keeps of Lustre file systems and their backups, in the words of its own API (fsx 2018-03-01).

File systems are in moto's store and their tags with its tagger, where the Resource Groups Tagging API finds them.
"""

import secrets
import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Final
from uuid import uuid4

from emulators.aws.server import ACCOUNT, REGION, store
from emulators.aws.server.errors import AwsError

OWN_KEY: Final = f"arn:aws:kms:{REGION}:{ACCOUNT}:key/00000000-0000-4000-8000-0000000000f5"
"""AWS's own key, which encrypts a persistent file system that names none."""

MOUNT_NAME_LENGTH: Final = 8

ACTIONS_MAX: Final = 10
"""Administrative actions of a type that a description contains: the newest ones.

awsdocs/amazon-fsx-lustre-user-guide (2022), doc_source/managing-storage-capacity.md.
"""

OPTIMIZATION: Final = "STORAGE_OPTIMIZATION"
"""Action that spreads the data of a file system that has grown."""


def refusal(code: str, message: str) -> AwsError:
    """Return a refusal; the model gives none of its errors another status."""
    return AwsError(code, 400, message)


def bad_request(message: str) -> AwsError:
    """Return the refusal that FSx has for most of what is wrong."""
    return refusal("BadRequest", message)


def new_id(prefix: str) -> str:
    """Return an id of FSx, such as ``fs-0123456789abcdef0``."""
    return f"{prefix}-{uuid4().hex[:17]}"


def arn(kind: str, id_: str) -> str:
    """Return an ARN: https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonfsx.html."""
    return f"arn:aws:fsx:{REGION}:{ACCOUNT}:{kind}/{id_}"


def now() -> datetime:
    """Return the time that an answer gives for what happens now."""
    return datetime.now(UTC).replace(microsecond=0)


def mount_name(deployment: str) -> str:
    """Return the name to mount a new file system by: ``LustreFileSystemConfiguration.MountName`` of the model."""
    if deployment == "SCRATCH_1":
        return "fsx"
    return "".join(secrets.choice(string.ascii_lowercase + string.digits) for _ in range(MOUNT_NAME_LENGTH))


@dataclass
class FileSystem:
    """One file system.

    Parameters
    ----------
    body
        As FSx describes it, without actions and tags.
    groups
        Its security groups, which no description contains.
    actions
        What is and was changed, the newest first.
    """

    body: dict[str, Any]
    groups: list[str]
    actions: list[dict[str, Any]] = field(default_factory=list)

    @property
    def id(self) -> str:
        """Its id."""
        return str(self.body["FileSystemId"])

    @property
    def resource_arn(self) -> str:
        """Its ARN, by the name that moto asks for."""
        return str(self.body["ResourceARN"])

    @property
    def lifecycle(self) -> str:
        """Its state."""
        return str(self.body["Lifecycle"])

    @property
    def lustre(self) -> dict[str, Any]:
        """What is special to Lustre."""
        found: dict[str, Any] = self.body["LustreConfiguration"]
        return found

    @property
    def is_persistent(self) -> bool:
        """Whether it has copies, a key and backups."""
        return str(self.lustre["DeploymentType"]).startswith("PERSISTENT")

    @property
    def described(self) -> dict[str, Any]:
        """What a description says."""
        tags = tags_of(self.resource_arn)
        shown = {"AdministrativeActions": self.actions, "Tags": tags}
        return {**self.body, **{name: value for name, value in shown.items() if value}}

    @property
    def is_optimizing(self) -> bool:
        """Whether its data are still being spread over the servers of its last growth."""
        return any(each["AdministrativeActionType"] == OPTIMIZATION for each in self.actions)

    def begin_action(self, kind: str, **members: Any) -> dict[str, Any]:
        """Note an action and return it."""
        action = {"AdministrativeActionType": kind, "RequestTime": now(), **members}
        self.actions.insert(0, action)
        same = [each for each in self.actions if each["AdministrativeActionType"] == kind]
        for old in same[ACTIONS_MAX:]:
            self.actions.remove(old)
        return action

    def end_optimization(self) -> None:
        """Forget the action that spreads the data."""
        self.actions[:] = [each for each in self.actions if each["AdministrativeActionType"] != OPTIMIZATION]


def file_systems() -> dict[str, FileSystem]:
    """Return all file systems by id."""
    found: dict[str, FileSystem] = store.fsx().file_systems
    return found


def backups() -> dict[str, dict[str, Any]]:
    """Return all backups by id."""
    found: dict[str, dict[str, Any]] = vars(store.fsx()).setdefault("backups_of_lustre", {})
    return found


def file_system(id_: str) -> FileSystem:
    """Return a file system or refuse."""
    if id_ not in file_systems():
        raise refusal("FileSystemNotFound", f"File system '{id_}' does not exist.")
    return file_systems()[id_]


def tagged(resource: str) -> str:
    """Return the ARN of something that has tags, or refuse."""
    known = [each.resource_arn for each in file_systems().values()]
    if resource not in (*known, *(each["ResourceARN"] for each in backups().values())):
        raise refusal("ResourceNotFound", f"The resource {resource} does not exist.")
    return resource


def tags_of(resource: str) -> list[dict[str, str]]:
    """Return the tags of a file system or a backup."""
    found: list[dict[str, str]] = store.fsx().list_tags_for_resource(resource)
    return found


def tag(resource: str, tags: Iterable[Mapping[str, str]]) -> None:
    """Add tags, or give those that there are another value."""
    store.fsx().tag_resource(resource, {each["Key"]: each["Value"] for each in tags})


# --- Network interfaces -----------------------------------------------------------------------------------------------


def add_interfaces(files: FileSystem, wanted: int) -> None:
    """Let a file system have so many network interfaces in its subnet, where nothing else removes them."""
    ec2 = store.ec2()
    interfaces: list[str] = files.body["NetworkInterfaceIds"]
    for _ in range(wanted - len(interfaces)):
        subnet = ec2.get_subnet(files.body["SubnetIds"][0])
        told = f"Created by Amazon FSx for file system {files.id}"
        interfaces.append(ec2.create_network_interface(subnet, "", group_ids=files.groups, description=told).id)


def remove(files: FileSystem) -> None:
    """Remove a file system with its network interfaces and tags."""
    for interface in files.body["NetworkInterfaceIds"]:
        store.ec2().enis.pop(interface, None)
    store.fsx().tagger.delete_all_tags_for_resource(files.resource_arn)
    del file_systems()[files.id]
