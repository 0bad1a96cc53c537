"""Storage accounts with file shares and containers: who reaches them, and what becomes of deleted shares."""

from typing import Any, ClassVar, Final, Literal

from pydantic import Field
from typing_extensions import override

from emulators.azure.server.ids import ArmId
from emulators.azure.server.kinds.kind import Form, Kind, Tracked
from emulators.azure.server.refusals import bad_request
from emulators.azure.server.requests import Request
from emulators.azure.server.store import Resource, Store, now
from emulators.core.refusal import Refusal

ACCOUNT: Final = "Microsoft.Storage/storageAccounts"
SERVICE: Final = f"{ACCOUNT}/fileServices"
SHARE: Final = f"{SERVICE}/shares"

FILES: Final = "FileStorage"
ENDPOINT: Final = "Microsoft.Storage"

PROVISIONED_GIB: Final = (100, 102_400)
"""Smallest and largest share of a FileStorage account.

kubernetes-sigs/azurefile-csi-driver, ``docs/driver-parameters.md`` (2026), and ``file.json`` of the REST descriptions.
"""


class _Sku(Form):
    name: Literal["Standard_LRS", "Standard_GRS", "Standard_ZRS", "Premium_LRS", "Premium_ZRS"]


class _SubnetRule(Form):
    id: str
    action: Literal["Allow"] = "Allow"


class _AddressRule(Form):
    value: str
    action: Literal["Allow"] = "Allow"


class _InstanceRule(Form):
    tenantId: str  # noqa: N815 as it is on the wire, and all of these
    resourceId: str  # noqa: N815


class _Networks(Form):
    defaultAction: Literal["Allow", "Deny"]  # noqa: N815
    bypass: str = "AzureServices"
    virtualNetworkRules: list[_SubnetRule] = Field(default_factory=list)  # noqa: N815
    ipRules: list[_AddressRule] = Field(default_factory=list)  # noqa: N815
    resourceAccessRules: list[_InstanceRule] = Field(default_factory=list)  # noqa: N815


class _AccountProperties(Form):
    networkAcls: _Networks = _Networks(defaultAction="Allow")  # noqa: N815
    publicNetworkAccess: Literal["Enabled", "Disabled"] = "Enabled"  # noqa: N815
    supportsHttpsTrafficOnly: bool = True  # noqa: N815
    minimumTlsVersion: Literal["TLS1_0", "TLS1_1", "TLS1_2"] = "TLS1_0"  # noqa: N815
    allowSharedKeyAccess: bool = True  # noqa: N815
    allowBlobPublicAccess: bool = False  # noqa: N815
    allowCrossTenantReplication: bool = False  # noqa: N815


class _Account(Tracked):
    kind: Literal["StorageV2", "BlobStorage", "FileStorage", "BlockBlobStorage"]
    sku: _Sku
    properties: _AccountProperties = _AccountProperties()


