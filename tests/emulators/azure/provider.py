"""The Azure provider that really makes things, on an ARM emulator: it plans by the same facts as the offline one."""

import os
from typing import Any, Final

from typing_extensions import override

from emulators.azure.resources.connection import Arm
from emulators.azure.resources.resource_handler import ResourceHandler
from workbench.offline.azure.facts import facts, resource
from workbench.offline.azure.provider import LIST_CREDENTIALS, OfflineAzure
from workbench.offline.provider import Changed, CloudError, Existing, ReadResult, RefusedError

SUBSCRIPTION_VARIABLE: Final = "ARM_SUBSCRIPTION_ID"
"""Variable with the subscription, as the real plug-in reads it."""

CLUSTER: Final = "azure-native:containerservice:ManagedCluster"

GROUP: Final = "azure-native:resources:ResourceGroup"


class AzureEmulator(OfflineAzure):
    """Makes, reads, changes and deletes Azure resources through ARM, at an address on loopback."""

    def __init__(self) -> None:
        super().__init__()
        self._arm: Arm | None = None
        self._subscription = os.environ.get(SUBSCRIPTION_VARIABLE, "")

    @override
    def configure(self, config: dict[str, Any]) -> None:
        super().configure(config)
        self._subscription = config.get("subscriptionId") or self._subscription
        if not self._subscription:
            raise CloudError(f"the subscription is not known: give the provider one, or set {SUBSCRIPTION_VARIABLE}")

    @override
    def location_of(self, group: str) -> str | None:
        found = self._connected().get(self._id(GROUP, resourceGroupName=group), resource(GROUP).api_version)
        return str(found["location"]) if found else None

    @override
    def compare(self, type_: str, old: dict[str, Any], new: dict[str, Any], *, filled: frozenset[str]) -> Changed:
        return self.difference(type_, old, new, filled=filled)  # as the real plug-in, which leaves refusals to Azure

    @override
    def create(self, type_: str, name: str, inputs: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        return self._life(type_).make(inputs)

    @override
    def read(self, resource: Existing) -> ReadResult | None:
        return self._life(resource.type_).find(resource)

    @override
    def update(self, resource: Existing, inputs: dict[str, Any]) -> dict[str, Any]:
        return self._life(resource.type_).change(resource, inputs)

    @override
    def delete(self, resource: Existing) -> None:
        self._life(resource.type_).remove(resource)

    @override
    def invoke(self, token: str, arguments: dict[str, Any]) -> dict[str, Any]:
        if token != LIST_CREDENTIALS:
            raise RefusedError(f"the Azure emulator does not answer {token}")
        cluster = self._id(CLUSTER, **arguments)
        asked = {"format": arguments.get("format"), "server-fqdn": arguments.get("serverFqdn")}
        query = {name: value for name, value in asked.items() if value}
        return self._connected().post(f"{cluster}/listClusterUserCredential", resource(CLUSTER).api_version, query)

    def _id(self, type_: str, **known: str) -> str:
        return resource(type_).id.format_map({"subscriptionId": self._subscription, **known})

    def _life(self, type_: str) -> ResourceHandler:
        if type_ not in facts().resources:
            raise RefusedError(f"the Azure emulator cannot make {type_}: describe it in tools/facts/azure.yaml")
        return ResourceHandler(self._connected(), type_, self._subscription)

    def _connected(self) -> Arm:
        if self._arm is None:
            self._arm = Arm()
        return self._arm
