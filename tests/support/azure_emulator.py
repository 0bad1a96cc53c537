"""An AKS stack on the Azure emulator."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from typing_extensions import override

from emulators.azure import credentials
from emulators.azure.client import Emulator, running
from emulators.core.client import Call
from support.cloud_account import PYTHON, CloudAccount
from workbench.offline.azure.facts import resource

OWNERS: Final = "azure-native:compute:DiskEncryptionSet"
"""Made by the subscription's owner, and named in stack files."""

GROUP: Final = "azure-native:resources:ResourceGroup"
CLUSTER: Final = "azure-native:containerservice:ManagedCluster"
POOL: Final = "azure-native:containerservice:AgentPool"

_DISKS: Final = "2024-03-02"


@dataclass(frozen=True)
class Subscription(CloudAccount):
    """Stacks in one Azure that is a emulator."""

    foreign = ("ARM_", "AZURE_")
    module = "emulators.azure.command"
    command = (*PYTHON, module)
    running = staticmethod(running)
    log_in = staticmethod(credentials.install)

    @property
    def azure(self) -> Emulator:
        """The emulator."""
        assert isinstance(self.emulator, Emulator)
        return self.emulator

    @property
    @override
    def cloud_environment(self) -> Mapping[str, str]:
        return self.azure.environment

    @override
    def adopt(self, choices: dict[str, Any]) -> None:
        if not (disks := choices["cluster"].get("diskEncryptionSetId")):
            return
        location = choices["cluster"]["location"]
        self._put(disks.partition("/providers/")[0], resource(GROUP).api_version, {"location": location})
        key = {"activeKey": {"keyUrl": "https://mlrun.vault.azure.net/keys/disks/1"}}
        self._put(disks, _DISKS, {"location": location, "identity": {"type": "SystemAssigned"}, "properties": key})

    def _put(self, id_: str, version: str, body: Mapping[str, Any]) -> None:
        told = self.azure.ask("PUT", id_, version, body)
        assert told.status in (200, 201), told

    def pools(self) -> dict[str, dict[str, Any]]:
        """Return the agent pools of the only cluster that are separate resources, as ARM returns them, by name."""
        ids = self.azure.inventory().get(POOL, [])
        found = [self.azure.ask("GET", id_, resource(POOL).api_version).body for id_ in ids]
        return {each["name"]: each for each in found}

    def agent_pools(self, pool: str) -> list[dict[str, Any]]:
        """Return the agent pools of a pool; the last four characters of a name tell them apart."""
        return [told for name, told in self.pools().items() if name[:-4] == pool]

    def move(self, pool: str, count: int) -> None:
        """Give the only agent pool of a pool another size, as the autoscaler does it."""
        (found,) = self.agent_pools(pool)
        self.azure.move(found["id"], count)


def writes(calls: Sequence[Call]) -> list[Call]:
    """Return the calls that asked Azure to change something."""
    return [call for call in calls if call.operation.endswith(("/write", "/delete"))]


def identities(made: Subscription, stack: str) -> tuple[set[str], set[str]]:
    """Return type and id of what the state of the only stack names in Azure, and of what is there.

    What Azure made by itself, and what belongs to the subscription's owner, is in neither.
    """
    resources = made.state(stack).get("resources") or []
    named = {f"{each['type']} {each['id'].lower()}" for each in resources if each["type"].startswith("azure-native:")}
    return named, there(made)


def after_destroy(made: Subscription, stack: str) -> tuple[set[str], set[str]]:
    """Destroy the only stack, which has no API server, and return ``identities``."""
    made.destroy(stack)
    return identities(made, stack)


def there(made: Subscription) -> set[str]:
    """Return type and id of all resources in Azure except those of its owner."""
    inventory = made.azure.inventory()
    disks = inventory.get(OWNERS, [])
    owners = {id_.lower() for each in disks for id_ in (each, each.partition("/providers/")[0])}
    found = [(type_, id_.lower()) for type_, ids in inventory.items() for id_ in ids]
    return {f"{type_} {id_}" for type_, id_ in found if type_.startswith("azure-native:") and id_ not in owners}