class Accounts(Kind):
    """``Microsoft.Storage/storageAccounts``; Azure makes the file service of each with it.

    Names and sizes: Azure/azure-rest-api-specs, Microsoft.Storage 2024-01-01, ``storage.json``. A deleted subnet is let
    in no longer, and neither is another one of its name:
    https://learn.microsoft.com/azure/storage/common/storage-network-security-virtual-networks (2025).
    """

    arm_type = ACCOUNT
    token = "azure-native:storage:StorageAccount"  # noqa: S105 a type
    version = "2024-01-01"
    form = _Account
    names = r"[a-z0-9]{3,24}"
    is_tracked = True
    takes_time = True

    @override
    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        super().check(request, body, old)
        taken = (each for each in self.store.all(ACCOUNT) if each is not old and each.id.name == request.id.name)
        if next(taken, None):
            told = f"The storage account named {request.id.name} is already taken."
            raise Refusal("StorageAccountAlreadyTaken", 409, told)
        if body["kind"] == FILES and not body["sku"]["name"].startswith("Premium_"):
            raise bad_request(f"An account of kind {FILES} needs a premium sku, given {body['sku']['name']}.")
        for rule in body["properties"].get("networkAcls", {}).get("virtualNetworkRules", []):
            self._refuse_without_endpoint(ArmId(rule["id"]))

    def _refuse_without_endpoint(self, id_: ArmId) -> None:
        subnet = self.store.find(id_)
        services = subnet.properties.get("serviceEndpoints") or [] if subnet else []
        if not any(each.get("service") == ENDPOINT for each in services):
            network = id_.above.above
            told = (
                f"Subnets {id_.name} of virtual network {network.text} do not have ServiceEndpoints for {ENDPOINT} "
                f"resources configured. Add {ENDPOINT} to subnet's ServiceEndpoints collection before trying to ACL "
                f"{ENDPOINT} resources to these subnets."
            )
            message = f"Validation of network acls failure: SubnetsHaveNoServiceEndpointsConfigured:{told}"
            raise Refusal("NetworkAclsValidationFailure", 400, message)

    @override
    def completed(self, body: dict[str, Any], id_: ArmId, old: Resource | None) -> dict[str, Any]:
        whole = _AccountProperties.model_validate(body["properties"]).model_dump()
        for rule in whole["networkAcls"]["virtualNetworkRules"]:
            rule["state"] = "Succeeded"
        made = old.properties["creationTime"] if old else now()
        return {**body, "properties": {**whole, "creationTime": made, "primaryLocation": body["location"]}}

    @override
    def written(self, resource: Resource, *, is_new: bool) -> None:
        rules = resource.properties["networkAcls"]["virtualNetworkRules"]
        resource.remembered["subnets"] = {rule["id"]: self.store.find(rule["id"]) for rule in rules}
        if is_new:
            blobs = ArmId(f"{resource.id.text}/blobServices/default")
            self.store.add(Resource(blobs, f"{ACCOUNT}/blobServices", {"properties": {}}, is_made_by_azure=True))
            service = ArmId(f"{resource.id.text}/fileServices/default")
            body = {"properties": dict(FileServices.defaults)}
            self.store.add(Resource(service, SERVICE, body, is_made_by_azure=True))

    @override
    def shown(self, resource: Resource) -> dict[str, Any]:
        shown = super().shown(resource)
        shown["sku"]["tier"] = shown["sku"]["name"].partition("_")[0]
        service = "file" if shown["kind"] == FILES else "blob"
        address = f"https://{resource.id.name}.{service}.core.windows.net/"
        shown["properties"]["primaryEndpoints"] = {service: address}
        shown["properties"]["networkAcls"]["virtualNetworkRules"] = subnet_rules(self.store, resource)
        return shown


def subnet_rules(store: Store, account: Resource) -> list[dict[str, Any]]:
    """Return the rules of an account whose subnets are still those that were let in."""
    known = account.remembered["subnets"]
    rules: list[dict[str, Any]] = account.properties["networkAcls"]["virtualNetworkRules"]
    return [rule for rule in rules if store.find(rule["id"]) is known[rule["id"]]]


class _ContainerProperties(Form):
    publicAccess: Literal["None", "Blob", "Container"] = "None"  # noqa: N815
    metadata: dict[str, str] = Field(default_factory=dict)


class _Container(Form):
    properties: _ContainerProperties = _ContainerProperties()


class Containers(Kind):
    """``Microsoft.Storage/storageAccounts/blobServices/containers`` of StorageV2 accounts, and no others.

    The service of each account is there without being asked for. A public container in an account that allows none is
    refused; the code is the emulator's own.
    """

    arm_type = f"{ACCOUNT}/blobServices/containers"
    token = "azure-native:storage:BlobContainer"  # noqa: S105 a type
    version = "2024-01-01"
    form = _Container
    names = r"[a-z0-9](-?[a-z0-9]){2,62}"
    defaults: ClassVar = {"publicAccess": "None"}

    @override
    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        super().check(request, body, old)
        account = self.store.get(request.id.above.above.above.above)
        if account.body["kind"] != "StorageV2":
            raise bad_request("The Azure emulator knows containers of accounts of kind StorageV2 alone.")
        if body["properties"].get("publicAccess", "None") != "None" and not account.properties["allowBlobPublicAccess"]:
            raise Refusal("PublicAccessNotPermitted", 409, f"Account {account.id.name} permits no public access.")


