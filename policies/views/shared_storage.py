"""Shared storage as rules see it: file systems of EFS and FSx for Lustre, and storage accounts with file shares."""

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from typing_extensions import override

from components.contract.aws import OwnTag
from components.contract.azure import AzureTag
from components.contract.shared_storage import Purpose
from policies.resource import Resource, Stack
from policies.rule import Finding
from policies.views.iam_policies import statements
from policies.views.ingress import INGRESSES
from policies.views.type_tokens import azure_native

FILE_SYSTEM: Final = "aws:efs/fileSystem:FileSystem"
CLIENT_POLICY: Final = "aws:efs/fileSystemPolicy:FileSystemPolicy"
BACKUP_POLICY: Final = "aws:efs/backupPolicy:BackupPolicy"

LUSTRE: Final = "aws:fsx/lustreFileSystem:LustreFileSystem"

ACCOUNT: Final = azure_native("storage", "StorageAccount")
SHARE: Final = azure_native("storage", "FileShare")
FILE_SERVICE: Final = azure_native("storage", "FileServiceProperties")

TLS: Final = "aws:SecureTransport"
ACCESS_POINT: Final = "elasticfilesystem:AccessPointArn"
"""Condition keys: https://docs.aws.amazon.com/efs/latest/ug/iam-access-control-nfs-efs.html."""


@dataclass(frozen=True)
class SharedStorage(ABC):
    """One shared storage."""

    resource: Resource
    """The storage itself."""
    stack: Stack

    purpose_tag: ClassVar[str]
    """Key of the tag that says what the storage is for."""
    identifier: ClassVar[str]
    """Input of its parts that names it."""

    @property
    def is_kept(self) -> bool:
        """Whether it holds more than scratch data; storage without a stated purpose counts as kept."""
        places = (self.resource.props.at(tags, self.purpose_tag).text() for tags in ("tags", "tagsAll"))
        return next(filter(None, places), None) != Purpose.SCRATCH

    @abstractmethod
    def openings(self) -> Iterator[Finding]:
        """Return a finding for each way in which others than its clients could read the data."""

    @abstractmethod
    def losses(self) -> Iterator[Finding]:
        """Return a finding for each missing setting that is needed to restore deleted data."""

    def parts(self, pattern: str) -> Iterator[Resource]:
        """Return the resources of a type that belong to it."""
        for each in self.stack:
            if re.fullmatch(pattern, each.type) and self.resource.urn in each.depends_on.get(self.identifier, ()):
                yield each

    def finding(self, problem: str, part: Resource | None = None) -> Finding:
        """Return the finding for a problem of the storage, or of one of its parts."""
        return Finding(problem, urn=(part or self.resource).urn)


class EfsStorage(SharedStorage):
    """A file system of EFS."""

    purpose_tag = OwnTag.PURPOSE.value
    identifier = "fileSystemId"

    @override
    def openings(self) -> Iterator[Finding]:
        name = self.resource.name
        if self.resource.props.at("encrypted").flag() is not True:
            yield self.finding(f"File system '{name}' is not encrypted; expected encrypted: true.")
        policies = list(self.parts(CLIENT_POLICY))
        if not policies:
            yield self.finding(
                f"File system '{name}' has no policy, so that any client in its network mounts all of it; expected one "
                "that requires TLS and an access point."
            )
        for policy in policies:
            if count := _open_statements(policy):
                yield self.finding(
                    f"The policy of file system '{name}' has {count} statement(s) that let clients in without "
                    f"{TLS} or without {ACCESS_POINT}; expected both conditions.",
                    policy,
                )

    @override
    def losses(self) -> Iterator[Finding]:
        if not any(_is_on(policy) for policy in self.parts(BACKUP_POLICY)):
            yield self.finding(f"File system '{self.resource.name}' has no backups; expected a policy with ENABLED.")


