"""Disk encryption sets: the account's owner makes them, and clusters name them."""

from typing import Any

from typing_extensions import override

from emulators.azure.server.ids import ArmId
from emulators.azure.server.kinds.kind import Form, Kind, Tracked
from emulators.azure.server.store import Resource
from emulators.core.refusal import Refusal


class _Key(Form):
    keyUrl: str  # noqa: N815 as it is on the wire, and all of these


class _SetProperties(Form):
    activeKey: _Key  # noqa: N815
    encryptionType: str = "EncryptionAtRestWithCustomerKey"  # noqa: N815


class _Set(Tracked):
    identity: dict[str, Any]
    properties: _SetProperties


class DiskEncryptionSets(Kind):
    """``Microsoft.Compute/diskEncryptionSets``."""

    arm_type = "Microsoft.Compute/diskEncryptionSets"
    token = "azure-native:compute:DiskEncryptionSet"  # noqa: S105 a type
    version = "2024-03-02"
    form = _Set
    is_tracked = True

    @override
    def check_delete(self, resource: Resource, going: ArmId | None = None) -> None:
        if users := self.store.users(resource.id, going):
            told = f"Disk encryption set {resource.id.name} is in use by {users[0].id.text}."
            raise Refusal("OperationNotAllowed", 409, told)
