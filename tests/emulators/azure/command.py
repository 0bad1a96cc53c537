"""``igz-clusters`` with the Azure emulator in ARM's place: ``python -m emulators.azure.command ARGUMENTS``."""

from functools import partial

from emulators.azure.recovery import connect
from workbench.cli import main
from workbench.recovery.cloud.azure import account

account.open_account = partial(account.open_account, connect=connect)

if __name__ == "__main__":
    main()