class LustreStorage(SharedStorage):
    """A Lustre file system of FSx, which AWS always encrypts at rest.

    https://docs.aws.amazon.com/fsx/latest/LustreGuide/encryption-at-rest.html
    """

    purpose_tag = OwnTag.PURPOSE.value
    identifier = "fileSystemId"

    @override
    def openings(self) -> Iterator[Finding]:
        name = self.resource.name
        if not self.resource.props.at("securityGroupIds").elements():
            yield self.finding(
                f"Lustre file system '{name}' has the default security group of its VPC, and Lustre does not "
                "authenticate clients; expected securityGroupIds of a group that admits the VPC only."
            )
        for rule in self._rules():
            if any(each.is_for_the_world() for each in INGRESSES.find(rule)):
                yield self.finding(
                    f"Lustre file system '{name}' can be reached from any network, and Lustre does not authenticate "
                    "clients; expected rules that admit the VPC only.",
                    rule,
                )

    def _rules(self) -> Iterator[Resource]:
        """Return the resources that may define who reaches it: the stack's security groups, and separate rules."""
        groups = set(self.resource.depends_on.get("securityGroupIds", ()))
        for each in self.stack:
            if each.urn in groups or groups & set(each.depends_on.get("securityGroupId", ())):
                yield each

    @override
    def losses(self) -> Iterator[Finding]:
        days = self.resource.props.at("automaticBackupRetentionDays")
        if not days.integer():
            yield self.finding(
                f"Lustre file system '{self.resource.name}' has no backups; expected automaticBackupRetentionDays of 1 "
                "or more."
            )


class AzureFiles(SharedStorage):
    """A storage account with file shares."""

    purpose_tag = AzureTag.PURPOSE.value
    identifier = "accountName"

    @override
    def openings(self) -> Iterator[Finding]:
        props, name = self.resource.props, self.resource.name
        if props.at("enableHttpsTrafficOnly").flag() is False:  # on unless it is turned off
            yield self.finding(
                f"Storage account '{name}' lets in mounts without TLS; expected enableHttpsTrafficOnly: true."
            )
        if props.at("allowSharedKeyAccess").flag() is not False:
            yield self.finding(
                f"Storage account '{name}' can be read with its keys; expected allowSharedKeyAccess: false."
            )
        is_private = props.at("publicNetworkAccess").text() == "Disabled"
        if not is_private and props.at("networkRuleSet", "defaultAction").text() != "Deny":
            yield self.finding(
                f"Storage account '{name}' can be reached from any network, and NFS does not authenticate clients; "
                "expected networkRuleSet.defaultAction: Deny."
            )

    @override
    def losses(self) -> Iterator[Finding]:
        services = self.parts(FILE_SERVICE)
        if not any(each.props.at("shareDeleteRetentionPolicy", "enabled").flag() for each in services):
            yield self.finding(
                f"Storage account '{self.resource.name}' does not keep deleted shares; expected FileServiceProperties "
                "with shareDeleteRetentionPolicy.enabled: true."
            )


def shared_storage(stack: Stack) -> Iterator[SharedStorage]:
    """Return all shared storage of a stack."""
    for each in stack:
        if each.type == FILE_SYSTEM:
            yield EfsStorage(each, stack)
        elif each.type == LUSTRE:
            yield LustreStorage(each, stack)
        elif re.fullmatch(ACCOUNT, each.type) and each.props.at("kind").text() == "FileStorage":
            yield AzureFiles(each, stack)


def _is_on(policy: Resource) -> bool:
    return policy.props.at("backupPolicy", "status").text() == "ENABLED"


def _open_statements(policy: Resource) -> int:
    """Return how many statements of a policy let clients in without TLS or past the access points."""
    listed = statements(policy.props.at("policy"))
    return sum(each.get("Effect") == "Allow" and not _is_closed(each.get("Condition") or {}) for each in listed)


def _is_closed(condition: dict[str, Any]) -> bool:
    said = {key: value for operator in condition.values() for key, value in operator.items()}
    return str(said.get(TLS)).lower() == "true" and ACCESS_POINT in said
