"""What lost runs leave of a stack in AWS: found by name, by tag or by what it belongs to, and entered into the state.

boto3 comes with it, so it is imported only where such a stack is recovered.
"""

from workbench.recovery.cloud.account import Account, open_account
from workbench.recovery.cloud.carrying import Thing, carrying
from workbench.recovery.cloud.findings import CloudRecovery, recovery_of

__all__ = ["Account", "CloudRecovery", "Thing", "carrying", "open_account", "recovery_of"]
