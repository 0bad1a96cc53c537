"""AWS's side of the emulator: one process that answers AWS's API on loopback, with its state in memory."""

import os
from typing import Final

ACCOUNT: Final = "111122223333"
"""The account that everything belongs to: one of AWS's numbers for examples."""

REGION: Final = "eu-west-1"
"""The region that everything regional is in."""

# moto reads both once, while it is imported; every module of this package is imported after these lines.
os.environ["MOTO_ACCOUNT_ID"] = ACCOUNT
os.environ["MOTO_IAM_LOAD_MANAGED_POLICIES"] = "true"
