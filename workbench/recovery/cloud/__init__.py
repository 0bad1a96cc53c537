"""Recovery of stacks in a cloud: finds unrecorded resources with the user's credentials and adds them to the state.

A cloud's SDK is imported only for stacks in that cloud.
"""

from components.contract.aks.config import AksConfig
from components.contract.clusters import ClusterChoices
from components.contract.eks.config import EksConfig
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
    match choices:
        case EksConfig():
            from workbench.recovery.cloud.aws import account as aws  # noqa: PLC0415 - boto3 comes with it

            return aws.open_account(stack, choices)
        case AksConfig():
            from workbench.recovery.cloud.azure import account as azure  # noqa: PLC0415 - azure-core comes with it

            return azure.open_account(stack, choices)
        case _:
            return NullAccount()
