"""Opens the user's account."""

from components.contract.pretend.config import PretendConfig
from workbench.recovery.cloud.null_account import NullAccount


class PretendAccount(NullAccount):
    """Finds nothing."""

    place = "Pretend"


def open_account(_: str, __: PretendConfig) -> PretendAccount:
    """Return the account of a stack."""
    return PretendAccount()
