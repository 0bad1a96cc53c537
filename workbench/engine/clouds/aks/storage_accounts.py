"""Refuses another redundancy of a shared storage: the provider plans it as an update, and Azure refuses that.

https://github.com/hashicorp/terraform-provider-azurerm/blob/main/internal/services/storage/storage_account_resource.go
"""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from components.contract.aks.config import AksConfig
from components.contract.aks.shared_storage import SKUS, account_name
from components.contract.shared_storage import Storage
from workbench.engine.clouds.blocker import Blocker
from workbench.engine.clouds.fixed_choice import resources_of

ACCOUNT: Final = "azure-native:storage:StorageAccount"


def redundancy_blockers(
    choices: AksConfig, storage: Mapping[str, Storage], deployment: Mapping[str, Any]
) -> Iterator[Blocker]:
    """Return a blocker for each storage whose account has another redundancy than the stack file requests.

    Parameters
    ----------
    choices
        The cluster section of the stack file.
    storage
        Shared storage of the stack file.
    deployment
        The stack's state, as exported.
    """
    accounts = {each["inputs"].get("accountName"): each["inputs"] for each in resources_of(deployment, ACCOUNT)}
    words = {sku: word for word, sku in SKUS.items()}
    for name, each in storage.items():
        account = accounts.get(account_name(choices, name), {})
        live = words.get(account.get("sku", {}).get("name"))
        if live and live is not each.copies:
            yield Blocker(
                f"storage.{name}.redundancy",
                f"{each.copies}, but the storage account has {live}",
                "Azure sets it when it creates the account and never changes it",
                f"Set it back to {live}. For {each.copies}, add a storage of another name and copy the data there.",
            )