class _Retention(Form):
    enabled: bool = False
    days: int = Field(default=7, ge=1, le=365)


class _ServiceProperties(Form):
    shareDeleteRetentionPolicy: _Retention = _Retention()  # noqa: N815
    cors: dict[str, Any] = Field(default_factory=dict)
    protocolSettings: dict[str, Any] = Field(default_factory=dict)  # noqa: N815


class _Service(Form):
    properties: _ServiceProperties = _ServiceProperties()


class FileServices(Kind):
    """``Microsoft.Storage/storageAccounts/fileServices``: one for each account, for as long as that is there.

    That a new account keeps deleted shares for seven days is assumed.
    """

    arm_type = SERVICE
    token = "azure-native:storage:FileServiceProperties"  # noqa: S105 a type
    version = "2024-01-01"
    form = _Service
    names = "default"
    defaults: ClassVar = {
        "shareDeleteRetentionPolicy": {"enabled": True, "days": 7},
        "cors": {"corsRules": []},
        "protocolSettings": {"smb": {}},
    }

    @override
    def completed(self, body: dict[str, Any], id_: ArmId, old: Resource | None) -> dict[str, Any]:
        if old:  # what is left out goes back to Azure's default
            old.is_made_by_azure = not body["properties"]
        return super().completed(body, id_, old)

    @override
    def check_delete(self, resource: Resource, going: ArmId | None = None) -> None:
        if going is None:
            told = "The HTTP method DELETE is not supported at scope of a file service: it goes with its account."
            raise Refusal("MethodNotAllowed", 405, told)


class _ShareProperties(Form):
    shareQuota: int = 0  # noqa: N815
    enabledProtocols: Literal["SMB", "NFS"] = "SMB"  # noqa: N815
    rootSquash: Literal["NoRootSquash", "RootSquash", "AllSquash"] = "NoRootSquash"  # noqa: N815
    accessTier: Literal["Premium", "Hot", "Cool", "TransactionOptimized"] = "Premium"  # noqa: N815
    metadata: dict[str, str] = Field(default_factory=dict)


class _Share(Form):
    properties: _ShareProperties = _ShareProperties()


class Shares(Kind):
    """``Microsoft.Storage/storageAccounts/fileServices/shares`` of FileStorage accounts, and no others.

    Codes of refusals are the emulator's own. A deleted share is gone, whatever its account keeps.
    """

    arm_type = SHARE
    token = "azure-native:storage:FileShare"  # noqa: S105 a type
    version = "2024-01-01"
    form = _Share
    names = r"[a-z0-9](-?[a-z0-9]){2,62}"
    fixed = ("properties.enabledProtocols",)
    defaults: ClassVar = {"rootSquash": "NoRootSquash", "accessTier": "Premium"}

    @override
    def check(self, request: Request, body: dict[str, Any], old: Resource | None) -> None:
        super().check(request, body, old)
        account = self.store.get(request.id.above.above.above.above)
        if account.body["kind"] != FILES:
            raise bad_request(f"The Azure emulator knows shares of accounts of kind {FILES} alone.")
        if account.is_busy:
            told = f"Storage account {account.id.name} is in the provisioning state {account.state}."
            raise Refusal("StorageAccountIsNotProvisioned", 409, told)
        low, high = PROVISIONED_GIB
        quota = body["properties"].get("shareQuota", 0)
        if not low <= quota <= high:
            raise bad_request(
                f"shareQuota of a share in account {account.id.name} must be {low} to {high}, not {quota}."
            )
