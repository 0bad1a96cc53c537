"""Recovery of stacks in a cloud: finds unrecorded resources with the user's credentials and adds them to the state.

A cloud's SDK is imported only for stacks in that cloud.
"""

from importlib import import_module

from components.contract.clusters import ClusterChoices
from workbench.engine.clouds.find import CLOUDS
from workbench.recovery.cloud.account import Account
from workbench.recovery.cloud.cloud_resource import CloudResource
from workbench.recovery.cloud.findings import CloudRecovery
from workbench.recovery.cloud.null_account import NullAccount

__all__ = ["Account", "CloudRecovery", "CloudResource", "open_account"]


def open_account(stack: str, choices: ClusterChoices) -> Account:
    """Return the account of a stack, after checking that the credentials belong to it.

    Raises
    ------
    UserError
        Credentials are missing, have expired, or belong to another account.
    """
    known = CLOUDS.get(type(choices))
    if known is None:
        return NullAccount()
    account: Account = import_module(f"{__name__}.{known.folder}.account").open_account(stack, choices)
    return account
